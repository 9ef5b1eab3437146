"""Taking a crawl out again: hidden first, then its rows, then its bytes.

    lease ─▶ nobody refers to it ─▶ crawl `removing` ─▶ files claimed, in flight, `leaving`
          ─▶ of each file: rows ─▶ `left` ─▶ bytes, sidecars ─▶ `removed` ─▶ crawl `removed`

The same for an open crawl is `cancel`.  Rows are found through sidecars, and deleted with
the time of an act that is later than all that wrote them: a crawl that lands again later is
visible.  Killed anywhere, the same command completes it: each step can be done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.crawl_rows import (
    CANCELLED,
    CANCELLING,
    COMMITTED,
    OPEN,
    REMOVED,
    REMOVING,
    CrawlEntry,
    change_crawl_state,
    has_landed,
    put_counts,
    read_crawl,
)
from pinakes.catalog.file_records import (
    iter_known_rows,
    read_generations,
    read_rows_anew,
    stored_names,
)
from pinakes.catalog.file_rows import (
    FileEntry,
    Held,
    read_entry,
    release_claim,
    require_claim,
    scan_entries,
    set_inflight,
    set_state,
    take_claim,
)
from pinakes.catalog.leases import HeldLease, read_lease, release_lease, require_lease, take_lease
from pinakes.catalog.references import Reference, scan_references
from pinakes.catalog.row_deletion import (
    RowName,
    delete_rows,
    rows_of_records,
    scan_rows_of,
)
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import ConfigError, Conflict, PinakesError
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.hbase_schema.run_cells import ActCounts
from pinakes.row_store.port import RowStore

from .acts import Actor

VERB = "remove"
LEAVING, LEFT, GONE = "leaving", "left", "removed"
_LISTED = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class TakingOut:
    """One way of taking a crawl out: from which state, through which, to which."""

    verb: str
    before: str
    during: str
    after: str


CANCEL = TakingOut(verb="cancel", before=OPEN, during=CANCELLING, after=CANCELLED)
REMOVE = TakingOut(verb="remove", before=COMMITTED, during=REMOVING, after=REMOVED)


@dataclass(slots=True)
class Removal:
    """What became of it; complete unless something stands in the way or failed."""

    crawl: str
    files: int = 0
    captures: int = 0
    size_bytes: int = 0
    references: list[Reference] = field(default_factory=list)
    problems: list[PinakesError] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        return not self.references and not self.problems


class Remover:
    """Takes crawls and single files out of one pair of stores.  Not for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        actor: Actor,
        *,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`at` is called after each step, with its name: tests end the process there."""
        self._rows = rows
        self._archive = archive
        self._actor = actor
        self._at = at

    def take_out(self, crawl: str, way: TakingOut, *, dry_run: bool = False) -> Removal:
        """Take a whole crawl out, or list what stands in the way.

        Raises:
            ConfigError: there is no such crawl, or it is not in a state to be taken out so.
            Conflict: somebody is at work on its collection, or was and did not finish.
        """
        entry = self._require_crawl(crawl, way)
        result = Removal(crawl)
        if entry.state == way.after:
            return result
        lease = self._take_lease(entry.facts.collection)
        self._at("leased")
        for reference in scan_references(self._rows, self._archive, crawl, entry.facts.collection):
            result.references.append(reference)
            if len(result.references) == _LISTED:
                break
        if dry_run:
            self._count(crawl, result)
        elif not result.references:
            self._take_out_leased(crawl, way, lease, result)
        # What did not finish keeps its lease, so that nothing comes to depend on the rest.
        if not result.problems:
            release_lease(self._rows, lease)
            self._at("lease released")
        if result.is_complete and not dry_run:
            change_crawl_state(self._rows, crawl, (way.during,), way.after, act=lease.lease.act)
            self._at("removed")
        return result

    def _require_crawl(self, crawl: str, way: TakingOut) -> CrawlEntry:
        entry = read_crawl(self._rows, crawl)
        if entry is None:
            raise ConfigError(f"there is no crawl {crawl}: see `pinakes crawl list`")
        if entry.state not in (way.before, way.during, way.after):
            other = {OPEN: "cancel", CANCELLING: "cancel", COMMITTED: "remove", REMOVING: "remove"}
            hint = f": `pinakes crawl {other[entry.state]}` is for it" * (entry.state in other)
            raise ConfigError(f"the crawl {crawl} is {entry.state}{hint}")
        return entry

    def _take_lease(self, collection: str) -> HeldLease:
        lease = read_lease(self._rows, collection)
        if lease is not None and lease.expires_ms and not lease.act.startswith(f"{VERB}-"):
            raise Conflict(
                f"{lease.act} is at work on the collection {collection}, or was and did not "
                "finish: finish it first"
            )
        return take_lease(
            self._rows,
            collection,
            owner=self._actor.owner,
            token=self._actor.new_token(),
            act=self._actor.new_act(VERB),
            now_ms=self._actor.now_ms(),
            is_gone=self._actor.is_gone,
        )

    def _take_out_leased(
        self, crawl: str, way: TakingOut, lease: HeldLease, result: Removal
    ) -> None:
        states = (way.before, way.during)
        change_crawl_state(self._rows, crawl, states, way.during, act=lease.lease.act)
        self._at("closed")
        entries = [entry for entry in scan_entries(self._rows, crawl) if _is_there(entry)]
        kept = self._hide(entries, lease, result)
        self._delete_strays(kept)
        for entry in kept:
            require_lease(self._rows, lease)
            try:
                self.remove_file(entry.archive_file, result, after_ms=lease.lease.act_time_ms)
            except Conflict as problem:
                result.problems.append(problem)

    def _count(self, crawl: str, result: Removal) -> None:
        for entry in scan_entries(self._rows, crawl):
            if _is_there(entry):
                result.files += 1
                result.captures += entry.facts.captures if entry.facts is not None else 0
                result.size_bytes += entry.facts.size if entry.facts is not None else 0

    def _hide(
        self, entries: Iterable[FileEntry], lease: HeldLease, result: Removal
    ) -> list[FileEntry]:
        """Hide all files before the rows of the first go; those that could be claimed."""
        hidden = []
        for entry in entries:
            try:
                held = self._claim(entry.archive_file, after_ms=lease.lease.act_time_ms)
            except Conflict as problem:
                result.problems.append(problem)
                continue
            self._leave(held)
            hidden.append(entry)
        return hidden

    def _leave(self, held: Held) -> str:
        """Hide the file; its state: `left` where an act before this one came so far."""
        set_inflight(self._rows, held, LEAVING)
        self._at("hidden")
        if read_entry(self._rows, held.archive_file).state == LEFT:
            return LEFT
        set_state(self._rows, held, LEAVING)
        self._at("leaving")
        return LEAVING

    def _claim(self, archive_file: str, *, after_ms: int) -> Held:
        return take_claim(
            self._rows,
            archive_file,
            owner=self._actor.owner,
            token=self._actor.new_token(),
            act=self._actor.new_act(VERB),
            now_ms=self._actor.now_ms(),
            is_gone=self._actor.is_gone,
            after_ms=after_ms,
        )

    def _delete_strays(self, entries: Iterable[FileEntry]) -> None:
        """Rows of landings that died before their sidecar and bytes: one scan for all."""
        lost = [
            self._claim(entry.archive_file, after_ms=0)
            for entry in entries
            if entry.state != LEFT and not self._has_records(entry)
        ]
        if not lost:
            return
        times = {held.archive_file: held.claim.act_time_ms for held in lost}
        delete_rows(self._rows, scan_rows_of(self._rows, times), times)
        for held in lost:
            set_state(self._rows, held, LEFT)
        self._at("strays")

    def _has_records(self, entry: FileEntry) -> bool:
        names = self._names(entry)
        return (
            any(self._archive.size(sidecar_name(name)) is not None for name in names)
            or self._archive.size(entry.archive_file) is not None
        )

    def _names(self, entry: FileEntry) -> list[str]:
        return stored_names(entry, read_generations(self._rows, entry.archive_file))

    def remove_file(self, archive_file: str, result: Removal, *, after_ms: int = 0) -> None:
        """Take one file out: rows, bytes of all generations, sidecars.

        Raises:
            Conflict: somebody else works on it.
        """
        held = self._claim(archive_file, after_ms=after_ms)
        state = self._leave(held)
        entry = read_entry(self._rows, archive_file)
        names = self._names(entry)
        if state != LEFT:
            times = {archive_file: held.claim.act_time_ms}
            delete_rows(self._rows, self._row_names(entry, names, held), times)
            self._at("rows")
            require_claim(self._rows, held)
            set_state(self._rows, held, LEFT)
            self._at("left")
        require_claim(self._rows, held)
        landed = entry.facts is not None and has_landed(self._rows, archive_file, entry.facts)
        for name in names:
            if landed or self._is_ours(name, entry):
                self._archive.delete(name)
            self._at("bytes")
            self._archive.delete(sidecar_name(name))
            self._at("sidecar")
        self._finish(held, entry, result, landed=landed)

    def _is_ours(self, name: str, entry: FileEntry) -> bool:
        """Whether bytes of a landing that did not end are those that it brought.

        It may have been refused for a file of that name, which nobody's removal may touch.
        """
        if entry.facts is None or self._archive.size(name) != entry.facts.size:
            return False
        return self._archive.checksum(name) == entry.facts.sha256

    def _row_names(self, entry: FileEntry, names: list[str], held: Held) -> Iterable[RowName]:
        known = iter_known_rows(self._archive, names)
        if known is None and self._archive.size(entry.archive_file) is not None:
            act_time_ms = held.claim.act_time_ms
            known = read_rows_anew(self._archive, entry.archive_file, act_time_ms=act_time_ms)
        if known is None:
            return scan_rows_of(self._rows, {entry.archive_file})
        return rows_of_records(known, entry.archive_file, self._collection_of(entry))

    def _collection_of(self, entry: FileEntry) -> str:
        if entry.facts is not None:
            return entry.facts.collection
        crawl = read_crawl(self._rows, crawl_of(entry.archive_file))
        if crawl is None:
            raise ConfigError(f"{entry.archive_file} is of no crawl that is known: run fsck")
        return crawl.facts.collection

    def _finish(self, held: Held, entry: FileEntry, result: Removal, *, landed: bool) -> None:
        facts = entry.facts
        size, captures = (facts.size, facts.captures) if facts is not None else (0, 0)
        if landed:
            counts = {"removed_files": 1, "removed_bytes": size, "removed_captures": captures}
            put_counts(
                self._rows,
                crawl_of(held.archive_file),
                ActCounts(verb=VERB, counts=counts),
                act=held.claim.act,
                act_time_ms=held.claim.act_time_ms,
            )
        set_state(self._rows, held, GONE)
        self._at("gone")
        set_inflight(self._rows, held, None)
        self._at("out of flight")
        release_claim(self._rows, held)
        result.files += 1
        result.captures += captures
        result.size_bytes += size


def _is_there(entry: FileEntry) -> bool:
    """Whether there is anything of a file: a claim alone may be all that a landing left."""
    unfinished = entry.claim is not None and entry.claim.expires_ms != 0
    return unfinished or entry.state not in (None, GONE, "purged")
