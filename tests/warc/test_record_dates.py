"""A record's date: a moment in UTC, and as its writer wrote it."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from archive_builders import arc_file, records_of, warc


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=timezone.utc)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        pytest.param("2020-01-02T03:04:05Z", utc(2020, 1, 2, 3, 4, 5), id="seconds"),
        pytest.param(
            "2020-01-02T03:04:05.123456789Z",
            utc(2020, 1, 2, 3, 4, 5, 123456),
            id="nanoseconds are cut",
        ),
        pytest.param("2020-01", utc(2020, 1, 1), id="month: its first moment"),
        pytest.param("2020-01-02T03:04:05+02:00", utc(2020, 1, 2, 1, 4, 5), id="zone"),
        pytest.param("20200102030405", utc(2020, 1, 2, 3, 4, 5), id="14 digits"),
        pytest.param("yesterday", None, id="no date"),
    ],
)
def test_a_date_is_a_moment_and_its_text_stays(text: str, moment: datetime | None) -> None:
    [record] = records_of(warc().replace(b"2020-01-02T03:04:05Z", text.encode()))
    assert (record.date, record.date_text) == (moment, text)
    assert moment is None or record.date.tzinfo is timezone.utc  # type: ignore[union-attr]


def test_no_date() -> None:
    [record] = records_of(warc().replace(b"WARC-Date: 2020-01-02T03:04:05Z\r\n", b""))
    assert (record.date, record.date_text) == (None, None)


def test_14_digits_of_arc() -> None:
    record = records_of(arc_file())[1]
    assert record.date_text is not None
    assert len(record.date_text) == 14
    assert record.date is not None
    assert record.date.strftime("%Y%m%d%H%M%S") == record.date_text
