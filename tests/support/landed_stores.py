"""Small stores, made by landing generated archive files into them."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from pathlib import Path

from archive_builders import HTTP, header, member

from pinakes.acts.actor import Actor
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.hbase_schema.name_keys import archive_file
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.hbase_schema.tables import declared_schema
from pinakes.ingest.landed import Landed
from pinakes.ingest.landing import Lander
from pinakes.row_store.sqlite.admin import EmbeddedSchemaAdmin
from pinakes.row_store.sqlite.store import EmbeddedRowStore


def page(
    uri: str,
    body: bytes = b"hello",
    *,
    date: str = "2020-01-02T03:04:05Z",
    record_type: str = "response",
    head: bytes = HTTP,
    extra: Iterable[tuple[str, str]] = (),
) -> bytes:
    """One record, in a gzip member of its own; its id is made of URI and date."""
    block = head + body
    name = f"{uri}-{date}".encode().hex()[-12:]
    fields = [
        ("WARC-Type", record_type),
        ("WARC-Record-ID", f"<urn:uuid:00000000-0000-4000-8000-{name}>"),
        ("WARC-Target-URI", uri),
        ("WARC-Date", date),
        ("Content-Type", "application/http; msgtype=response"),
        *extra,
        ("Content-Length", str(len(block))),
    ]
    return member(header(fields) + block + b"\r\n\r\n")


def in_one_member(*members: bytes) -> bytes:
    """The records of several gzip members in one."""
    return member(b"".join(map(gzip.decompress, members)))


def revisit(uri: str, date: str, target_uri: str, target_date: str) -> bytes:
    """A crawler's own revisit of a page, without a digest."""
    return page(
        uri,
        b"",
        date=date,
        record_type="revisit",
        extra=[
            (
                "WARC-Profile",
                "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
            ),
            ("WARC-Refers-To-Target-URI", target_uri),
            ("WARC-Refers-To-Date", target_date),
        ],
    )


def sha1_of(body: bytes) -> str:
    """The digest of a body as archives write it."""
    from pinakes.warc.digest import Digest, hasher

    return str(Digest("sha1", hasher("sha1")(body).digest()))


class LandedStore:
    """A store in a folder, and what lands files in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        EmbeddedSchemaAdmin(folder / "rows.sqlite").apply(declared_schema())
        self.rows = EmbeddedRowStore(folder / "rows.sqlite")
        self.archive = LocalArchiveStore(folder / "archive")
        (folder / "archive").mkdir(exist_ok=True)
        self.inbox = folder.with_name(folder.name + "-inbox")
        # One worker, who may take up again what it left unfinished.
        self.actor = Actor()

    def write(self, name: str, *records: bytes) -> Path:
        """An archive file outside the store."""
        path = self.inbox / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(records))
        return path

    def land(
        self,
        crawl: str,
        name: str,
        *records: bytes,
        collection: str = "default",
        at: Callable[[str], None] = lambda step: None,
    ) -> Landed:
        """Write a file of these records, and land it."""
        actor = self.actor
        path = self.write(f"{crawl}/{name}", *records)
        ensure_crawl(
            self.rows,
            crawl,
            CrawlFacts(collection=collection),
            act=actor.new_act("ingest"),
            act_time_ms=actor.now_ms(),
        )
        lander = Lander(self.rows, self.archive, actor, at=at)
        return lander.land(str(path), archive_file(crawl, name), collection)

    def dump(self) -> dict[str, dict[bytes, set[bytes]]]:
        """Every row of the tables that name records: which columns it has."""
        return {
            table: {row.key: set(row.cells) for row in self.rows.scan(table)}
            for table in ("captures", "digests", "inflight")
        }

    def path_of(self, name: str) -> Path:
        return self.folder / "archive" / name

    def names(self) -> list[str]:
        """Every file below the archive folder, hidden ones too."""
        folder = self.folder / "archive"
        return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())

    def close(self) -> None:
        self.rows.close()
