"""Taking a crawl out: hide it, then delete its rows, then its bytes.

    lease ─▶ its files are its own, nothing refers to it ─▶ crawl `removing`
          ─▶ files claimed, in flight, `leaving` ─▶ of each: rows ─▶ `left` ─▶ bytes, sidecars
          ─▶ `removed` ─▶ crawl `removed`

The same for an open crawl is `cancel`; for either `purge`, which sees to references before.  Rows
are found through sidecars, and deleted with the time of an act that is later than all acts that
wrote them: a crawl that lands again later is visible.  Killed anywhere, the same command completes
it: each step can be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.crawl_rows import (
    CrawlEntry,
    change_crawl_state,
    require_crawl,
)
from pinakes.catalog.file_rows import FileEntry, scan_entries
from pinakes.catalog.proven_sidecars import ProvenSidecars
from pinakes.catalog.reference_finder import CrossCrawlReference
from pinakes.catalog.references import scan_references
from pinakes.catalog.reported import forget_reports
from pinakes.catalog.run_rows import read_run
from pinakes.catalog.unknown_files import require_all_known
from pinakes.catalog.wacz_rows import forget_waczs
from pinakes.dedupe.run.collection import Collection
from pinakes.errors import ONE_FILE_ONLY, ConfigError, Conflict
from pinakes.row_store.port import RowStore

from .file_removal import FileRemover, content_of
from .last_copies import LastCopies
from .own_files import require_own_files
from .requests import (
    FORCE,
    LISTED,
    PURGE,
    CrawlDeletion,
    DeletionReport,
    PurgeRequest,
)


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
        self._proven = ProvenSidecars(archive)
        self._copies = LastCopies(rows, archive)

    def take_out(self, crawl: str, how: CrawlDeletion, *, dry_run: bool = False) -> DeletionReport:
        """Take a whole crawl out, or list the references that prevent it.

        With PURGE it only completes one that has provided for them, or begins where there are none.

        Raises:
            ConfigError: the crawl does not exist, or its state does not allow it.
            Conflict: another act works on its collection, or did not finish.
        """
        entry = self._require_crawl(crawl, how)
        result = DeletionReport(crawl, entry.facts.collection)
        if entry.state == how.after:
            result.was_gone = True
            return result
        collection = entry.facts.collection
        act = Act.begin(
            self._rows,
            self._archive,
            self._actor,
            how.act_verb,
            collection,
            hint=partial(hint_at, self._rows),
            at=self._at,
        )
        with act:
            is_forced = _is_forced(act)
            try:
                self.require_own(crawl)
                if not is_forced:
                    result.references += self._references_to(entry)
                if not is_forced and not result.references:
                    self.require_copies(collection, crawl)
                if entry.state in how.before and not result.references and not dry_run:
                    result.references += self.close(entry, how, act)
            except ONE_FILE_ONLY as problem:
                # Nothing was done by this call.
                result.problems.append(problem)
                if entry.state not in how.before:
                    act.leave()
                return result
            if dry_run:
                self._count(crawl, result)
            elif not result.references:
                self.take_out_in(act, crawl, how, result, with_pins=not is_forced)
            if result.problems:
                # An unfinished removal keeps its lease, so that nothing refers to what remains.
                act.leave()
        if result.is_complete and not dry_run:
            change_crawl_state(self._rows, crawl, (how.during,), how.after, act=act.name)
            self._at("removed")
        return result

    def require_own(self, crawl: str) -> None:
        """Read all files of a crawl that is to go: none may be another's.

        Raises DigestMismatch as `require_own_files`.
        """
        require_own_files(self._rows, self._archive, crawl)

    def require_copies(self, collection: str, crawl: str) -> None:
        """Read what stays of the bodies in a crawl that is to go, or in what is left of it.

        Raises DigestMismatch where that has the last whole copy of one.
        """
        of_collection = Collection(self._rows, self._archive, collection)
        for problem in self._copies.lost_with_crawl(of_collection, crawl):
            raise problem

    def _require_crawl(self, crawl: str, how: CrawlDeletion) -> CrawlEntry:
        entry = require_crawl(self._rows, crawl)
        if entry.state not in (*how.before, how.during, how.after):
            raise ConfigError(f"the crawl {crawl} is {entry.state}")
        return entry

    def close(self, entry: CrawlEntry, how: CrawlDeletion, act: Act) -> list[CrossCrawlReference]:
        """Begin to take a crawl out, or name the references to it that landed since; then it
        is as it was.

        What lands from now on is of crawls whose commit names what refers to a crawl that leaves.
        The caller has found no references.

        Raises:
            DigestMismatch: what a file refers to is not known for sure; the crawl is as it was.
        """
        change_crawl_state(self._rows, entry.crawl, (entry.state,), how.during, act=act.name)
        self._at("closed")
        try:
            late = self._references_to(entry)
        except ONE_FILE_ONLY:
            self.open_again(entry, how)
            raise
        if late:
            self.open_again(entry, how)
        return late

    def _references_to(self, entry: CrawlEntry) -> list[CrossCrawlReference]:
        """The first that refer to a crawl, by rows and by the files that stay."""
        require_all_known(self._rows, self._archive)
        collection = entry.facts.collection
        found = scan_references(
            self._rows, self._archive, entry.crawl, collection, proven=self._proven
        )
        return list(islice(found, LISTED))

    def open_again(self, entry: CrawlEntry, how: CrawlDeletion) -> None:
        """Make a crawl that was closed what it was; nothing of it has been hidden."""
        change_crawl_state(self._rows, entry.crawl, (how.during,), entry.state, act=entry.act)
        self._at("open again")

    def take_out_in(
        self,
        act: Act,
        crawl: str,
        how: CrawlDeletion,
        result: DeletionReport,
        *,
        with_pins: bool = True,
    ) -> None:
        """Hide, then delete all files of a crawl; what is noted in `result` is not done.

        The caller has looked for references, and sets the state after.  `with_pins`: there are
        none any more.
        """
        states = (*how.before, how.during)
        change_crawl_state(self._rows, crawl, states, how.during, act=act.name)
        self._at("closed")
        entries = [entry for entry in scan_entries(self._rows, crawl) if _is_there(entry)]
        files = FileRemover(act)
        kept = _hide(entries, files, result)
        files.delete_strays(kept)
        for entry in kept:
            act.require()
            try:
                out = files.remove(act.claim(entry.archive_file), with_pins=with_pins)
            except Conflict as problem:
                result.problems.append(problem)
            else:
                result.add(out)
        if not result.problems:
            forget_waczs(self._rows, act.collection, crawl)
            forget_reports(self._rows, act.collection, crawl)
            self._at("lists")

    def _count(self, crawl: str, result: DeletionReport) -> None:
        for entry in scan_entries(self._rows, crawl):
            if _is_there(entry):
                result.add(content_of(self._rows, self._archive, entry))


def purged_by(rows: RowStore, act: str) -> str | None:
    """The crawl that an act purges; None of another act, or of one that has not noted it."""
    facts = read_run(rows, act) if act.startswith(f"{PURGE.act_verb}-") else None
    return PurgeRequest.from_json(facts.arguments[0]).crawl if facts is not None else None


def hint_at(rows: RowStore, act: str) -> str:
    """How to complete an act that did not finish, where it is a purge."""
    crawl = purged_by(rows, act)
    return f" (`pinakes crawl remove {crawl}`)" if crawl is not None else ""


def _is_forced(act: Act) -> bool:
    """Whether it goes on with a purge that leaves references without an original."""
    noted = act.noted() if act.verb == PURGE.act_verb else None
    return noted is not None and PurgeRequest.from_json(noted.arguments[0]).references == FORCE


def _hide(
    entries: Iterable[FileEntry], files: FileRemover, result: DeletionReport
) -> list[FileEntry]:
    """Hide all files before any rows are deleted; return those that could be claimed."""
    hidden = []
    for entry in entries:
        try:
            files.hide(entry.archive_file)
        except Conflict as problem:
            result.problems.append(problem)
        else:
            hidden.append(entry)
    return hidden


def _is_there(entry: FileEntry) -> bool:
    """Whether anything of a file exists: a landing may have left only a claim."""
    is_there = entry.state is not None and not entry.state.is_gone
    return is_there or entry.unfinished_act is not None
