"""Byte ranges: of requests, and of stored 206 answers.

Pure.  Source: RFC 9110 §14.  A request with several ranges is answered with the whole resource,
as the RFC allows (§14.2); no browser or replay tool sends one.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

_ASKED = re.compile(
    r"\s*bytes\s*=\s*(?:(\d{1,40})\s*-\s*(\d{1,40})?|-\s*(\d{1,40}))\s*\Z",
    re.ASCII | re.IGNORECASE,
)
_SEVERAL = re.compile(r"\s*bytes\s*=(.*)", re.ASCII | re.IGNORECASE | re.DOTALL)
_MOST_RANGES = 8
_CONTENT_RANGE = re.compile(
    r"\s*bytes\s+(\d{1,18})-(\d{1,18})/(\d{1,18}|\*)\s*\Z", re.ASCII | re.IGNORECASE
)


class NotSatisfiable(Exception):
    """A Range header is wrong, is outside of the resource, or asks for too much: 416."""


class ByteRange(NamedTuple):
    """`bytes=first-last`; without a first, the last so many bytes; without a last, to the end."""

    first: int | None
    last: int | None

    def within(self, size: int) -> tuple[int, int] | None:
        """Start and end (exclusive) in a body of that size; None if outside of it."""
        if self.first is None:
            start, end = max(0, size - (self.last or 0)), size
        else:
            start, end = self.first, size if self.last is None else min(self.last + 1, size)
        return (start, end) if start < end else None


class StoredRange(NamedTuple):
    """The content of a stored 206: `[start, end)` of a resource, whose size may be unknown."""

    start: int
    end: int
    whole_size: int | None

    @property
    def is_whole(self) -> bool:
        return self.start == 0 and self.end == self.whole_size


def parse_range(text: str | None) -> ByteRange | None:
    """Read a Range header; None if missing or not supported."""
    match = _ASKED.match(text or "")
    if match is None:
        return None
    first, last, final = match.groups()
    if first is None:
        return ByteRange(None, int(final))
    if last is not None and int(last) < int(first):
        return None
    return ByteRange(int(first), int(last) if last is not None else None)


def select_range(text: str | None, size: int) -> tuple[int, int] | None:
    """Start and end (exclusive) of what a Range header asks of so many bytes; None: all of them.

    Several ranges are not served as such: all bytes are, unless they overlap or are many.

    Raises:
        NotSatisfiable: none of the bytes, or not byte ranges at all.
    """
    listed = _SEVERAL.match(text or "")
    if listed is None:
        return None  # missing, or in other units
    specs = [f"bytes={spec}" for spec in listed[1].split(",", _MOST_RANGES)]
    found = []
    for spec in specs:
        asked = parse_range(spec)
        within = asked.within(size) if asked is not None else None
        if within is None:
            raise NotSatisfiable
        found.append(within)
    if len(found) == 1:
        return found[0]
    found.sort()
    if len(found) > _MOST_RANGES or any(a[1] > b[0] for a, b in pairwise(found)):
        raise NotSatisfiable
    return None


def parse_content_range(text: str | None) -> StoredRange | None:
    """Read a Content-Range header; None if invalid or contradictory."""
    match = _CONTENT_RANGE.match(text or "")
    if match is None:
        return None
    first, last = int(match[1]), int(match[2])
    size = None if match[3] == "*" else int(match[3])
    if last < first or (size is not None and last >= size):
        return None
    return StoredRange(first, last + 1, size)
