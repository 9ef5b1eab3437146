"""A person's judgement of a pair: label, kinds of fault, note; author, time, what was hidden.

A judgement is never changed: the author makes a new one, and the newest of each author counts.
Pure.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from pinakes.errors import InputRefused

FAULTS = (
    "missing embed",
    "wrong image",
    "style lost",
    "layout",
    "script",
    "encoding",
    "video",
    "overlay",
    "soft 404",
    "login wall",
    "blank",
    "truncated",
)
"""The kinds of fault; fixed, so that figures of runs can be compared."""

NAME_CHARACTERS = 80
NOTE_CHARACTERS = 4000


class Label(str, Enum):
    """Whether the page looks right, whatever the machine's verdict."""

    ACCEPT = "accept"
    REJECT = "reject"
    UNSURE = "unsure"


class Role(str, Enum):
    """The author's role: a lead settles what reviewers leave open."""

    REVIEWER = "reviewer"
    LEAD = "lead"


class BlindTo(str, Enum):
    """What was hidden from the author."""

    OTHERS = "others"
    MACHINE = "machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """The content of a judgement, valid once built.

    Raises:
        InputRefused: an unknown kind of fault; a fault of an accepted page; a note that is too
            long.
    """

    label: Label
    faults: tuple[str, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        unknown = [fault for fault in self.faults if fault not in FAULTS]
        if unknown:
            raise InputRefused(f"unknown kind of fault: {unknown[0]!r:.100}")
        if self.faults and self.label is Label.ACCEPT:
            raise InputRefused("an accepted page cannot have faults")
        if len(self.note) > NOTE_CHARACTERS:
            raise InputRefused(f"a note may have at most {NOTE_CHARACTERS:,} characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Content, author, time (milliseconds since 1970), and what was hidden from the author.

    `id` is unique among all judgements.
    """

    id: str
    author: str
    statement: Statement
    at_ms: int
    role: Role = Role.REVIEWER
    blind_to: tuple[BlindTo, ...] = ()

    @property
    def label(self) -> Label:
        return self.statement.label


def clean_name(text: str) -> str:
    """A reviewer's name in its stored form: NFC, single spaces.

    Raises:
        InputRefused: it is empty, too long, or has invisible characters.
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name or len(name) > NAME_CHARACTERS or not name.isprintable():
        raise InputRefused(f"a reviewer's name must have 1 to {NAME_CHARACTERS} visible characters")
    return name


def same_author(name: str) -> str:
    """The key of a name: `nadia` and `Nadia` are one reviewer."""
    return unicodedata.normalize("NFKC", name).casefold()


def in_order(judgements: Iterable[Judgement]) -> list[Judgement]:
    """The oldest first; the id decides between two of one millisecond."""
    return sorted(judgements, key=lambda judgement: (judgement.at_ms, judgement.id))


def newest_by_author(judgements: Iterable[Judgement]) -> dict[str, Judgement]:
    """The newest judgement of each author, by `same_author`, in the order of first judgements."""
    newest: dict[str, Judgement] = {}
    for judgement in in_order(judgements):
        newest[same_author(judgement.author)] = judgement
    return newest
