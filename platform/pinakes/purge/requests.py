"""What is asked of a purge, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from pinakes.catalog.references import Reference
from pinakes.errors import Conflict, PinakesError

REFUSE, PROMOTE, FORCE = "refuse", "promote", "force"


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


@dataclass(slots=True)
class PurgeReport:
    """What is done, or would be.  Captures are named by row key.

    `promoted` are revisits by `dedupe` that become full again, `filled` those by crawlers that get
    the body that they refer to, `repointed` those of both that refer to another original.
    `references` prevent the purge; `dangling` are left without an original.  `freed_bytes` are
    those of all generations of the crawl, `added_bytes` about what bodies take in others.
    `superseded` are older generations of other files that refer to the crawl: they go as well.
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
    references: list[Reference] = field(default_factory=list)
    dangling: list[Reference] = field(default_factory=list)
    superseded: list[str] = field(default_factory=list)
    was_purged: bool = False
    before: tuple[str, str] | None = None
    """The crawl's state before the purge, and the act that brought it there."""
    is_provided: bool = True
    """Whether all references are seen to, so that the crawl may be deleted; as older versions,
    which noted neither, closed crawls only then."""
    problems: list[PinakesError] = field(default_factory=list)

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
        self.dangling = [Reference(**one) for one in noted.get("dangling", ())]
