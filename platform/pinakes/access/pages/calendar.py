"""How many captures a URL has, by year, month and day; and the weeks of a month.

Counting reads keys only, up to a bound.  Of a URL beyond it, the years are looked for one by one,
and the one that is shown is counted by itself.
"""

from __future__ import annotations

import calendar
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pinakes.access.readable import KEY_ONLY, ReadableCaptures, ReadBudget
from pinakes.hbase_schema.capture_keys import UNREADABLE_TIME
from pinakes.hbase_schema.ranges import KeyRange, prefix_range

COUNTED_ROWS = 20_000
_MOST_YEARS = 100
_DAY = slice(-26, -18)
"""Of a row key, which ends with 17 digits, a space and a mark of 8."""

NO_YEAR = UNREADABLE_TIME[:4]
MONTHS = tuple(calendar.month_name)[1:]
WEEKDAYS = tuple(calendar.day_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Captures by day (`20200102`); `is_whole` is False where counting ended at its bound."""

    days: Mapping[str, int]
    is_whole: bool

    @property
    def total(self) -> int:
        return sum(self.days.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Year:
    """A year with captures; `captures` is None where they were not counted."""

    year: str
    captures: int | None
    is_least: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Month:
    """A month as rows of weeks; a day is (number, key, captures), or None before the first."""

    name: str
    key: str
    captures: int
    weeks: tuple[tuple[tuple[int, str, int] | None, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UrlCalendar:
    """The years of a URL, and the months of the one that is shown."""

    years: tuple[Year, ...]
    year: str
    counts: Counts
    months: tuple[Month, ...] = field(default=())

    @property
    def total(self) -> int:
        """All captures that were counted, of all years."""
        return sum(year.captures or 0 for year in self.years)

    @property
    def is_whole(self) -> bool:
        return all(year.captures is not None and not year.is_least for year in self.years)


def read_calendar(
    captures: ReadableCaptures, urlkey: bytes, year: str, *, counted_rows: int = COUNTED_ROWS
) -> UrlCalendar | None:
    """The calendar of a URL, on a year or, for an empty one or one without captures, the latest.

    None if it has no capture.  Reads twice `counted_rows` rows at most, and a few for each year.
    """
    days = _count(captures, _of(urlkey), counted_rows)
    years = [Year(year=one, captures=number, is_least=False) for one, number in _by_year(days.days)]
    if not days.is_whole:
        behind = years.pop().year if years else ""
        years += [Year(year=one, captures=None) for one in _iter_years(captures, urlkey, behind)]
    if not years:
        return None
    shown = next((one for one in years if one.year == year), years[-1])
    counts = days
    if shown.captures is None:
        counts = _count(captures, _of(urlkey, shown.year), counted_rows)
        counted = Year(year=shown.year, captures=counts.total, is_least=not counts.is_whole)
        years = [counted if one is shown else one for one in years]
    in_year = {day: n for day, n in counts.days.items() if day[:4] == shown.year}
    is_whole = counts.is_whole or days is counts
    return UrlCalendar(
        years=tuple(years),
        year=shown.year,
        counts=Counts(days=in_year, is_whole=is_whole),
        months=() if shown.year == NO_YEAR else tuple(_months(shown.year, in_year)),
    )


def _of(urlkey: bytes, time: str = "") -> KeyRange:
    return prefix_range(urlkey + b" " + time.encode("ascii"))


def _count(captures: ReadableCaptures, key_range: KeyRange, rows: int) -> Counts:
    budget = ReadBudget(rows=rows + 1)
    days: Counter[bytes] = Counter()
    for sighting in captures.scan(key_range, budget, columns=KEY_ONLY):
        days[sighting.key[_DAY]] += 1
    return Counts(
        days={day.decode("ascii"): number for day, number in days.items()},
        is_whole=not budget.is_spent,
    )


def _by_year(days: Mapping[str, int]) -> list[tuple[str, int]]:
    years: Counter[str] = Counter()
    for day, number in days.items():
        years[day[:4]] += number
    return sorted(years.items())


def _iter_years(captures: ReadableCaptures, urlkey: bytes, since: str) -> Iterator[str]:
    """The years with captures from one on; a row or so each."""
    stop = _of(urlkey).stop_row
    for _ in range(_MOST_YEARS):
        start = urlkey + b" " + since.encode("ascii")
        few = ReadBudget(rows=1_000)
        found = next(captures.scan(KeyRange(start, stop), few, columns=KEY_ONLY), None)
        if found is None:
            return
        yield found.time[:4]
        if found.time[:4] == "9999":
            return
        since = f"{int(found.time[:4]) + 1:04d}"


def _months(year: str, days: Mapping[str, int]) -> Iterator[Month]:
    for number, name in enumerate(MONTHS, 1):
        key = f"{year}{number:02d}"
        weeks = [
            tuple(
                (day, f"{key}{day:02d}", days.get(f"{key}{day:02d}", 0)) if day else None
                for day in week
            )
            for week in calendar.Calendar().monthdayscalendar(max(int(year), 1), number)
        ]
        total = sum(one[2] for week in weeks for one in week if one is not None)
        yield Month(name=name, key=key, captures=total, weeks=tuple(weeks))
