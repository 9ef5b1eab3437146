"""Crawls to study, made to order, and what their study must come to, in the plainest Python."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

from warc_sets import ArchiveFile, Rec, revisit, write_set

from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.sidecar import SidecarRow, read_sidecar, sidecar_name
from pinakes.cli import main
from pinakes.config import load_configuration
from pinakes.index.urlkey import urlkey
from pinakes.profile import open_stores
from pinakes.warc.dates import parse_date

CRAWLS = (("c2019", "news", 2019), ("c2020", "news", 2020), ("b2021", "news", 2021))
OTHER = ("x2020", "other", 2020)
TYPES = (b"text/html", b"image/png", b"application/pdf")
HOSTS = ("example.org", "www.example.org", "a.b.co.uk", "bücher.example", "127.0.0.1:8080")
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"


def body(number: int) -> bytes:
    """A body of its own, of one of several sizes."""
    return b"body %d " % number * (1 + number * number * 37 % 9000)


def records(random: Random, year: int, count: int) -> Iterator[Rec]:
    """Captures of few pages with few bodies; some chunked, some that take no part."""
    for number in range(count):
        host = random.choice(HOSTS)
        date = f"{year}-{random.randint(1, 12):02d}-{random.randint(1, 28):02d}"
        rec = Rec(
            uri=f"http://{host}/{random.randrange(9)}",
            date=f"{date}T00:00:{random.randrange(60):02d}Z",
            body=body(int(random.paretovariate(1.0)) % 40),
            status=random.choice([200] * 8 + [404, 301]),
            framing=random.random() < 0.25,
            http_fields=(b"Content-Type: " + random.choice(TYPES),),
        )
        yield rec
        if number % 10 == 9:
            yield revisit(rec, of_number=0, profile=IDENTICAL, date=f"{date}T01:00:00Z")
    yield Rec(type="resource", uri="http://example.org/r", date=f"{year}-01-01T00:00:00Z")
    # A byte that is no UTF-8, and a name that no URI has.
    yield Rec(uri="http://example.org/\udce9", date=f"{year}-01-02T00:00:00Z", body=body(1))


def land(folder: Path, call: Callable[..., None], *, count: int = 20, files: int = 2) -> None:
    """All crawls, into the store that `call` speaks of."""
    random = Random(5)
    for crawl, collection, year in (*CRAWLS, OTHER):
        made = [
            ArchiveFile(f"{'_' * at}{at} é", list(records(random, year, count)))
            for at in range(files)
        ]
        paths = map(str, write_set(folder / crawl, made))
        call("ingest", "--crawl", crawl, "--collection", collection, *paths)


def caller(*settings: str) -> Callable[..., None]:
    """What calls `pinakes` with these settings, and wants it to end well."""

    def call(verb: str, *words: str) -> None:
        assert main(["-q", verb, *words, *settings]) == 0

    return call


@dataclass(frozen=True)
class Capture:
    """A response that takes part, by its row in the sidecar."""

    crawl: str
    collection: str
    file: str
    row: SidecarRow

    @property
    def moment(self) -> datetime:
        moment = parse_date(self.row.date or "")
        assert moment is not None
        return moment.replace(microsecond=0)

    @property
    def content(self) -> Hashable:
        return self.row.sha256, self.row.status

    @property
    def unframed(self) -> Hashable:
        return self.row.dechunked_sha256 or self.row.sha256, self.row.status

    @property
    def order(self) -> tuple[datetime, str, int]:
        return self.moment, self.file, self.row.ordinal

    @property
    def size(self) -> int:
        return self.row.payload_size or 0


def captures_of(
    *, settings: dict[str, str] | None = None, file: Path | None = None
) -> list[Capture]:
    """Those of a whole store."""
    configuration = load_configuration(file, options=settings or {}, environment={})
    found = []
    with open_stores(configuration) as stores:
        for entry in scan_entries(stores.rows):
            assert entry.facts is not None
            with stores.archive.open(sidecar_name(entry.stored_name)) as sidecar:
                for row in read_sidecar(sidecar):
                    if row.type == "response" and row.skip is None:
                        crawl = entry.archive_file.partition("/")[0]
                        found.append(
                            Capture(crawl, entry.facts.collection, entry.archive_file, row)
                        )
    return found


def share(name: str, captures: Iterable[Capture], again: Iterable[Capture]) -> dict[str, object]:
    """A line of a table: these captures, and those of them that repeat."""
    captures, again = list(captures), list(again)
    sizes, more = sum(c.size for c in captures), sum(c.size for c in again)
    return {
        "name": name,
        "captures": len(captures),
        "duplicates": len(again),
        "body_bytes": sizes,
        "duplicate_bytes": more,
        "file_bytes": sum(c.row.length for c in captures),
        "duplicate_file_bytes": sum(c.row.length for c in again),
        "duplicates_percent": 100 * len(again) / len(captures),
        "duplicate_bytes_percent": 100 * more / sizes,
    }


def repeating(captures: Iterable[Capture], key: Callable[[Capture], Hashable]) -> list[Capture]:
    """All but the first of each key."""
    seen: set[Hashable] = set()
    found = []
    for capture in sorted(captures, key=lambda c: c.order):
        if key(capture) in seen:
            found.append(capture)
        seen.add(key(capture))
    return found


SCOPES: dict[str, Callable[[Capture], Hashable]] = {
    "within each crawl": lambda c: (c.crawl, c.content),
    "within each collection": lambda c: (c.collection, c.content),
    "all together": lambda c: c.content,
    "within each collection, framing aside": lambda c: (c.collection, c.unframed),
    "all together, framing aside": lambda c: c.unframed,
}
SIZES = {
    "under 1 KiB": 1024,
    "1 to 10 KiB": 10240,
    "10 to 100 KiB": 102400,
    "100 KiB to 1 MiB": 1 << 20,
    "1 to 10 MiB": 10 << 20,
    "10 to 100 MiB": 100 << 20,
    "100 MiB and more": 1 << 60,
}


def size_class(capture: Capture) -> str:
    return next(name for name, below in SIZES.items() if capture.size < below)


GROUPS: dict[str, Callable[[Capture], str]] = {
    "host": lambda c: urlsplit(c.row.target_uri or "").hostname or "",
    "media_type": lambda c: c.row.media_type or "",
    "size": size_class,
    "time": lambda c: f"{c.moment:%Y-%m}",
}


def tables(captures: list[Capture]) -> dict[str, list[dict[str, object]]]:
    """Every table but that of crawls."""
    found = {"scopes": [share(n, captures, repeating(captures, k)) for n, k in SCOPES.items()]}
    again = repeating(captures, SCOPES["within each collection"])
    usual = found["scopes"][1]
    for line in found["scopes"]:
        for name in ("duplicates", "duplicate_bytes"):
            line[f"more_{name}"] = int(str(line[name])) - int(str(usual[name]))
    for name, group in GROUPS.items():
        lines = [
            share(
                one, [c for c in captures if group(c) == one], [c for c in again if group(c) == one]
            )
            for one in {group(c) for c in captures}
        ]
        orders: dict[str, Callable[[dict[str, object]], object]] = {
            "size": lambda line: list(SIZES).index(str(line["name"])),
            "time": lambda line: line["name"],
        }
        by_bytes = lambda line: (-line["duplicate_bytes"], line["name"])  # noqa: E731
        found[name] = sorted(lines, key=orders.get(name, by_bytes))  # type: ignore[arg-type]
    return found


def crawl_lines(captures: list[Capture]) -> list[dict[str, object]]:
    """The paper's table: crawls by collection and mean time, each against the one before."""
    by_crawl: dict[str, list[Capture]] = {}
    for capture in captures:
        by_crawl.setdefault(capture.crawl, []).append(capture)
    lines: list[dict[str, object]] = []
    for crawl, mine in by_crawl.items():
        seconds = sum(int(c.moment.replace(tzinfo=timezone.utc).timestamp()) for c in mine)
        contents = {c.content: c.size for c in mine}
        size = sum(c.size for c in mine)
        lines.append(
            {
                "crawl": crawl,
                "collection": mine[0].collection,
                "mean_time": seconds // len(mine),
                "captures": len(mine),
                "urls": len({urlkey(c.row.target_uri or "") for c in mine}),
                "contents": len(contents),
                "body_bytes": size,
                "duplicate_bytes": size - sum(contents.values()),
                "duplicates": len(mine) - len(contents),
                "duplicates_percent": 100 * (len(mine) - len(contents)) / len(mine),
            }
        )
    lines.sort(key=lambda line: (line["collection"], line["mean_time"]))
    before: dict[object, str] = {}
    for line in lines:
        mine, last = by_crawl[str(line["crawl"])], before.get(line["collection"])
        before[line["collection"]] = str(line["crawl"])
        line.update(dict.fromkeys(("of_last", "of_last_bytes", "persistent"), None), last=last)
        line.update(of_last_percent=None, persistent_percent=None)
        if last is None:
            continue
        contents_before = {c.content for c in by_crawl[last]}
        shared = [c for c in mine if c.content in contents_before]
        urls = {urlkey(c.row.target_uri or "") for c in mine}
        kept = urls & {urlkey(c.row.target_uri or "") for c in by_crawl[last]}
        line.update(
            of_last=len(shared),
            of_last_bytes=sum(c.size for c in shared),
            persistent=len(kept),
            of_last_percent=100 * len(shared) / len(mine),
            persistent_percent=100 * len(kept) / len(urls),
        )
    return lines
