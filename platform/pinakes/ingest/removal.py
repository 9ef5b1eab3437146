"""Taking a crawl out: hide it, then delete its rows, then its bytes.

    lease ─▶ nobody refers to it ─▶ crawl `removing` ─▶ files claimed, in flight, `leaving`
          ─▶ of each file: rows ─▶ `left` ─▶ bytes, sidecars ─▶ `removed` ─▶ crawl `removed`

The same for an open crawl is `cancel`; for either `purge`, which sees to references before.  Rows
are found through sidecars, and deleted with the time of an act that is later than all acts that
wrote them: a crawl that lands again later is visible.  Killed anywhere, the same command completes
it: each step can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.crawl_rows import (
    CANCELLED,
    CANCELLING,
    COMMITTED,
    COMPLETED_BY,
    OPEN,
    PURGED,
    PURGING,
    REMOVED,
    REMOVING,
    CrawlEntry,
    change_crawl_state,
    require_crawl,
)
from pinakes.catalog.file_rows import (
    FileEntry,
    scan_entries,
)
from pinakes.catalog.proven_sidecars import ProvenSidecars
from pinakes.catalog.references import Reference, scan_references
from pinakes.catalog.reported import forget_reports
from pinakes.catalog.unknown_files import require_all_known
from pinakes.catalog.wacz_rows import forget_waczs
from pinakes.errors import ONE_FILE_ONLY, ConfigError, Conflict, PinakesError
from pinakes.row_store.port import RowStore

from .file_removal import VERB, FileRemover, RemovedFile

LISTED = 1000
"""At most so many references that prevent a removal are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakingOut:
    """One way of taking a crawl out: from which states, through which, to which.

    `provided`: references were seen to before it began.
    """

    verb: str
    before: tuple[str, ...]
    during: str
    after: str
    provided: bool = False


CANCEL = TakingOut(verb="cancel", before=(OPEN,), during=CANCELLING, after=CANCELLED)
REMOVE = TakingOut(verb="remove", before=(COMMITTED,), during=REMOVING, after=REMOVED)
PURGE = TakingOut(
    verb="purge", before=(OPEN, COMMITTED), during=PURGING, after=PURGED, provided=True
)
WAYS = {way.verb: way for way in (CANCEL, REMOVE, PURGE)}


@dataclass(slots=True)
class Removal:
    """The result; complete unless references prevent it or files failed."""

    crawl: str
    files: int = 0
    captures: int = 0
    size_bytes: int = 0
    references: list[Reference] = field(default_factory=list)
    problems: list[PinakesError] = field(default_factory=list)

    def add(self, file: RemovedFile) -> None:
        """Count one more file."""
        self.files += 1
        self.captures += file.captures
        self.size_bytes += file.size_bytes

    @property
    def is_complete(self) -> bool:
        return not self.references and not self.problems


class Remover:
    """Takes crawls out of one pair of stores.  Not for several threads."""

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
        self._files = FileRemover(rows, archive, actor, at=at)
        self._proven = ProvenSidecars(archive)

    def take_out(self, crawl: str, way: TakingOut, *, dry_run: bool = False) -> Removal:
        """Take a whole crawl out, or list the references that prevent it.

        Raises:
            ConfigError: the crawl does not exist, or its state does not allow it.
            Conflict: another act works on its collection, or did not finish.
        """
        entry = self._require_crawl(crawl, way)
        result = Removal(crawl)
        if entry.state == way.after:
            return result
        collection = entry.facts.collection
        act = Act.begin(self._rows, self._archive, self._actor, VERB, collection, at=self._at)
        with act:
            try:
                if not way.provided:
                    result.references += self._references_to(entry)
                if entry.state in way.before and not (dry_run or result.references):
                    result.references += self.close(entry, way, act)
            except ONE_FILE_ONLY as problem:
                # Nothing was done by this call.
                result.problems.append(problem)
                if entry.state not in way.before:
                    act.leave()
                return result
            if dry_run:
                self._count(crawl, result)
            elif not result.references:
                self.take_out_in(act, crawl, way, result)
            if result.problems:
                # An unfinished removal keeps its lease, so that nothing refers to what remains.
                act.leave()
        if result.is_complete and not dry_run:
            change_crawl_state(self._rows, crawl, (way.during,), way.after, act=act.name)
            self._at("removed")
        return result

    def _require_crawl(self, crawl: str, way: TakingOut) -> CrawlEntry:
        entry = require_crawl(self._rows, crawl)
        if entry.state not in (*way.before, way.during, way.after):
            other = {OPEN: "cancel", COMMITTED: "remove", **COMPLETED_BY}
            verb = other.get(entry.state)
            hint = f": use `pinakes crawl {verb}`" if verb is not None else ""
            raise ConfigError(f"the crawl {crawl} is {entry.state}{hint}")
        return entry

    def close(self, entry: CrawlEntry, way: TakingOut, act: Act) -> list[Reference]:
        """Begin to take a crawl out, or name the references to it that landed meanwhile; then it
        is as it was.

        What lands from now on is of crawls whose commit names what refers to a crawl that leaves.
        The caller has found no references.

        Raises:
            DigestMismatch: what a file refers to is not known for sure; the crawl is as it was.
        """
        change_crawl_state(self._rows, entry.crawl, (entry.state,), way.during, act=act.name)
        self._at("closed")
        try:
            late = self._references_to(entry)
        except ONE_FILE_ONLY:
            self.open_again(entry, way)
            raise
        if late:
            self.open_again(entry, way)
        return late

    def _references_to(self, entry: CrawlEntry) -> list[Reference]:
        """The first that refer to a crawl, by rows and by the files that stay."""
        require_all_known(self._rows, self._archive)
        collection = entry.facts.collection
        found = scan_references(
            self._rows, self._archive, entry.crawl, collection, proven=self._proven
        )
        return list(islice(found, LISTED))

    def open_again(self, entry: CrawlEntry, way: TakingOut) -> None:
        """Make a crawl that was closed what it was; nothing of it has been hidden."""
        change_crawl_state(self._rows, entry.crawl, (way.during,), entry.state, act=entry.act)
        self._at("open again")

    def take_out_in(
        self,
        act: Act,
        crawl: str,
        way: TakingOut,
        result: Removal,
        *,
        with_pins: bool = True,
    ) -> None:
        """Hide, then delete all files of a crawl; what is noted in `result` is not done.

        The caller has looked for references, and sets the state after.  `with_pins`: there are
        none any more.
        """
        states = (*way.before, way.during)
        change_crawl_state(self._rows, crawl, states, way.during, act=act.name)
        self._at("closed")
        entries = [entry for entry in scan_entries(self._rows, crawl) if _is_there(entry)]
        kept = self._hide(entries, act, result)
        self._files.delete_strays(kept)
        for entry in kept:
            act.require()
            try:
                out = self._files.remove(
                    entry.archive_file, after_ms=act.time_ms, with_pins=with_pins
                )
            except Conflict as problem:
                result.problems.append(problem)
            else:
                result.add(out)
        if not result.problems:
            forget_waczs(self._rows, act.collection, crawl)
            forget_reports(self._rows, act.collection, crawl)
            self._at("lists")

    def _count(self, crawl: str, result: Removal) -> None:
        for entry in scan_entries(self._rows, crawl):
            if _is_there(entry):
                facts = entry.facts
                result.add(RemovedFile(facts.captures, facts.size) if facts else RemovedFile(0, 0))

    def _hide(self, entries: Iterable[FileEntry], act: Act, result: Removal) -> list[FileEntry]:
        """Hide all files before any rows are deleted; return those that could be claimed."""
        hidden = []
        for entry in entries:
            try:
                self._files.hide(entry.archive_file, after_ms=act.time_ms)
            except Conflict as problem:
                result.problems.append(problem)
            else:
                hidden.append(entry)
        return hidden


def _is_there(entry: FileEntry) -> bool:
    """Whether anything of a file exists: a landing may have left only a claim."""
    is_there = entry.state is not None and not entry.state.is_gone
    return is_there or entry.unfinished_act is not None
