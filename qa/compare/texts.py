"""The differences of the visible texts of two snapshots."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from .arrays_extra import Indel

MAX_CHARACTERS = 50_000
"""Of each text; the rest is only searched for letters in a wrong encoding."""

_ORDERED_WORDS = 4_000
_WORD = re.compile(r"[^\W\d_]+|\d+")
_BEYOND = re.compile(r"[^\x00-\x7f]+")
_CODE_PAGES = ("cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257")
"""Encodings that browsers assume, by the user's language, for pages that name none."""
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDifference:
    """Shares are from 0 to 1."""

    gone: float
    """Words of the first text that the second lacks."""
    new: float
    order: float
    """Similarity of the order of words; 1 is the same (`1 - Indel / length`)."""
    length_ratio: float
    """The shorter length divided by the longer, in words; 1 if both are empty."""
    numbers: float
    """The share of the differences that is only digits: dates, prices, counters."""
    misread: float
    """The share in a wrong encoding in the second, minus that in the first."""
    misread_letters: int
    """The same, as a count."""


def compare_texts(first: str, second: str) -> TextDifference:
    """Compare; case, white space and Unicode composition do not count."""
    one, other = words_of(first), words_of(second)
    counts, others = Counter(one), Counter(other)
    gone, new = counts - others, others - counts
    differing = gone + new
    digits = sum(count for word, count in differing.items() if word[0].isdigit())
    shorter, longer = sorted((len(one), len(other)))
    return TextDifference(
        gone=gone.total() / max(1, len(one)),
        new=new.total() / max(1, len(other)),
        order=Indel.normalized_similarity(one[:_ORDERED_WORDS], other[:_ORDERED_WORDS]),
        length_ratio=shorter / longer if longer else 1.0,
        numbers=digits / max(1, differing.total()),
        misread=_share(second) - _share(first),
        misread_letters=_misread(second)[0] - _misread(first)[0],
    )


def words_of(text: str) -> list[str]:
    """The words of a text, in order, in one case and composition."""
    return _WORD.findall(unicodedata.normalize("NFC", text[:MAX_CHARACTERS]).casefold())


def _share(text: str) -> float:
    """The share of the non-ASCII letters that look like text in a wrong encoding."""
    misread, beyond = _misread(text)
    return min(1.0, misread / beyond) if beyond else 0.0


def _misread(text: str) -> tuple[int, int]:
    """Letters that look like that, and all non-ASCII letters, of the whole text."""
    if text.isascii():
        return 0, 0
    runs = Counter(_BEYOND.findall(text))
    misread = sum(len(run) * times for run, times in runs.items() if _MISREAD.fullmatch(run))
    beyond = sum(len(run) * times for run, times in runs.items())
    return text.count(_REPLACEMENT) + misread, beyond


def _misread_pattern() -> re.Pattern[str]:
    """UTF-8's characters of two to four bytes (RFC 3629, 4) as a code page has these bytes.

    Words that are rightly in such a script hold such a pair now and then, but seldom nothing else.
    """

    def letters(code_page: str, first: int, last: int) -> str:
        # A byte that a page has no letter for is a control character (Encoding Standard, 9).
        decoded = (bytes([byte]).decode(code_page, "ignore") for byte in range(first, last + 1))
        places = (letter or chr(first + n) for n, letter in enumerate(decoded))
        return f"[{re.escape(''.join(places))}]"

    def characters(page: str) -> str:
        more = letters(page, 0x80, 0xBF)
        leads = (letters(page, 0xC2, 0xDF), letters(page, 0xE0, 0xEF), letters(page, 0xF0, 0xF4))
        lengths = (f"{lead}{more}{{{n}}}" for n, lead in enumerate(leads, start=1))
        return f"(?:{'|'.join(lengths)})+"

    return re.compile("|".join(map(characters, _CODE_PAGES)))


_MISREAD = _misread_pattern()
