"""Compare rows with files, both ways, and repair what acts that died have left.

Skips files that a live process has claimed.  Never deletes bytes of an archive file, except to
complete a removal; what a repair replaces is kept (`quarantine`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial

from pinakes.acts.actor import Actor, read_lease
from pinakes.archive_store.port import ASIDE, ArchiveStore, PublishedFile
from pinakes.catalog.crawl_rows import LEAVING as CRAWL_LEAVING
from pinakes.catalog.crawl_rows import TABLE as CRAWLS
from pinakes.catalog.crawl_rows import read_crawl, scan_crawls
from pinakes.catalog.file_records import known_names, read_generations
from pinakes.catalog.file_rows import (
    FileEntry,
    hidden_among,
    read_entry,
    scan_entries,
    scan_inflight,
)
from pinakes.catalog.kept_dictionaries import KeptDictionary, parse_kept_name, read_kept
from pinakes.catalog.kept_repairs import repairs_of_files
from pinakes.catalog.reported import find_open_scope, scan_scopes_of
from pinakes.catalog.row_deletion import RowName
from pinakes.catalog.run_rows import is_running
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord, SchemaError
from pinakes.hbase_schema.file_cells import FileFacts
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.hbase_schema.seen_keys import SeenScope, seen_of
from pinakes.row_store.port import RowStore

from .accounts import Account
from .acts import DeadActs, is_leaving
from .findings import FsckFinding
from .mending import Accepted, StoredFileMender
from .older import OlderGenerations
from .quarantine import Quarantine
from .stored import StoredFileCheck
from .strays import StrayCheck
from .tables import TablesCheck
from .unknown import UnknownFiles

_SIDECAR = sidecar_name("")
_MISSING = frozenset({"file-missing", "generation-missing", "sidecar-missing"})
"""Findings of what may lie in the quarantine."""
_RUN = re.compile(r"[a-z-]+-\d{8}T\d{6}\.\d{3}-[0-9a-f]{8}\Z")


class Fsck:
    """One check of a pair of stores.  Not for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        actor: Actor,
        *,
        quick: bool = False,
        full: bool = False,
        seed: int = 0,
    ) -> None:
        """`quick` reads no bytes of archive files; `full` checks every record and row.

        By default the checksum of each file is verified, and one record in a hundred is read,
        chosen by `seed`.
        """
        self._rows = rows
        self._archive = archive
        self._actor = actor
        self._quick = quick
        self._full = full
        self._seed = seed
        self._quarantine = Quarantine(rows, archive, actor)
        self._acts = DeadActs(rows, archive, actor, self._quarantine)
        self._unknown = UnknownFiles(rows, archive, quick=quick)
        self._accounts: dict[str, Account] = {}
        self._left_out: set[str] = set()
        self._crawls_left_out: set[str] = set()

    def findings(self) -> Iterator[FsckFinding]:
        """Yield everything that is wrong; mend each before drawing the next, or none.

        Memory: one name per file; with `full` a few numbers, too, and the row keys of files that
        rows were invented for.
        """
        # Asides before claims: an aside written in between belongs to a claim that is read.
        asides = [stored.name for stored in self._archive.list(ASIDE)]
        hidden = scan_inflight(self._rows)
        known: set[str] = set()
        stored: set[str] = set()
        tokens = set()
        tables = TablesCheck(self._rows, self._acts.is_alive)
        yield from tables.findings()
        self._left_out, self._crawls_left_out = tables.files, tables.crawls
        stored.update(self._left_out)
        hidden.difference_update(self._left_out)
        for entry in scan_entries(self._rows, leave_out=self._left_out):
            names = self._names_of(entry)
            settled = self._acts.settled(entry)
            if settled is None or self._is_being_removed(entry):
                tokens.add(entry.claim.token if entry.claim is not None else "")
                known.update(names)
                stored.add(entry.archive_file)
            else:
                is_hidden = entry.archive_file in hidden
                for finding in self._check_entry(settled, is_hidden=is_hidden):
                    yield finding
                    if finding.code == "state-lost":
                        known.update(names)  # it says what to do with them
                # Read again: it may have been mended.
                state = read_entry(self._rows, entry.archive_file).state
                if state is not None and not (state.is_gone or state is FileState.REFUSED):
                    known.update(names)
                if state is FileState.STORED:
                    stored.add(entry.archive_file)
            hidden.discard(entry.archive_file)
        for name in sorted(hidden):
            entry = read_entry(self._rows, name)
            if entry.state is None and self._acts.settled(entry) is not None:
                yield self._acts.hidden(entry, "no file of this name is known")
        yield from self._check_asides(asides, tokens)
        yield from self._check_archive(known)
        yield from self._check_leases()
        yield from self._check_reports()
        if self._full:
            strays = StrayCheck(
                self._rows,
                self._archive,
                self._acts,
                self._stored_check,
                self._quarantine,
                accounts=self._accounts,
                left_out=self._left_out,
                lost=self._unknown.lost,
            )
            yield from strays.findings(stored)

    def accept(self, file: str) -> Accepted:
        """Take the bytes that a damaged archive file has now for those on record.

        `file` is its name, as landed or as stored.  Its sidecar and rows are made again from what
        can be read of it.  What that replaces is kept.

        Raises:
            InputRefused: the catalogue has no such file, or there is nothing to accept.
            Conflict: another process works on it.
        """
        entry = read_entry(self._rows, generation_of(file).archive_file)
        stored = entry.state is FileState.STORED and not is_leaving(entry)
        if entry.facts is None or not stored or file not in (entry.archive_file, entry.stored_name):
            raise InputRefused("the store has no such file, or an older generation", file=file)
        mender = StoredFileMender(
            self._rows, self._archive, entry, entry.facts, self._acts.holding, self._quarantine
        )
        return mender.accept()

    def _is_being_removed(self, entry: FileEntry) -> bool:
        """Whether a live process takes its crawl out, and may come to this file at any moment."""
        crawl = read_crawl(self._rows, crawl_of(entry.archive_file))
        if crawl is None or crawl.state not in CRAWL_LEAVING:
            return False
        return self._acts.is_alive(read_lease(self._rows, crawl.facts.collection))

    def _check_entry(self, entry: FileEntry, *, is_hidden: bool) -> Iterator[FsckFinding]:
        """What is wrong with it, as long as no other process works on it."""
        try:
            for finding in self._entry_findings(entry, is_hidden=is_hidden):
                if self._acts.has_changed(entry) or self._is_being_removed(entry):
                    return
                yield self._with_undo(finding)
        except (MalformedRecord, SchemaError) as error:
            # Of a row that it leads to, as that of an original's file, which is named for itself.
            message = f"not checked to its end: {error.message}"
            yield FsckFinding(code="cell", file=entry.stored_name, message=message)

    def _with_undo(self, finding: FsckFinding) -> FsckFinding:
        """The finding, with the repair that moved away what it misses."""
        is_sidecar = finding.code == "sidecar-missing"
        missing = sidecar_name(finding.file) if is_sidecar else finding.file
        if finding.code not in _MISSING or missing not in self._moved_away:
            return finding
        undo = f"`pinakes fsck --undo {self._moved_away[missing]}` puts it back"
        return replace(finding, message=f"{finding.message}; {undo}")

    @cached_property
    def _moved_away(self) -> dict[str, str]:
        return repairs_of_files(self._archive)

    def _entry_findings(self, entry: FileEntry, *, is_hidden: bool) -> Iterator[FsckFinding]:
        # Listed before the file was read: its captures may have been shown since.
        is_hidden = is_hidden and bool(hidden_among(self._rows, [entry.archive_file]))
        yield from self._acts.findings(entry, is_hidden=is_hidden)
        if entry.state is FileState.STORED and entry.facts is not None and not is_leaving(entry):
            check = self._stored_check(entry, entry.facts)
            yield from check.findings(quick=self._quick, full=self._full, seed=self._seed)
            if check.account is not None:
                self._accounts[entry.archive_file] = check.account
            older = OlderGenerations(
                self._rows, self._archive, entry, self._acts.holding, self._quarantine
            )
            yield from older.findings(quick=self._quick, full=self._full)

    def _stored_check(self, entry: FileEntry, facts: FileFacts) -> StoredFileCheck:
        return StoredFileCheck(
            self._rows, self._archive, entry, facts, self._acts.holding, self._quarantine
        )

    # --- files of the archive

    def _names_of(self, entry: FileEntry) -> list[str]:
        """What the archive may have of it: while a run is not finished, one generation more."""
        generations = read_generations(self._rows, entry.archive_file)
        crawl = read_crawl(self._rows, crawl_of(entry.archive_file))
        lease = read_lease(self._rows, crawl.facts.collection) if crawl is not None else None
        is_unfinished = lease is not None and bool(lease.expires_ms)
        return list(known_names(entry, generations, is_unfinished=is_unfinished))

    def _check_asides(self, asides: list[str], tokens: set[str]) -> Iterator[FsckFinding]:
        there = {stored.name for stored in self._archive.list(ASIDE)}
        for name in asides:
            if name not in there:
                continue  # published since
            token = name.removeprefix(f"{ASIDE}/").partition(".")[0]
            if token not in tokens and not self._is_of_run(token):
                yield FsckFinding(
                    code="aside",
                    file=name,
                    message="its writer is gone",
                    repair="move it into the quarantine: it was never published",
                    mend=self._keeping(name, "aside", "its writer is gone"),
                )

    def _is_of_run(self, token: str) -> bool:
        """Whether the tasks of a running run write here."""
        return _RUN.match(token) is not None and is_running(self._rows, token)

    def _check_archive(self, known: set[str]) -> Iterator[FsckFinding]:
        for stored in self._archive.list():
            finding = self._judge_stored(stored, known)
            if finding is not None and not self._is_busy(stored.name.removesuffix(_SIDECAR), known):
                yield finding

    def _judge_stored(self, stored: PublishedFile, known: set[str]) -> FsckFinding | None:
        name = stored.name
        file = name.removesuffix(_SIDECAR)
        if generation_of(file).archive_file in self._left_out:
            return None
        kept = parse_kept_name(name)
        if kept is not None:
            return None if self._quick else self._judge_dictionary(kept)
        if file == name:
            if name in known:
                return None
            return self._unknown.judge(stored)
        if self._archive.size(file) is not None:
            return None
        # A generation that an act was writing or deleting when it died; the act does it again.
        unneeded = file not in known or not self._is_current(file)
        what = "its file is missing"
        mend = self._keeping(name, "sidecar-alone", what) if unneeded else None
        return FsckFinding(
            code="sidecar-alone",
            file=name,
            message=what,
            repair="move it into the quarantine" if mend is not None else None,
            mend=mend,
        )

    def _judge_dictionary(self, kept: KeptDictionary) -> FsckFinding | None:
        try:
            read_kept(self._archive, kept)
        except DigestMismatch as problem:
            return FsckFinding(
                code="dictionary",
                file=kept.name,
                message=problem.message,
                repair="move it into the quarantine: files hold their own",
                mend=self._keeping(kept.name, "dictionary", problem.message),
            )
        except InputRefused:  # deleted since
            return None
        return None

    def _keeping(self, name: str, code: str, why: str) -> Callable[[], str | None]:
        return partial(self._quarantine.keep, name, code=code, why=why)

    def _is_current(self, file: str) -> bool:
        return file == read_entry(self._rows, generation_of(file).archive_file).stored_name

    def _is_busy(self, name: str, known: set[str]) -> bool:
        """Whether a process works on this file now, in any generation, or has done so since."""
        entry = read_entry(self._rows, generation_of(name).archive_file)
        if self._acts.is_alive(entry.claim):
            return True
        has_landed = entry.state is FileState.STORED
        return name not in known and has_landed and name in self._names_of(entry)

    def _check_leases(self) -> Iterator[FsckFinding]:
        collections = set()
        for crawl in scan_crawls(self._rows, leave_out=self._crawls_left_out):
            collections.add(crawl.facts.collection)
            if crawl.state in CRAWL_LEAVING and not self._acts.is_alive(
                read_lease(self._rows, crawl.facts.collection)
            ):
                yield FsckFinding(
                    code="unfinished-act",
                    file=crawl.crawl,
                    message=f"is {crawl.state}: `pinakes crawl remove {crawl.crawl}` completes it",
                )
        for collection in sorted(collections):
            lease = read_lease(self._rows, collection)
            if (
                lease is not None
                and lease.expires_ms
                and self._actor.is_gone(lease.owner)
                and lease == read_lease(self._rows, collection)  # else it was released since
            ):
                yield FsckFinding(
                    code="unfinished-act",
                    file=f"+{collection}",
                    message=f"{lease.act} did not finish: run it again",
                )

    def _check_reports(self) -> Iterator[FsckFinding]:
        """Reports that were written while their crawl ended, by a server that died then."""
        for crawl in scan_crawls(self._rows, leave_out=self._crawls_left_out):
            for scope in scan_scopes_of(self._rows, crawl.facts.collection, crawl.crawl):
                if scope != find_open_scope(self._rows, crawl.crawl):
                    yield FsckFinding(
                        code="reports-alone",
                        file=crawl.crawl,
                        message="has reported captures from before it ended",
                        repair="delete them: no look-up finds them",
                        mend=partial(self._delete_reports, crawl.crawl, scope),
                    )

    def _delete_reports(self, crawl: str, scope: SeenScope) -> str | None:
        names = [RowName(CRAWLS, r.key, "") for r in self._rows.scan(CRAWLS, seen_of(scope))]
        why = "reported before the crawl ended"
        return self._quarantine.delete_rows(names, code="reports-alone", file=crawl, why=why)
