"""Records of archive files, of folders of them, and of crawls of the store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from types import TracebackType
from typing import TypeVar

from pinakes.archive_store.located import is_at, local_path, open_place, size_at
from pinakes.catalog.crawl_rows import crawls_to_read
from pinakes.catalog.entries import iter_stored_entries, stored_files
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.sound_records import StoredJudge
from pinakes.catalog.withdrawals import rows_still_there, withdrawn_at
from pinakes.counts import count_of
from pinakes.errors import ConfigError, InputRefused, MalformedRecord, PinakesError
from pinakes.index.not_whole import iter_naming
from pinakes.index.selection import Entry, Selection, entry_of
from pinakes.profile import Stores
from pinakes.warc.digest import Digest, parse_digest
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.source import Source

from .events import OnProblem
from .inputs import PIPED, ArchiveInputs, OnEvent, iter_paths

T = TypeVar("T")
InputFile = str | FileEntry
"""A path or URL, or a file of the store."""
_STEP_BYTES = 1 << 22


def size_of(file: InputFile) -> int:
    """In bytes; 0 where there is none."""
    if isinstance(file, str):
        return size_at(file) or 0
    return file.facts.size if file.facts is not None else 0


def named_later(problem: PinakesError) -> None:
    """For acts that name a damaged record where they would take it."""


def is_selected(source: Source, record: Record, selection: Selection) -> bool:
    """Whether a record that was read is selected."""
    return selection.selects(entry_of(record, source.name), record.payload_digest)


class RecordInputs:
    """The files of these names, and their records; a context manager, which closes the store.

    `on_event` gets what cannot be read.
    """

    def __init__(
        self,
        given: ArchiveInputs,
        open_stores: Callable[[], AbstractContextManager[Stores]],
        on_event: OnEvent,
    ) -> None:
        """`given` may hold one that is piped in; it is closed with this."""
        self.on_event = on_event
        self.inside: dict[str, str] = {}
        """Of each path, its name below the folder given; the base name of one given alone."""
        self._given = given
        self._open_stores = open_stores
        self._stack = ExitStack()
        self._opened: Stores | None = None
        self._judge: StoredJudge | None = None
        """Of the file that is being read: it is hashed once."""

    def __enter__(self) -> RecordInputs:
        self._stack.enter_context(self._given)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def is_piped(self) -> bool:
        """Whether one of the files came by standard input."""
        return self._given.is_piped

    @property
    def stores(self) -> Stores:
        """The store, opened once."""
        if self._opened is None:
            self._opened = self._stack.enter_context(self._open_stores())
        return self._opened

    def files(self) -> Iterator[InputFile]:
        """Each file: a path as given or below a folder, or a file of a crawl.

        A name is that of a path if there is one, else of a crawl or collection: `crawls_named`.

        Raises:
            ConfigError: for what is none of them, or two.
        """
        for name in self._given.names:
            if name == PIPED and self._given.is_piped:
                self.inside[name] = name
                yield name
            elif is_at(name) or os.path.lexists(local_path(name)):
                for path, inside in iter_paths(name, self.on_event):
                    self.inside[path] = inside
                    yield path
            else:
                yield from self._stored(name)

    def _stored(self, name: str) -> Iterator[FileEntry]:
        try:
            stores = self.stores
        except ConfigError as error:
            raise ConfigError(f"{name}: file not found, and {error.message}") from error
        for crawl in crawls_to_read(stores.rows, name):
            yield from stored_files(stores.rows, crawl.crawl)

    def require_as_landed(
        self, file: InputFile, source: Source, record: Record, *, head: bool
    ) -> None:
        """Raise DigestMismatch where a record of the store has other bytes than it had; of a file
        that is in no store nothing is known.  `head`: its header is given out, too."""
        if isinstance(file, str):
            return
        if self._judge is None or self._judge.name != source.name:
            self._judge = StoredJudge(self.stores.rows, self.stores.archive, source.name)
        self._judge.require_sound(source, record)
        if head:
            self._judge.require_as_written(source, record)

    def entries(self, file: InputFile, selection: Selection | None = None) -> Iterator[Entry]:
        """The records of a file that are selected, in order; None: all."""
        if isinstance(file, str):
            for _, record in self.records(file):
                entry = entry_of(record, file)
                if selection is None or selection.selects(entry, record.payload_digest):
                    yield entry
            return
        self.left_out(file)
        for entry in self.guarded(iter_stored_entries(self.stores.archive, file)):
            if selection is None or selection.selects(entry, partial(_stored_digest, entry)):
                yield entry

    def records(
        self,
        file: InputFile,
        advance: Callable[[int], None] = lambda count: None,
        *,
        on_fault: OnProblem | None = None,
    ) -> Iterator[tuple[Source, Record]]:
        """See `read_records`; of a file in the store, too."""
        on_fault = on_fault or self.on_event
        if isinstance(file, str):
            opened_by = self._given.opened
            yield from read_records(
                file, self.on_event, advance, opened=opened_by, on_fault=on_fault
            )
            return
        name = file.stored_name
        left_out = self.left_out(file)
        with self.stores.archive.open(name) as opened:
            for source, record in _intact(
                Source(opened, name=name), self.on_event, advance, on_fault
            ):
                if record.ordinal not in left_out:
                    yield source, record

    def left_out(self, file: FileEntry) -> set[int]:
        """The ordinals of records that are withdrawn and still there; they are named."""
        name, left_out = file.stored_name, set()
        for row in rows_still_there(self.stores.archive, name, file.withdrawing):
            self.on_event(withdrawn_at(name, row.offset))
            left_out.add(row.ordinal)
        return left_out

    def guarded(self, items: Iterable[T]) -> Iterator[T]:
        """The same items; what cannot be read of them is named."""
        try:
            yield from items
        except (InputRefused, MalformedRecord) as problem:
            self.on_event(problem)


def read_records(
    path: str,
    warn: OnProblem,
    advance: Callable[[int], None] = lambda count: None,
    *,
    opened: Callable[[str], AbstractContextManager[Source]] = open_place,
    on_fault: OnProblem | None = None,
) -> Iterator[tuple[Source, Record]]:
    """Every record of a file at a path or URL, with the open file; bodies are not hashed.

    `warn` gets what cannot be read, `on_fault` records that are not whole (None: `warn` does);
    `advance` is called with the number of bytes read.
    """
    try:
        with opened(path) as source:
            yield from _intact(source, warn, advance, on_fault or warn)
            source.check_unchanged()
    except InputRefused as refusal:
        warn(refusal)


def _intact(
    source: Source,
    warn: OnProblem,
    advance: Callable[[int], None],
    on_fault: OnProblem,
) -> Iterator[tuple[Source, Record]]:
    reported = 0
    for item in iter_naming(iter_records(source, digests=()), source.name, on_fault):
        if isinstance(item, DamagedStretch):
            what = f"{item.reason}: {count_of(item.end - item.offset, 'byte')} left out"
            warn(MalformedRecord(what, file=source.name, offset=item.offset))
        else:
            yield source, item
        if source.position - reported > _STEP_BYTES:
            advance(source.position - reported)
            reported = source.position
    advance(source.size - reported)


def _stored_digest(entry: Entry, algorithm: str) -> Digest | None:
    if algorithm != "sha1":
        raise ConfigError("--digest of a crawl in the store: give its sha1")
    return parse_digest(entry.digest or "")
