"""Cells of `qa_pairs`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class PairScores:
    """`s:scores`: how alike two views are, and the features that this rests on."""

    COLUMN: ClassVar[bytes] = b"s:scores"
    VERSION: ClassVar[int] = 1

    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairVerdict:
    """`v:verdict`: what the model says, and which model."""

    COLUMN: ClassVar[bytes] = b"v:verdict"
    VERSION: ClassVar[int] = 1

    verdict: str
    confidence: float
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Annotation:
    """`a:annotation.ID`: what a reviewer says; an annotation an id, none overwrites another."""

    COLUMN: ClassVar[bytes] = b"a:annotation."
    VERSION: ClassVar[int] = 1

    author: str
    label: str
    note: str | None = None
