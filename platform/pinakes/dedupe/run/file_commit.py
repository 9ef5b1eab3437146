"""What tasks have written of one file, made current: published, then its records moved.

    sidecar published ─▶ published ─▶ locations ─▶ marked ─▶ moved

Any process may repeat any step; so several may commit files at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.asides import clear_dead_asides
from pinakes.catalog.file_rows import Held, read_entry, release_claim
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import Conflict, DigestMismatch, InputRefused
from pinakes.rewrite.generations import Written
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
        clear_dead_asides(self._archive, held)
        try:
            committed = self._commit_claimed(held, outcome, written)
        except (Conflict, DigestMismatch, InputRefused) as problem:
            committed = Committed(name, "failed", problem)
        release_claim(self._rows, held)
        return committed

    def _commit_claimed(self, held: Held, outcome: FileOutcome, written: Written) -> Committed:
        name = held.archive_file
        old = read_entry(self._rows, name).current
        if old.number == written.generation:
            return Committed(name, "done already")
        if (old.number + 1, old.name) != (written.generation, written.old_name):
            raise Conflict("another act has moved this file's records", file=name)
        self._publish(outcome, written)
        decided = newly_replaced(self._archive, old.name, written.name)
        move_records(
            self._rows, self._archive, held, written, decided=decided, run=self._run, at=self._at
        )
        return Committed(name, size=written.size, refs=outcome.count)

    def _publish(self, outcome: FileOutcome, written: Written) -> None:
        """Give what the task wrote its names, sidecar first.

        A file that has one, and a sidecar, was left by an act that ended before it was current.
        """
        sidecar = sidecar_name(written.name)
        if (
            self._archive.size(sidecar) is None
            and self._archive.size(written.name) is not None
            and self._archive.checksum(written.name) != written.sha256
        ):
            raise DigestMismatch("another file has the new generation's name", file=written.name)
        self._publish_one(outcome, sidecar, outcome.sidecar_sha256)
        self._at("sidecar published")
        self._publish_one(outcome, written.name, written.sha256)
        self._at("published")

    def _publish_one(self, outcome: FileOutcome, name: str, sha256: str | None) -> None:
        archive = self._archive
        if archive.size(name) is not None and archive.checksum(name) != sha256:
            archive.delete(name)
        if archive.size(name) is None:
            archive.publish_from(self._run, f"{outcome.folder}/{name}", name)
