"""What a rule of the standard is: code, severity, clauses, the records it holds for.

`table` declares the rules.  A code never changes its meaning; the words may change.
Source: ISO 28500:2009 (WARC/1.0) and ISO 28500:2017 (WARC/1.1).
"""

from __future__ import annotations

from collections.abc import Callable
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
CAPTURE_TYPES = ("response", "resource", "request", "metadata", "revisit")
"""Types of records that belong to a capture event (§5.7)."""
VERSIONS = ("1.0", "1.1")


class Severity(IntEnum):
    """How serious a finding is; comparable.  `str` is the word that is printed."""

    INFO = 0
    """Allowed, and worth knowing: an extension, an original in another file."""
    WARNING = 1
    """Against a "should" or a recommendation."""
    ERROR = 2
    """Against a "shall" or the grammar."""

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    `clauses` is "5.4", or "5.12/5.14" where WARC/1.0 and WARC/1.1 number differently;
    "-" means that the version does not have the rule.  `judge` is the check that reports
    it.  `types` are the record types it holds for; empty for all.  `once`: only the first
    finding in a file is printed, since a writer breaks it in every record.
    `older_formats`: also checked in WARC/0.17 and ARC, which mean the same by it.
    `standard`: the one that the clause is of, where it is not that of WARC.
    """

    code: str
    severity: Severity
    clauses: str
    judge: Callable[..., object]
    statement: str
    example: str
    types: tuple[str, ...] = ()
    once: bool = False
    older_formats: bool = False
    standard: str = ""

    @property
    def clause_1_0(self) -> str | None:
        """The clause of WARC/1.0; None where that has no such rule."""
        clause = self.clauses.partition("/")[0]
        return None if clause == "-" else clause

    @property
    def clause_1_1(self) -> str | None:
        """The clause of WARC/1.1; None where that has no such rule."""
        clause = self.clauses.rpartition("/")[2]
        return None if clause == "-" else clause

    def clause(self, version: str | None) -> str:
        """The clause to cite for a record of that version; None is any other version."""
        if self.standard:
            return f"{self.standard} §{self.clauses}"
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
            return self.older_formats
        return bool(self.clause_1_1 if version == "1.1" else self.clause_1_0)


class Hit(NamedTuple):
    """A broken rule, as a check reports it; `offset` only where it is not the record's."""

    code: str
    message: str
    offset: int | None = None
