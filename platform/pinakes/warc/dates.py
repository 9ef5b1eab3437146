"""Capture dates: W3C-DTF as WARC writes it, digits as ARC and CDX write it.

Archives contain broken dates, so an unreadable one is None and never an exception.
Source: ISO 28500:2017 §5.4 (any precision from the year to nanoseconds).
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from functools import lru_cache

UNREADABLE_17 = "0" * 17

_W3C = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?"
    r"([Zz]|[+-]\d\d:?\d\d)?)?)?)?\Z",
    re.ASCII,
)
_DIGITS = re.compile(r"\d{4,18}\Z")


@lru_cache(maxsize=4096)
def parse_warc_date(text: str) -> datetime | None:
    """An aware UTC datetime, to the microsecond; None if the text is not a date.

    A time without a zone is taken as UTC, which all known writers mean.
    """
    match = _W3C.match(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    microsecond = int(((fraction or "") + "000000")[:6])
    parts = (
        int(year),
        int(month or 1),
        int(day or 1),
        int(hour or 0),
        int(minute or 0),
    )
    return _build(*parts, int(second or 0), microsecond, zone)


def _build(
    year: int,
    month: int,
    day: int,
    hour: int,
    minute: int,
    second: int,
    us: int,
    zone: str | None,
) -> datetime | None:
    # 60 is a leap second; it belongs to the minute that it ends.
    try:
        moment = datetime(year, month, day, hour, minute, min(second, 59), us, timezone.utc)
        if second > 60:
            return None
        if zone and zone not in "Zz":
            digits = zone[1:].replace(":", "")
            shift = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
            moment = moment - shift if zone[0] == "+" else moment + shift
    except (ValueError, OverflowError):
        return None
    return moment


@lru_cache(maxsize=4096)
def parse_digits_date(text: str) -> datetime | None:
    """Read the 12 to 18 digits of ARC and CDX (also 4, 6, 8, 10); None otherwise.

    Digits after the seconds are a fraction.  An odd count below 14 is a truncated date,
    and None.
    """
    text = text.strip()
    if not _DIGITS.match(text) or (len(text) < 14 and len(text) % 2):
        return None
    full = text[:14] + "00000101000000"[len(text[:14]) :]
    microsecond = int((text[14:] + "000000")[:6])
    month, day, hour, minute, second = (int(full[at : at + 2]) for at in range(4, 14, 2))
    return _build(int(full[:4]), month, day, hour, minute, second, microsecond, None)


def parse_date(text: str) -> datetime | None:
    """Read a capture date of either form; None if it is neither."""
    return parse_warc_date(text) or parse_digits_date(text)


def format_14(moment: datetime) -> str:
    """The 14 digits of CDX, in UTC."""
    return moment.astimezone(timezone.utc).strftime("%Y%m%d%H%M%S").zfill(14)


def format_17(moment: datetime) -> str:
    """The 14 digits and the milliseconds."""
    moment = moment.astimezone(timezone.utc)
    return f"{format_14(moment)}{moment.microsecond // 1000:03d}"
