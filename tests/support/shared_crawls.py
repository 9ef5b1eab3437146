"""Crawls of WACZ files as Browsertrix writes them, landed; and their index by its documentation."""

from __future__ import annotations

import hashlib
import io
import random
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from importing import COLLECTION, entry_of, import_all, sha256_of, write_manifest
from landed_stores import LandedStore, page
from packages import members_of, write_package
from redis_servers import RunningRedis
from warcio.archiveiterator import ArchiveIterator

from pinakes.access.cdx.answer import CdxIndex
from pinakes.access.cdx.wanted import wants_of
from pinakes.access.rules import OPEN as ALL_ALLOWED
from pinakes.access.rules import AccessRules
from pinakes.dedupe.decide.policy import NO_POLICIES, DedupePolicies
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace
from pinakes.ingest.commit import commit_crawl
from pinakes.row_store.port import RowStore
from pinakes.shared_index.crawls import read_shared_crawls
from pinakes.shared_index.exporting import Exported, IndexExporter
from pinakes.shared_index.importing import ImportedCrawl, Importer
from pinakes.shared_index.server import open_server

NOW = "2026-01-01T00:00:00.000Z"
SITE = "http://example.org/"


def sha256_text(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def response(path: str, body: bytes, second: int, **more: Any) -> bytes:
    """A page as Browsertrix records it: its digest is SHA-256, in hex."""
    return page(
        f"{SITE}{path}",
        body,
        date=f"2026-01-02T03:04:{second:02}Z",
        extra=[("WARC-Payload-Digest", sha256_text(body))],
        **more,
    )


def duplicate(path: str, body: bytes, second: int, of: str, of_second: int) -> bytes:
    """A revisit as Browsertrix writes it."""
    return page(
        f"{SITE}{path}",
        b"",
        date=f"2026-01-02T03:04:{second:02}Z",
        record_type="revisit",
        extra=[
            ("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"),
            ("WARC-Payload-Digest", sha256_text(body)),
            ("WARC-Refers-To-Target-URI", f"{SITE}{of}"),
            ("WARC-Refers-To-Date", f"2026-01-02T03:04:{of_second:02}.000Z"),
        ],
    )


HOME, LOGO, NEWS, OLD = (random.Random(n).randbytes(1500) for n in range(4))
"""Bodies that do not compress: so a revisit is smaller."""
WACZS: Mapping[str, Sequence[tuple[str, Sequence[bytes]]]] = {
    "first": [
        ("a.wacz", [response("", HOME, 1), response("logo", LOGO, 2), response("copy", HOME, 3)]),
        ("b.wacz", [response("old", OLD, 4), duplicate("logo", LOGO, 5, "logo", 2)]),
    ],
    "second": [
        ("c.wacz", [response("news", NEWS, 11), response("logo2", LOGO, 12)]),
        ("d.wacz", [duplicate("", HOME, 13, "", 1)]),
    ],
}


def write_waczs(folder: Path) -> tuple[Path, dict[str, list[Path]]]:
    """A manifest of two crawls of two WACZ files each; the files by crawl."""
    files: dict[str, list[Path]] = {}
    entries = []
    for crawl, some in WACZS.items():
        for name, records in some:
            members = members_of({"data.warc.gz": b"".join(records)})
            path = write_package(folder / name, members)
            files.setdefault(crawl, []).append(path)
            entries.append(entry_of(path, crawlId=crawl))
    return write_manifest(folder / "all.json", entries), files


def land_waczs(
    store: LandedStore, folder: Path, *, committed: Sequence[str]
) -> dict[str, list[Path]]:
    """Import them; the files by crawl."""
    manifest, files = write_waczs(folder)
    import_all(store.rows, store.archive, [manifest])
    for crawl in committed:
        commit_crawl(store.rows, store.archive, crawl, store.actor)
    return files


def documented_index(files: Mapping[str, Sequence[Path]], spelling: str) -> dict[str, Any]:
    """The keys of committed crawls, by "Deduplication Architecture", made with warcio alone.

    `allhashes` has for each digest all crawls that have it.
    """
    index: dict[str, Any] = {"allcrawls": set(files), "src:d": set(), "last_update_ts": NOW}
    merged: dict[str, set[str]] = {}
    sizes: dict[str, int] = {}
    total: Counter[str] = Counter()
    for crawl, paths in files.items():
        hashes: dict[str, str] = {}
        counts: Counter[str] = Counter()
        for number, path in enumerate(paths):
            counts["totalCrawlSize"] += path.stat().st_size
            for kind, digest, date, url, size in _records(path):
                counts["totalUrls"] += 1
                if kind == "revisit":
                    counts["dupeUrls"] += 1
                    counts["conservedSize"] += max(0, sizes.get(digest, 0) - size)
                    continue
                field = digest if spelling == "documented" else digest.partition(":")[2]
                hashes.setdefault(field, f"{number} {date} {url} {size}")
                merged.setdefault(field, set()).add(crawl)
                sizes.setdefault(digest, size)
        total.update(counts)
        index[f"h:{crawl}"] = hashes
        index[f"h:{crawl}:counts"] = {name: str(n) for name, n in counts.items() if n}
        index[f"c:{crawl}:wacz"] = [
            {"filename": p.name, "hash": sha256_of(p), "size": p.stat().st_size} for p in paths
        ]
        index["src:d"] |= {path.name for path in paths}
    index["allhashes" if spelling == "documented" else "alldupes"] = merged
    more = {"updateProgress": "1", "removedCrawls": "0", "removedCrawlSize": "0"}
    index["allcounts"] = {**{name: str(n) for name, n in total.items() if n}, **more}
    return index


def _records(path: Path) -> list[tuple[str, str, str, str, int]]:
    """Type, digest, 14 digits, URL, and bytes of the member of each record."""
    found = []
    with zipfile.ZipFile(path) as package:
        names = [name for name in package.namelist() if name.startswith("archive/")]
        for name in names:
            records = ArchiveIterator(io.BytesIO(package.read(name)))
            for record in records:
                get = record.rec_headers.get_header
                date = "".join(filter(str.isdigit, get("WARC-Date")))
                url, kind = get("WARC-Target-URI"), record.rec_type
                record.content_stream().read()
                size = records.get_record_length()
                found.append((kind, get("WARC-Payload-Digest"), date, url, size))
    return found


def export_to(
    url: str,
    store: LandedStore,
    *,
    crawls: Sequence[str] = (),
    spelling: str = "code",
    digests: str = "declared",
    token: str = "token",
    answer_s: float = 60.0,
    policies: DedupePolicies = NO_POLICIES,
    rules: AccessRules = ALL_ALLOWED,
) -> Exported:
    """Write the collection, as `pinakes redis export` does."""
    rows = store.rows
    shared = read_shared_crawls(
        rows,
        COLLECTION,
        crawls,
        hides=lambda crawl: rules.hides(collection=COLLECTION, crawl=crawl),
    )
    lines = CdxIndex(rows, store.archive, rules=rules).lines
    gathered = shared.gather(
        rows,
        lines.files,
        admits=lines.admits,
        gives=lines.gives,
        wants_of=lambda crawl: wants_of(policies, COLLECTION, crawl, now="20260701000000"),
        digests=digests,
        space=DEFAULT_SPACE,
    )
    with open_server(url, answer_s=answer_s) as server:
        exporter = IndexExporter(
            server,
            COLLECTION,
            shared.states,
            shared.waczs,
            shared.count(rows, store.archive),
            openings=shared.openings,
            withheld=shared.withheld,
            unnamed=shared.unnamed,
            spelling=spelling,
            token=token,
            now=NOW,
        )
        return exporter.export(gathered, whole=not crawls)


def import_from(
    url: str,
    rows: RowStore,
    *,
    crawls: Sequence[str] = (),
    dry_run: bool = False,
    problems: list[str] | None = None,
    space: SortSpace = DEFAULT_SPACE,
) -> dict[str, ImportedCrawl]:
    """Take what crawlers wrote, as `pinakes redis import` does; each crawl by its name."""
    told: list[str] = [] if problems is None else problems
    with open_server(url) as server:
        importer = Importer(
            server,
            rows,
            COLLECTION,
            act="redis-import-1",
            act_time_ms=1_769_904_000_000,
            space=space,
            on_problem=lambda problem: told.append(str(problem)),
        )
        found = {one.crawl: one for one in importer.import_crawls(crawls, dry_run=dry_run)}
    if problems is None:
        assert told == []
    return found


def comparable(dump: Mapping[str, Any]) -> dict[str, Any]:
    """A dump without our own notes; of each digest the set of its owner."""
    found = {key: value for key, value in dump.items() if not key.startswith("pinakes:")}
    for merged in {"alldupes", "allhashes"} & set(found):
        found[merged] = {digest: {crawl} for digest, crawl in found[merged].items()}
    return found


def owners_fit(dump: dict[str, Any], expected: Mapping[str, Any]) -> None:
    """Assert that a dump is an index, where one of the owners will do."""
    found, wanted = comparable(dump), dict(expected)
    for merged in {"alldupes", "allhashes"} & set(wanted):
        assert set(found[merged]) == set(wanted[merged])
        assert all(found[merged][digest] <= owners for digest, owners in wanted[merged].items())
        del found[merged], wanted[merged]
    assert found == wanted


def unresolved(redis: RunningRedis) -> list[str]:
    """The digests of the merged index that the crawl named there does not have."""
    dump = redis.dump()
    return [d for d, crawl in dump.get("alldupes", {}).items() if d not in dump[f"h:{crawl}"]]
