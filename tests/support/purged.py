"""Stores of a few crawls, deduplicated, that a crawl is purged from."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Mapping
from hashlib import shake_128
from pathlib import Path

from landed_stores import page, sha1_of
from raw_payloads import payloads
from scenes import COLLECTION, Scene, write_records

from pinakes.acts.actor import Actor
from pinakes.catalog.file_rows import scan_entries
from pinakes.dedupe.run.collection import Collection
from pinakes.deletion.purging import Purger
from pinakes.deletion.requests import PROMOTE, DeletionReport, PurgeRequest

Payloads = Mapping[bytes, tuple[bytes, bytes, str | None]]


def body(number: int) -> bytes:
    return shake_128(b"%d" % number).digest(3000)


def uri(number: int) -> str:
    return f"http://example.org/{number}"


def date(crawl: int, second: int = 0) -> str:
    return f"20{10 + crawl}-01-01T00:00:{second:02d}Z"


def capture(crawl: int, number: int, of: int | None = None, *, second: int | None = None) -> bytes:
    """Page `number` of a crawl, with the body of page `of`."""
    content = body(number if of is None else of)
    extra = {
        "WARC-Record-ID": record_id(crawl, number if second is None else second),
        "WARC-Payload-Digest": sha1_of(content),
    }
    at = date(crawl, number if second is None else second)
    return _with_id(page(uri(number), content, date=at, extra=()), extra)


def revisit_of(
    crawl: int,
    number: int,
    of: tuple[int, int],
    *,
    head: bytes = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
    named: str = "URI and date",
    content: int | None = None,
    second: int | None = None,
    digest: Callable[[bytes], str | None] = sha1_of,
) -> bytes:
    """A crawler's revisit, at page `number`, of the page of a crawl."""
    target, page_number = of
    fields = {
        "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
    }
    declared = digest(body(page_number if content is None else content))
    if declared is not None:
        fields["WARC-Payload-Digest"] = declared
    if named == "URI and date":
        fields |= {
            "WARC-Refers-To-Target-URI": uri(page_number),
            "WARC-Refers-To-Date": date(target, page_number),
        }
    elif named == "id":
        fields["WARC-Refers-To"] = record_id(target, page_number)
    at = number if second is None else second
    record = page(uri(number), b"", date=date(crawl, at), record_type="revisit", head=head)
    return _with_id(record, {"WARC-Record-ID": record_id(crawl, at), **fields})


def record_id(crawl: int, number: int) -> str:
    return f"<urn:uuid:00000000-0000-4000-8000-{crawl * 1000 + number:012d}>"


def _with_id(member: bytes, fields: dict[str, str]) -> bytes:
    """The record with these fields in place of its id, in a member again."""
    data = gzip.decompress(member)
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items()).encode()
    new = re.sub(rb"WARC-Record-ID: [^\r]*\r\n", lambda _: lines, data, count=1)
    return gzip.compress(new, mtime=0)


def write(scene: Scene, crawl: int, *records: bytes, name: str = "a.warc.gz") -> None:
    folder = scene.crawls / f"c{crawl}"
    folder.mkdir(parents=True, exist_ok=True)
    if scene.layout == "gzip":
        (folder / name).write_bytes(b"".join(records))
    else:
        base = name.removesuffix(".warc.gz")
        write_records(folder, base, list(map(gzip.decompress, records)), scene.layout)


def land(scene: Scene, crawl: int, *records: bytes) -> None:
    write(scene, crawl, *records)
    scene.land(crawl)


def purger(scene: Scene, at: Callable[[str], None] = lambda step: None) -> Purger:
    runs = scene.folder / "store" / "runs"
    return Purger(scene.rows, scene.archive, runs, Actor(), software="tests", at=at)


def purge(
    scene: Scene,
    crawl: int,
    references: str = PROMOTE,
    *,
    at: Callable[[str], None] = lambda step: None,
) -> DeletionReport:
    return purger(scene, at).purge(PurgeRequest(crawl=f"c{crawl}", references=references))


def paths_now(scene: Scene) -> list[Path]:
    """The archive files of all crawls as they are now."""
    entries = Collection(scene.rows, scene.archive, COLLECTION).entries
    return [scene.archive.path_of(entry.stored_name) for _, entry in sorted(entries.items())]


def given(scene: Scene) -> Payloads:
    """What a reader of zlib alone is given by the store's files."""
    return payloads(paths_now(scene))


def of_others(found: Payloads, crawl: int) -> Payloads:
    """Without the records of a crawl."""
    own = f"-{crawl * 1000:012d}"[:-3].encode()
    return {name: what for name, what in found.items() if own not in name[:-3]}


def claims_open(scene: Scene) -> list[str]:
    return [e.archive_file for e in scan_entries(scene.rows) if e.claim and e.claim.expires_ms]
