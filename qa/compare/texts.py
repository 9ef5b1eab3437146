"""What differs between the visible texts of two snapshots."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from .arrays_extra import Indel

MAX_CHARACTERS = 50_000
"""Of each text; what comes behind is not compared, but for letters in a wrong encoding."""

_ORDERED_WORDS = 4_000
_WORD = re.compile(r"[^\W\d_]+|\d+")
# UTF-8 that was read as Windows-1252 or Latin-1: a lead byte, and what follows it.
_LEAD = "\u00c2-\u00f4"
_WINDOWS = (
    "\u0152\u0153\u0160\u0161\u0178\u017d\u017e\u0192\u02c6\u02dc\u2013-\u2022\u2026\u2030"
    "\u2039\u203a\u20ac\u2122"
)
_MISREAD = re.compile(f"[{_LEAD}][\u0080-\u00bf{_WINDOWS}]")
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDifference:
    """Shares are from 0 to 1."""

    gone: float
    """Words of the first text that the second has not, as often."""
    new: float
    order: float
    """How alike the order of words is; 1 is the same (`1 - Indel / length`)."""
    length_ratio: float
    """The shorter to the longer, in words; 1 where there is none in either."""
    numbers: float
    """Of what differs, the part that is only digits: dates, prices, counters."""
    misread: float
    """How much more of the second is in a wrong encoding than of the first; below 0, less."""
    misread_letters: int
    """The same, as a count."""


def compare_texts(first: str, second: str) -> TextDifference:
    """Compare; neither case nor white space counts, nor how a letter is composed."""
    one, other = _words(first), _words(second)
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


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFC", text[:MAX_CHARACTERS]).casefold())


def _share(text: str) -> float:
    """The part of the letters beyond ASCII that look like another encoding read wrongly."""
    amiss, beyond = _misread(text)
    return min(1.0, amiss / beyond) if beyond else 0.0


def _misread(text: str) -> tuple[int, int]:
    """Letters that look like that, and all beyond ASCII; of all of the text."""
    if text.isascii():
        return 0, 0
    beyond = sum(character > "\x7f" for character in text)
    return text.count(_REPLACEMENT) + sum(len(found) for found in _MISREAD.findall(text)), beyond
