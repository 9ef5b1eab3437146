"""Letters that no font on this machine has: browsers draw them as boxes, all alike.

Asked of fontconfig, by which browsers on Linux choose fonts.  A page's own fonts are not known to
it: letters that only they have count as drawn as boxes.
"""

from __future__ import annotations

import subprocess
import unicodedata
from collections import Counter
from functools import cache

from pinakes.qa.snapshot import Fontless

_POINTS = 0x110000
_TIMEOUT_S = 60.0
_MOST_SCRIPTS = 3


def fontless(text: str) -> Fontless | None:
    """How much of a text is letters without a font; None if none is, or there is no fontconfig."""
    known = _covered()
    if known is None or text.isascii():
        return None
    letters = {character: n for character, n in Counter(text).items() if character.isalpha()}
    without = {letter: n for letter, n in letters.items() if not known[ord(letter)]}
    if not without:
        return None
    scripts: Counter[str] = Counter()
    for letter, times in without.items():
        scripts[unicodedata.name(letter, "unnamed").split(" ")[0].title()] += times
    return Fontless(
        letters=sum(without.values()),
        total=sum(letters.values()),
        scripts=tuple(script for script, _ in scripts.most_common(_MOST_SCRIPTS)),
    )


@cache
def _covered() -> bytes | None:
    """By code point, whether a font has it."""
    try:
        listed = subprocess.run(
            ["fc-list", ":", "charset"],  # noqa: S607  (where fontconfig is installed to)
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=_TIMEOUT_S,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return points_of(listed.decode("ascii", "replace"))


def points_of(listed: str) -> bytes:
    """The output of `fc-list : charset`, lines of `:charset=20-7e a0 …`, as a byte a code point."""
    found = bytearray(_POINTS)
    for line in listed.splitlines():
        for part in line.rpartition("=")[2].split():
            first, _, last = part.partition("-")
            start, end = int(first, 16), int(last or first, 16) + 1
            found[start:end] = b"\1" * (end - start)
    return bytes(found)
