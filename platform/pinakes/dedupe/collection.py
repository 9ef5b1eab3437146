"""The files of a collection, and what dedupe decides about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_rows import FileEntry, scan_entries
from pinakes.catalog.sidecar import SidecarRow, read_sidecar, sidecar_name
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace
from pinakes.index.manifest import ManifestLine
from pinakes.index.seconds import second_of
from pinakes.rewrite.generations import current_name
from pinakes.row_store.port import RowStore

from .archive_files import ArchiveFiles
from .bodies import ArchiveBodies
from .counting import ProcessCount, ResolveCount
from .process import process_lines
from .resolve import resolve_lines
from .stored_files import StoredFiles
from .stored_lines import stored_line

STORED = "stored"


@dataclass(slots=True)
class Decisions:
    """What was decided, counted; complete when the lines have been drawn to the end."""

    resolved: ResolveCount = field(default_factory=ResolveCount)
    processed: ProcessCount = field(default_factory=ProcessCount)

    def as_json(self) -> dict[str, object]:
        return {"resolve": self.resolved.as_json(), "process": self.processed.as_json()}


class Collection:
    """The stored files of one collection, each in its current generation."""

    def __init__(self, rows: RowStore, archive: ArchiveReader, collection: str) -> None:
        self.name = collection
        self.archive = archive
        self.entries: dict[str, FileEntry] = {
            entry.archive_file: entry
            for entry in scan_entries(rows)
            if entry.state == STORED
            and entry.facts is not None
            and entry.facts.collection == collection
        }

    def generations(self) -> dict[str, int]:
        """The current generation of each file, for `as_of`."""
        return {name: entry.generation for name, entry in self.entries.items()}

    def as_of(self, generations: Mapping[str, int]) -> None:
        """Read the files in these generations: those that decisions were made on."""
        self.entries = {
            name: replace(entry, generation=generations[name])
            for name, entry in self.entries.items()
            if name in generations
        }

    def open_files(self) -> StoredFiles:
        """The archive files, by identity; a context manager."""
        names = {name: current_name(entry) for name, entry in self.entries.items()}
        return StoredFiles(self.archive, names)

    def sidecar_rows(self, archive_file: str) -> Iterator[SidecarRow]:
        """The records of a file, in order."""
        with self.archive.open(sidecar_name(current_name(self.entries[archive_file]))) as file:
            yield from read_sidecar(file)

    def lines(self, advance: Callable[[int], None] = lambda count: None) -> Iterator[ManifestLine]:
        """A manifest line for each capture of each file.

        Originals that our own revisits refer to are marked `settled`.  Memory: a number
        for each of those references.
        """
        settled = self._settled()
        for name in sorted(self.entries):
            for row in self.sidecar_rows(name):
                line = stored_line(row, name)
                if line is None:
                    continue
                if line.type is None and hash((line.target_uri, second_of(line.date))) in settled:
                    line = line._replace(marks="settled")
                yield line
            advance(1)

    def _settled(self) -> set[int]:
        return {
            hash((row.refers_uri, second_of(row.refers_date or "")))
            for name in self.entries
            if self.entries[name].generation > 1
            for row in self.sidecar_rows(name)
            if row.copy_number is not None and row.copy_number > 1
        }

    def decide(
        self,
        files: ArchiveFiles,
        decisions: Decisions,
        *,
        compare: bool = True,
        space: SortSpace = DEFAULT_SPACE,
        advance: Callable[[int], None] = lambda count: None,
    ) -> Iterator[ManifestLine]:
        """Every capture with its decision, by file and offset.

        Without `compare`, equal SHA-256 digests are taken for equal bodies.
        """
        bodies = ArchiveBodies(files) if compare else None
        resolved = resolve_lines(self.lines(advance), bodies, count=decisions.resolved, space=space)
        return process_lines(resolved, count=decisions.processed, space=space)
