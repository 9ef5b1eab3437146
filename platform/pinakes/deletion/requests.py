"""What is asked of deletions, and what came of them."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from pinakes.catalog.crawl_rows import (
    CANCELLED,
    CANCELLING,
    COMMITTED,
    OPEN,
    PURGED,
    PURGING,
    REMOVED,
    REMOVING,
)
from pinakes.catalog.reference_finder import CrossCrawlReference
from pinakes.errors import Conflict, PinakesError

REFUSE, PROMOTE, FORCE, WITHDRAW = "refuse", "promote", "force", "withdraw"
REFERENCES = (REFUSE, PROMOTE, FORCE)
"""What becomes of references to a crawl that is taken out."""
LISTED = 1000
"""At most so many references that prevent a deletion are listed."""


# --- a crawl


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlDeletion:
    """A verb that deletes crawls: in which states, through which, to which; `act_verb` names its
    acts."""

    verb: str
    before: tuple[str, ...]
    during: str
    after: str
    act_verb: str = "remove"


CANCEL = CrawlDeletion(verb="cancel", before=(OPEN,), during=CANCELLING, after=CANCELLED)
REMOVE = CrawlDeletion(verb="remove", before=(COMMITTED,), during=REMOVING, after=REMOVED)
PURGE = CrawlDeletion(
    verb="purge", before=(OPEN, COMMITTED), during=PURGING, after=PURGED, act_verb="purge"
)
CRAWL_DELETIONS = {one.verb: one for one in (CANCEL, REMOVE, PURGE)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeRequest:
    """The crawl to purge, and what becomes of references to it.

    `refuse`: nothing is done while there are any; `promote`: the earliest remaining copy becomes a
    full record again, and the others refer to it; `force`: they are left dangling.
    """

    crawl: str
    references: str = REFUSE

    def to_json(self) -> str:
        """For the row of a run."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> PurgeRequest:
        """The request of a run."""
        return cls(**json.loads(text))


class RemovedFile(NamedTuple):
    """What a removed file contained; the bytes are those of all its generations."""

    captures: int
    size_bytes: int


@dataclass(slots=True)
class DeletionReport:
    """What is done with one crawl, or would be.  Captures are named by row key.

    `promoted` are revisits by `dedupe` that become full again, `filled` those by crawlers that get
    the body that they refer to, `repointed` those of both that refer to another original.
    `references` prevent it; `dangling` are left without an original.  `freed_bytes` are those of
    all generations; `added_bytes` about what bodies take in others.
    `superseded` are older generations of other files that refer to the crawl: they go as well.
    Complete unless references prevent it, or files failed.
    """

    crawl: str
    collection: str
    act: str | None = None
    files: int = 0
    captures: int = 0
    freed_bytes: int = 0
    added_bytes: int = 0
    promoted: list[str] = field(default_factory=list)
    filled: list[str] = field(default_factory=list)
    repointed: list[str] = field(default_factory=list)
    references: list[CrossCrawlReference] = field(default_factory=list)
    dangling: list[CrossCrawlReference] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    was_gone: bool = False
    before: tuple[str, str] | None = None
    """The crawl's state before the purge, and the act that brought it there."""
    is_provided: bool = True
    """Whether all references are seen to, so that the crawl may be deleted; as older versions,
    which noted neither, closed crawls only then."""
    problems: list[PinakesError] = field(default_factory=list)

    def add(self, file: RemovedFile) -> None:
        """Count one more file."""
        self.files += 1
        self.captures += file.captures
        self.freed_bytes += file.size_bytes

    @property
    def is_complete(self) -> bool:
        return not self.references and not self.problems

    @property
    def is_to_go_on(self) -> bool:
        """Whether something was in the way that ends by itself: run again, it goes on."""
        return any(isinstance(problem, Conflict) for problem in self.problems)

    def keep_done(self, left: Container[str]) -> None:
        """Keep those changes only of which the captures are not among these, which are left."""
        for name in ("promoted", "filled", "repointed"):
            setattr(self, name, [key for key in getattr(self, name) if key not in left])

    def as_json(self) -> dict[str, object]:
        """All but problems."""
        return {
            "crawl": self.crawl,
            "collection": self.collection,
            "act": self.act,
            "files": self.files,
            "captures": self.captures,
            "freed_bytes": self.freed_bytes,
            "added_bytes": self.added_bytes,
            "promoted": self.promoted,
            "filled": self.filled,
            "repointed": self.repointed,
            "references": [reference._asdict() for reference in self.references],
            "dangling": [reference._asdict() for reference in self.dangling],
            "superseded": self.superseded,
            "before": self.before,
            "is_provided": self.is_provided,
        }

    def go_on_from(self, noted: Mapping[str, Any]) -> None:
        """Take over what a process that died had noted of the same act."""
        for name in ("freed_bytes", "added_bytes", "files", "captures"):
            setattr(self, name, noted.get(name, 0))
        for name in ("promoted", "filled", "repointed", "superseded"):
            setattr(self, name, list(noted.get(name, ())))
        before = noted.get("before")
        self.before = (before[0], before[1]) if before is not None else None
        self.is_provided = noted.get("is_provided", True)
        self.dangling = [CrossCrawlReference(**one) for one in noted.get("dangling", ())]


# --- captures


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


class GenerationToWithdraw(NamedTuple):
    """A stored file that holds bytes to be withdrawn."""

    file: str
    size: int


@dataclass(slots=True)
class WithdrawalReport:
    """What is done in one collection, or would be.

    Captures are named by row key.  `unprovided` are revisits that a crawler wrote, which hold no
    bytes: they cannot become full, so nothing is done while they are left.  `already` were
    withdrawn before.  `records` are the tombstones that were put, those for records that belong to
    captures included.  `refused_in` are other collections in which it is refused: nothing is done
    in this one either.  Complete unless there are such, or files failed.
    """

    collection: str
    act: str | None = None
    captures: list[str] = field(default_factory=list)
    already: int = 0
    promoted: list[str] = field(default_factory=list)
    repointed: list[str] = field(default_factory=list)
    unprovided: list[tuple[str, str]] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    generations: list[GenerationToWithdraw] = field(default_factory=list)
    records: int = 0
    problems: list[PinakesError] = field(default_factory=list)
    refused_in: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        return not (self.unprovided or self.refused_in or self.problems)

    @property
    def is_to_go_on(self) -> bool:
        """Whether something was in the way that ends by itself: run again, it goes on."""
        return any(isinstance(problem, Conflict) for problem in self.problems)

    def as_json(self) -> dict[str, object]:
        """All but problems, and where else it was refused."""
        return {
            "collection": self.collection,
            "act": self.act,
            "captures": self.captures,
            "withdrawn_before": self.already,
            "records": self.records,
            "files": self.files,
            "generations": [stored._asdict() for stored in self.generations],
            "promoted": self.promoted,
            "repointed": self.repointed,
            "unprovided": [
                {"capture": revisit, "original": original} for revisit, original in self.unprovided
            ],
        }
