"""Capture dates cut to the second, as text that sorts by time.

Replay tools find a capture by its second, so dedupe orders and compares captures by it.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pinakes.warc.dates import format_14, parse_date

# A crawl of thirty captures a second fills this in half an hour.
_KEPT_DATES = 1 << 16

# Certainly a date, as nearly all are written; days that only some months have take the long way.
_PLAIN = re.compile(
    r"([1-9]\d{3})-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])"
    r"T([01]\d|2[0-3]):([0-5]\d):([0-5]\d)Z\Z",
    re.ASCII,
)


@lru_cache(maxsize=_KEPT_DATES)
def second_of(date: str) -> str | None:
    """The 14 digits of CDX, in UTC, of a date as written; None where it is unreadable."""
    plain = _PLAIN.match(date)
    if plain is not None:
        return "".join(plain.groups())
    moment = parse_date(date)
    return format_14(moment) if moment is not None else None
