"""Compares rows with files, both ways, and mends what acts that died have left.

Looks at what is claimed by somebody alive not at all.  Never deletes bytes of an archive
file, but where a removal that was begun had them deleted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from pinakes.archive_store.port import ASIDE, ArchiveStore, StoredFile
from pinakes.catalog.crawl_rows import LEAVING as CRAWL_LEAVING
from pinakes.catalog.crawl_rows import put_counts, scan_crawls
from pinakes.catalog.file_records import read_generations, stored_names
from pinakes.catalog.file_rows import (
    FileEntry,
    Held,
    read_entry,
    release_claim,
    scan_entries,
    scan_inflight,
    set_inflight,
    set_state,
    take_claim,
)
from pinakes.catalog.leases import read_lease
from pinakes.catalog.row_deletion import RowName, delete_rows, scan_rows_outside
from pinakes.catalog.sidecar import sidecar_name
from pinakes.hbase_schema.file_cells import Claim
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.hbase_schema.run_cells import ActCounts
from pinakes.row_store.port import RowStore

from .acts import Actor
from .fsck_findings import FsckFinding
from .fsck_stored import StoredFileCheck
from .landing import STORED
from .removal import GONE, Removal, Remover

VERB = "fsck"
_SIDECAR = sidecar_name("")
_GENERATION = re.compile(r"\Ag[0-9]+/")


class Fsck:
    """One look at a pair of stores.  Not for several threads."""

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
        """`quick` reads no bytes of archive files; `full` looks at every record and row.

        Else the checksum of each file is taken, and one record of a hundred is read, as
        `seed` chooses.
        """
        self._rows = rows
        self._archive = archive
        self._actor = actor
        self._quick = quick
        self._full = full
        self._seed = seed

    def findings(self) -> Iterator[FsckFinding]:
        """Everything that is wrong; mend each before drawing the next, or none.

        Memory: a name for each file.
        """
        # Asides before claims: one that comes between belongs to a claim that is seen.
        asides = [stored.name for stored in self._archive.list(ASIDE)]
        hidden = scan_inflight(self._rows)
        known: set[str] = set()
        stored: set[str] = set()
        tokens = set()
        for entry in scan_entries(self._rows):
            names = stored_names(entry, read_generations(self._rows, entry.archive_file))
            if self._is_alive(entry.claim):
                tokens.add(entry.claim.token if entry.claim is not None else "")
                known.update(names)
                stored.add(entry.archive_file)
            else:
                yield from self._check_entry(entry, entry.archive_file in hidden)
                # As it is now that it may have been mended.
                state = read_entry(self._rows, entry.archive_file).state
                if state not in (None, GONE, "refused"):
                    known.update(names)
                if state == STORED:
                    stored.add(entry.archive_file)
            hidden.discard(entry.archive_file)
        for name in sorted(hidden):
            yield self._hidden(name, "no file of that name is known")
        yield from self._check_asides(asides, tokens)
        yield from self._check_archive(known)
        yield from self._check_leases()
        if self._full:
            yield from self._check_strays(stored)

    def _is_alive(self, claim: Claim | None) -> bool:
        return (
            claim is not None
            and claim.expires_ms > self._actor.now_ms()
            and not self._actor.is_gone(claim.owner)
        )

    def _claim(self, archive_file: str) -> Held:
        return take_claim(
            self._rows,
            archive_file,
            owner=self._actor.owner,
            token=self._actor.new_token(),
            act=self._actor.new_act(VERB),
            now_ms=self._actor.now_ms(),
            is_gone=self._actor.is_gone,
        )

    @contextmanager
    def _holding(self, archive_file: str) -> Iterator[Held]:
        held = self._claim(archive_file)
        try:
            yield held
        finally:
            release_claim(self._rows, held)

    # --- what the catalogue knows

    def _check_entry(self, entry: FileEntry, is_hidden: bool) -> Iterator[FsckFinding]:
        unfinished = entry.claim is not None and entry.claim.expires_ms != 0
        if entry.state in ("landing", "refused"):
            yield self._dead_landing(entry)
            return
        begun = unfinished and entry.claim is not None and entry.claim.act.startswith("remove-")
        if entry.state in ("leaving", "left") or begun:
            yield FsckFinding(
                code="dead-removal",
                file=entry.archive_file,
                message=f"is {entry.state}, and was to leave",
                repair="end the removal",
                mend=partial(self._take_out, entry.archive_file),
            )
            return
        if is_hidden:
            yield self._hidden(entry.archive_file, f"is {entry.state or 'not known'}")
        if unfinished and entry.claim is not None:
            yield self._dead_claim(entry, entry.claim)
        if entry.state == STORED and entry.facts is not None:
            check = StoredFileCheck(self._rows, self._archive, entry, entry.facts, self._holding)
            yield from check.findings(quick=self._quick, full=self._full, seed=self._seed)

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
        with self._holding(archive_file):
            """Taking the claim over and giving it back is all."""

    def _hidden(self, archive_file: str, message: str) -> FsckFinding:
        return FsckFinding(
            code="hidden",
            file=archive_file,
            message=message,
            repair="take it out of flight",
            mend=partial(self._show, archive_file),
        )

    def _show(self, archive_file: str) -> None:
        with self._holding(archive_file) as held:
            set_inflight(self._rows, held, None)

    def _dead_landing(self, entry: FileEntry) -> FsckFinding:
        facts = entry.facts
        published = (
            facts is not None
            and entry.state == "landing"
            and self._archive.size(entry.archive_file) == facts.size
            and self._archive.size(sidecar_name(entry.archive_file)) is not None
            and self._archive.checksum(entry.archive_file) == facts.sha256
        )
        return FsckFinding(
            code="dead-landing",
            file=entry.archive_file,
            message=f"is {entry.state}; its bytes {'are' if published else 'are not'} there",
            repair="end the landing" if published else "withdraw it: land the file again",
            mend=partial(self._complete if published else self._take_out, entry.archive_file),
        )

    def _complete(self, archive_file: str) -> None:
        held = self._claim(archive_file)
        facts = read_entry(self._rows, archive_file).facts
        if facts is not None:
            counts = {
                "files": 1,
                "bytes": facts.size,
                "records": sum(facts.records.values()),
                "captures": facts.captures,
                "damaged": facts.damaged,
            }
            # The cell of the landing itself, so that it is counted once.
            put_counts(
                self._rows,
                crawl_of(archive_file),
                ActCounts(verb="ingest", counts=counts),
                act=facts.act,
                act_time_ms=held.claim.act_time_ms,
            )
            set_state(self._rows, held, STORED, generation=1)
            set_inflight(self._rows, held, None)
        release_claim(self._rows, held)

    def _take_out(self, archive_file: str) -> None:
        crawl = crawl_of(archive_file)
        Remover(self._rows, self._archive, self._actor).remove_file(archive_file, Removal(crawl))

    # --- what the archive has

    def _check_asides(self, asides: list[str], tokens: set[str]) -> Iterator[FsckFinding]:
        for name in asides:
            token = name.removeprefix(f"{ASIDE}/").partition(".")[0]
            if token not in tokens:
                yield FsckFinding(
                    code="aside",
                    file=name,
                    message="its writer is gone",
                    repair="delete it: it was never published",
                    mend=partial(self._archive.delete, name),
                )

    def _check_archive(self, known: set[str]) -> Iterator[FsckFinding]:
        for stored in self._archive.list():
            finding = self._judge_stored(stored, known)
            if finding is not None and not self._is_busy(stored.name.removesuffix(_SIDECAR)):
                yield finding

    def _judge_stored(self, stored: StoredFile, known: set[str]) -> FsckFinding | None:
        name = stored.name
        file = name.removesuffix(_SIDECAR)
        if file == name:
            if name in known:
                return None
            return FsckFinding(
                code="unknown-file",
                file=name,
                message=f"{stored.size} bytes: copy it out and ingest it, or put it aside",
            )
        if self._archive.size(file) is not None:
            return None
        mend = partial(self._archive.delete, name) if file not in known else None
        return FsckFinding(
            code="sidecar-alone",
            file=name,
            message="its file is not there",
            repair="delete it" if mend is not None else None,
            mend=mend,
        )

    def _is_busy(self, name: str) -> bool:
        """Whether somebody is at work on this file just now, in any generation."""
        crawl, _, path = name.partition("/")
        entry = read_entry(self._rows, f"{crawl}/{_GENERATION.sub('', path)}")
        return self._is_alive(entry.claim)

    def _check_leases(self) -> Iterator[FsckFinding]:
        collections = set()
        for crawl in scan_crawls(self._rows):
            collections.add(crawl.facts.collection)
            if crawl.state in CRAWL_LEAVING:
                verb = "remove" if crawl.state == "removing" else "cancel"
                yield FsckFinding(
                    code="unfinished-act",
                    file=crawl.crawl,
                    message=f"is {crawl.state}: `pinakes crawl {verb} {crawl.crawl}` ends it",
                )
        for collection in sorted(collections):
            lease = read_lease(self._rows, collection)
            if lease is not None and lease.expires_ms and self._actor.is_gone(lease.owner):
                yield FsckFinding(
                    code="unfinished-act",
                    file=f"+{collection}",
                    message=f"{lease.act} did not end: run it again",
                )

    def _check_strays(self, stored: set[str]) -> Iterator[FsckFinding]:
        """Rows of files that have not landed; reads both tables to the end."""
        strays: dict[str, list[RowName]] = {}
        for row in scan_rows_outside(self._rows, stored):
            strays.setdefault(row.archive_file, []).append(row)
        for name, rows in sorted(strays.items()):
            if self._is_alive(read_entry(self._rows, name).claim):
                continue  # it began to land behind us
            yield FsckFinding(
                code="rows-alone",
                file=name,
                message=f"{len(rows)} rows, and no such file has landed",
                repair="delete the rows",
                mend=partial(self._delete_strays, name, rows),
            )

    def _delete_strays(self, name: str, rows: list[RowName]) -> None:
        with self._holding(name) as held:
            delete_rows(self._rows, rows, {name: held.claim.act_time_ms})
