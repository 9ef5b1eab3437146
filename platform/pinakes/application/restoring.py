"""Revisits in archive files back to full records: ours, and crawlers', where asked for.

files ─▶ which revisits, and what they refer to ─▶ originals found ─▶ each file rewritten, proven
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Protocol

from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.local.whole_files import OutputFolder
from pinakes.archive_store.located import (
    check_folder,
    is_at,
    local_path,
    open_place,
    output_name,
    size_at,
)
from pinakes.catalog.crawl_rows import crawls_named, crawls_to_read
from pinakes.catalog.entries import stored_files
from pinakes.catalog.file_records import read_generations
from pinakes.catalog.file_rows import FileEntry, read_entries
from pinakes.catalog.requirements import iter_referring
from pinakes.catalog.stored_bytes import how_bytes_differ
from pinakes.dedupe.archive_files import ArchiveFiles, StoredFiles
from pinakes.dedupe.references.further_originals import note_indexed
from pinakes.dedupe.references.originals import Originals
from pinakes.dedupe.write.full_records import FullRecords
from pinakes.dedupe.write.restore import RestoreCount, want_originals
from pinakes.dedupe.write.rewriting import (
    Check,
    Replacements,
    refuse_equal_names,
    rewrite_source,
    rewrite_to,
)
from pinakes.errors import ConfigError, Conflict, DigestMismatch, InputRefused, PinakesError
from pinakes.hbase_schema.file_states import FileState
from pinakes.profile import Stores
from pinakes.rewrite.replace import Replacement, watched
from pinakes.row_store.port import RowStore
from pinakes.warc.file_names import base_name, is_archive_name
from pinakes.warc.file_progress import Advance, FileProgress, no_advance
from pinakes.warc.source import Source

from .events import OnProblem
from .file_places import FilePlaces, find_originals, locations_of
from .inputs import AnyPath, OnEvent, Paths, archive_files_of, find_files, problems_into

_PASSES = 2
"""Over a file that is rewritten: written, and proven."""
_WITHDRAWN = "holds records that were withdrawn: complete that with `pinakes withdraw`"


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoredFile:
    """What became of the revisits of one file: how many are full again, `foreign` of them
    crawlers', and how many are left, by reason."""

    file: str
    restored: int
    foreign: int
    left: Mapping[str, int]


class FilesToRestore(Protocol):
    """Archive files whose revisits become full, and those that may have the originals."""

    @property
    def names(self) -> Sequence[str]: ...

    def open(self, name: str) -> AbstractContextManager[Source]: ...

    def size(self, name: str) -> int: ...

    def further(self, readable: Sequence[str]) -> Iterable[str]:
        """Files that are only searched for originals."""
        ...

    def readers(self, readable: Sequence[str]) -> ArchiveFiles:
        """All files, by the names of their sources."""
        ...

    def rewrite(self, name: str, output: Path, new: Replacements, *, check: Check) -> None:
        """Write a file into a folder.  Raises as `rewrite_to`."""
        ...


class FilesAtPlaces:
    """`FilesToRestore` at paths and URLs."""

    def __init__(self, names: Sequence[str], places: FilePlaces) -> None:
        """Originals are in the files, or in `places`.

        Raises ConfigError where two files have one name.
        """
        refuse_equal_names(names)
        self.names = names
        self._places = places

    def open(self, name: str) -> AbstractContextManager[Source]:
        return open_place(name)

    def size(self, name: str) -> int:
        return size_at(name) or 0

    def further(self, readable: Sequence[str]) -> Iterable[str]:
        return find_originals(self._places, readable)

    def readers(self, readable: Sequence[str]) -> ArchiveFiles:
        locations = locations_of(self._places) | {base_name(name): name for name in readable}
        return ArchiveFiles(folder=self._places.folder, locations=locations)

    def rewrite(self, name: str, output: Path, new: Replacements, *, check: Check) -> None:
        output.mkdir(parents=True, exist_ok=True)
        rewrite_to(name, output / output_name(name), new, check=check)


class FilesOfCrawls:
    """`FilesToRestore` of crawls of a store, with originals wherever they are in it.

    Each is written by its crawl and its name there.
    """

    def __init__(self, stores: Stores, crawls: Iterable[str], on_problem: OnProblem) -> None:
        """`on_problem` gets files that are not what was stored.  A file that holds records that
        were withdrawn is left out."""
        self._rows, self._archive = stores.rows, stores.archive
        self._entries: dict[str, FileEntry] = {}
        self._further: list[str] | None = None
        for entry in chain.from_iterable(stored_files(self._rows, crawl) for crawl in crawls):
            if entry.withdrawing:
                on_problem(InputRefused(_WITHDRAWN, file=entry.stored_name))
                continue
            self._entries[entry.stored_name] = entry
            generations = read_generations(self._rows, entry.archive_file)
            stored = generations.get(entry.generation)
            why = how_bytes_differ(self._archive, entry.stored_name, stored)
            if why is not None:
                on_problem(DigestMismatch(f"{why}: see `pinakes fsck`", file=entry.stored_name))
        self.names = list(self._entries)

    @contextmanager
    def open(self, name: str) -> Iterator[Source]:
        with self._archive.open(name) as file:
            yield Source(file, name=name)

    def size(self, name: str) -> int:
        return self._archive.size(name) or 0

    def further(self, readable: Sequence[str]) -> Iterable[str]:
        if self._further is None:
            self._further = self._referred_to(readable)
        return self._further

    def _referred_to(self, readable: Sequence[str]) -> list[str]:
        referred = {
            original.facts.archive_file
            for name in readable
            for one in iter_referring(self._rows, self._archive, self._entries[name])
            for original in one.targets
        }
        entries = read_entries(self._rows, sorted(referred)).values()
        stored = [one.stored_name for one in entries if one.state is FileState.STORED]
        return [name for name in stored if name not in self._entries]

    def readers(self, readable: Sequence[str]) -> ArchiveFiles:
        return StoredFiles(
            self._archive, {name: name for name in (*readable, *self.further(readable))}
        )

    def rewrite(self, name: str, output: Path, new: Replacements, *, check: Check) -> None:
        target = output / self._entries[name].archive_file
        if isinstance(self._archive, LocalArchiveStore) and self._archive.holds(target):
            raise ConfigError("this is in the store: name a folder elsewhere", file=str(output))
        target.parent.mkdir(parents=True, exist_ok=True)
        with self.open(name) as source:
            rewrite_source(source, OutputFolder(target.parent), new, check=check)


def files_to_restore(
    names: Sequence[str],
    on_event: OnEvent,
    stores: Callable[[], Stores],
    *,
    places: FilePlaces,
    has_store: bool,
) -> FilesToRestore:
    """Files, folders and packages; or crawls and collections of the store, which is opened then.

    Where any of the names is that of a file, all are.  `has_store`: there is one, in a folder here.

    Raises:
        ConfigError: a name is neither.
    """
    there = [name for name in names if is_at(name) or os.path.lexists(local_path(name))]
    for name in there:
        if has_store:
            _refuse_two_meanings(stores().rows, name)
    if there or not names:
        return FilesAtPlaces(find_files(names, on_event).names, places)
    try:
        opened = stores()
    except ConfigError as error:
        raise ConfigError(f"{names[0]}: file not found, and {error.message}") from error
    if places != FilePlaces():
        raise ConfigError(
            "--dir and --locations are for files: originals of crawls are in the store"
        )
    crawls: list[str] = []
    for name in names:
        found = crawls_to_read(opened.rows, name)
        crawls += [one.crawl for one in found if one.crawl not in crawls]
    return FilesOfCrawls(opened, crawls, on_event)


def _refuse_two_meanings(rows: RowStore, name: str) -> None:
    """Raise ConfigError where the name of a path here is that of a crawl or collection, too."""
    if "/" not in name and not is_archive_name(name) and crawls_named(rows, name):
        raise ConfigError(
            f"{name} is a path here, and a crawl or collection of the store: give ./{name} for the "
            "path; for the other, call this in another folder"
        )


class RestoringFiles:
    """Restores files: `find`, then `write`.  `on_problem` gets files that cannot be read or
    restored, and revisits whose original is not found: they stay as they are."""

    def __init__(
        self,
        files: FilesToRestore,
        on_problem: OnProblem,
        *,
        index: Path | None = None,
        foreign: bool = False,
    ) -> None:
        """With a CDX or CDXJ (`index`) that names the originals, files are not read for them.
        `foreign`: revisits that crawlers wrote, too."""
        self._files = files
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
        for name in self._files.names:
            try:
                with self._files.open(name) as source:
                    want_originals(source, originals, foreign=self._foreign)
                self._readable.append(name)
            except InputRefused as problem:
                self._on_problem(problem)
        if self._index is not None:
            note_indexed(self._index, originals)
        else:
            for place in [*self._readable, *self._files.further(self._readable)]:
                try:
                    with self._files.open(place) as source:
                        originals.look_through(source)
                except InputRefused as problem:
                    self._on_problem(problem)
        return sum(map(self._files.size, self._readable))

    def write(self, output: Path | None, advance: Advance = no_advance) -> Iterator[RestoredFile]:
        """Write each file into a folder, proven; with None, only say what would be restored."""
        with self._files.readers(self._readable) as files:
            for name in self._readable:
                count = RestoreCount()
                try:
                    self._write(name, output, files, count, advance)
                except (InputRefused, DigestMismatch, Conflict) as problem:
                    for one in (*count.problems, problem):
                        self._on_problem(one)
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
        with FileProgress(advance, self._files.size(name), passes=_PASSES) as done:
            if output is None:
                with self._files.open(name) as source:
                    for _ in work.replacements(source):
                        pass
                return
            replacements = partial(_watched, work.replacements, done)
            self._files.rewrite(name, output, replacements, check=work.check)


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
        FilesAtPlaces(names, FilePlaces(folder=folder)),
        problems.append,
        index=None if index is None else Path(index),
        foreign=foreign,
    )
    restoring.find()
    files = tuple(restoring.write(None if output is None else Path(output), advance))
    return RestoreResult(
        files=files, restored=sum(file.restored for file in files), problems=tuple(problems)
    )
