"""Dates cut to the second."""

from __future__ import annotations

import pytest

from pinakes.index.seconds import second_of


@pytest.mark.parametrize(
    ("date", "second"),
    [
        ("2020-01-02T03:04:05Z", "20200102030405"),
        ("2020-01-02T03:04:05.999999Z", "20200102030405"),
        ("2020-01-02T03:04:05+01:00", "20200102020405"),
        ("20200102030405", "20200102030405"),
        ("2020", "20200101000000"),
        ("0999-01-01T00:00:00Z", "09990101000000"),
        ("soon", None),
        ("", None),
    ],
)
def test_seconds_sort_as_time_does(date: str, second: str | None) -> None:
    assert second_of(date) == second
