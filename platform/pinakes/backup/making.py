"""Making a backup: a snapshot under a pin, then copied without it.

    pin ─▶ begun.json ─▶ rows ─▶ files ─▶ unpin ─▶ copied, file by file ─▶ files.jsonl
        ─▶ backup.json ─▶ the snapshot goes

Killed during the snapshot, it starts over; killed later, it continues.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile

from pinakes.acts.actor import Actor
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.port import ASIDE, ArchiveStore
from pinakes.catalog.dropped import is_withdrawal
from pinakes.catalog.run_rows import has_ended, put_run, read_run, set_run_state
from pinakes.catalog.unknown_files import name_unknown_files
from pinakes.errors import ConfigError, Conflict, PinakesError
from pinakes.hbase_schema.run_cells import RunFacts, RunState
from pinakes.row_store.port import RowStore

from .contents import (
    ARCHIVE,
    BACKUP,
    BEGUN,
    FILES,
    ROWS,
    RUNS,
    BackupFacts,
    Begun,
    FileLine,
    clear,
    format_line,
    read_begun,
    read_facts,
    store_file,
    write_facts,
)
from .copying import copy_each, copy_missing
from .crawl_list import write_crawls
from .known_sums import (
    SIDECAR,
    act_that_dropped_it,
    in_backup_alone,
    iter_lost,
    iter_missing,
    problem_of,
    put_back,
    sidecar_problem,
)
from .pinned import Pinned
from .port import Snapshots

VERB = "backup"
_REPORT = "report.json"


@dataclass(slots=True)
class BackupReport:
    """The result of a backup; `problems`: files that are missing, not as in the catalogue, or put
    back after an act had dropped them."""

    act: str
    watermark_ms: int
    went_on: bool
    files: int = 0
    size: int = 0
    problems: list[PinakesError] = field(default_factory=list)


class BackupMaker:
    """Makes one backup of one pair of stores.  Not for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        snapshots: Snapshots,
        target: ArchiveStore,
        actor: Actor,
        *,
        profile: str,
        software: str,
        place: str,
        runs_folder: Path,
        jobs: int = 1,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`place` is the target's name in messages.

        `at` is called after each step, with its name: tests end the process there.
        """
        self._rows = rows
        self._archive = archive
        self._snapshots = snapshots
        self._target = target
        self._actor = actor
        self._profile = profile
        self._software = software
        self._place = place
        self._runs_folder = runs_folder
        self._jobs = jobs
        self._at = at

    def make(self, advance: Callable[[FileLine], None] = lambda line: None) -> BackupReport:
        """Make the backup, or continue an interrupted one; `advance` is called per file.

        Raises:
            ConfigError: the target is not empty, or holds a complete backup.
            Conflict: another process is making this backup, or is pinning the store.
        """
        begun, went_on = self._begin()
        report = BackupReport(begun.act, begun.watermark_ms, went_on)
        report.problems += self._drop_abandoned(begun.act)
        whole = read_facts(self._target)
        if whole is None:
            self._copy(begun, report, advance)
        else:  # it died after the last file
            report.files, report.size = whole.files, whole.size
        self._end(begun)
        return report

    # --- the snapshot

    def _begin(self) -> tuple[Begun, bool]:
        begun = read_begun(self._target)
        if begun is None:
            whole = read_facts(self._target)
            if whole is not None:
                raise ConfigError(
                    f"already holds the complete backup {whole.act}: choose another place",
                    file=self._place,
                )
            self._require_empty()
            return self._hold(), False
        self._require_abandoned(begun.act)
        goes_on = read_facts(self._target) is not None or (
            self._snapshots.is_taken(begun.act) and self._snapshots.has_sound_rows(begun.act)
        )
        if goes_on:
            self._note_run(begun)
            return begun, True
        self._require_held(begun.act)
        self._give_up(begun.act)
        clear(self._target)
        self._at("cleared")
        return self._hold(), False

    def _require_held(self, act: str) -> None:
        """Raise DigestMismatch where what is to be started over holds what the archive has lost."""
        snapshot = iter_lost(self._rows, self._archive, self._snapshots.archive(act))
        copied = iter_lost(self._rows, self._archive, self._target, ARCHIVE)
        for name in chain(snapshot, copied):
            raise in_backup_alone(name, act)

    def _require_empty(self) -> None:
        """Raise ConfigError unless the target is empty; remove asides of a backup that died."""
        asides = [stored.name for stored in self._target.list(ASIDE)]
        acts = [name.removeprefix(f"{ASIDE}/") for name in asides]
        is_ours = all(act.startswith(f"{VERB}-") for act in acts)
        if not is_ours or any(True for _ in self._target.list()):
            raise ConfigError("is not empty: choose another place", file=self._place)
        for act, name in zip(acts, asides, strict=True):
            self._require_abandoned(act)
            self._target.delete(name)

    def _hold(self) -> Begun:
        act = self._actor.new_act(VERB)
        with Pinned(self._rows, self._actor, act) as pinned:
            begun = Begun(
                act=act,
                watermark_ms=pinned.watermark_ms,
                pinned_ms=pinned.pinned_ms,
                profile=self._profile,
                schema_version=self._rows.schema.version,
                software=self._software,
            )
            self._at("pinned")
            self._note_run(begun)
            write_facts(self._target, BEGUN, begun, token=act)
            self._at("begun")
            self._snapshots.take(act, pinned.release)
        return begun

    def _note_run(self, begun: Begun) -> None:
        facts = RunFacts(
            verb=VERB,
            act_time_ms=begun.watermark_ms,
            software=self._software,
            arguments=(self._place, self._actor.owner),
        )
        put_run(self._rows, begun.act, facts)

    def _is_abandoned(self, act: str) -> bool:
        """Whether no other process will continue this backup."""
        run = read_run(self._rows, act)
        if run is None or has_ended(self._rows, act):
            return True
        owner = run.arguments[1]
        return owner == self._actor.owner or self._actor.is_gone(owner)

    def _require_abandoned(self, act: str) -> None:
        if not self._is_abandoned(act):
            raise Conflict(f"{act} is being made there by another process", file=self._place)

    def _drop_abandoned(self, ours: str) -> Iterator[PinakesError]:
        """Drop snapshots that dead backups to other places have left; those start over.

        One that holds what the archive has lost stays, and is named.
        """
        for act in self._snapshots.acts():
            if act == ours or not self._is_abandoned(act):
                continue
            lost = list(iter_lost(self._rows, self._archive, self._snapshots.archive(act)))
            if not lost:
                self._give_up(act)
            yield from (in_backup_alone(name, act) for name in lost)

    def _give_up(self, act: str) -> None:
        self._snapshots.drop(act)
        if read_run(self._rows, act) is not None and not has_ended(self._rows, act):
            set_run_state(self._rows, act, RunState(state="stopped"))

    # --- the copies

    def _copy(
        self, begun: Begun, report: BackupReport, advance: Callable[[FileLine], None]
    ) -> None:
        with TemporaryFile(prefix="pinakes-backup-") as listing:
            for line in self._copied(begun, report):
                listing.write(format_line(line).encode("ascii"))
                report.files += 1
                report.size += line.size
                advance(line)
            token = f"{begun.act}.list"
            listed = store_file(listing, self._target, FILES, token=token, replace=True)
        self._at("listed")
        facts = BackupFacts(
            **asdict(begun),
            files=report.files,
            size=report.size,
            files_sha256=listed.sha256,
        )
        write_facts(self._target, BACKUP, facts, token=begun.act)
        self._at("whole")

    def _copied(self, begun: Begun, report: BackupReport) -> Iterator[FileLine]:
        act, target = begun.act, self._target
        yield write_crawls(self._rows, target, token=act)
        rows = self._snapshots.rows(act)
        yield from copy_each(rows, target, ROWS, token=act, jobs=self._jobs, at=self._at)
        archive = self._snapshots.archive(act)
        for line in copy_each(
            archive,
            target,
            ARCHIVE,
            token=act,
            jobs=self._jobs,
            is_copied=partial(self._is_copied, begun, report),
            at=self._at,
        ):
            stored = line._replace(name=line.name.partition("/")[2])
            if stored.name.endswith(SIDECAR):
                problem = sidecar_problem(archive, stored.name)
            else:
                problem = problem_of(self._rows, stored, begun.watermark_ms)
            if problem is not None:
                report.problems.append(problem)
            yield line
        report.problems += iter_missing(self._rows, self._archive, self._was_copied)
        report.problems += name_unknown_files(self._rows, self._archive)
        yield from self._copied_reports(act)

    def _is_copied(self, begun: Begun, report: BackupReport, name: str) -> bool:
        """Not what a withdrawal has dropped; all that was dropped and is there again is named."""
        file = name.removesuffix(SIDECAR)
        act = act_that_dropped_it(self._rows, self._archive, file, begun.watermark_ms)
        if act is None:
            return True
        if file == name:
            report.problems.append(put_back(self._rows, file, act))
        return not is_withdrawal(act)

    def _was_copied(self, name: str) -> bool:
        return self._target.size(f"{ARCHIVE}/{name}") is not None

    def _copied_reports(self, act: str) -> Iterator[FileLine]:
        if not self._runs_folder.is_dir():
            return
        runs = LocalArchiveStore(self._runs_folder)
        for stored in runs.list():
            run, _, name = stored.name.partition("/")
            if name == _REPORT and has_ended(self._rows, run):
                yield copy_missing(
                    runs, stored.name, self._target, f"{RUNS}/{stored.name}", token=act
                )

    def _end(self, begun: Begun) -> None:
        set_run_state(self._rows, begun.act, RunState(state="done"))
        self._snapshots.drop(begun.act)
        self._at("dropped")
        self._target.delete(BEGUN)
        self._at("ended")
