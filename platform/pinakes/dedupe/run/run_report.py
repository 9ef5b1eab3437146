"""What a run of `dedupe` is asked for, and what it reports: step by step, and at its end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pinakes.dedupe.decide.policy import DedupePolicies, parse_policies
from pinakes.dedupe.decide.trust import Trust
from pinakes.dedupe.write.refs import RefsCount
from pinakes.errors import InputRefused, MalformedRecord, PinakesError, at_place

STORE_STEPS = ("reading sidecars", "comparing payloads", "marking originals", "rewriting files")
"""Of a run over a store.  By jobs, the second and the last are steps of the jobs' own."""

FILES_STEPS = ("reading files", "comparing payloads", "rewriting files", "validating")
"""Of a run on files."""

COUNTING = "counting what would be saved"
"""Of a run on files that writes none: its last step."""

CLAIMED = "claimed by another"
KEPT_FULL = "all left full"
DONE_ALREADY = "done already"
_NEVER_SHARED = ("sha256:", "sha512:")
"""Digests that unequal bodies do not have in common."""
WANTS_ROOM = "max-extra-bytes"
"""Why a file is left that the same command rewrites once old generations are dropped."""


class DedupeProgress(Protocol):
    """How a run reports how far it is; totals and counts are bytes of archive files."""

    def begin(self, step: str, total_bytes: int) -> None:
        """The step before is done, and another begins."""
        ...

    def advance(self, count: int) -> None:
        """So many more bytes are done; 0: still at work."""
        ...


class Unwatched:
    """No one watches."""

    def begin(self, step: str, total_bytes: int) -> None:
        pass

    def advance(self, count: int) -> None:
        pass


UNWATCHED: DedupeProgress = Unwatched()


def numbered(steps: tuple[str, ...]) -> Callable[[int], str]:
    """What the step of this number, from 1, is called: `step 2 of 4, comparing payloads`."""
    return lambda number: f"step {number} of {len(steps)}, {steps[number - 1]}"


store_step = numbered(STORE_STEPS)
files_step = numbered(FILES_STEPS)


def policies_text(tables: Sequence[Mapping[str, object]]) -> str:
    """The tables `[[dedupe]]` for a request.  Raises ConfigError where one is wrong."""
    parse_policies(tables)
    return json.dumps(tables, sort_keys=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupeRequest:
    """What a run is to do; `crawl` None is the whole collection."""

    collection: str
    crawl: str | None
    compare: bool = True
    sample_bytes: float | None = None
    """With `compare`: believe digests, but for this part of them; None: read all bodies."""
    seed: str = ""
    min_saving_bytes: int | None = 64
    min_file_saving: float = 0.01
    max_extra_bytes: int | None = None
    policies: str = "[]"
    """The tables `[[dedupe]]` in force, as JSON."""

    @property
    def dedupe_policies(self) -> DedupePolicies:
        """What `policies` comes to.  Raises ConfigError."""
        return parse_policies(json.loads(self.policies))

    @property
    def trust(self) -> Trust | None:
        """What `sample_bytes` comes to."""
        if self.sample_bytes is None:
            return None
        return Trust(sample=self.sample_bytes, seed=self.seed)


@dataclass(slots=True)
class DedupeReport:
    """What a run did."""

    run: str
    files: int = 0
    targets_restored: int = 0
    files_mended: int = 0
    """Damaged current files that have records of old generations again."""
    records_mended: int = 0
    files_left: Counter[str] = field(default_factory=Counter)
    extra_bytes: int = 0
    refs: RefsCount = field(default_factory=RefsCount)
    problems: list[PinakesError] = field(default_factory=list)
    decisions: dict[str, object] = field(default_factory=dict)
    generations: Mapping[str, str] = field(default_factory=dict)
    """The stored file of each file that was decided on."""

    @property
    def is_complete(self) -> bool:
        """Whether no file was left because another act had it: its decisions still stand."""
        return not self.files_left[CLAIMED]

    def leave(self, why: str, problem: PinakesError) -> None:
        """Note a file that could not be rewritten."""
        self.files_left[why] += 1
        self.problems.append(problem)

    @property
    def all_problems(self) -> list[PinakesError]:
        """All that an operator must look at: files, bodies, records that were left for it."""
        return [*self._unreadable(), *self._unequal(), *self.problems, *self.refs.problems]

    def _unequal(self) -> Iterator[PinakesError]:
        """Bodies that had one SHA-256 when they landed, and differ now that they were compared."""
        counts: Any = self.decisions.get("resolve", {})
        for found in counts.get("collisions", ()):
            if found["digest"].startswith(_NEVER_SHARED):
                names = [(self.generations.get(c["file"], c["file"]), c["offset"])
                         for c in found["captures"]]  # fmt: skip
                others = ", ".join(at_place(*place) for place in names[1:])
                yield MalformedRecord(
                    f"its body had one SHA-256 with that of {others} when they landed, and differs "
                    "from it now: one of them is damaged (`pinakes fsck --full` says which); "
                    "neither refers to the other",
                    file=names[0][0],
                    offset=names[0][1],
                )

    def _unreadable(self) -> Iterator[PinakesError]:
        # Decided when the run began, and kept in its folder.
        counts: Any = self.decisions.get("resolve", {})
        for found in counts.get("unreadable", ()):
            file = self.generations.get(found["file"], found["file"])
            yield InputRefused(found["message"], file=file, offset=found["offset"])

    def add_file(self, size: int, count: RefsCount) -> None:
        """Note a file that was: `size` bytes were written."""
        self.files += 1
        self.extra_bytes += size
        self.refs.add(count)

    @property
    def is_stopped(self) -> bool:
        """Whether there was no room for all files: the same command goes on later."""
        return self.files_left[WANTS_ROOM] > 0

    def as_json(self) -> dict[str, object]:
        return {
            "run": self.run,
            "files_rewritten": self.files,
            "targets_restored": self.targets_restored,
            "files_mended": self.files_mended,
            "records_mended": self.records_mended,
            "files_left": dict(+self.files_left),
            "stopped": self.is_stopped,
            "revisits": self.refs.records,
            "saved_bytes": self.refs.saved_bytes,
            "extra_bytes": self.extra_bytes,
            "left_full": dict(self.refs.left_full),
            "problems": [str(problem) for problem in self.problems],
            "decisions": self.decisions,
        }
