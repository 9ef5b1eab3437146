"""A person's judgement of a pair: label, kinds of fault, note; author, time, what was hidden.

A judgement is never changed: the author makes a new one, and the newest of each author counts.

A lead's judgement settles a pair.  Otherwise agreement of as many reviewers as the pair needs,
which may be one; who is unsure is not one of them, and leaves the pair to another person: another
reviewer, or a lead.  Disagreement leaves it to a lead.  Pure.
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
    """Whether the page looks right, regardless of the machine's verdict."""

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


class By(str, Enum):
    """What settled a pair."""

    LEAD = "lead"
    AGREEMENT = "agreement"
    ONE = "one"


class Standing(str, Enum):
    """The state of a pair's review."""

    OPEN = "open"  # no judgement
    WAITING = "waiting"  # one of two judgements
    UNSURE = "unsure"  # a reviewer is unsure: open for a second opinion
    DISPUTED = "disputed"  # one accepts, one rejects: left to a lead
    SETTLED = "settled"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledLabel:
    """The label for training and the estimate: `accept` or `reject`, never `unsure`.

    `faults` are those named by any of the agreeing judgements.
    """

    label: Label
    by: By
    faults: tuple[str, ...] = ()

    @property
    def is_faulty(self) -> bool:
        return self.label is Label.REJECT


def settled(judgements: Iterable[Judgement], needed: int) -> SettledLabel | None:
    """The settlement of a pair that needs that many judgements; None if it is not settled."""
    newest = list(newest_by_author(judgements).values())
    leads = [judgement for judgement in newest if judgement.role is Role.LEAD]
    if leads:
        last = max(leads, key=lambda judgement: (judgement.at_ms, judgement.id))
        return _settlement([last], By.LEAD)
    sure = [judgement for judgement in newest if judgement.label is not Label.UNSURE]
    if len(sure) < needed or len({judgement.label for judgement in sure}) != 1:
        return None
    return _settlement(sure, By.ONE if len(sure) == 1 else By.AGREEMENT)


def standing(judgements: Iterable[Judgement], needed: int) -> Standing:
    """The state of a pair's review."""
    known = list(judgements)
    if not known:
        return Standing.OPEN
    if settled(known, needed) is not None:
        return Standing.SETTLED
    newest = newest_by_author(known).values()
    labels = {judgement.label for judgement in newest}
    if labels >= {Label.ACCEPT, Label.REJECT}:
        return Standing.DISPUTED
    is_over = len(newest) >= needed or any(one.role is Role.LEAD for one in newest)
    return Standing.UNSURE if is_over else Standing.WAITING


def _settlement(agreeing: list[Judgement], by: By) -> SettledLabel | None:
    label = agreeing[0].label
    if label is Label.UNSURE:
        return None
    named = {fault for judgement in agreeing for fault in judgement.statement.faults}
    return SettledLabel(label=label, by=by, faults=tuple(f for f in FAULTS if f in named))
