"""Which captures may answer a request: by its urlkey, else by one that means the same.

urlkey ──▶ captures before ◀── moment ──▶ captures after, both lazily, closest first
  └─ none: without cache busters ─ none: all below `path?`, as far as SCAN_ROWS
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import chain

from pinakes.catalog.captures import COLUMNS, TABLE, Capture, decode_capture
from pinakes.hbase_schema.capture_keys import (
    URLKEY_LIMIT_BYTES,
    captures_of,
    captures_under,
    decode_capture_key,
    encode_urlkey,
)
from pinakes.hbase_schema.ranges import KeyRange
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.dates import format_14

from .choice import Candidate, by_preference, distance_of
from .fuzzy import fuzzy_rule, normal_key, path_of
from .request import ProxyRequest

SCAN_ROWS = 2_000
"""Most captures of a path that are read for a fuzzy match."""
_GET = frozenset({None, "GET", "HEAD"})


class IndexLookup:
    """Looks captures up in the rows.  Safe for several threads."""

    def __init__(self, rows: RowStore) -> None:
        self._rows = rows

    def candidates(self, request: ProxyRequest, moment: datetime) -> Iterator[Candidate]:
        """Captures that may answer, best first; fuzzy matches only if there are no others.

        Two lazy scans; on a miss up to two more.
        """
        key = encode_urlkey(urlkey(request.lookup_uri)).decode("ascii")
        found = self._of_key(key, request, moment, None)
        first = next(found, None)
        if first is not None:
            return chain((first,), found)
        if len(key) > URLKEY_LIMIT_BYTES:
            return iter(())
        return self._fuzzy(key, request, moment)

    def _of_key(
        self, key: str, request: ProxyRequest, moment: datetime, rule: str | None
    ) -> Iterator[Candidate]:
        second = format_14(moment)
        earlier = self._scan(captures_of(key, stop_time=second), request, reverse=True)
        later = self._scan(captures_of(key, start_time=second), request)
        return by_preference(
            (Candidate(c, distance_of(c, moment), rule) for c in earlier),
            (Candidate(c, distance_of(c, moment), rule) for c in later),
            request.uri,
        )

    def _fuzzy(self, key: str, request: ProxyRequest, moment: datetime) -> Iterator[Candidate]:
        plain, rules = normal_key(key)
        if rules:
            found = self._of_key(plain, request, moment, "+".join(rules))
            first = next(found, None)
            if first is not None:
                return chain((first,), found)
        path = path_of(key)
        alike = [
            Candidate(capture, distance_of(capture, moment), rule)
            for key_range in (captures_of(path), captures_under(f"{path}?"))
            for capture in self._scan(key_range, request, limit_rows=SCAN_ROWS)
            if (rule := fuzzy_rule(key, decode_capture_key(capture.key).urlkey)) is not None
        ]
        alike.sort(key=_closest_first)
        return by_preference(alike, (), request.uri)

    def _scan(
        self,
        key_range: KeyRange,
        request: ProxyRequest,
        *,
        reverse: bool = False,
        limit_rows: int | None = None,
    ) -> Iterator[Capture]:
        rows = self._rows.scan(
            TABLE, key_range, columns=COLUMNS, reverse=reverse, limit_rows=limit_rows
        )
        wanted = _GET if request.method in _GET else frozenset({request.method})
        for capture in map(decode_capture, rows):
            if capture is not None and capture.facts.method in wanted:
                yield capture


def _closest_first(candidate: Candidate) -> tuple[bool, int]:
    distance = candidate.distance_s
    return (distance is None, abs(distance or 0))
