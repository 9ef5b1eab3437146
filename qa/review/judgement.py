"""What somebody says of a pair: a label, kinds of fault, a note; and who, when, knowing what.

A judgement is never changed: whoever thinks again makes another, and the newest of an
author counts.  Pure.
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
"""The kinds of fault; the list is fixed, so that figures of two runs can be compared."""

NAME_CHARACTERS = 80
NOTE_CHARACTERS = 4000


class Label(str, Enum):
    """Whether the page looks right, whatever the machine says."""

    ACCEPT = "accept"
    REJECT = "reject"
    UNSURE = "unsure"


class Role(str, Enum):
    """As whom somebody judges: a lead settles what reviewers leave open."""

    REVIEWER = "reviewer"
    LEAD = "lead"


class BlindTo(str, Enum):
    """What an author had not been shown when they judged."""

    OTHERS = "others"
    MACHINE = "machine"


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a reviewer says of a pair, valid once built.

    Raises:
        InputRefused: a fault of no known kind, or one of a page that is accepted; a note
            that is too long.
    """

    label: Label
    faults: tuple[str, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        unknown = [fault for fault in self.faults if fault not in FAULTS]
        if unknown:
            raise InputRefused(f"no kind of fault: {unknown[0]!r:.100}")
        if self.faults and self.label is Label.ACCEPT:
            raise InputRefused("a page that looks right has no fault")
        if len(self.note) > NOTE_CHARACTERS:
            raise InputRefused(f"a note has at most {NOTE_CHARACTERS:,} characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What was said, by whom, when (milliseconds since 1970), and what they did not know.

    `id` is its own among all judgements; no two are told apart by anything else.
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
    """A reviewer's name as it is written down: composed, blanks made one.

    Raises:
        InputRefused: it is empty, too long, or has characters that nobody can see.
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name or len(name) > NAME_CHARACTERS or not name.isprintable():
        raise InputRefused(
            f"a reviewer's name has 1 to {NAME_CHARACTERS} characters that can be seen"
        )
    return name


def same_author(name: str) -> str:
    """What two spellings of a name have in common: `nadia` and `Nadia` are one reviewer."""
    return unicodedata.normalize("NFKC", name).casefold()


def in_order(judgements: Iterable[Judgement]) -> list[Judgement]:
    """The oldest first; the id decides between two of one millisecond."""
    return sorted(judgements, key=lambda judgement: (judgement.at_ms, judgement.id))


def newest_by_author(judgements: Iterable[Judgement]) -> dict[str, Judgement]:
    """The judgement of each author that counts, by `same_author`, who judged first first."""
    newest: dict[str, Judgement] = {}
    for judgement in in_order(judgements):
        newest[same_author(judgement.author)] = judgement
    return newest
