"""Which copy of one content is original, which refers, which stays full: the rules.

Pure, and fed one capture at a time in order of time, so that a content with a hundred
million copies takes no more memory than one with two.  The manifest chain and the store
(one crawl after another, earlier decisions known) both decide here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from pinakes.index.urlkey import urlkey

T = TypeVar("T")

# Flags of a capture, as bits; their names are those of the manifest's `marks=`.
CLASH = 1
"""Another capture of its urlkey in its second has another body: it cannot be addressed."""
PINNED = 2
"""A revisit that was here before refers to it: never rewritten."""
SETTLED = 4
"""Made original by an earlier run, and referred to: never rewritten, and preferred."""
KNOWN = 8
"""There before this run: preferred to what lands now, though that may be earlier."""
LATE = 16
"""Landed after a later capture of its content: not preferred, even when others refer to it
by now, so that captures go on referring to the original that was there first."""
FLAGS = {"clash": CLASH, "pinned": PINNED, "settled": SETTLED, "known": KNOWN, "late": LATE}

# Why a copy that is not the first stays full.
FULL_PINNED = "pinned"
FULL_SETTLED = "settled"
FULL_UNADDRESSABLE = "unaddressable"
FULL_AMBIGUOUS = "ambiguous-reference"


def parse_flags(text: str) -> int:
    """The flags that a line's `marks` names; unknown names are passed over."""
    flags = 0
    for name in text.split(","):
        flags |= FLAGS.get(name, 0)
    return flags


def format_flags(flags: int) -> str | None:
    """The names of these flags, joined by commas; None for none."""
    return ",".join(name for name, flag in FLAGS.items() if flags & flag) or None


def is_preferred(flags: int) -> bool:
    """Whether copies refer to this original rather than to others that come before them."""
    return bool(flags & (KNOWN | SETTLED) and not flags & LATE)


@dataclass(frozen=True, slots=True)
class Candidate(Generic[T]):
    """An original that later copies may refer to; where it is looked up, and what it is."""

    second: str
    target_uri: str
    item: T

    def is_at(self, second: str, target_uri: str) -> bool:
        """Whether a look-up for that URI and second would find this capture, too."""
        return self.second == second and (
            self.target_uri == target_uri or urlkey(self.target_uri) == urlkey(target_uri)
        )


class ContentCluster(Generic[T]):
    """The copies of one content, decided one after another.

    `decide` must be called in order of (second, file, offset), over captures that may take
    part.  Memory: four captures.
    """

    __slots__ = ("_copies", "_others", "_preferred", "_seen")

    def __init__(self) -> None:
        self._preferred: list[Candidate[T]] = []
        self._others: list[Candidate[T]] = []
        self._seen = False
        self._copies = 1

    def decide(
        self, second: str, target_uri: str, flags: int, item: T
    ) -> tuple[int, T | None, str | None]:
        """Decide on the next capture: its copy number, its original, why it stays full.

        The number is 1 for every capture that stays full, and counts up from 2 over those
        that refer to an original; the reason is given where an earlier copy is there.

        The original of a copy is the first preferred one before it, else the first of all;
        where that has the copy's own urlkey and second, the next.
        """
        first, self._seen = not self._seen, True
        if flags & (PINNED | SETTLED):
            reason = FULL_SETTLED if flags & SETTLED else FULL_PINNED
            self._offer(Candidate(second, target_uri, item), flags)
            return 1, None, None if first else reason
        for candidate in (*self._preferred, *self._others):
            if candidate.second != second or not candidate.is_at(second, target_uri):
                self._copies += 1
                return self._copies, candidate.item, None
        if self._preferred or self._others:
            return 1, None, FULL_AMBIGUOUS
        self._offer(Candidate(second, target_uri, item), flags)
        return 1, None, None if first else FULL_UNADDRESSABLE

    def _offer(self, candidate: Candidate[T], flags: int) -> None:
        """Keep an original for later copies: two of a kind, at two addresses, suffice."""
        kept = self._preferred if is_preferred(flags) else self._others
        if flags & CLASH or len(kept) > 1:
            return
        if not kept or not kept[0].is_at(candidate.second, candidate.target_uri):
            kept.append(candidate)
