"""Which capture answers: the closest in time; at one distance, errors last.

Pure.  Takes captures in order of time, before and after the requested moment, and gives them in
order of preference, lazily: of ten thousand captures a few are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import groupby
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from pinakes.access.byte_range import parse_content_range
from pinakes.catalog.captures import Capture
from pinakes.warc.dates import parse_digits_date
from pinakes.warc.http.message import HttpHead

from .request import ProxyRequest, original_uri

_FAR_S = 1 << 40


class Candidate(NamedTuple):
    """A capture that may answer; `distance_s` is its time minus the requested one."""

    capture: Capture
    distance_s: int | None
    rule: str | None = None


def distance_of(capture: Capture, moment: datetime) -> int | None:
    """Whole seconds from the moment to the capture; None if its date is unreadable."""
    captured = parse_digits_date(capture.time[:14])
    return int((captured - moment).total_seconds()) if captured is not None else None


def by_preference(
    earlier: Iterable[Candidate], later: Iterable[Candidate], requested_uri: str
) -> Iterator[Candidate]:
    """The candidates, best first; `earlier` comes latest first, `later` earliest first.

    Closest first; at one distance errors last, then the URL as requested (a site may have had
    another page under http or `www.`), then 2xx before redirects.
    """
    for _, equals in groupby(_merged(iter(earlier), iter(later)), key=_far):
        yield from sorted(equals, key=lambda candidate: _preference(candidate, requested_uri))


def _far(candidate: Candidate) -> int:
    return abs(candidate.distance_s) if candidate.distance_s is not None else _FAR_S


def _merged(earlier: Iterator[Candidate], later: Iterator[Candidate]) -> Iterator[Candidate]:
    before, after = next(earlier, None), next(later, None)
    while before is not None or after is not None:
        if after is None or (before is not None and _far(before) <= _far(after)):
            assert before is not None
            yield before
            before = next(earlier, None)
        else:
            yield after
            after = next(later, None)


def _preference(candidate: Candidate, requested_uri: str) -> tuple[bool, bool, bool]:
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
