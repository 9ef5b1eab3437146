"""Completes or undoes acts that were unfinished at the snapshot, in the restored store.

No process works in a restored store, so every claim is dead.  A landing is completed if its bytes
exist, else it is taken out; a removal of a crawl is completed; a run of dedupe is stopped, as one
that has no more room: each file stays wholly in its generation.

Rows of other tables may be older than those of `files` (see `port`): for files that changed since
the store was pinned, rows are made to agree with the sidecar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from pinakes.acts.actor import Actor, read_lease, release_lease
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.crawl_rows import COMPLETED_BY, GONE, CrawlEntry, read_crawl, scan_crawls
from pinakes.catalog.crawl_rows import LEAVING as CRAWL_LEAVING
from pinakes.catalog.file_counts import has_landed
from pinakes.catalog.file_records import read_generations, stored_names
from pinakes.catalog.file_rows import (
    INFLIGHT,
    FileEntry,
    Held,
    read_entry,
    release_claim,
    scan_entries,
    scan_inflight,
    set_inflight,
    set_state,
)
from pinakes.catalog.run_rows import RUNNING
from pinakes.catalog.run_rows import TABLE as RUNS
from pinakes.catalog.sidecar import sidecar_name
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CRAWL_DELETIONS
from pinakes.errors import PinakesError
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import (
    STORE_KEY,
    crawl_of,
    encode_crawl_key,
    encode_file_key,
)
from pinakes.hbase_schema.run_cells import CrawlFacts, Lease, RunState
from pinakes.ingest.fsck.acts import DeadActs
from pinakes.ingest.fsck.quarantine import Quarantine
from pinakes.row_store.cells import require_cell
from pinakes.row_store.port import Delete, Put, RowStore, get_row

from .contents import BackupFacts
from .findings import SettledFinding
from .stored_rows import StoredFileSettling

_CODES = {"dead-landing": "landing", "dead-removal": "removal"}
_MARGIN_MS = 60_000
"""Maximum difference of the clocks of a store's servers."""
VERB = "restore"


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvivingActor(Actor):
    """The only process in a restored store: every other owner counts as gone."""

    def is_gone(self, owner: str) -> bool:
        """Whether the owner is another process."""
        return owner != self.owner


class Recovery:
    """Settles one restored pair of stores.  Not for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        facts: BackupFacts,
        actor: Actor,
        crawls: Iterable[Put],
        *,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`crawls` are the facts of the crawls known at the snapshot of the files.

        `at` is called after each settled thing: tests end the process there.
        """
        self._rows = rows
        self._archive = archive
        self._facts = facts
        self._actor = actor
        self._crawls = crawls
        self._at = at
        self._quarantine = Quarantine(rows, archive, actor)
        self._acts = DeadActs(rows, archive, actor, self._quarantine)
        self.problems: list[PinakesError] = []

    def settle(self) -> Iterator[SettledFinding]:
        """Settle everything, and yield each thing after it; repeated, it settles the rest.

        Memory: one name per file that changed around the snapshot.
        """
        for settled in self._settle():
            self._at("one settled")
            yield settled

    def _settle(self) -> Iterator[SettledFinding]:
        self._rows.mutate("crawls", [Delete(STORE_KEY, None, columns=[Lease.COLUMN])])
        changed = list(self._changed())
        yield from self._make_crawls_known(changed)
        crawls = [*scan_crawls(self._rows, on_problem=self.problems.append)]
        stopped = set[str]()
        yield from self._give_leases_back(crawls, stopped)
        for name in changed:
            yield from self._undo_removal(name)
        yield from self._end_removals(crawls)
        for name in changed:
            yield from self._end_act(name, stopped)
        for name in sorted(scan_inflight(self._rows)):
            self._rows.mutate(INFLIGHT, [Delete(encode_file_key(name), None)])
            yield SettledFinding(code="claim", file=name, message="its captures are shown again")
        for name in changed:
            stored = StoredFileSettling(
                self._rows, self._archive, self._acts.holding, self._quarantine, name
            )
            yield from stored.settle(stopped)
            self.problems += stored.problems
        yield from self._stop_runs(stopped)

    # --- files that changed around the snapshot

    def _changed(self) -> Iterator[str]:
        """The files that acts worked on after the pin, or at the snapshot."""
        since_ms = self._facts.pinned_ms - _MARGIN_MS
        recent = {
            row.key
            for row in self._rows.scan("files", columns=[b"l"])
            if any(cell.timestamp_ms >= since_ms for cell in row.cells.values())
        }
        for entry in scan_entries(self._rows):
            open_claim = entry.unfinished_act is not None
            settled = entry.state in (FileState.STORED, FileState.REMOVED, None)
            if (
                open_claim
                or not settled
                or encode_file_key(entry.archive_file) in recent
                or self._lacks_sidecar(entry)
            ):
                yield entry.archive_file

    def _lacks_sidecar(self, entry: FileEntry) -> bool:
        """Whether fsck was rewriting its sidecar when the files were snapshotted."""
        if entry.state is not FileState.STORED:
            return False
        name = entry.stored_name
        return self._archive.size(sidecar_name(name)) is None

    # --- crawls and leases

    def _make_crawls_known(self, changed: list[str]) -> Iterator[SettledFinding]:
        wanted = {encode_crawl_key(crawl_of(name)) for name in changed}
        for put in self._crawls:
            crawl = put.row.decode("ascii")
            if (
                put.row in wanted
                and get_row(self._rows, "crawls", put.row, columns=[CrawlFacts.COLUMN]) is None
            ):
                self._rows.mutate("crawls", [put])
                yield SettledFinding(code="crawl", file=crawl, message="added, open")

    def _give_leases_back(
        self, crawls: Sequence[CrawlEntry], stopped: set[str]
    ) -> Iterator[SettledFinding]:
        leaving = {crawl.facts.collection for crawl in crawls if crawl.state in CRAWL_LEAVING}
        for collection in sorted({crawl.facts.collection for crawl in crawls} - leaving):
            lease = read_lease(self._rows, collection)
            if lease is not None and lease.expires_ms:
                stopped.add(lease.act)
                held = self._actor.lease(self._rows, collection, act=lease.act)
                release_lease(self._rows, held)
                yield SettledFinding(
                    code="dedupe", file=collection, message=f"{lease.act} was stopped"
                )

    # --- removals

    def _undo_removal(self, name: str) -> Iterator[SettledFinding]:
        """If the crawl is not leaving, no row was deleted: the removal began later."""
        entry = read_entry(self._rows, name)
        if entry.state is None or not entry.state.is_leaving or entry.facts is None:
            return
        crawl = read_crawl(self._rows, crawl_of(name))
        if (
            crawl is None
            or crawl.state in (*CRAWL_LEAVING, *GONE)
            or not has_landed(self._rows, name, entry.facts)
        ):
            return
        held = self._claim(name)
        set_state(self._rows, held, entry.state, FileState.STORED)
        set_inflight(self._rows, held, None)
        release_claim(self._rows, held)
        yield SettledFinding(code="removal-undone", file=name, message="is stored")

    def _end_removals(self, crawls: Sequence[CrawlEntry]) -> Iterator[SettledFinding]:
        for crawl in crawls:
            if crawl.state not in CRAWL_LEAVING:
                continue
            # Rows deleted from `files` may still exist in tables snapshotted before it.
            for entry in scan_entries(self._rows, crawl.crawl):
                if entry.state is FileState.LEFT and self._has_sidecar(entry):
                    held = self._claim(entry.archive_file)
                    set_state(self._rows, held, entry.state, FileState.LEAVING)
                    release_claim(self._rows, held)
            how = CRAWL_DELETIONS[COMPLETED_BY[crawl.state]]
            removal = Remover(self._rows, self._archive, self._actor).take_out(crawl.crawl, how)
            self.problems += removal.problems
            if removal.references:
                self.problems.append(
                    PinakesError(
                        f"cannot be taken out: {len(removal.references)} captures refer to it",
                        file=crawl.crawl,
                    )
                )
                continue
            yield SettledFinding(
                code="removal", file=crawl.crawl, message=f"is {how.after}, {removal.files} files"
            )

    def _has_sidecar(self, entry: FileEntry) -> bool:
        names = stored_names(entry, read_generations(self._rows, entry.archive_file))
        return any(self._archive.size(sidecar_name(name)) is not None for name in names)

    def _claim(self, name: str) -> Held:
        return self._actor.claim(self._rows, name, act=self._actor.new_act(VERB))

    # --- landings and claims

    def _end_act(self, name: str, stopped: set[str]) -> Iterator[SettledFinding]:
        entry = read_entry(self._rows, name)
        hidden = name in scan_inflight(self._rows)
        if entry.unfinished_act is not None:
            stopped.add(entry.unfinished_act)
        for finding in self._acts.findings(entry, is_hidden=hidden):
            if finding.mend is not None:
                finding.mend()
                yield SettledFinding(
                    code=_CODES.get(finding.code, "claim"),
                    file=name,
                    message=finding.repair or finding.message,
                )
        left = read_entry(self._rows, name).unfinished_act
        if left is not None:
            release_claim(self._rows, self._claim(name))
            yield SettledFinding(code="claim", file=name, message=f"released by {left}")

    # --- runs

    def _stop_runs(self, stopped: set[str]) -> Iterator[SettledFinding]:
        ours = f"{VERB}-{self._facts.act}"
        for row in self._rows.scan(RUNS, columns=[RunState.COLUMN]):
            run = row.key.decode("ascii")
            state = require_cell(RunState, RUNS, row).state
            if run == ours or not (state == RUNNING or (run in stopped and state == "done")):
                continue
            if run == self._facts.act:
                new = RunState(state="done")
            else:
                new = RunState(state="stopped", message=f"interrupted by {self._facts.act}")
                yield SettledFinding(code="run", file=run, message="was stopped")
            self._rows.mutate(RUNS, [Put(row.key, {RunState.COLUMN: encode_cell(new)}, None)])
