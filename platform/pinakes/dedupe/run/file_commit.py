"""What tasks have written of one file, made current: published, then its records moved.

    sidecar published ─▶ published ─▶ locations ─▶ marked ─▶ moved

Any process may repeat any step; so several may commit files at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from pinakes.acts.act import Act
from pinakes.acts.generations import MarksOf, Written
from pinakes.catalog.file_rows import Held, read_entry, release_claim
from pinakes.errors import Conflict, DigestMismatch, InputRefused

from .decided_records import marks_of, newly_replaced
from .rewriting_run import Committed
from .run_report import CLAIMED, KEPT_FULL
from .tasks import FileOutcome

Commit = Callable[[str, Iterable[FileOutcome]], Iterator[Committed]]
"""Commits files that a run's tasks have written, in no order; given the run."""


class FileCommitter:
    """Commits files of a run, one after the other.  Not for several threads."""

    def __init__(self, act: Act) -> None:
        self._act = act

    def commit(self, outcome: FileOutcome) -> Committed:
        """Make current what was written, if anything was."""
        name, written = outcome.archive_file, outcome.written
        if written is None:
            why_not = "failed" if outcome.problem is not None else None
            return Committed(name, why_not, outcome.problem)
        if not outcome.count.records:
            return Committed(name, KEPT_FULL, refs=outcome.count)
        try:
            held = self._act.claim(name)
        except Conflict as problem:
            return Committed(name, CLAIMED, problem)
        try:
            committed = self._commit_held(held, outcome, written)
        except (Conflict, DigestMismatch, InputRefused) as problem:
            committed = Committed(name, "failed", problem)
        release_claim(self._act.rows, held)
        return committed

    def _commit_held(self, held: Held, outcome: FileOutcome, written: Written) -> Committed:
        act, name = self._act, held.archive_file
        if read_entry(act.rows, name).generation == written.generation:
            return Committed(name, "done already")

        def marks() -> MarksOf:
            decided = newly_replaced(act.archive, written.old_name, written.name)
            return partial(marks_of, decided, act.name)

        act.take(
            held,
            written,
            folder=outcome.folder,
            sidecar_sha256=outcome.sidecar_sha256,
            marks=marks,
        )
        return Committed(name, size=written.size, refs=outcome.count)
