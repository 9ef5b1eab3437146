"""fsck of what dead acts have left of a file: claims, landings, removals, hidden captures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeGuard

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_counts import put_landed_counts
from pinakes.catalog.file_rows import (
    FileEntry,
    Held,
    read_entry,
    release_claim,
    set_inflight,
    set_state,
)
from pinakes.catalog.sidecar import sidecar_name
from pinakes.hbase_schema.file_cells import Claim
from pinakes.hbase_schema.file_states import FileState
from pinakes.row_store.port import RowStore

from .acts import Actor
from .file_removal import VERB as REMOVAL
from .file_removal import FileRemover
from .fsck_findings import FsckFinding

VERB = "fsck"


class DeadActs:
    """Finds acts whose owner has died, and completes or undoes them."""

    def __init__(self, rows: RowStore, archive: ArchiveStore, actor: Actor) -> None:
        self._rows = rows
        self._archive = archive
        self._actor = actor

    def is_alive(self, claim: Claim | None) -> bool:
        """Whether a live process holds this claim."""
        return (
            claim is not None
            and claim.expires_ms > self._actor.now_ms()
            and not self._actor.is_gone(claim.owner)
        )

    @contextmanager
    def holding(self, archive_file: str) -> Iterator[Held]:
        """Hold the file while it is mended."""
        held = self._claim(archive_file)
        try:
            yield held
        finally:
            release_claim(self._rows, held)

    def _claim(self, archive_file: str) -> Held:
        return self._actor.claim(self._rows, archive_file, act=self._actor.new_act(VERB))

    def findings(self, entry: FileEntry, *, is_hidden: bool) -> Iterator[FsckFinding]:
        """Yield what is wrong with a file that no process works on."""
        state = entry.state
        if state is not None and (state.is_landing or state is FileState.REFUSED):
            yield self._dead_landing(entry)
            return
        if is_leaving(entry):
            yield FsckFinding(
                code="dead-removal",
                file=entry.archive_file,
                message=f"is {entry.state}; its removal did not finish",
                repair="complete the removal",
                mend=partial(self._take_out, entry.archive_file),
            )
            return
        if is_hidden:
            yield self.hidden(entry.archive_file, f"is {entry.state or 'unknown'}")
        if _is_unfinished(entry.claim):
            yield self._dead_claim(entry, entry.claim)

    def _dead_claim(self, entry: FileEntry, claim: Claim) -> FsckFinding:
        if claim.act.startswith("dedupe-"):
            return FsckFinding(
                code="unfinished-act",
                file=entry.archive_file,
                message=f"{claim.act} did not finish: `pinakes dedupe` continues it",
            )
        return FsckFinding(
            code="dead-claim",
            file=entry.archive_file,
            message=f"claimed by {claim.owner}, which has ended",
            repair="release the claim",
            mend=partial(self._release, entry.archive_file),
        )

    def _release(self, archive_file: str) -> None:
        with self.holding(archive_file):
            """Taking the claim over and releasing it is all."""

    def hidden(self, archive_file: str, message: str) -> FsckFinding:
        """A file whose captures are hidden although no process works on it."""
        return FsckFinding(
            code="hidden",
            file=archive_file,
            message=message,
            repair="show its captures again",
            mend=partial(self._show, archive_file),
        )

    def _show(self, archive_file: str) -> None:
        with self.holding(archive_file) as held:
            set_inflight(self._rows, held, None)

    def _dead_landing(self, entry: FileEntry) -> FsckFinding:
        facts = entry.facts
        published = (
            facts is not None
            and entry.state is FileState.LANDING
            and facts.act == entry.state_act  # else of an earlier landing, and rows may be missing
            and self._archive.size(entry.archive_file) == facts.size
            and self._archive.size(sidecar_name(entry.archive_file)) is not None
            and self._archive.checksum(entry.archive_file) == facts.sha256
        )
        what = "rows" if entry.state is FileState.LOADING else "bytes"
        return FsckFinding(
            code="dead-landing",
            file=entry.archive_file,
            message=f"is {entry.state}; its {what} {'exist' if published else 'do not exist'}",
            repair="complete the landing" if published else "withdraw it: land the file again",
            mend=partial(self._complete if published else self._take_out, entry.archive_file),
        )

    def _complete(self, archive_file: str) -> None:
        held = self._claim(archive_file)
        entry = read_entry(self._rows, archive_file)
        facts = entry.facts
        if facts is not None:
            put_landed_counts(
                self._rows,
                archive_file,
                facts,
                act=facts.act,
                act_time_ms=held.claim.act_time_ms,
            )
            set_state(self._rows, held, entry.state, FileState.STORED, generation=1)
            set_inflight(self._rows, held, None)
        release_claim(self._rows, held)

    def _take_out(self, archive_file: str) -> None:
        FileRemover(self._rows, self._archive, self._actor).remove(archive_file)


def is_leaving(entry: FileEntry) -> bool:
    """Whether a removal of the file has begun."""
    begun = _is_unfinished(entry.claim) and entry.claim.act.startswith(f"{REMOVAL}-")
    return begun or (entry.state is not None and entry.state.is_leaving)


def _is_unfinished(claim: Claim | None) -> TypeGuard[Claim]:
    return claim is not None and claim.expires_ms != 0
