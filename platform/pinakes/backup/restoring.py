"""Restoring a store from a backup: rows, hidden if the profile supports it; files; settling.

    rows ─▶ files that the rows name ─▶ unfinished acts completed or undone ─▶ visible

Killed anywhere, the same call continues: what is published is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.port import ASIDE, ArchiveStore
from pinakes.catalog.file_rows import FileEntry, scan_entries
from pinakes.catalog.kept_dictionaries import parse_kept_name
from pinakes.catalog.run_rows import has_ended, put_run, read_run, set_run_state
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import ConfigError, PinakesError, SchemaError
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.generation_names import iter_generation_files
from pinakes.hbase_schema.run_cells import RunFacts, RunState
from pinakes.row_store.port import RowStore

from .contents import ARCHIVE, RUNS, BackupFacts, FileLine, read_lines, require_facts
from .copying import copy_listed
from .crawl_list import iter_crawls
from .findings import SettledFinding
from .port import RowsRestorer
from .recovery import Recovery, SurvivingActor

VERB = "restore"


@dataclass(slots=True)
class RestoreReport:
    """The result of a restore.

    `left_out` are names of files in the backup that the rows do not name: published after
    the watermark, or unknown to the catalogue.
    """

    facts: BackupFacts
    files: int = 0
    size: int = 0
    left_out: list[str] = field(default_factory=list)
    settled: list[SettledFinding] = field(default_factory=list)
    problems: list[PinakesError] = field(default_factory=list)


class BackupRestoring:
    """Restores one backup.  Not for several threads."""

    def __init__(
        self,
        backup: ArchiveStore,
        restorer: RowsRestorer,
        archive: ArchiveStore,
        *,
        place: str,
        profile: str,
        schema_version: int,
        software: str,
        runs_folder: Path,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`place` is the backup's name in messages.

        `at` is called after each step, with its name: tests end the process there.
        """
        self._backup = backup
        self._restorer = restorer
        self._archive = archive
        self._place = place
        self._profile = profile
        self._schema_version = schema_version
        self._software = software
        self._runs_folder = runs_folder
        self._at = at

    def restore(self, advance: Callable[[FileLine], None] = lambda line: None) -> RestoreReport:
        """Restore everything; `advance` is called per file.

        Raises:
            ConfigError: no complete backup, a backup of another profile, or the store is not
                empty.
            SchemaError: the backup was made by a newer Pinakes.
            DigestMismatch: a file of the backup differs from what was written.
        """
        facts = self._require_fit()
        lines = read_lines(self._backup, facts)
        report = RestoreReport(facts)
        self._restorer.require_empty()
        crawls = list(iter_crawls(self._backup, lines))
        self._restorer.restore(self._backup, lines, partial(self._require_ours, facts))
        self._at("rows restored")
        rows = self._restorer.open()
        try:
            run = self._begin(rows, facts)
            self._restore_files(rows, lines, report, advance)
            self._at("files restored")
            recovery = Recovery(rows, self._archive, facts, SurvivingActor(), crawls, at=self._at)
            for settled in recovery.settle():
                report.settled.append(settled)
            report.problems += recovery.problems
            self._restore_reports(lines)
            _drop_asides(self._archive)
            set_run_state(rows, run, RunState(state="done"))
        finally:
            rows.close()
        self._at("settled")
        self._restorer.finish()
        self._at("visible")
        return report

    def _require_fit(self) -> BackupFacts:
        facts = require_facts(self._backup, self._place)
        if facts.profile != self._profile:
            raise ConfigError(
                f"is of a store with the profile {facts.profile}, this one has {self._profile}",
                file=self._place,
            )
        if facts.schema_version > self._schema_version:
            raise SchemaError(
                f"has schema version {facts.schema_version}, this Pinakes knows "
                f"{self._schema_version}: use the newer Pinakes",
                file=self._place,
            )
        return facts

    def _begin(self, rows: RowStore, facts: BackupFacts) -> str:
        """Record in the rows which backup they are from; return the name of this restore."""
        run = _run_of(facts)
        self._require_ours(facts, rows)
        if read_run(rows, run) is None:
            put_run(
                rows,
                run,
                RunFacts(
                    verb=VERB,
                    act_time_ms=facts.watermark_ms + 1,
                    software=self._software,
                    arguments=(self._place,),
                ),
            )
        self._at("begun")
        return run

    def _require_ours(self, facts: BackupFacts, rows: RowStore) -> None:
        """Raise ConfigError for rows that are not from this backup."""
        # In the rows of a backup, its run is running; in no others.
        is_begun = read_run(rows, _run_of(facts)) is not None
        if not is_begun and (read_run(rows, facts.act) is None or has_ended(rows, facts.act)):
            raise ConfigError("the rows here are from another backup", file=self._place)

    # --- files

    def _restore_files(
        self,
        rows: RowStore,
        lines: list[FileLine],
        report: RestoreReport,
        advance: Callable[[FileLine], None],
    ) -> None:
        prefix = f"{ARCHIVE}/"
        there = {
            line.name.removeprefix(prefix): line for line in lines if line.name.startswith(prefix)
        }
        for entry in scan_entries(rows):
            for name in _wanted(entry, there):
                line = there.pop(name)
                self._restore_file(line, name, report)
                advance(line)
        for name in filter(parse_kept_name, sorted(there)):
            line = there.pop(name)
            self._restore_file(line, name, report)
            advance(line)
        report.left_out += sorted(there)

    def _restore_file(self, line: FileLine, name: str, report: RestoreReport) -> None:
        token = f"{VERB}.{report.files}"
        copy_listed(self._backup, line, self._archive, name, token=token)
        report.files += 1
        report.size += line.size
        self._at("file restored")

    def _restore_reports(self, lines: list[FileLine]) -> None:
        runs = LocalArchiveStore(self._runs_folder)
        prefix = f"{RUNS}/"
        for line in lines:
            name = line.name.removeprefix(prefix)
            if line.name.startswith(prefix):
                copy_listed(self._backup, line, runs, name, token=VERB)
        _drop_asides(runs)


def _run_of(facts: BackupFacts) -> str:
    """The name of the restoring of a backup."""
    return f"{VERB}-{facts.act}"


def _drop_asides(archive: ArchiveStore) -> None:
    """Delete what restorings that were killed have left."""
    for stored in archive.list(ASIDE):
        archive.delete(stored.name)


def _wanted(entry: FileEntry, there: dict[str, FileLine]) -> Iterator[str]:
    """An entry's files in the backup, up to the generation in its rows."""
    state = entry.state
    if state is None or state.is_gone or state is FileState.REFUSED:
        return
    for generation in range(1, entry.generation + 1):
        names = list(iter_generation_files(entry.archive_file, generation))
        if state is FileState.LANDING and not _is_landed(entry, there.get(names[0])):
            return
        for stored in (*names, *map(sidecar_name, names)):
            if stored in there:
                yield stored


def _is_landed(entry: FileEntry, line: FileLine | None) -> bool:
    """Whether the bytes of an unfinished landing are those that it recorded."""
    return line is not None and entry.facts is not None and line.sha256 == entry.facts.sha256
