"""Cells of `qa_pairs`, and the sign-offs of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class PairScores:
    """`s:scores`: how similar two views are, and the features behind that."""

    COLUMN: ClassVar[bytes] = b"s:scores"
    VERSION: ClassVar[int] = 1

    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVerdict:
    """`v:verdict`: the verdict of the model, and which model."""

    COLUMN: ClassVar[bytes] = b"v:verdict"
    VERSION: ClassVar[int] = 1

    verdict: str
    confidence: float
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """`a:annotation.ID`: the judgement of a reviewer; each has its own id and column.

    `label` is `accept`, `reject` or `unsure`; `role` is `reviewer` or `lead`.  `blind_to` is
    what the author was not shown: `others`, `machine`.  Version 1 had neither faults nor
    the last two.
    """

    COLUMN: ClassVar[bytes] = b"a:annotation."
    VERSION: ClassVar[int] = 2

    author: str
    label: str
    note: str | None = None
    faults: tuple[str, ...] = ()
    role: str = "reviewer"
    blind_to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SignOff:
    """`f:signoff.ID` of a run: `accepted`, `to patch` or `rejected`; each has its own column.

    `counts` is what the signer was shown: `pairs`, `queued`, `settled`, `unsure`, `disputed`,
    `faulty`, and, if known, `pages_left`, the pages of the sample that were not looked at.
    """

    COLUMN: ClassVar[bytes] = b"f:signoff."
    VERSION: ClassVar[int] = 1

    author: str
    state: str
    note: str | None = None
    role: str = "reviewer"
    counts: Mapping[str, int] = field(default_factory=dict)
