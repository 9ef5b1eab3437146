"""What tasks have written of one file, made current: published, then its records moved.

    sidecar published ─▶ published ─▶ locations ─▶ marked ─▶ moved

Any process may repeat any step; so several may commit files at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.asides import clear_dead_asides
from pinakes.catalog.file_records import require_as_stored, stored_sha256_of
from pinakes.catalog.file_rows import Held, read_entry, release_claim
from pinakes.errors import Conflict, DigestMismatch, InputRefused
from pinakes.rewrite.generations import Written, publish_taken
from pinakes.row_store.port import RowStore

from .decided_records import newly_replaced
from .rewriting_run import Committed, move_records
from .run_report import CLAIMED, KEPT_FULL
from .tasks import FileOutcome

Commit = Callable[[str, Iterable[FileOutcome]], Iterator[Committed]]
"""Commits files that a run's tasks have written, in no order; given the run."""


class FileCommitter:
    """Commits files of a run, one after the other.  Not for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        *,
        run: str,
        claim: Callable[[str], Held],
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`claim(archive_file)` takes a file's claim for the run."""
        self._rows = rows
        self._archive = archive
        self._run = run
        self._claim = claim
        self._at = at

    def commit(self, outcome: FileOutcome) -> Committed:
        """Make current what was written, if anything was."""
        name, written = outcome.archive_file, outcome.written
        if written is None:
            why_not = "failed" if outcome.problem is not None else None
            return Committed(name, why_not, outcome.problem)
        if not outcome.count.records:
            return Committed(name, KEPT_FULL, refs=outcome.count)
        try:
            held = self._claim(name)
        except Conflict as problem:
            return Committed(name, CLAIMED, problem)
        held = clear_dead_asides(self._archive, held)
        try:
            committed = self._commit_claimed(held, outcome, written)
        except (Conflict, DigestMismatch, InputRefused) as problem:
            committed = Committed(name, "failed", problem)
        release_claim(self._rows, held)
        return committed

    def _commit_claimed(self, held: Held, outcome: FileOutcome, written: Written) -> Committed:
        name = held.archive_file
        entry = read_entry(self._rows, name)
        old = entry.current
        if old.number == written.generation:
            return Committed(name, "done already")
        if (old.number + 1, old.name) != (written.generation, written.old_name):
            raise Conflict("another act has moved this file's records", file=name)
        require_as_stored(old.name, written.old_sha256, stored_sha256_of(self._rows, entry))
        publish_taken(
            self._archive,
            written,
            token=self._run,
            folder=outcome.folder,
            sidecar_sha256=outcome.sidecar_sha256,
            at=self._at,
        )
        decided = newly_replaced(self._archive, old.name, written.name)
        move_records(
            self._rows, self._archive, held, written, decided=decided, run=self._run, at=self._at
        )
        return Committed(name, size=written.size, refs=outcome.count)
