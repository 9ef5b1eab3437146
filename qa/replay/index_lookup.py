"""Which captures may answer a request: by its urlkey, else by one that means the same.

urlkey ──▶ captures before ◀── moment ──▶ captures after, both lazily, closest first
  └─ none: without cache busters ─ none: all below `path?`, as far as SCAN_ROWS

The closest in time answers; at one distance, errors last.  Of ten thousand captures a few are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain, groupby
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from pinakes.access.byte_range import parse_content_range
from pinakes.catalog.captures import COLUMNS, TABLE, CaptureRow, decode_capture
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
from pinakes.warc.dates import format_14, parse_digits_date
from pinakes.warc.http.message import HttpHead

from .fuzzy import fuzzy_rule, normal_key, path_of
from .request import ProxyRequest, original_uri

_FAR_S = 1 << 40


class ReplayCandidate(NamedTuple):
    """A capture that may answer; `distance_s` is its time minus the requested one."""

    capture: CaptureRow
    distance_s: int | None
    rule: str | None = None


def distance_of(capture: CaptureRow, moment: datetime) -> int | None:
    """Whole seconds from the moment to the capture; None if its date is unreadable."""
    captured = parse_digits_date(capture.time[:14])
    return int((captured - moment).total_seconds()) if captured is not None else None


def by_preference(
    earlier: Iterable[ReplayCandidate], later: Iterable[ReplayCandidate], requested_uri: str
) -> Iterator[ReplayCandidate]:
    """The candidates, best first; `earlier` comes latest first, `later` earliest first.

    Closest first; at one distance errors last, then the URL as requested (a site may have had
    another page under http or `www.`), then 2xx before redirects.
    """
    for _, equals in groupby(_merged(iter(earlier), iter(later)), key=_far):
        yield from sorted(equals, key=lambda candidate: _preference(candidate, requested_uri))


def _far(candidate: ReplayCandidate) -> int:
    return abs(candidate.distance_s) if candidate.distance_s is not None else _FAR_S


def _merged(
    earlier: Iterator[ReplayCandidate], later: Iterator[ReplayCandidate]
) -> Iterator[ReplayCandidate]:
    before, after = next(earlier, None), next(later, None)
    while before is not None or after is not None:
        if after is None or (before is not None and _far(before) <= _far(after)):
            assert before is not None
            yield before
            before = next(earlier, None)
        else:
            yield after
            after = next(later, None)


def _preference(candidate: ReplayCandidate, requested_uri: str) -> tuple[bool, bool, bool]:
    facts = candidate.capture.facts
    status = facts.status or 200
    same = original_uri(facts.target_uri, None) == requested_uri
    return (status >= 400, not same, not 200 <= status < 300)


def reason_to_skip(request: ProxyRequest, head: HttpHead) -> str | None:
    """Why another capture should answer, if there is one; None if this one is suitable."""
    status = head.status
    if status == 304:
        return "not-modified"
    if status is not None and 300 <= status < 400 and is_self_redirect(request.uri, head):
        return "self-redirect"
    if status == 206:
        stored = parse_content_range(head.get("content-range"))
        if stored is None or (request.range is None and not stored.is_whole):
            return "partial"
        if request.range is not None and stored.whole_size is not None:
            wanted = request.range.within(stored.whole_size)
            if wanted is None or not stored.start <= wanted[0] < stored.end:
                return "partial"
    return None


def is_self_redirect(uri: str, head: HttpHead) -> bool:
    """Whether a redirect leads to the requested URL, for example from http or `www.`."""
    location = head.get("location")
    if not location:
        return False
    try:
        target = original_uri(urljoin(uri, location.strip()), None)
        return target is not None and _plain(target) == _plain(uri)
    except ValueError:
        return False


def _plain(uri: str) -> tuple[str, str, str, str]:
    parts = urlsplit(uri)
    return (parts.scheme, parts.netloc.lower(), parts.path or "/", parts.query)


SCAN_ROWS = 2_000
"""Most captures of a path that are read for a fuzzy match."""
_GET = frozenset({None, "GET", "HEAD"})


class IndexLookup:
    """Looks captures up in the rows.  Safe for several threads."""

    def __init__(self, rows: RowStore) -> None:
        self._rows = rows

    def candidates(self, request: ProxyRequest, moment: datetime) -> Iterator[ReplayCandidate]:
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
    ) -> Iterator[ReplayCandidate]:
        second = format_14(moment)
        earlier = self._scan(captures_of(key, stop_time=second), request, reverse=True)
        later = self._scan(captures_of(key, start_time=second), request)
        return by_preference(
            (ReplayCandidate(c, distance_of(c, moment), rule) for c in earlier),
            (ReplayCandidate(c, distance_of(c, moment), rule) for c in later),
            request.uri,
        )

    def _fuzzy(
        self, key: str, request: ProxyRequest, moment: datetime
    ) -> Iterator[ReplayCandidate]:
        plain, rules = normal_key(key)
        if rules:
            found = self._of_key(plain, request, moment, "+".join(rules))
            first = next(found, None)
            if first is not None:
                return chain((first,), found)
        path = path_of(key)
        alike = [
            ReplayCandidate(capture, distance_of(capture, moment), rule)
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
    ) -> Iterator[CaptureRow]:
        rows = self._rows.scan(
            TABLE, key_range, columns=COLUMNS, reverse=reverse, limit_rows=limit_rows
        )
        wanted = _GET if request.method in _GET else frozenset({request.method})
        for capture in map(decode_capture, rows):
            if capture is not None and capture.facts.method in wanted:
                yield capture


def _closest_first(candidate: ReplayCandidate) -> tuple[bool, int]:
    distance = candidate.distance_s
    return (distance is None, abs(distance or 0))
