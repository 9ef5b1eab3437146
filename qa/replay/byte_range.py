"""Byte ranges: of requests, and of stored 206 answers.

Pure.  Source: RFC 9110 §14.  A request with several ranges is answered with the whole resource,
as the RFC allows; no browser sends one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_ASKED = re.compile(
    r"\s*bytes\s*=\s*(?:(\d{1,18})\s*-\s*(\d{1,18})?|-\s*(\d{1,18}))\s*\Z",
    re.ASCII | re.IGNORECASE,
)
_CONTENT_RANGE = re.compile(
    r"\s*bytes\s+(\d{1,18})-(\d{1,18})/(\d{1,18}|\*)\s*\Z", re.ASCII | re.IGNORECASE
)


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
