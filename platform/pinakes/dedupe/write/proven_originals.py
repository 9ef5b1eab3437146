"""The originals that a manifest names, each proven before a record refers to it.

The rules are those of docs/adr/0005-proof.md.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import lru_cache
from typing import NamedTuple

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.errors import MalformedRecord
from pinakes.index.manifest import ManifestLine
from pinakes.index.seconds import second_of
from pinakes.warc.digest import Digest
from pinakes.warc.field_names import WARC_SEGMENT_NUMBER_KEY, WARC_TRUNCATED_KEY
from pinakes.warc.heads import RecordHead, read_head
from pinakes.warc.reader import read_record
from pinakes.warc.record import Record
from pinakes.warc.revisit import Original, Unwritable, original_of
from pinakes.warc.shapes import ShapeBook
from pinakes.warc.source import Source

_KEPT_ORIGINALS = 1 << 16
_KEPT_BOOKS = 64
Place = tuple[str, int, int]
"""A record: name of its file, offset, inner offset."""


class KnownOriginal(NamedTuple):
    """What a revisit needs to know of its original, and the checksum of its body."""

    reference: Original
    record_type: str
    body_size: int
    rest_crc32: int


FindOriginal = Callable[[ManifestLine], KnownOriginal]
"""The original that a line names by its place; Raises as `OriginalReader.find`."""


def prove(
    source: Source, line: ManifestLine, head: RecordHead, find_original: FindOriginal
) -> Original:
    """The original that `line` names for the record with this head, in `source`.

    Raises:
        Unwritable: where the record stays full.
        InputRefused: where the original's file cannot be read.
        MalformedRecord: where manifest and file speak of different records.
    """
    if line.original_file is None or line.original_offset is None:
        raise Unwritable("original-unknown")
    record_type = _check_line(source, head, line)
    if original_place(line) == (line.file, line.offset, line.inner_offset):
        raise Unwritable("original-not-full")
    original = find_original(line)
    reference = original.reference
    if (reference.target_uri, reference.date) != (line.original_uri, line.original_date):
        raise MalformedRecord(
            "the manifest's original is another record now: make the manifest again",
            file=line.original_file,
            offset=line.original_offset,
        )
    if not head.body_size:
        raise Unwritable("empty")
    if (head.body_size, head.rest_crc32, record_type) != (
        original.body_size,
        original.rest_crc32,
        original.record_type,
    ):
        raise Unwritable("body-differs")
    _check_order(line, reference)
    return reference


def original_place(line: ManifestLine) -> Place:
    """Where the original of a line lies that names one."""
    return line.original_file or "", line.original_offset or 0, line.original_inner_offset


class OriginalReader:
    """Reads originals by their place; keeps those read last."""

    def __init__(self, files: ArchiveFiles, duplicates: Container[Place] = ()) -> None:
        """`duplicates` are never originals: the manifest may have them replaced."""
        self._files = files
        self._duplicates = duplicates
        # A book for each file: one learns only so many shapes.
        self._shapes_of = lru_cache(maxsize=_KEPT_BOOKS)(lambda name: ShapeBook())
        self._read = lru_cache(maxsize=_KEPT_ORIGINALS)(self._read_original)

    def find(self, line: ManifestLine) -> KnownOriginal:
        """The original that a line names.

        Raises:
            Unwritable: where nothing can refer to what is there.
            InputRefused: where its file cannot be read.
            MalformedRecord: where no record is there.
        """
        place = original_place(line)
        if place in self._duplicates:
            raise Unwritable("original-not-full")
        return self._read(*place, line.original_length or 0)

    def _read_original(
        self, name: str, offset: int, inner_offset: int, length: int
    ) -> KnownOriginal:
        source, shapes = self._files.source(name), self._shapes_of(name)
        head = read_head(source, offset, length, inner_offset=inner_offset, shapes=shapes)
        header = head.header
        record_type = header.record_type
        if record_type not in ("response", "resource"):
            raise Unwritable("original-not-full")
        if header.field(WARC_TRUNCATED_KEY) is not None or header.field(WARC_SEGMENT_NUMBER_KEY):
            raise Unwritable("original-not-full")

        def stored_digest() -> Digest:
            record = read_record(source, offset, inner_offset=inner_offset)
            if not isinstance(record, Record):
                raise record_not_there(source, offset)
            return record.payload_digest("sha1")

        return KnownOriginal(
            reference=original_of(header, stored_digest),
            record_type=record_type,
            body_size=head.body_size,
            rest_crc32=head.rest_crc32,
        )


def record_not_there(source: Source, offset: int) -> MalformedRecord:
    """The problem that the manifest's record is not, or no longer, at that offset."""
    return MalformedRecord(
        "the record here is not the manifest's: make the manifest again",
        file=source.name,
        offset=offset,
    )


def _check_line(source: Source, head: RecordHead, line: ManifestLine) -> str:
    """The record's type; MalformedRecord where it is not the one the line was made from."""
    record_type = head.header.record_type
    uri, date, _ = head.header.outline()
    if (
        record_type != (line.type or "response")
        or (uri or "") != line.target_uri
        or date != line.date
        or (line.size is not None and line.size != head.body_size)
    ):
        raise record_not_there(source, line.offset)
    return record_type


def _check_order(line: ManifestLine, original: Original) -> None:
    """A revisit never refers to a later capture, nor to its own URI and second."""
    own = second_of(line.date)
    earlier = second_of(original.date)
    if own is None or earlier is None or earlier > own:
        raise Unwritable("original-later")
    if earlier == own and original.target_uri == line.target_uri:
        raise Unwritable("ambiguous-reference")
