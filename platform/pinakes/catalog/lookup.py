"""Look up captures by digest, across collections, and by URL.

Queries are batched: the first rows of all digests and collections, then those of all URLs, then
one read each of `inflight`, `captures` and `files` for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from pinakes.errors import InputRefused
from pinakes.hbase_schema.capture_cells import DigestEntry
from pinakes.hbase_schema.capture_keys import captures_of
from pinakes.hbase_schema.digest_keys import DigestKey, decode_digest_key, digests_of
from pinakes.hbase_schema.ranges import KeyRange
from pinakes.index.urlkey import urlkey
from pinakes.row_store.cells import require_cell
from pinakes.row_store.port import Row, RowStore
from pinakes.warc.digest import Digest, parse_digest

from .captures import (
    COLUMNS,
    CaptureRow,
    Placed,
    decode_capture,
    get_captures,
    iter_visible,
    place_captures,
)
from .captures import TABLE as CAPTURES
from .file_rows import hidden_among

TABLE = "digests"
INDEXED = ("sha1", "sha256")
DEFAULT_LIMIT = 10
T = TypeVar("T")


class FoundDigest(NamedTuple):
    """A row of `digests`: one capture with that digest, over its stored or de-chunked body."""

    key: DigestKey
    entry: DigestEntry


class Match(NamedTuple):
    """One matching capture; `body` is what the digest was computed over, None for a URL."""

    placed: Placed
    body: str | None


class FoundCaptures(NamedTuple):
    """The first captures with a digest or URL, and whether there are more.

    Captures of a URL are in order of time; those of a digest by collection, then by age.
    `withdrawn` are those among them that were withdrawn: they are no matches.
    """

    query: str
    matches: list[Match]
    more: bool
    withdrawn: tuple[CaptureRow, ...] = ()


def scan_scopes(store: RowStore) -> Iterator[str]:
    """Yield the scopes that have digests, in order.  One round trip each, and one more."""
    start = b""
    while row := next(store.scan(TABLE, KeyRange(start), limit_rows=1), None):
        scope, _, _ = row.key.partition(b":")
        yield scope.decode("ascii")
        start = scope + b";"  # the byte after ':'


def scan_digest(store: RowStore, scope: str, digest: Digest) -> Iterator[FoundDigest]:
    """Yield the captures with this digest in a scope, also hidden ones, by length, then age."""
    key_range = digests_of(scope, digest.algorithm, digest.hex)
    return map(_found, store.scan(TABLE, key_range))


def _found(row: Row) -> FoundDigest:
    return FoundDigest(
        decode_digest_key(row.key),
        require_cell(DigestEntry, TABLE, row),
    )


def answer_all(
    store: RowStore, queries: Sequence[str], *, limit: int = DEFAULT_LIMIT
) -> Iterator[FoundCaptures | InputRefused]:
    """Answer each query, in order; an invalid query is answered by an InputRefused.

    A query is a digest in any notation, else a URL.  At most `limit` captures each.
    """
    digests = {query: digest for query in queries if (digest := parse_digest(query))}
    found = _digest_rows(store, digests, limit)
    of_urls = _captures_of(store, [query for query in queries if query not in digests], limit)
    keys = {row.entry.capture_key.encode("ascii") for rows in found.values() for row in rows}
    captures = get_captures(store, sorted(keys))
    captures |= {capture.key: capture for some in of_urls.values() for capture in some}
    places = place_captures(store, captures.values())
    placed = {place.capture.key: place for place in places}
    for query in queries:
        if query in digests and digests[query].algorithm not in INDEXED:
            yield InputRefused(
                f"{query}: captures are known by sha1 and sha256, not {digests[query].algorithm}"
            )
            continue
        named: list[tuple[bytes, str | None]] = [
            (row.entry.capture_key.encode("ascii"), row.entry.body) for row in found.get(query, ())
        ]
        named += [(capture.key, None) for capture in of_urls.get(query, ())]
        matches = [Match(placed[key], body) for key, body in named if key in placed]
        withdrawn = tuple(
            captures[key]
            for key, _ in named
            if key in captures and captures[key].withdrawal is not None
        )
        more = len(matches) + len(withdrawn) > limit
        yield FoundCaptures(query, matches[:limit], more=more, withdrawn=withdrawn[:limit])


def _digest_rows(
    store: RowStore, digests: Mapping[str, Digest], limit: int
) -> dict[str, list[FoundDigest]]:
    """By query, one more than `limit` in each scope, to know whether there are more."""
    scopes = list(scan_scopes(store))
    ranges = [
        (query, digests_of(scope, digest.algorithm, digest.hex))
        for query, digest in digests.items()
        if digest.algorithm in INDEXED
        for scope in scopes
    ]
    return _first_visible(
        store, TABLE, None, ranges, limit, _found, lambda row: row.key.archive_file
    )


def _captures_of(store: RowStore, urls: Iterable[str], limit: int) -> dict[str, list[CaptureRow]]:
    """By URL, one more than `limit`."""
    ranges = [(url, captures_of(urlkey(url))) for url in dict.fromkeys(urls)]
    return _first_visible(
        store, CAPTURES, COLUMNS, ranges, limit, decode_capture, lambda c: c.facts.archive_file
    )


def _first_visible(
    store: RowStore,
    table: str,
    columns: Sequence[bytes] | None,
    ranges: Sequence[tuple[str, KeyRange]],
    limit: int,
    decode: Callable[[Row], T | None],
    file_of: Callable[[T], str],
) -> dict[str, list[T]]:
    """Decoded first rows of ranges, by query: one more than `limit` of each range.

    Hidden rows do not count: if there are any among the first rows, more are read.
    """
    wanted = limit + 1
    key_ranges = [key_range for _, key_range in ranges]
    answers = list(store.first_rows(table, key_ranges, limit_rows=wanted, columns=columns))
    decoded = [[item for row in rows if (item := decode(row)) is not None] for rows in answers]
    hidden = hidden_among(store, {file_of(item) for items in decoded for item in items})
    found: dict[str, list[T]] = {}
    for (query, key_range), rows, items in zip(ranges, answers, decoded, strict=True):
        seen = [item for item in items if file_of(item) not in hidden]
        if len(rows) == wanted > len(seen):
            rest = KeyRange(rows[-1].key + b"\0", key_range.stop_row)
            behind = map(decode, store.scan(table, rest, columns=columns))
            more = iter_visible(store, (item for item in behind if item is not None), file_of)
            seen += islice(more, wanted - len(seen))
        found.setdefault(query, []).extend(seen)
    return found
