"""The duplicates that a manifest names, written as revisits: into a folder, or in place.

manifest ─▶ which records, and their originals ─▶ each file rewritten, proven ─▶ in place: all moved
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from pinakes.archive_store.located import open_place, output_name, size_at
from pinakes.dedupe.archive_files import SUPERSEDED, ArchiveFiles
from pinakes.dedupe.write.in_place import InPlaceRewriting
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.dedupe.write.refs import DEFAULT_MIN_SAVING_BYTES, RefsCount, RevisitWriter
from pinakes.dedupe.write.rewriting import (
    Duplicates,
    Replacements,
    refuse_equal_names,
    rewrite_or_copy,
    rewrite_to,
    run_name_of,
)
from pinakes.errors import (
    ConfigError,
    Conflict,
    DigestMismatch,
    InputRefused,
    MalformedRecord,
    PinakesError,
)
from pinakes.rewrite.replace import Replacement, watched
from pinakes.warc.file_progress import Advance, FileProgress, no_advance
from pinakes.warc.source import Source

from .events import Notice, Skipped
from .file_places import FilePlaces, open_files

RUN_OF_OTHERS = "refs"
"""What a run is called whose manifest is not a file here."""
_PASSES = 2
"""Over a file that is rewritten: written, and proven."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefsRequest:
    """Which duplicates to write as revisits, in which files, and where those go."""

    names: Sequence[str]
    """The files to rewrite; with a runner, none: those that the manifest marks."""
    manifest: str
    output: str | None
    """None: in place."""
    min_saving_bytes: int | None = DEFAULT_MIN_SAVING_BYTES
    places: FilePlaces = field(default_factory=FilePlaces)
    run: str | None = None
    """The name of the run; None: a hash of the manifest."""
    dry_run: bool = False

    @property
    def run_name(self) -> str:
        """Raises ConfigError for what cannot stand in a record."""
        path, name = Path(self.manifest), self.run
        if name is None:
            name = run_name_of(path) if path.is_file() else RUN_OF_OTHERS
        if not name.isascii() or not name.replace("-", "").replace("_", "").isalnum():
            raise ConfigError("--run may contain letters, digits, - and _")
        return name


class RefsWritten(NamedTuple):
    """A file, and what became of the duplicates in it."""

    file: str
    refs: RefsCount


RefsEvent = RefsWritten | Skipped | Notice | PinakesError
"""What is reported; an error is of a file that was not written, or of a record that stays full."""


def write_revisits(
    request: RefsRequest, on_event: Callable[[RefsEvent], None], advance: Advance = no_advance
) -> RefsCount:
    """Write the files; what went wrong with one of them does not end it.  The sum of all.

    Killed anywhere, the same call ends the work.

    Raises:
        ConfigError: two files have one name, or the run's name cannot stand in a record.
        MalformedRecord: the manifest is none.
        DigestMismatch: in place, where a reference does not resolve: then nothing was changed.
    """
    refuse_equal_names(request.names)
    run_name = request.run_name
    with open_files(request.places, superseded=request.output is None) as files:
        duplicates = _read_duplicates(Path(request.manifest), files)
        if not duplicates.places:
            none = "contains no duplicates; `pinakes resolve --process` finds them"
            on_event(Notice(f"{request.manifest}: {none}"))
        writer = RevisitWriter(
            OriginalReader(files, duplicates.places).find,
            run=run_name,
            min_saving_bytes=request.min_saving_bytes,
        )
        batch = _Batch(request, duplicates, writer, on_event, advance)
        if request.output is None and not request.dry_run:
            batch.rewrite_in_place(files)
        else:
            batch.rewrite()
    return batch.total


class _Batch:
    """The files of one call."""

    def __init__(
        self,
        request: RefsRequest,
        duplicates: Duplicates,
        writer: RevisitWriter,
        on_event: Callable[[RefsEvent], None],
        advance: Advance,
    ) -> None:
        self.total = RefsCount()
        self._request = request
        self._duplicates = duplicates
        self._writer = writer
        self._on_event = on_event
        self._advance = advance

    def rewrite(self) -> None:
        """Each file into the output folder; or nowhere, in a dry run."""
        for name in self._request.names:
            with self._counted(name) as (replace, count):
                if self._request.dry_run or self._request.output is None:
                    with open_place(name) as source:
                        for _ in replace(source):
                            pass
                else:
                    folder = Path(self._request.output)
                    folder.mkdir(parents=True, exist_ok=True)
                    rewrite = partial(rewrite_to, name, folder / output_name(name))
                    rewrite_or_copy(rewrite, replace, count)

    def rewrite_in_place(self, files: ArchiveFiles) -> None:
        """Each file aside; then, where all references prove right, into their places."""
        with InPlaceRewriting(files) as rewriting:
            for name in self._request.names:
                with self._counted(name) as (replace, _):
                    if rewriting.stage(name, replace):
                        rewriting.add_originals(self._duplicates.lines_of(name))
            for path in rewriting.swap():
                self._on_event(Notice(f"{path}: the old file is in {SUPERSEDED}/"))

    @contextmanager
    def _counted(self, name: str) -> Iterator[tuple[Replacements, RefsCount]]:
        count = RefsCount()
        if not self._duplicates.names_of(name):
            why = "not in the manifest: nothing in it is replaced"
            self._on_event(Skipped(name, why, kind=why))
        try:
            lines = self._duplicates.lines_of(name)
            with FileProgress(self._advance, size_at(name) or 0, passes=_PASSES) as done:

                def replace(source: Source) -> Iterator[Replacement]:
                    return watched(self._writer.replacements(source, lines, count), source, done)

                yield replace, count
        except (InputRefused, DigestMismatch, Conflict) as problem:
            self._on_event(problem)
            return
        for unreadable in count.problems:
            self._on_event(unreadable)
        self.total.add(count)
        self._on_event(RefsWritten(name, count))


def _read_duplicates(manifest: Path, files: ArchiveFiles) -> Duplicates:
    try:
        return Duplicates.read(manifest, files)
    except MalformedRecord as problem:
        problem.file = str(manifest)
        raise
