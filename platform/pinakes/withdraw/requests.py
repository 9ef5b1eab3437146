"""What is asked of a take-down, and what came of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from pinakes.errors import PinakesError

PROMOTE, WITHDRAW = "promote", "withdraw"


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawalRequest:
    """Captures, digests or URLs to withdraw; why, and who asks.

    `references`: what becomes of revisits of withdrawn originals that were not asked for.
    `promote`: the earliest becomes a full record again, and the others refer to it; `withdraw`:
    they are withdrawn as well.
    """

    targets: tuple[str, ...]
    reason: str
    by: str
    references: str = PROMOTE

    def to_json(self) -> str:
        """For the row of a run."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> WithdrawalRequest:
        """The request of a run."""
        fields = json.loads(text)
        return cls(**{**fields, "targets": tuple(fields["targets"])})


class StoredGeneration(NamedTuple):
    """A stored file that holds bytes to be withdrawn."""

    file: str
    size: int


@dataclass(slots=True)
class WithdrawalReport:
    """What is done in one collection, or would be.

    Captures are named by row key.  `unprovided` are revisits that a crawler wrote, which hold no
    bytes: they cannot become full, so nothing is done while they are left.  `already` were
    withdrawn before.  `records` are the tombstones that were put, those for records that belong to
    captures included.  `refused_in` are other collections that have unprovided revisits: nothing is
    done in this one either.  Complete unless there are such, or files failed.
    """

    collection: str
    act: str | None = None
    captures: list[str] = field(default_factory=list)
    already: int = 0
    promoted: list[str] = field(default_factory=list)
    repointed: list[str] = field(default_factory=list)
    unprovided: list[tuple[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    generations: list[StoredGeneration] = field(default_factory=list)
    records: int = 0
    problems: list[PinakesError] = field(default_factory=list)
    refused_in: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        return not (self.unprovided or self.refused_in or self.problems)
