"""Ranges that a browser asks for, and those that a crawler stored."""

from __future__ import annotations

import pytest

from pinakes.access.byte_range import NotSatisfiable, parse_content_range, parse_range, select_range


@pytest.mark.parametrize(
    ("text", "of_ten"),
    [
        ("bytes=0-", (0, 10)),
        ("bytes=0-0", (0, 1)),
        ("bytes=2-5", (2, 6)),
        ("bytes=5-99", (5, 10)),
        ("bytes=-3", (7, 10)),
        ("bytes=-99", (0, 10)),
        (" BYTES = 1-2 ", (1, 3)),
        ("bytes=10-", None),
        ("bytes=-0", None),
    ],
)
def test_a_range_of_ten_bytes(text: str, of_ten: tuple[int, int] | None) -> None:
    asked = parse_range(text)
    assert asked is not None
    assert asked.within(10) == of_ten


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "bytes=",
        "bytes=-",
        "bytes=5-2",
        "bytes=0-1,3-4",
        "lines=0-1",
        "bytes=٣-",
        "x" * 99,
    ],
)
def test_no_range_is_asked_for(text: str | None) -> None:
    assert parse_range(text) is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("bytes 0-9/10", (0, 10, 10)),
        ("bytes 5-9/*", (5, 10, None)),
        ("bytes 0-10/10", None),
        ("bytes 9-5/10", None),
        ("bytes */10", None),
        (None, None),
    ],
)
def test_a_stored_range(text: str | None, parts: tuple[int, int, int | None] | None) -> None:
    stored = parse_content_range(text)
    assert (stored and tuple(stored)) == parts


def test_a_stored_range_may_be_the_whole() -> None:
    wholes = [parse_content_range(f"bytes {text}") for text in ("0-9/10", "0-9/*", "1-9/10")]
    assert [stored is not None and stored.is_whole for stored in wholes] == [True, False, False]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, None),
        ("lines=0-1", None),
        ("bytes=0-3", (0, 4)),
        ("bytes=4-18446744073709551615", (4, 10)),
        ("bytes=-3", (7, 10)),
        ("bytes=-18446744073709551615", (0, 10)),
        ("bytes=0-1,3-4", None),
        ("bytes=3-4, 0-1", None),
        ("bytes=0-1,-1", None),
    ],
)
def test_a_range_is_selected(text: str | None, found: tuple[int, int] | None) -> None:
    assert select_range(text, 10) == found


@pytest.mark.parametrize(
    "text",
    [
        "bytes=",
        "bytes=-",
        "bytes=-0",
        "bytes=10-",
        "bytes=10-11",
        "bytes=5-2",
        "bytes=a-b",
        "bytes=0x0-1",
        "bytes=1_0-",
        "bytes=+1-2",
        "bytes=0--1",
        "bytes=0-5,3-9",
        "bytes=0-0,0-0",
        "bytes=0-1,20-30",
        "bytes=0-1,,3-4",
        "bytes=" + ",".join(f"{n}-{n}" for n in range(9)),
        "bytes=0-" + "9" * 41,
        "bytes=\N{ARABIC-INDIC DIGIT THREE}-",
    ],
)
def test_a_range_is_refused(text: str) -> None:
    with pytest.raises(NotSatisfiable):
        select_range(text, 10)


@pytest.mark.parametrize("text", ["bytes=0-", "bytes=-1", "bytes=0-0"])
def test_nothing_has_no_range(text: str) -> None:
    with pytest.raises(NotSatisfiable):
        select_range(text, 0)
