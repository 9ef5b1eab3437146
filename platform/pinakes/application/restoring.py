"""Revisits in archive files back to full records: ours, and crawlers', where asked for.

files ─▶ which revisits, and what they refer to ─▶ originals found ─▶ each file rewritten, proven
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pinakes.archive_store.located import check_folder, open_place, output_name, size_at
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.references.further_originals import note_indexed
from pinakes.dedupe.references.originals import Originals
from pinakes.dedupe.write.full_records import FullRecords
from pinakes.dedupe.write.restore import RestoreCount, want_originals
from pinakes.dedupe.write.rewriting import Replacements, refuse_equal_names, rewrite_to
from pinakes.errors import Conflict, DigestMismatch, InputRefused, PinakesError
from pinakes.rewrite.replace import Replacement, watched
from pinakes.warc.file_names import base_name
from pinakes.warc.file_progress import Advance, FileProgress, no_advance
from pinakes.warc.source import Source

from .events import OnProblem
from .file_places import FilePlaces, find_originals, locations_of
from .inputs import AnyPath, Paths, archive_files_of, problems_into

_PASSES = 2
"""Over a file that is rewritten: written, and proven."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredFile:
    """What became of the revisits of one file: how many are full again, `foreign` of them
    crawlers', and how many are left, by reason."""

    file: str
    restored: int
    foreign: int
    left: Mapping[str, int]


class RestoringFiles:
    """Restores files: `find`, then `write`.  `on_problem` gets files that cannot be read or
    restored, and revisits whose original is not found: they stay as they are."""

    def __init__(
        self,
        names: Sequence[str],
        on_problem: OnProblem,
        *,
        places: FilePlaces,
        index: Path | None = None,
        foreign: bool = False,
    ) -> None:
        """Originals are in the files, in `places`, or named by a CDX or CDXJ (`index`), which then
        are not read for them.  `foreign`: revisits that crawlers wrote, too.

        Raises ConfigError where two files have one name.
        """
        refuse_equal_names(names)
        self._names = names
        self._places = places
        self._index = index
        self._foreign = foreign
        self._on_problem = on_problem
        self._originals = Originals()
        self._readable: list[str] = []

    def find(self) -> int:
        """Find the revisits, and what they refer to; the bytes of the files that `write` reads.

        Raises:
            ConfigError: the folder is none that can be listed.
            InputRefused: the table or the index cannot be read.
        """
        originals = self._originals
        for name in self._names:
            try:
                with open_place(name) as source:
                    want_originals(source, originals, foreign=self._foreign)
                self._readable.append(name)
            except InputRefused as problem:
                self._on_problem(problem)
        self._locations = locations_of(self._places) | {
            base_name(name): name for name in self._readable
        }
        if self._index is not None:
            note_indexed(self._index, originals)
        else:
            for place in [*self._readable, *find_originals(self._places, self._readable)]:
                try:
                    with open_place(place) as source:
                        originals.look_through(source)
                except InputRefused as problem:
                    self._on_problem(problem)
        return sum(size_at(name) or 0 for name in self._readable)

    def write(self, output: Path | None, advance: Advance = no_advance) -> Iterator[RestoredFile]:
        """Write each file into a folder, proven; with None, only say what would be restored."""
        with ArchiveFiles(folder=self._places.folder, locations=self._locations) as files:
            for name in self._readable:
                count = RestoreCount()
                try:
                    self._write(name, output, files, count, advance)
                except (InputRefused, DigestMismatch, Conflict) as problem:
                    self._on_problem(problem)
                    continue
                for unresolved in count.problems:
                    self._on_problem(unresolved)
                yield RestoredFile(
                    file=name,
                    restored=count.restored,
                    foreign=count.foreign,
                    left=dict(count.left),
                )

    def _write(
        self,
        name: str,
        output: Path | None,
        files: ArchiveFiles,
        count: RestoreCount,
        advance: Advance,
    ) -> None:
        work = FullRecords(self._originals, files, count, foreign=self._foreign)
        with FileProgress(advance, size_at(name) or 0, passes=_PASSES) as done:
            if output is None:
                with open_place(name) as source:
                    for _ in work.replacements(source):
                        pass
                return
            output.mkdir(parents=True, exist_ok=True)
            replacements = partial(_watched, work.replacements, done)
            rewrite_to(name, output / output_name(name), replacements, check=work.check)


def _watched(restore: Replacements, done: FileProgress, source: Source) -> Iterator[Replacement]:
    return watched(restore(source), source, done)


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """What became of all files.  `problems` are files that could not be read or restored, and
    revisits without their original."""

    files: tuple[RestoredFile, ...]
    restored: int
    problems: tuple[PinakesError, ...]


def restore_files(
    paths: Paths,
    output: AnyPath | None,
    *,
    originals: AnyPath | None = None,
    index: AnyPath | None = None,
    foreign: bool = False,
    advance: Advance = no_advance,
) -> RestoreResult:
    """Rewrite archive files into a folder, revisits as full records, as `pinakes restore` does.

    `paths` are files, and folders and packages of them; originals are looked for in them, and in
    the folder `originals`, or found by a CDX or CDXJ.  `foreign`: also crawlers' revisits.  With
    None for `output` nothing is written.  Killed anywhere, the same call ends the work.

    Raises:
        ConfigError: there is no archive file, or two would be written under one name.
        InputRefused: the index cannot be read.
    """
    problems: list[PinakesError] = []
    names = archive_files_of(paths, problems_into(problems))
    folder = None if originals is None else check_folder(os.fspath(originals))
    restoring = RestoringFiles(
        names,
        problems.append,
        places=FilePlaces(folder=folder),
        index=None if index is None else Path(index),
        foreign=foreign,
    )
    restoring.find()
    files = tuple(restoring.write(None if output is None else Path(output), advance))
    return RestoreResult(
        files=files, restored=sum(file.restored for file in files), problems=tuple(problems)
    )
