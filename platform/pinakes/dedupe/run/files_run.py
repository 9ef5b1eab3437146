"""The whole chain on archive files, without a store: list, compare, decide, write, validate.

    files ─▶ manifest lines ─▶ resolved, processed ─▶ duplicates ─▶ new files ─▶ validated

What is written depends on the files and the options alone: killed anywhere, the same call ends
the work, and finds equal what it has written before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pinakes.archive_store.located import open_place, output_name, size_at
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.decide.bodies import ArchiveBodies
from pinakes.dedupe.decide.counting import Decisions
from pinakes.dedupe.decide.process import resolve_and_process
from pinakes.dedupe.decide.resolve import Comparing
from pinakes.dedupe.decide.trust import Trust
from pinakes.dedupe.validate.file_pairs import Observers
from pinakes.dedupe.validate.folders import Proven, Validation, validate_files
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.dedupe.write.refs import RefsCount, RevisitWriter
from pinakes.dedupe.write.rewriting import (
    Duplicates,
    Replacements,
    refuse_equal_names,
    rewrite_or_copy,
    rewrite_to,
    run_name_of,
)
from pinakes.errors import (
    Conflict,
    DigestMismatch,
    InputRefused,
    MalformedRecord,
    PinakesError,
)
from pinakes.index.external_sort import SortSpace
from pinakes.index.manifest import ManifestLine, format_line
from pinakes.index.not_whole import iter_naming
from pinakes.index.scan import iter_manifest
from pinakes.rewrite.replace import Replacement, watched
from pinakes.warc.file_progress import Advance, FileProgress
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch
from pinakes.warc.source import Source

from .run_report import COUNTING, UNWATCHED, DedupeProgress, files_step

_PASSES = 2
"""Over a file that is rewritten: written, and proven."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesRequest:
    """Which files to deduplicate, and how; options as those of `dedupe` on a store."""

    names: list[str]
    compare: bool
    trust: Trust | None
    min_saving_bytes: int | None
    now: datetime
    """A capture with a later date takes no part."""
    space: SortSpace

    @property
    def algorithm(self) -> str:
        """SHA-1 is enough where bodies are compared."""
        return "sha1" if self.compare and self.trust is None else "sha256"


class FileDone(NamedTuple):
    """What became of one file."""

    name: str
    size: int
    refs: RefsCount


class FilesRun:
    """One run; a context manager.  `decide`, then `write`, then `validate`.

    `problems` gets what cannot be read; a file that cannot is left out.
    """

    def __init__(self, request: FilesRequest, on_problem: Callable[[PinakesError], None]) -> None:
        """Raises ConfigError where two files would be written under one name."""
        refuse_equal_names(request.names)
        self.decisions = Decisions()
        self._request = request
        self._on_problem = on_problem
        self._stack = ExitStack()
        self._readable: list[str] = []
        self._proven: dict[str, Proven] = {}
        self._sizes = {name: size_at(name) or 0 for name in request.names}

    def __enter__(self) -> FilesRun:
        self._files = self._stack.enter_context(ArchiveFiles())
        folder = TemporaryDirectory(prefix="pinakes-", dir=self._request.space.folder)
        self._manifest = Path(self._stack.enter_context(folder)) / "manifest"
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def decide(self, progress: DedupeProgress = UNWATCHED) -> None:
        """List all captures, compare bodies, choose originals."""
        request = self._request
        progress.begin(files_step(1), sum(self._sizes.values()))
        bodies = ArchiveBodies(self._files) if request.compare else None
        lines = resolve_and_process(
            self._lines(progress.advance),
            bodies,
            self.decisions,
            trust=request.trust,
            space=request.space,
            comparing=Comparing(partial(progress.begin, files_step(2)), progress.advance),
        )
        with self._manifest.open(
            "w", encoding="utf-8", errors="surrogateescape", newline="\n"
        ) as out:
            out.writelines(format_line(line) + "\n" for line in lines)
        for problem in self.decisions.resolved.problems:
            self._on_problem(problem)

    def _lines(self, advance: Advance) -> Iterator[ManifestLine]:
        for name in self._request.names:
            try:
                with FileProgress(advance, self._sizes[name]) as done, open_place(name) as source:
                    source.watch(done.reached)
                    algorithm = self._request.algorithm
                    items = iter_records(source, digests=(algorithm,), skip_gets=True)
                    yield from iter_manifest(
                        iter_naming(items, name, self._on_problem),
                        file=name,
                        algorithm=algorithm,
                        now=self._request.now,
                        on_damage=partial(self._name_stretch, name),
                    )
                    source.check_unchanged()
            except InputRefused as refusal:
                self._on_problem(refusal)
            else:
                self._readable.append(name)

    def _name_stretch(self, name: str, stretch: DamagedStretch) -> None:
        what = f"{stretch.reason}: {stretch.end - stretch.offset} bytes take no part"
        self._on_problem(MalformedRecord(what, file=name, offset=stretch.offset))

    def write(
        self, output: Path | None, progress: DedupeProgress = UNWATCHED
    ) -> Iterator[FileDone]:
        """Each file, its duplicates as revisits, into a folder; None: only count.

        A file without duplicates is copied.  One that was written before is compared.
        """
        step = files_step(3) if output is not None else COUNTING
        progress.begin(step, self._size_of_readable())
        duplicates = Duplicates.read(self._manifest, self._files)
        # Opened again: what is relied on is read when it is written, and not from a window.
        originals = self._stack.enter_context(ArchiveFiles())
        writer = RevisitWriter(
            OriginalReader(originals, duplicates.places).find,
            run=run_name_of(self._manifest),
            min_saving_bytes=self._request.min_saving_bytes,
        )
        for name in list(self._readable):
            count = RefsCount()
            lines = duplicates.lines_of(name)
            replace = partial(writer.replacements, lines=lines, count=count)
            size = self._sizes[name]
            try:
                with FileProgress(progress.advance, size, passes=_PASSES) as done:
                    self._write_one(name, output, _watched(replace, done), count)
            except (InputRefused, DigestMismatch, Conflict) as failure:
                self._on_problem(failure)
                self._readable.remove(name)
                continue
            for problem in count.problems:
                self._on_problem(problem)
            yield FileDone(name, size, count)

    def _write_one(
        self, place: str, output: Path | None, replace: Replacements, count: RefsCount
    ) -> None:
        if output is None:
            with open_place(place) as source:
                _drain(replace(source))
            return

        def note(before: Source, after: Source) -> None:
            if count.records:  # else it is a copy, which is quickly compared
                self._proven[place] = Proven(before.again().sha256(), after.again().sha256())

        output.mkdir(parents=True, exist_ok=True)
        rewrite = partial(rewrite_to, place, output / output_name(place))
        rewrite_or_copy(rewrite, replace, count, proven=note)

    def _size_of_readable(self) -> int:
        return sum(self._sizes[name] for name in self._readable)

    def validate(
        self,
        output: Path,
        *,
        observers: Observers | None = None,
        progress: DedupeProgress = UNWATCHED,
    ) -> Validation:
        """Read all files once more, before and after, and follow every reference."""
        progress.begin(files_step(4), self._size_of_readable())
        return validate_files(
            self._readable,
            output,
            proven=self._proven,
            observers=observers,
            advance=progress.advance,
        )


def _watched(replace: Replacements, done: FileProgress) -> Replacements:
    def replacements(source: Source) -> Iterator[Replacement]:
        return watched(replace(source), source, done)

    return replacements


def _drain(items: Iterable[object]) -> None:
    for _ in items:
        pass
