"""Files that tasks of jobs write, a wave of them at a time, before they are made current.

    batch ─▶ written aside ─▶ noted ─▶ confirmed ─▶ each: claimed ─▶ taken ─▶ released ─▶ forgotten

What tasks write is stored in the act's folder aside until the act publishes it:

    .landing/ACT/WAVE/…         what one wave of files came to

What it has not taken stays until the act ends: `clear_task_folder`.
Before the note nothing is there but what is stored aside; after it the same act confirms and takes
what is left of the wave, no matter how the act died.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar
from uuid import uuid4

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_records import read_current, require_as_stored
from pinakes.catalog.file_rows import Held, read_entry
from pinakes.catalog.sidecar import sidecar_name
from pinakes.errors import ONE_FILE_ONLY, PinakesError
from pinakes.hbase_schema.generation_names import Generation

from .act import Act
from .generations import Annotate, Check, Contents, Written, write_generation
from .many_files import FileResult, FileTask, change_file

Task = TypeVar("Task", bound=FileTask)
Task_contra = TypeVar("Task_contra", bound=FileTask, contravariant=True)
Made = TypeVar("Made")
"""What a task reports of a file."""
Report = TypeVar("Report")
"""What the act reports of it."""


# --- in a task


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile(Generic[Made]):
    """A file that a task has written, read back, and checked.

    `written` is stored in `folder`, below the act's folder aside, and its sidecar next to it,
    under the names that they are to have.
    """

    archive_file: str
    folder: str = ""
    written: Written
    sidecar_sha256: str
    made: Made


@dataclass(frozen=True, slots=True, kw_only=True)
class NotWritten:
    """A file that stays as it is, and why; `old_sha256` is of what was read, where it could be."""

    archive_file: str
    problem: PinakesError
    old_sha256: str | None = None


FileOutcome = WrittenFile[Made] | NotWritten
"""What a task has come to with a file."""


def write_aside(
    archive: ArchiveStore,
    out: ArchiveStore,
    generation: Generation,
    parts: Callable[[], tuple[Contents, Check, Annotate, Made]],
) -> FileOutcome[Made]:
    """Write a file's next generation in `out`, whose folder the driver knows; or say why it stays
    as it is.

    `parts` gives what `write_generation` needs, and what is reported.  Whether the old one is what
    was stored is asked by the driver.
    """
    try:
        contents, check, annotate, made = parts()
        written = write_generation(
            archive,
            out,
            generation,
            contents,
            stored_sha256=None,
            token=uuid4().hex,
            check=check,
            annotate=annotate,
        )
    except ONE_FILE_ONLY as problem:
        name, old_sha256 = generation.archive_file, None
        with suppress(*ONE_FILE_ONLY):
            old_sha256 = archive.checksum(generation.name)
        return NotWritten(archive_file=name, problem=problem, old_sha256=old_sha256)
    return WrittenFile(
        archive_file=written.archive_file,
        written=written,
        sidecar_sha256=out.checksum(sidecar_name(written.name)),
        made=made,
    )


# --- in the driver


class Tasks(Protocol[Task_contra, Made]):
    """The port by which an act has its files written elsewhere: by jobs."""

    def write(self, wave: str, files: Iterable[Task_contra]) -> None:
        """Have each of these files written as its next generation; nothing is published.

        Raises:
            StoreUnavailable: where it could not be done; nothing is left to look at then.
        """
        ...

    def outcomes(self, wave: str) -> Iterator[FileOutcome[Made]]:
        """What `write` came to, once it has returned: each of its files once, in no order."""
        ...


class NotedWave(NamedTuple):
    """A wave that tasks have written: its name, its files with their sizes, about, in bytes."""

    wave: str
    sizes: dict[str, int]
    is_valid: bool = False
    """Whether all of it was read and found right."""


class WaveNotes(Protocol):
    """Where an act keeps in mind which wave was written, and is not all taken."""

    def note_wave(self, wave: NotedWave) -> None: ...
    def read_wave(self) -> NotedWave | None: ...
    def forget_wave(self) -> None: ...


def take_file(
    act: Act,
    outcome: FileOutcome[Made],
    work: Callable[[Held, WrittenFile[Made]], Report],
) -> FileResult[Report]:
    """Do with a file under its claim what follows its writing; or say why it was not written:
    because it is not what was stored, if that is so."""
    if isinstance(outcome, WrittenFile):
        return change_file(act, outcome.archive_file, lambda held: work(held, outcome))
    problem = outcome.problem
    if outcome.old_sha256 is not None:
        entry = read_entry(act.rows, outcome.archive_file)
        try:
            stored = read_current(act.rows, entry).sha256
            require_as_stored(entry.stored_name, outcome.old_sha256, stored)
        except ONE_FILE_ONLY as found:
            problem = found
    return FileResult(archive_file=outcome.archive_file, report=problem)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waves(Generic[Task, Made, Report]):
    """Has files of an act written in waves, and takes them.  Not for several threads.

    `take` takes what tasks have written, in no order: see `take_file`.  Without `notes`, what an
    act that died has written is written again.  `confirm(noted)` raises where nothing of a wave is
    to be taken.
    """

    act: Act
    tasks: Tasks[Task, Made]
    take: Callable[[Iterable[FileOutcome[Made]]], Iterator[FileResult[Report]]]
    notes: WaveNotes | None = None
    confirm: Callable[[NotedWave], None] = lambda noted: None

    def change(self, batches: Iterable[Iterable[Task]]) -> Iterator[FileResult[Report]]:
        """Take what is left of the wave that was noted last; then have the files of these batches,
        which are drawn after that, written, and take them."""
        left = self.notes.read_wave() if self.notes is not None else None
        if left is not None:
            yield from self._finish(left)
        for batch in batches:
            noted = NotedWave(f"wave-{self.act.actor.new_token()[:8]}", {})
            self.tasks.write(noted.wave, _noting(batch, noted.sizes))
            self.act.at("wave written")
            if self.notes is not None:
                self.notes.note_wave(noted)
                self.act.at("wave noted")
            yield from self._finish(noted)

    def _finish(self, noted: NotedWave) -> Iterator[FileResult[Report]]:
        self.confirm(noted)
        missing = set(noted.sizes)
        for result in self.take(self._each_once(noted.wave, missing)):
            self.act.keep()  # others may be at work with its files
            yield result
        if missing:
            raise PinakesError(
                f"{len(missing):,} of {len(noted.sizes):,} files have no result from any task",
                file=min(missing),
            )
        if self.notes is not None:
            self.notes.forget_wave()
        self.act.at("wave committed")

    def _each_once(self, wave: str, missing: set[str]) -> Iterator[FileOutcome[Made]]:
        """What the wave came to; each of its files is taken off `missing`."""
        for outcome in self.tasks.outcomes(wave):
            if outcome.archive_file not in missing:
                raise PinakesError(
                    "tasks have written this file twice, or unasked: nothing more is committed",
                    file=outcome.archive_file,
                )
            missing.remove(outcome.archive_file)
            yield outcome


def _noting(files: Iterable[Task], sizes: dict[str, int]) -> Iterator[Task]:
    """The files; `sizes` gets what each takes."""
    for file in files:
        sizes[file.archive_file] = file.takes_bytes
        yield file
