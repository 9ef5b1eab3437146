"""Capture dates cut to the second, as text that sorts by time.

Replay tools find a capture by its second, so dedupe orders and compares captures by it.
"""

from __future__ import annotations

from functools import lru_cache

from pinakes.warc.dates import format_14, parse_date

# A crawl of thirty captures a second fills this in half an hour.
_KEPT_DATES = 1 << 16


@lru_cache(maxsize=_KEPT_DATES)
def second_of(date: str) -> str | None:
    """The 14 digits of CDX, in UTC, of a date as written; None if it is unreadable."""
    moment = parse_date(date)
    return format_14(moment) if moment is not None else None
