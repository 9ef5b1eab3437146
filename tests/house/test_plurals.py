"""One thing is not "1 things": in what tests expect of Pinakes, and in the examples of docs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.counts import count_of

_NOUNS = (
    "bytes|captures|cells|changes|clusters|collections|contents|crawls|descriptions|digests|"
    "documents|duplicates|entries|errors|files|findings|generations|hours|lines|members|originals|"
    "packages|pages|pairs|problems|records|references|repairs|results|revisits|rows|stretches|URLs"
)
_BEFORE = "archive|more|old|other|reported|such|WACZ"
# Not "1,001 files", "-1 files", "2 of 1 files".
_ONE = re.compile(rf"(?<![-\d,.:/#])(?<!of )1 (?:(?:{_BEFORE}) )?(?:{_NOUNS})\b")
# What OutbackCDX answers to a POST, and our reports like it: programs read it.
_OF_THE_PROTOCOL = re.compile(r"(?:Added|Deleted) 1 ")
_HERE = Path(__file__).name


def wrong_plurals(text: str) -> Iterator[str]:
    """Each "1 files" of a text."""
    for found in _ONE.finditer(_OF_THE_PROTOCOL.sub("", text)):
        yield found[0]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("1 files", ["1 files"]),
        ("x: 1 old generations", ["1 old generations"]),
        ("21 files, 1,001 rows, 0.1 bytes", []),
        ("0 of 1 pairs", []),
        ("Added 1 records", []),
    ],
)
def test_wrong_plurals_are_found(text: str, wrong: list[str]) -> None:
    assert list(wrong_plurals(text)) == wrong


def test_one_thing_is_not_called_many(repository: Path) -> None:
    expected = [*(repository / "tests").rglob("*.py"), *(repository / "tests").rglob("*.txt")]
    examples = [repository / "README.md", *(repository / "docs").rglob("*.md")]
    found = [
        f"{path.relative_to(repository)}: {wrong}"
        for path in [*expected, *examples]
        if path.name != _HERE
        for wrong in wrong_plurals(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1000, "1,000 files")]
)
def test_count_of(count: int, words: str) -> None:
    assert count_of(count, "file") == words


def test_another_plural() -> None:
    assert count_of(1, "entry", "entries") == "1 entry"
    assert count_of(3, "entry", "entries") == "3 entries"
