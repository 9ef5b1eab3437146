"""What a rule of the standard is: code, severity, clause, where it holds.

A rule is declared once and looked up by its code; the code is stable, the words are not.
Source: ISO 28500:2009 (WARC/1.0) and ISO 28500:2017 (WARC/1.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

RECORD_TYPES = (
    "warcinfo",
    "response",
    "resource",
    "request",
    "metadata",
    "revisit",
    "conversion",
    "continuation",
)
VERSIONS = ("1.0", "1.1")


class Severity(IntEnum):
    """How much it matters; comparable.  `str` is the word that is printed."""

    INFO = 0
    """Allowed, and worth knowing: an extension, a target in another file."""
    WARNING = 1
    """Against a "should" or a recommendation."""
    ERROR = 2
    """Against a "shall" or the grammar."""

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule.  A version without a clause does not have the rule.

    `types` are the record types it is about, all where empty.  `once`: only the first
    finding of a file is printed, since a writer breaks it in every record.  `carries`:
    also checked where the standard does not hold (WARC/0.17, ARC), because the old
    formats mean the same.
    """

    code: str
    severity: Severity
    clause_1_0: str | None
    clause_1_1: str | None
    statement: str
    example: str
    types: tuple[str, ...] = ()
    once: bool = False
    carries: bool = False

    def clause(self, version: str | None) -> str:
        """The clause to cite for a record of that version; None is any other version."""
        if version == "1.1" and self.clause_1_1:
            return f"1.1 §{self.clause_1_1}"
        if version == "1.0" and self.clause_1_0:
            return f"1.0 §{self.clause_1_0}"
        if self.clause_1_0:
            return f"as 1.0 §{self.clause_1_0}"
        return f"as 1.1 §{self.clause_1_1}"

    def holds(self, version: str | None, record_type: str) -> bool:
        """Whether a record of that version and type can break it."""
        if self.types and record_type not in self.types:
            return False
        if version is None:
            return self.carries
        return bool(self.clause_1_1 if version == "1.1" else self.clause_1_0)


class Hit(NamedTuple):
    """A rule broken, as a check reports it: `offset` only where it is not the record's."""

    code: str
    message: str
    offset: int | None = None


def _rule(
    severity: Severity,
    code: str,
    clauses: str,
    statement: str,
    example: str,
    types: Sequence[str] = (),
    *,
    once: bool = False,
    carries: bool = False,
) -> Rule:
    first, slash, second = clauses.partition("/")
    return Rule(
        code=code,
        severity=severity,
        clause_1_0=None if first == "-" else first,
        clause_1_1=(None if second == "-" else second) if slash else first,
        statement=statement,
        example=example,
        types=tuple(types),
        once=once,
        carries=carries,
    )


def shall(
    code: str,
    clauses: str,
    statement: str,
    example: str,
    types: Sequence[str] = (),
    *,
    once: bool = False,
    carries: bool = False,
) -> Rule:
    """An error.  `clauses` is "5.4", or "5.12/5.14" for WARC/1.0 and 1.1, "-" for none."""
    return _rule(
        Severity.ERROR, code, clauses, statement, example, types, once=once, carries=carries
    )


def should(
    code: str,
    clauses: str,
    statement: str,
    example: str,
    types: Sequence[str] = (),
    *,
    once: bool = False,
    carries: bool = False,
) -> Rule:
    """A warning."""
    return _rule(
        Severity.WARNING, code, clauses, statement, example, types, once=once, carries=carries
    )


def note(
    code: str,
    clauses: str,
    statement: str,
    example: str,
    types: Sequence[str] = (),
    *,
    once: bool = False,
    carries: bool = False,
) -> Rule:
    """An info: allowed."""
    return _rule(
        Severity.INFO, code, clauses, statement, example, types, once=once, carries=carries
    )
