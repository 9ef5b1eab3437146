"""Purge in a store: provide for references, hide the crawl, delete it.

    lease ─▶ survey ─▶ references full again, or re-pointed, in new generations ─▶ surveyed again
          ─▶ what was done noted ─▶ crawl `purging` ─▶ rows and bytes deleted, as by `crawl remove`
          ─▶ older generations that refer to it deleted ─▶ crawl `purged` ─▶ lease released

Until all references are provided for, nothing of the crawl is touched; where one cannot be, all
such are named, and what was begun is taken back.  Killed anywhere, the same
command completes it: before `purging` it surveys again what still refers to the crawl, after that
it goes on deleting, by what was noted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor, read_lease
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.crawl_rows import (
    COMMITTED,
    COMPLETED_BY,
    OPEN,
    PURGED,
    PURGING,
    CrawlEntry,
    change_crawl_state,
    require_crawl,
)
from pinakes.catalog.file_rows import read_entry
from pinakes.catalog.run_rows import FAILED
from pinakes.dedupe.run.collection import Collection
from pinakes.dedupe.run.old_generations import require_given_back
from pinakes.dedupe.run.remaining import Remaining
from pinakes.dedupe.run.run_files import REPORT, RunFiles
from pinakes.errors import ONE_FILE_ONLY, ConfigError, Conflict
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.row_store.port import RowStore

from .changed_rows import settle_left
from .crawl_removal import Remover, hint_at, purged_by
from .file_withdrawal import drop_generations
from .providing import provide_for
from .purge_survey import PurgeSurvey
from .requests import FORCE, PURGE, DeletionReport, PurgeRequest

VERB = PURGE.act_verb
_ROUNDS = 6
"""So many times what landed in the meantime is provided for, too."""


class Purger:
    """Purges crawls of one pair of stores.  Not for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        runs_folder: Path,
        actor: Actor,
        *,
        software: str,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """Reports are kept below `runs_folder`; `software` is noted with the act; `at` is called
        after each step, with its name."""
        self._rows = rows
        self._archive = archive
        self._runs_folder = runs_folder
        self._actor = actor
        self._software = software
        self._at = at
        self._remover = Remover(rows, archive, actor, at=at)
        self._survey = PurgeSurvey(rows, archive)
        self._remaining = Remaining(rows, archive)

    def plan(self, request: PurgeRequest) -> DeletionReport:
        """What would be done; changes nothing, and takes no lease.

        Raises ConfigError as `purge`.
        """
        entry = self._require_crawl(request.crawl)
        report = DeletionReport(entry.crawl, entry.facts.collection)
        report.was_gone = entry.state == PURGED
        if entry.state in (OPEN, COMMITTED):
            try:
                self._remover.require_own(entry.crawl)
                self._survey.survey(self._collection(entry), entry, request, report)
            except ONE_FILE_ONLY as problem:
                report.problems.append(problem)
        return report

    def purge(self, request: PurgeRequest) -> DeletionReport:
        """Purge a crawl, or list the references that prevent it.

        Raises:
            ConfigError: the crawl does not exist, or was taken out otherwise.
            Conflict: another act works on its collection, or did not finish.
        """
        entry = self._require_crawl(request.crawl)
        if entry.state == PURGED and not self._is_unfinished(entry):
            report = DeletionReport(entry.crawl, entry.facts.collection)
            report.was_gone = True
            return report
        act = self._begin(entry)
        report = DeletionReport(entry.crawl, entry.facts.collection, act=act.name)
        with act:
            try:
                self._purge_in(act, entry, request, report)
            except ONE_FILE_ONLY as problem:
                report.problems.append(problem)
            has_begun = require_crawl(self._rows, entry.crawl).state == PURGING
            is_kept = False
            if report.problems and not has_begun:
                is_kept = self._take_back(act, entry, report)
            if has_begun or is_kept or report.is_to_go_on:
                # Run again, it goes on; until then nothing new refers to what remains.
                act.leave()
            elif not report.is_complete:
                act.conclude(FAILED)
        return report

    def _take_back(self, act: Act, entry: CrawlEntry, report: DeletionReport) -> bool:
        """Leave nothing of what could not be done, and report what was.

        Whether something stays all the same: it alone is whole.
        """
        is_kept = False
        if not report.is_to_go_on:
            try:
                settle_left(act, release=True)
            except ONE_FILE_ONLY as problem:
                report.problems.append(problem)
                is_kept = not isinstance(problem, Conflict)
        report.files = report.captures = report.freed_bytes = 0
        with suppress(*ONE_FILE_ONLY):  # as it failed before
            self._survey.keep_done(self._collection(entry), entry.crawl, report)
        return is_kept

    def _require_crawl(self, crawl: str) -> CrawlEntry:
        entry = require_crawl(self._rows, crawl)
        if entry.state not in (OPEN, COMMITTED, PURGING, PURGED):
            is_going = entry.state in COMPLETED_BY
            use = ": complete that with `pinakes crawl remove`" if is_going else ": nothing is left"
            raise ConfigError(f"the crawl {crawl} is {entry.state}{use}")
        return entry

    def unfinished(self, collection: str) -> CrawlEntry | None:
        """The crawl of the collection of which a process that has ended left the purge undone."""
        lease = read_lease(self._rows, collection)
        if lease is None or lease.expires_ms == 0:
            return None
        has_ended = lease.expires_ms <= self._actor.now_ms() or self._actor.is_gone(lease.owner)
        crawl = purged_by(self._rows, lease.act) if has_ended else None
        return require_crawl(self._rows, crawl) if crawl is not None else None

    def is_begun(self, crawl: CrawlEntry) -> bool:
        """Whether a purge that did not finish is that of this crawl, or had not noted whose."""
        lease = read_lease(self._rows, crawl.facts.collection)
        if lease is None or not lease.expires_ms or not lease.act.startswith(f"{VERB}-"):
            return False
        return purged_by(self._rows, lease.act) in (None, crawl.crawl)

    def _is_unfinished(self, entry: CrawlEntry) -> bool:
        left = self.unfinished(entry.facts.collection)
        return left is not None and left.crawl == entry.crawl

    def _begin(self, entry: CrawlEntry) -> Act:
        return Act.begin(
            self._rows,
            self._archive,
            self._actor,
            VERB,
            entry.facts.collection,
            resumes=lambda act: purged_by(self._rows, act) in (None, entry.crawl),
            hint=partial(hint_at, self._rows),
            at=self._at,
        )

    def _purge_in(
        self, act: Act, entry: CrawlEntry, request: PurgeRequest, report: DeletionReport
    ) -> None:
        files = RunFiles(self._runs_folder / act.name)
        report.go_on_from(files.read_json(REPORT))
        if entry.state == PURGING and report.before is not None and not report.is_provided:
            # The process ended between closing the crawl and looking for what landed in between.
            state, act_before = report.before
            entry = replace(entry, state=state, act=act_before)
            self._remover.open_again(entry, PURGE)
        is_there = entry.state in (OPEN, COMMITTED)
        if entry.state != PURGED:
            self._remover.require_own(entry.crawl)
        if is_there and not self._provide(act, entry, request, report, files):
            return
        if entry.state != PURGED:
            # A survey that was made in an earlier run has read nothing in this one.
            if not is_there and request.references != FORCE and not report.dangling:
                self._remover.require_copies(act.collection, entry.crawl)
            removal = DeletionReport(entry.crawl, act.collection)
            # What is left dangling names its originals, should they land again.
            with_pins = not report.dangling
            self._remover.take_out_in(act, entry.crawl, PURGE, removal, with_pins=with_pins)
            report.problems += removal.problems
        for stored in report.superseded:
            self._drop(act, stored)
        if report.problems:
            return
        change_crawl_state(self._rows, entry.crawl, (PURGING,), PURGED, act=act.name)
        self._at("purged")

    # --- what refers to the crawl

    def _provide(
        self,
        act: Act,
        entry: CrawlEntry,
        request: PurgeRequest,
        report: DeletionReport,
        files: RunFiles,
    ) -> bool:
        """See to all references, and note what was done; False: nothing may be deleted."""
        # Not released yet: the survey reads the sidecars of claimed files, whose rows may be ahead.
        settle_left(act, release=False)
        for _ in range(_ROUNDS):
            collection = self._collection(entry)
            found, choice = self._survey.survey(collection, entry, request, report)
            if report.references or report.problems:
                return False
            if not act.is_resumed or act.noted() is None:
                act.note(software=self._software, arguments=(request.to_json(),))
            report.before, report.is_provided = (entry.state, entry.act), False
            files.write_json(REPORT, report.as_json())
            self._at("reported")
            if request.references == FORCE:
                break
            if found.all:
                provide_for(collection, found, choice, act)
            elif not self._remover.close(entry, PURGE, act):
                break
        else:
            report.problems.append(
                Conflict("captures that refer to it go on landing: run again", file=entry.crawl)
            )
            return False
        settle_left(act, release=True)
        if request.references != FORCE:
            report.superseded = self._survey.superseded(collection, entry.crawl, report)
            try:
                self._require_superseded(report)
            except ONE_FILE_ONLY:
                self._remover.open_again(entry, PURGE)
                raise
        report.is_provided = True
        files.write_json(REPORT, report.as_json())
        self._at("noted")
        return True

    # --- the act

    def _collection(self, entry: CrawlEntry) -> Collection:
        return Collection(self._rows, self._archive, entry.facts.collection)

    def _require_superseded(self, report: DeletionReport) -> None:
        """Raise DigestMismatch unless nothing is lost without the generations that will go; before
        anything of the crawl does."""
        of_file: dict[str, list[str]] = defaultdict(list)
        for stored in report.superseded:
            of_file[generation_of(stored).archive_file].append(stored)
        for name, some in sorted(of_file.items()):
            entry = read_entry(self._rows, name)
            require_given_back(self._rows, self._archive, entry, some, self._remaining)

    def _drop(self, act: Act, stored: str) -> None:
        """Delete an older generation that refers to what is gone."""
        with act.claimed(generation_of(stored).archive_file) as held:
            drop_generations(act, held, [stored], self._remaining)
