"""fsck of what dead acts have left of a file: claims, landings, removals, hidden captures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor, read_lease
from pinakes.acts.dead_writers import clear_dead_asides, dead_asides
from pinakes.archive_store.port import ASIDE, ArchiveStore
from pinakes.catalog.file_counts import put_landed_counts
from pinakes.catalog.file_records import read_generations
from pinakes.catalog.file_rows import (
    FileEntry,
    Held,
    read_entry,
    release_claim,
    set_inflight,
    set_state,
    verb_of,
)
from pinakes.catalog.sidecar import sidecar_name
from pinakes.catalog.stored_bytes import how_bytes_differ
from pinakes.deletion.file_removal import VERB as REMOVAL
from pinakes.deletion.file_removal import FileRemover
from pinakes.deletion.requests import PURGE
from pinakes.errors import Conflict
from pinakes.hbase_schema.file_cells import Claim
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.generation_names import Generation, generation_of
from pinakes.row_store.port import RowStore

from .findings import FsckFinding
from .quarantine import VERB, Quarantine

_CONTINUED = {
    "dedupe": "`pinakes dedupe` of the collection continues it",
    "withdraw": "the same `pinakes withdraw` continues it",
    "purge": "the same `pinakes crawl remove` continues it",
}
"""Acts that go on under their lease when their verb is called again."""


class DeadActs:
    """Finds acts whose owner has died, and completes or undoes them."""

    def __init__(
        self, rows: RowStore, archive: ArchiveStore, actor: Actor, quarantine: Quarantine
    ) -> None:
        self._rows = rows
        self._archive = archive
        self._actor = actor
        self._quarantine = quarantine

    def is_alive(self, claim: Claim | None) -> bool:
        """Whether a live process holds this claim."""
        return (
            claim is not None
            and claim.expires_ms > self._actor.now_ms()
            and not self._actor.is_gone(claim.owner)
        )

    def settled(self, entry: FileEntry) -> FileEntry | None:
        """The file as its last process has left it; None while a live process works on it.

        Read again once its owner is gone: it may have ended its act between the two looks.
        """
        while not self.is_alive(entry.claim):
            again = read_entry(self._rows, entry.archive_file)
            if again == entry:
                return entry
            entry = again
        return None

    def has_changed(self, entry: FileEntry) -> bool:
        """Whether another process has worked on a file, or begun to, since it was read."""
        now = read_entry(self._rows, entry.archive_file)
        is_ours = now.claim is not None and now.claim.owner == self._actor.owner
        return not _is_as(entry, now) or (now.claim != entry.claim and not is_ours)

    @contextmanager
    def holding(self, entry: FileEntry) -> Iterator[Held]:
        """Hold the file while it is mended.

        Raises:
            Conflict: another process works on it, or has done so since this was read of it.
        """
        held = self._claim(entry.archive_file, VERB)
        try:
            self._require_as(entry)
            held = self._keep_asides(held)
            yield held
        finally:
            release_claim(self._rows, held)

    def _require_as(self, entry: FileEntry) -> None:
        if not _is_as(entry, read_entry(self._rows, entry.archive_file)):
            raise Conflict(
                "another process has worked on it since: run fsck again",
                file=entry.archive_file,
            )

    def _claim(self, archive_file: str, verb: str) -> Held:
        return self._actor.claim(self._rows, archive_file, act=self._actor.new_act(verb))

    def _keep_asides(self, held: Held) -> Held:
        """Move what dead writers wrote into the quarantine: it may be all there is."""
        there = {stored.name for stored in self._archive.list(ASIDE)}
        for name in there.intersection(dead_asides(held)):
            self._quarantine.keep(name, code="aside", why="its writer is gone")
        return clear_dead_asides(self._rows, self._archive, held)

    def findings(self, entry: FileEntry, *, is_hidden: bool) -> Iterator[FsckFinding]:
        """Yield what is wrong with a file that no process works on."""
        state = entry.state
        if state is not None and (state.is_landing or state is FileState.REFUSED):
            yield self._dead_landing(entry)
            return
        if is_leaving(entry):
            yield self._dead_removal(entry)
            return
        is_lost = state is None or _is_gone_by_no_removal(entry)
        stored = self._stored_generation(entry) if is_lost else None
        if stored is not None:
            yield FsckFinding(
                code="state-lost",
                file=entry.archive_file,
                message=f"its row does not say that {stored.name} is current, which is what was "
                f"stored last{'' if state is None else f': it says {state}, by no removal'}",
                repair="note it as stored and current",
                mend=partial(self._note_stored, entry, stored),
            )
        if is_hidden:
            yield self.hidden(entry, f"is {entry.state or 'unknown'}")
        if entry.claim is not None and entry.unfinished_act is not None:
            yield self._dead_claim(entry, entry.claim)

    def _dead_removal(self, entry: FileEntry) -> FsckFinding:
        """What it held may be the last whole copy: bytes are kept."""
        return FsckFinding(
            code="dead-removal",
            file=entry.archive_file,
            message=f"is {entry.state}; its removal did not finish",
            repair="complete the removal; move its bytes to the quarantine",
            mend=partial(self._withdraw, entry),
        )

    def _stored_generation(self, entry: FileEntry) -> Generation | None:
        """The last generation of a landed file that an act wrote and none dropped, if it has the
        bytes that were stored; None while an act is unfinished."""
        if entry.facts is None or entry.unfinished_act is not None:
            return None
        noted = read_generations(self._rows, entry.archive_file)
        last = max((number for number, facts in noted.items() if not facts.dropped), default=0)
        facts = noted.get(last)
        if facts is None or how_bytes_differ(self._archive, facts.file, facts) is not None:
            return None
        return generation_of(facts.file)

    def _note_stored(self, entry: FileEntry, stored: Generation) -> None:
        with self.holding(entry) as held:
            # In one write, as a landing ends: a file that is `landing` may be taken out.
            set_state(
                self._rows,
                held,
                FileState.LANDING,
                FileState.STORED,
                generation=stored.number,
                ending=stored.ending,
            )

    def _dead_claim(self, entry: FileEntry, claim: Claim) -> FsckFinding:
        verb = verb_of(claim.act)
        if verb in _CONTINUED and self._goes_on(entry):
            return FsckFinding(
                code="unfinished-act",
                file=entry.archive_file,
                message=f"{claim.act} did not finish: {_CONTINUED[verb]}",
            )
        return FsckFinding(
            code="dead-claim",
            file=entry.archive_file,
            message=f"claimed by {claim.owner}, which has ended",
            repair="release the claim",
            mend=partial(self._release, entry),
        )

    def _goes_on(self, entry: FileEntry) -> bool:
        """Whether an act under the lease of its collection has not ended, this one or a later."""
        lease = read_lease(self._rows, entry.facts.collection) if entry.facts else None
        return lease is not None and lease.expires_ms != 0

    def _release(self, entry: FileEntry) -> None:
        with self.holding(entry):
            """Taking the claim over and releasing it is all."""

    def hidden(self, entry: FileEntry, message: str) -> FsckFinding:
        """A file whose captures are hidden although no process works on it."""
        return FsckFinding(
            code="hidden",
            file=entry.archive_file,
            message=message,
            repair="show its captures again",
            mend=partial(self._show, entry),
        )

    def _show(self, entry: FileEntry) -> None:
        with self.holding(entry) as held:
            set_inflight(self._rows, held, None)

    def _dead_landing(self, entry: FileEntry) -> FsckFinding:
        facts = entry.facts
        published = (
            facts is not None
            and entry.state is FileState.LANDING
            and facts.act == entry.state_act  # else of an earlier landing, and rows may be missing
            and self._archive.size(sidecar_name(entry.archive_file)) is not None
            and how_bytes_differ(self._archive, entry.archive_file, facts) is None
        )
        what = "rows" if entry.state is FileState.LOADING else "bytes"
        return FsckFinding(
            code="dead-landing",
            file=entry.archive_file,
            message=f"is {entry.state}; its {what} {'exist' if published else 'do not exist'}",
            repair="complete the landing"
            if published
            else "withdraw it, and keep what it wrote in the quarantine: land the file again",
            mend=partial(self._complete if published else self._withdraw, entry),
        )

    def _complete(self, entry: FileEntry) -> None:
        facts = entry.facts
        with self.holding(entry) as held:
            if facts is None:
                return
            put_landed_counts(
                self._rows,
                entry.archive_file,
                facts,
                act=facts.act,
                act_time_ms=held.claim.act_time_ms,
            )
            set_state(self._rows, held, entry.state, FileState.STORED, generation=1)
            set_inflight(self._rows, held, None)

    def _withdraw(self, entry: FileEntry) -> None:
        """Take it out, and keep what it had published: it may be all there is.

        What has landed since then is no leftover, and stays.
        """
        code = "dead-removal" if is_leaving(entry) else "dead-landing"
        why = f"is {entry.state}, which did not end"

        def keep(name: str) -> None:
            self._quarantine.keep(name, code=code, why=why)

        held = self._claim(entry.archive_file, REMOVAL)
        act = Act(self._rows, self._archive, self._actor, held.claim.act)
        try:
            self._require_as(entry)
            held = self._keep_asides(held)
        except BaseException:
            release_claim(self._rows, held)
            raise
        FileRemover(act, discard=keep).remove(held)


def _is_as(entry: FileEntry, now: FileEntry) -> bool:
    """Whether only the claim may be another."""
    return replace(now, claim=entry.claim) == entry


def is_leaving(entry: FileEntry) -> bool:
    """Whether a removal of the file has begun."""
    is_going = entry.state is not None and entry.state.is_leaving
    return (is_going and _is_by_removal(entry)) or entry.is_claimed_by(REMOVAL)


def _is_gone_by_no_removal(entry: FileEntry) -> bool:
    """Whether its state says that it goes, or is gone, by an act that takes nothing out."""
    state = entry.state
    says_so = state is not None and (state.is_leaving or state.is_gone)
    return says_so and not _is_by_removal(entry)


def _is_by_removal(entry: FileEntry) -> bool:
    return verb_of(entry.state_act or "") in (REMOVAL, PURGE.act_verb)
