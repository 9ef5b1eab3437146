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
"""Another capture of its urlkey in its second has another body."""
PINNED = 2
"""A revisit that was here before refers to it: never rewritten."""
SETTLED = 4
"""Made original by an earlier run, and referred to: never rewritten, and preferred."""
KNOWN = 8
"""There before this run: preferred to what lands now, though that may be earlier."""
LATE = 16
"""Landed after a later capture of its content: not preferred, even when others refer to it
by now, so that captures go on referring to the original that was there first."""
POLICY_OFF, POLICY_SIZE, POLICY_MEDIA_TYPE, POLICY_STATUS = 32, 64, 128, 256
"""The policy of its crawl keeps it full (`policy`)."""
FLAGS = {
    "clash": CLASH,
    "pinned": PINNED,
    "settled": SETTLED,
    "known": KNOWN,
    "late": LATE,
    "policy-off": POLICY_OFF,
    "policy-size": POLICY_SIZE,
    "policy-media-type": POLICY_MEDIA_TYPE,
    "policy-status": POLICY_STATUS,
}
# Flags between steps, which are no marks.
WAITS = 512
"""It refers within a scope alone, and is decided when it is known what else stays full."""
OFFERED = 1024
"""It is full, was decided before, and is offered to those that wait."""
ELSEWHERE = 2048
"""There is an earlier copy of its content, in its scope or not."""
SHARED = 4096
"""It is not the first record of its member, and no index has a line for it (`index.cdx_lines`)."""

UNADDRESSABLE = CLASH | SHARED
"""With any of these nothing can refer to it."""

# Why a copy that is not the first stays full; the names of policies are those of their flags.
FULL_PINNED = "pinned"
FULL_SETTLED = "settled"
FULL_SCOPE = "policy-scope"
FULL_UNADDRESSABLE = "unaddressable"
FULL_AMBIGUOUS = "ambiguous-reference"


_POLICY = POLICY_OFF | POLICY_SIZE | POLICY_MEDIA_TYPE | POLICY_STATUS
ALWAYS_FULL = PINNED | SETTLED | _POLICY
"""With any of these a capture is never rewritten."""


def _why_full(flags: int) -> str | None:
    if flags & SETTLED:
        return FULL_SETTLED
    return FULL_PINNED if flags & PINNED else format_flags(flags & _POLICY)


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
        if flags & ALWAYS_FULL:
            self._offer(Candidate(second, target_uri, item), flags)
            return 1, None, None if first else _why_full(flags)
        for candidate in (*self._preferred, *self._others):
            if candidate.second != second or not candidate.is_at(second, target_uri):
                self._copies += 1
                return self._copies, candidate.item, None
        if self._preferred or self._others:
            return 1, None, FULL_AMBIGUOUS
        self._offer(Candidate(second, target_uri, item), flags)
        if first:
            return 1, None, FULL_SCOPE if flags & ELSEWHERE else None
        return 1, None, FULL_UNADDRESSABLE

    def pass_over(self) -> bool:
        """Take note of a capture that is decided elsewhere; whether an earlier one is there."""
        first, self._seen = not self._seen, True
        return not first

    def offer(self, second: str, target_uri: str, flags: int, item: T) -> None:
        """Offer the next capture, which was decided elsewhere and is full."""
        self._seen = True
        self._offer(Candidate(second, target_uri, item), flags)

    def _offer(self, candidate: Candidate[T], flags: int) -> None:
        """Keep an original for later copies: two of a kind, at two addresses, suffice."""
        kept = self._preferred if is_preferred(flags) else self._others
        if flags & UNADDRESSABLE or len(kept) > 1:
            return
        if not kept or not kept[0].is_at(candidate.second, candidate.target_uri):
            kept.append(candidate)
