"""Some records of archive files and crawls: copied into one file, or as files of a folder."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from pinakes.archive_store.local.files import make_folder
from pinakes.catalog.sound_records import require_sound
from pinakes.dedupe.references.originals import Name, Wanted, WithDigest, names_of, sure_names
from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord
from pinakes.extract.folder import PutFile, put_file
from pinakes.extract.index_file import IndexFile
from pinakes.extract.url_paths import INDEX, path_of_url, safe_part, safe_path, with_suffix
from pinakes.index.selection import Entry, Selection, entry_of
from pinakes.rewrite.taken import (
    RecordTaker,
    pieces_taken,
    require_undamaged,
    require_warc,
    require_whole,
)
from pinakes.warc.compression.members import compression_of
from pinakes.warc.dates import format_14
from pinakes.warc.file_progress import Advance, no_advance
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .record_inputs import InputFile, RecordInputs, is_selected, named_later


class RecordFilter:
    """Takes records, and counts them: `types`, and `left_out`, selected and damaged."""

    def __init__(
        self, inputs: RecordInputs, selection: Selection, advance: Advance = no_advance
    ) -> None:
        self.types: Counter[str] = Counter()
        self.left_out = 0
        self._inputs = inputs
        self._selection = selection
        self._advance = advance
        self._wanted: set[tuple[Name, ...]] = set()
        """Originals of selected revisits, each by one of these.  Memory: some 300 bytes each."""
        self._names: set[Name] = set()
        self._found: set[Name] = set()

    @property
    def records(self) -> int:
        """How many were taken."""
        return self.types.total()

    def want_originals(self, files: Sequence[InputFile]) -> None:
        """Look at every revisit once, so that `write` takes originals of selected ones, too."""
        for source, record in chain.from_iterable(map(self._records, files)):
            if record.type == "revisit" and is_selected(source, record, self._selection):
                names = sure_names(record.header)
                self._wanted.add(names)
                self._names.update(names)

    def write(
        self,
        files: Sequence[InputFile],
        opened: Callable[[], AbstractContextManager[BinaryIO]] | None,
        *,
        compressed: bool,
    ) -> int:
        """The bytes written; where nothing is selected no file appears.  None: only count.

        What is selected and cannot be copied is reported, and so are originals that are not there.
        """
        written = 0
        if opened is None:
            self._take(files, None)
        else:
            try:
                with opened() as out:
                    taker = RecordTaker(out, compressed=compressed)
                    self._take(files, taker)
                    self._require_any()
                    written = taker.written
            except _NothingTaken:
                pass
        for wanted in sorted(self._wanted, key=str):
            if self._found.isdisjoint(wanted):
                self._inputs.on_event(
                    MalformedRecord(
                        f"the original {_named(wanted)} is not in these files",
                        kind="originals that are not in these files",
                    )
                )
        return written

    def _take(self, files: Sequence[InputFile], taker: RecordTaker | None) -> None:
        """What is selected, and before the first of a file its warcinfo."""
        for file in files:
            warcinfo: Record | None = None
            for source, record in self._records(file):
                if self._is_wanted(record) or is_selected(source, record, self._selection):
                    if warcinfo is not None:
                        self._take_one(file, source, warcinfo, taker)
                    warcinfo = None
                    self._take_one(file, source, record, taker)
                elif record.type == "warcinfo":
                    warcinfo = record

    def _require_any(self) -> None:
        if not self.records:
            raise _NothingTaken

    def _records(self, file: InputFile) -> Iterator[tuple[Source, Record]]:
        return self._inputs.records(file, self._advance, on_fault=named_later)

    def _is_wanted(self, record: Record) -> bool:
        if not self._names or record.type not in ("response", "resource"):
            return False
        found = self._names & names_of(record)
        self._found |= found
        return bool(found)

    def _take_one(
        self, file: InputFile, source: Source, record: Record, taker: RecordTaker | None
    ) -> None:
        try:
            require_whole(source, record)
            self._inputs.require_as_landed(file, source, record, head=True)
            if taker is not None:
                taker.take(source, record)
        except (MalformedRecord, DigestMismatch) as problem:
            self.left_out += 1
            self._inputs.on_event(problem)
            return
        self.types[record.type] += 1


class _NothingTaken(Exception):
    """No record was: no file is to appear."""


def _named(names: tuple[Name, ...]) -> str:
    """What a revisit calls its original."""
    if not names:
        return "of a revisit that names none"
    first = names[0]
    if isinstance(first, Wanted):
        return f"{first.target_uri} of {first.second}"
    if isinstance(first, WithDigest):
        return f"{first.target_uri} with {first.digest}"
    return f"<{first.record_id}>"


_REVISIT = (
    "a revisit has no body of its own: `pinakes restore` makes full records of ours, with "
    "--foreign of crawlers' where the body is at hand"
)


class Unpacker:
    """Puts what is selected into a folder, with a line of an index for each file.

    `counts` says how much of what: `files`, `bytes`, those that were there (`old`), bodies left
    out (`empty`, `revisits`).  What cannot be put is reported, and nothing of it is there.
    """

    def __init__(
        self,
        inputs: RecordInputs,
        folder: Path,
        *,
        stored: bool,
        raw: bool,
        records: bool,
        on_put: Callable[[dict[str, object]], None],
    ) -> None:
        """`stored`, `raw`, `records`: as the options of the verb; `on_put` gets each line."""
        self.counts: Counter[str] = Counter()
        self._inputs = inputs
        self._folder = folder
        self._stored = stored
        self._raw = raw
        self._records = records
        self._put = self._put_record if records else self._put_body
        self._on_put = on_put

    def unpack(
        self, files: Iterable[InputFile], selection: Selection, advance: Advance = no_advance
    ) -> None:
        """All that is selected of these files."""
        make_folder(self._folder)
        with IndexFile(self._folder / INDEX) as self._index:
            for file in files:
                for source, record in self._inputs.records(file, advance, on_fault=named_later):
                    if is_selected(source, record, selection):
                        try:
                            self._put(file, source, record)
                        except (DigestMismatch, InputRefused, MalformedRecord) as problem:
                            self._inputs.on_event(problem)

    def _put_record(self, file: InputFile, source: Source, record: Record) -> None:
        """A record as a WARC file of its own, named by its place."""
        require_warc(source, record)
        self._require_sound(file, source, record)
        compressed = compression_of(source, record.offset) is not None
        inside = self._inputs.inside[file] if isinstance(file, str) else source.name
        inner = f"+{record.inner_offset}" if record.inner_offset else ""
        name = safe_part(f"{record.offset:012d}{inner}-{record.type}")
        name += ".warc.gz" if compressed else ".warc"
        content = partial(pieces_taken, source, record, compressed=compressed)
        put = put_file(self._folder, f"{safe_path(inside.split('/'))}/{name}", content)
        self._note(put, entry_of(record, source.name))

    def _put_body(self, file: InputFile, source: Source, record: Record) -> None:
        """The body of a capture, named by its URL; nothing for records of other types."""
        if record.type == "revisit":
            self.counts["revisits"] += 1
            raise MalformedRecord(_REVISIT, file=source.name, offset=record.offset)
        if record.type not in ("response", "resource"):
            return
        self._require_sound(file, source, record)
        if not record.payload_size:
            self.counts["empty"] += 1
            return
        entry = entry_of(record, source.name)
        path = path_of_url(entry.target_uri)
        if entry.status is not None and not 200 <= entry.status < 300:
            path = with_suffix(path, str(entry.status))
        time = format_14(record.date) if record.date is not None else None
        if self._stored:
            put = put_file(self._folder, path, record.payload, suffix=time)
        else:
            put = self._put_decoded(path, source, record, time)
        self._note(put, entry)

    def _require_sound(self, file: InputFile, source: Source, record: Record) -> None:
        if self._raw:
            return
        require_undamaged(source, record)
        if isinstance(file, str):
            require_sound(source, record)
        self._inputs.require_as_landed(file, source, record, head=self._records)

    def _put_decoded(self, path: str, source: Source, record: Record, time: str | None) -> PutFile:
        """The body decoded; as it is stored, under another name, where it cannot be."""
        try:
            return put_file(self._folder, path, record.content_pieces, suffix=time)
        except MalformedRecord as error:
            why = error.__cause__ or error
            self._inputs.on_event(
                MalformedRecord(
                    f"{why}: written as it is stored, with .stored after its name",
                    file=source.name,
                    offset=record.offset,
                )
            )
        return put_file(self._folder, f"{path}.stored", record.payload, suffix=time)

    def _note(self, put: PutFile, entry: Entry) -> None:
        self.counts["files"] += 1
        self.counts["bytes"] += put.size
        self.counts["old"] += not put.is_new
        line = {
            "file": put.path,
            "size": put.size,
            "place": entry.place,
            "type": entry.type,
            "url": entry.target_uri,
            "date": entry.date,
            "status": entry.status,
            "media_type": entry.media_type,
            "digest": entry.digest,
        }
        self._index.add(json.dumps(line))
        self._on_put(line)
