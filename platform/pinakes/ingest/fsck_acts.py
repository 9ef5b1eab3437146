"""fsck of what acts that died have left of a file: claims, landings, removals, hiding."""

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
    """Finds what acts without an owner have left, and ends or undoes it."""

    def __init__(self, rows: RowStore, archive: ArchiveStore, actor: Actor) -> None:
        self._rows = rows
        self._archive = archive
        self._actor = actor

    def is_alive(self, claim: Claim | None) -> bool:
        """Whether somebody is at work under this claim."""
        return (
            claim is not None
            and claim.expires_ms > self._actor.now_ms()
            and not self._actor.is_gone(claim.owner)
        )

    @contextmanager
    def holding(self, archive_file: str) -> Iterator[Held]:
        """Hold the file while something of it is mended."""
        held = self._claim(archive_file)
        try:
            yield held
        finally:
            release_claim(self._rows, held)

    def _claim(self, archive_file: str) -> Held:
        return self._actor.claim(self._rows, archive_file, act=self._actor.new_act(VERB))

    def findings(self, entry: FileEntry, *, is_hidden: bool) -> Iterator[FsckFinding]:
        """What is wrong with a file that nobody works on."""
        state = entry.state
        if state is not None and (state.is_landing or state is FileState.REFUSED):
            yield self._dead_landing(entry)
            return
        if is_leaving(entry):
            yield FsckFinding(
                code="dead-removal",
                file=entry.archive_file,
                message=f"is {entry.state}, and was to leave",
                repair="end the removal",
                mend=partial(self._take_out, entry.archive_file),
            )
            return
        if is_hidden:
            yield self.hidden(entry.archive_file, f"is {entry.state or 'not known'}")
        if _is_unfinished(entry.claim):
            yield self._dead_claim(entry, entry.claim)

    def _dead_claim(self, entry: FileEntry, claim: Claim) -> FsckFinding:
        if claim.act.startswith("dedupe-"):
            return FsckFinding(
                code="unfinished-act",
                file=entry.archive_file,
                message=f"{claim.act} did not end: `pinakes dedupe` goes on with it",
            )
        return FsckFinding(
            code="dead-claim",
            file=entry.archive_file,
            message=f"claimed by {claim.owner}, who is gone",
            repair="give the claim back",
            mend=partial(self._release, entry.archive_file),
        )

    def _release(self, archive_file: str) -> None:
        with self.holding(archive_file):
            """Taking the claim over and giving it back is all."""

    def hidden(self, archive_file: str, message: str) -> FsckFinding:
        """A file whose captures are hidden for nobody."""
        return FsckFinding(
            code="hidden",
            file=archive_file,
            message=message,
            repair="take it out of flight",
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
            and facts.act == entry.state_act  # else of a landing before, and rows may lack
            and self._archive.size(entry.archive_file) == facts.size
            and self._archive.size(sidecar_name(entry.archive_file)) is not None
            and self._archive.checksum(entry.archive_file) == facts.sha256
        )
        what = "rows" if entry.state is FileState.LOADING else "bytes"
        return FsckFinding(
            code="dead-landing",
            file=entry.archive_file,
            message=f"is {entry.state}; its {what} {'are' if published else 'are not'} there",
            repair="end the landing" if published else "withdraw it: land the file again",
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
