"""Is it known, where, since when: captures by digest, across collections, and by URL.

Many questions are answered together: a scan for each digest and collection (or URL), then
one read of `inflight`, one of `captures` and one of `files` for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from pinakes.errors import InputRefused
from pinakes.hbase_schema.capture_cells import DigestEntry
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.digest_keys import DigestKey, decode_digest_key, digests_of
from pinakes.hbase_schema.ranges import KeyRange
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import Row, RowStore
from pinakes.warc.digest import Digest, parse_digest

from .captures import Placed, get_captures, iter_visible, place_captures, scan_captures_of
from .file_rows import scan_inflight

TABLE = "digests"
INDEXED = ("sha1", "sha256")
DEFAULT_LIMIT = 10


class FoundDigest(NamedTuple):
    """A row of `digests`: one capture with that digest, over its stored or de-chunked body."""

    key: DigestKey
    entry: DigestEntry


class Match(NamedTuple):
    """One capture that answers; `body` is over which body the digest is, None for a URL."""

    placed: Placed
    body: str | None


class Answer(NamedTuple):
    """What is known under a digest or URL: the first captures, and whether there are more.

    Captures of a URL are in order of time; those of a digest by collection, then by age.
    """

    query: str
    matches: list[Match]
    more: bool


def scan_scopes(store: RowStore) -> Iterator[str]:
    """The scopes that have digests, in order.  A round trip each, and one more."""
    start = b""
    while row := next(store.scan(TABLE, KeyRange(start), limit_rows=1), None):
        scope, _, _ = row.key.partition(b":")
        yield scope.decode("ascii")
        start = scope + b";"  # the byte behind ':'


def scan_digest(store: RowStore, scope: str, digest: Digest) -> Iterator[FoundDigest]:
    """The captures with this digest in a scope, hidden ones too, by length and then by age."""
    key_range = digests_of(scope, digest.algorithm, digest.hex)
    return map(_found, store.scan(TABLE, key_range))


def _found(row: Row) -> FoundDigest:
    return FoundDigest(
        decode_digest_key(row.key),
        decode_cell(DigestEntry, row.value(DigestEntry.COLUMN) or b""),
    )


def answer_all(
    store: RowStore, queries: Sequence[str], *, limit: int = DEFAULT_LIMIT
) -> Iterator[Answer | InputRefused]:
    """Answer each query, in order; give InputRefused in place of one that cannot be.

    A query is a digest in any spelling, else a URL.  At most `limit` captures each.
    """
    scopes = list(scan_scopes(store))
    # What is hidden already must not use up the limit; it is asked again behind the scans.
    hidden = scan_inflight(store)
    digests = {query: digest for query in queries if (digest := parse_digest(query))}
    found: dict[str, list[FoundDigest]] = {}
    rows = [
        (query, row)
        for query, digest in digests.items()
        if digest.algorithm in INDEXED
        for row in _first(store, scopes, digest, limit, hidden)
    ]
    for query, row in iter_visible(store, rows, lambda pair: pair[1].key.archive_file):
        found.setdefault(query, []).append(row)
    placed = _place(store, found)
    for query in queries:
        if query not in digests:
            yield _answer_url(store, query, limit)
        elif digests[query].algorithm not in INDEXED:
            yield InputRefused(
                f"{query}: captures are known by sha1 and sha256, not {digests[query].algorithm}"
            )
        else:
            matches = [
                Match(placed[row.entry.capture_key], row.entry.body)
                for row in found.get(query, ())
                if row.entry.capture_key in placed
            ]
            yield Answer(query, matches[:limit], more=len(matches) > limit)


def _first(
    store: RowStore, scopes: Sequence[str], digest: Digest, limit: int, hidden: set[str]
) -> Iterator[FoundDigest]:
    """One more than `limit` in each scope: enough to know that there are more."""
    for scope in scopes:
        rows = scan_digest(store, scope, digest)
        yield from islice((row for row in rows if row.key.archive_file not in hidden), limit + 1)


def _place(store: RowStore, found: dict[str, list[FoundDigest]]) -> dict[str, Placed]:
    """Where all the captures lie that were found, by key."""
    keys = {row.entry.capture_key.encode("ascii") for rows in found.values() for row in rows}
    captures = get_captures(store, sorted(keys))
    places = place_captures(store, captures.values())
    return {placed.capture.key.decode("ascii"): placed for placed in places}


def _answer_url(store: RowStore, url: str, limit: int) -> Answer:
    captures = scan_captures_of(store, urlkey(url), limit_rows=limit + 1)
    matches = [Match(placed, None) for placed in place_captures(store, captures)]
    return Answer(url, matches[:limit], more=len(matches) > limit)
