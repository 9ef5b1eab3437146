"""pywb's index in a Redis: a sorted set whose members are CDXJ lines, all with the score 0.

pywb's recorder adds lines to it, looks duplicates up in it by URL and digest, and pywb replays by
it.  Source: pywb 2.9 (2c706d1), pywb/recorder/redisindexer.py, `WritableRedisIndexer`, and
pywb/warcserver/index/indexsource.py, `RedisIndexSource`; the key: warcserver.py,
`DEFAULT_DEDUP_URL`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

from pinakes.access.cdx.external import parse_line, put_lines
from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.cdx_lines import iter_stored_cdx_lines
from pinakes.catalog.crawl_rows import COMMITTED, require_crawls_there, scan_crawls
from pinakes.catalog.file_rows import scan_entries, scan_inflight
from pinakes.errors import ConfigError, InputRefused, MalformedRecord, StoreUnavailable
from pinakes.hbase_schema.file_states import FileState
from pinakes.index.cdxj import CdxLine, format_cdxj, parse_cdxj
from pinakes.row_store.port import RowStore

from .server import Command, SharedServer, lost

KEY = "pywb:{coll}:cdxj"
_ASIDE_S = 86_400
_TOGETHER = 1000
_MOST_LINE_BYTES = 1 << 20


class ReplacedCounts(NamedTuple):
    """How many lines an export wrote, and how many of an earlier one it took out."""

    lines: int
    taken_out: int


def key_of(template: str, collection: str) -> bytes:
    """The key of a collection, as pywb makes it of its template; Raises ConfigError for one of
    our own."""
    key = template.replace("{coll}", collection).encode()
    if key.startswith(b"pinakes:"):
        raise ConfigError(f"--key {template}: keys that begin with pinakes: are for our own notes")
    return key


def crawls_of(store: RowStore, collection: str) -> dict[str, str]:
    """The states of the crawls of a collection; Raises ConfigError if it has none."""
    found = {c.crawl: c.state for c in scan_crawls(store) if c.facts.collection == collection}
    require_crawls_there(store, collection=collection)
    if not found:
        raise ConfigError(f"{collection}: no collection of this name: see `pinakes crawl list`")
    return found


def iter_lines(
    store: RowStore,
    archive: ArchiveReader,
    crawls: Collection[str],
    *,
    on_unplaced: Callable[[str, int, str], None],
) -> Iterator[bytes]:
    """The lines of the visible files of crawls, as they are now; lazy."""
    for crawl in sorted(crawls):
        hidden = scan_inflight(store)
        for entry in scan_entries(store, crawl):
            if entry.state is FileState.STORED and entry.archive_file not in hidden:
                for line in iter_stored_cdx_lines(archive, entry, on_unplaced=on_unplaced):
                    yield format_cdxj(line).encode("utf-8", "surrogateescape")


def export_lines(
    server: SharedServer,
    key: bytes,
    states: dict[str, str],
    lines: Callable[[Collection[str]], Iterable[bytes]],
    *,
    token: str,
) -> ReplacedCounts:
    """Make the lines of a collection's files those of its committed crawls; others stay.

    They are written aside, and put in by one transaction, regardless of what a recorder adds
    at the same time.  Raises as `SharedServer` does; then nothing was changed, or, if the Redis
    was lost just at the end, everything.
    """
    server.require(key, "zset")
    evictions = server.count_evictions()
    aside = f"pinakes:aside:{token}:lines".encode("ascii")
    stale = f"pinakes:aside:{token}:stale".encode("ascii")
    committed = [crawl for crawl, state in states.items() if state == COMMITTED]
    try:
        count = _add(server, aside, lines(committed))
        old = (line for line in server.iter_sorted(key) if _crawl_of(line) in states)
        taken_out = _add(server, stale, _without(server, aside, old))
        made = {aside: count, stale: taken_out}
        server.change([*made], lambda _: _commands(server, key, made), attempts=1)
        server.require_kept(evictions)
    finally:
        with suppress(StoreUnavailable):  # they expire
            server.send([("UNLINK", aside, stale)])
    return ReplacedCounts(count, taken_out)


def _commands(server: SharedServer, key: bytes, made: dict[bytes, int]) -> list[Command]:
    if server.ask([("ZCARD", name) for name in made]) != list(made.values()):
        raise lost(server)
    aside, stale = made
    return [
        ("ZDIFFSTORE", key, 2, key, stale),
        ("ZUNIONSTORE", key, 2, key, aside, "AGGREGATE", "MAX"),
    ]


def _add(server: SharedServer, key: bytes, lines: Iterable[bytes]) -> int:
    """Add lines to a set aside; how many."""
    iterator, count = iter(lines), 0
    while batch := list(islice(iterator, _TOGETHER)):
        pairs = [word for line in batch for word in (0, line)]
        added, *_ = server.ask([("ZADD", key, *pairs), ("EXPIRE", key, _ASIDE_S)])
        count += added
    return count


def _without(server: SharedServer, key: bytes, lines: Iterable[bytes]) -> Iterator[bytes]:
    """Those of these lines that a set has not."""
    iterator = iter(lines)
    while batch := list(islice(iterator, _TOGETHER)):
        scores = server.ask(("ZSCORE", key, line) for line in batch)
        yield from (line for line, score in zip(batch, scores, strict=True) if score is None)


def _crawl_of(line: bytes) -> str | None:
    """The crawl of the collection that a line's file may be of."""
    try:
        parsed = parse_cdxj(line.decode("utf-8", "surrogateescape"))
    except MalformedRecord:
        return None
    return (parsed.filename or "").partition("/")[0]


def import_lines(
    server: SharedServer,
    key: bytes,
    store: RowStore,
    collection: str,
    *,
    act_time_ms: int,
    folder: Path | None,
    on_problem: Callable[[InputRefused], None],
    dry_run: bool = False,
) -> int:
    """Take the lines of other archives in, as `POST /{collection}` does; how many.

    Lines of files in crawls of the collection are ours, regardless of who wrote them.  Nothing is
    written before all is read; until then it is in `folder`.  Raises as `SharedServer` does.
    """
    server.require(key, "zset")
    ours = {crawl.crawl for crawl in scan_crawls(store) if crawl.facts.collection == collection}
    count = 0
    with TemporaryFile(prefix="pinakes-", dir=folder) as spool:
        for member in server.iter_sorted(key):
            line = _line_of(member)
            crawl = _crawl_of(member) if line is None else (line.filename or "").partition("/")[0]
            if crawl in ours:
                continue
            if line is None:
                words = f"not a CDXJ line with a URL and a place: {member[:100]!r}"
                on_problem(InputRefused(words, file=server.name, kind="not a CDXJ line"))
            else:
                spool.write(member + b"\n")
                count += 1
        spool.seek(0)
        while not dry_run and (batch := list(islice(spool, _TOGETHER))):
            texts = (line.decode("utf-8", "surrogateescape").rstrip("\n") for line in batch)
            found = [parse_line(text, number) for number, text in enumerate(texts, 1)]
            put_lines(store, found, collection, act_time_ms=act_time_ms)
    return count


def _line_of(member: bytes) -> CdxLine | None:
    is_one = member.endswith(b"}") and b"\n" not in member and len(member) <= _MOST_LINE_BYTES
    try:
        return parse_line(member.decode("utf-8", "surrogateescape"), 1) if is_one else None
    except (MalformedRecord, ValueError):
        return None
