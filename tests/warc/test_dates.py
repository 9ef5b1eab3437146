"""Capture dates as archives write them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pinakes.warc.dates import format_14, format_17, parse_date, parse_digits_date, parse_warc_date


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=timezone.utc)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2020-01-02T03:04:05Z", utc(2020, 1, 2, 3, 4, 5)),
        ("2020-01-02t03:04:05z", utc(2020, 1, 2, 3, 4, 5)),
        ("2020-01-02 03:04:05", utc(2020, 1, 2, 3, 4, 5)),
        ("2020-01-02T03:04:05", utc(2020, 1, 2, 3, 4, 5)),
        ("2020-01-02T03:04:05.123Z", utc(2020, 1, 2, 3, 4, 5, 123000)),
        ("2020-01-02T03:04:05.123456789Z", utc(2020, 1, 2, 3, 4, 5, 123456)),
        ("2020-01-02T03:04:05,5Z", utc(2020, 1, 2, 3, 4, 5, 500000)),
        ("2020-01-02T03:04Z", utc(2020, 1, 2, 3, 4)),
        ("2020-01-02", utc(2020, 1, 2)),
        ("2020-01", utc(2020, 1, 1)),
        ("٢٠٢٠-01-01", None),
        ("2020", utc(2020, 1, 1)),
        ("2020-01-02T03:04:05+01:30", utc(2020, 1, 2, 1, 34, 5)),
        ("2020-01-02T03:04:05-0100", utc(2020, 1, 2, 4, 4, 5)),
        ("2016-12-31T23:59:60Z", utc(2016, 12, 31, 23, 59, 59)),
        (" 2020-01-02T03:04:05Z ", utc(2020, 1, 2, 3, 4, 5)),
        ("2020-02-30T00:00:00Z", None),
        ("2020-13-01", None),
        ("2020-01-02T25:00:00Z", None),
        ("2020-01-02T03:04:61Z", None),
        ("0000-01-01", None),
        ("0001-01-01T00:00:00+01:00", None),
        ("9999-12-31T23:59:59-01:00", None),
        ("5088968-11-06T12:31:23Z", None),
        ("20200102030405", None),
        ("2020-01-02T03:04:05Z\n", utc(2020, 1, 2, 3, 4, 5)),
        ("2020-01-02T03:04:05Zx", None),
        ("", None),
        ("yesterday", None),
    ],
    ids=lambda value: str(value) or "empty",
)
def test_w3c(text: str, moment: datetime | None) -> None:
    assert parse_warc_date(text) == moment


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("20010203040506", utc(2001, 2, 3, 4, 5, 6)),
        ("200102030405", utc(2001, 2, 3, 4, 5)),
        ("20010203", utc(2001, 2, 3)),
        ("2001", utc(2001, 1, 1)),
        ("20010203040506789", utc(2001, 2, 3, 4, 5, 6, 789000)),
        ("2001020304050678", utc(2001, 2, 3, 4, 5, 6, 780000)),
        ("200102030405067890", utc(2001, 2, 3, 4, 5, 6, 789000)),
        ("2001020304050", None),
        ("20010230040506", None),
        ("00000000000000", None),
        ("٢٠٠١٠٢٠٣٠٤٠٥٠٦", utc(2001, 2, 3, 4, 5, 6)),
        ("", None),
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_digits(text: str, moment: datetime | None) -> None:
    assert parse_digits_date(text) == moment


def test_either_form() -> None:
    assert parse_date("2020-01-02") == parse_date("20200102") == utc(2020, 1, 2)
    assert parse_date("neither") is None


@given(st.datetimes(timezones=st.just(timezone.utc)))
def test_digits_read_back(moment: datetime) -> None:
    assert parse_digits_date(format_14(moment)) == moment.replace(microsecond=0)
    milliseconds = moment.microsecond // 1000 * 1000
    assert parse_digits_date(format_17(moment)) == moment.replace(microsecond=milliseconds)


@given(st.datetimes(timezones=st.just(timezone(timedelta(hours=5, minutes=30)))))
def test_other_zones_are_written_in_utc(moment: datetime) -> None:
    assume(1 < moment.year < 9999)
    assert format_14(moment) == format_14(moment.astimezone(timezone.utc))
    assert len(format_17(moment)) == 17


@given(st.text(alphabet="0123456789-T:Z+. ", max_size=30))
def test_any_text_is_a_date_or_none(text: str) -> None:
    found = parse_date(text)
    assert found is None or found.tzinfo is not None
