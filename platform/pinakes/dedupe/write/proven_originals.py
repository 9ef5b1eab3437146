"""The originals that a manifest names, each proven before a record refers to it.

The rules are those of docs/adr/0005-proof.md.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from functools import lru_cache
from typing import NamedTuple, NoReturn

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.errors import MalformedRecord, PinakesError
from pinakes.index.manifest import ManifestLine
from pinakes.index.seconds import second_of
from pinakes.warc.digest import Digest
from pinakes.warc.field_names import WARC_SEGMENT_NUMBER_KEY, WARC_TRUNCATED_KEY
from pinakes.warc.heads import RecordHead
from pinakes.warc.reader import read_record
from pinakes.warc.record import Record
from pinakes.warc.revisit import OriginalReference, Unwritable, original_of
from pinakes.warc.shapes import ShapeBook
from pinakes.warc.source import Source

from .proofs import damaged, inflates, read_whole

_KEPT_ORIGINALS = 1 << 16
_KEPT_BOOKS = 64
_KEPT_MEMBERS = 1 << 10
Place = tuple[str, int, int]
"""A record: name of its file, offset, inner offset."""


class KnownOriginal(NamedTuple):
    """What a revisit needs to know of its original, and what its body was when it was inflated.

    `file` is the one that was read.
    """

    reference: OriginalReference
    record_type: str
    body_size: int
    rest_crc32: int
    body_sha256: str
    file: str


FindOriginal = Callable[[ManifestLine], KnownOriginal]
"""The original that a line names by its place; Raises as `OriginalReader.find`."""


class Unproven(Unwritable):
    """The record stays full, and a person should look at what `problem` names."""

    def __init__(self, reason: str, problem: PinakesError) -> None:
        super().__init__(reason)
        self.problem = problem


def prove(
    source: Source, line: ManifestLine, head: RecordHead, find_original: FindOriginal
) -> KnownOriginal:
    """The original that `line` names for the record with this head, in `source`.

    The head may state what its body is: the record is to be inflated before it is replaced, and
    its body to have the SHA-256 of the original's.

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
        problem = MalformedRecord(
            "the original is another record than was listed: it is damaged, or the file was "
            "changed since",
            file=original.file,
            offset=line.original_offset,
        )
        raise Unproven("original-unreadable", problem)
    if not head.body_size:
        raise Unwritable("empty")
    if (head.body_size, head.rest_crc32, record_type) != (
        original.body_size,
        original.rest_crc32,
        original.record_type,
    ):
        _name_the_other(source, line, original)
    _check_order(line, reference)
    return original


def _name_the_other(source: Source, line: ManifestLine, original: KnownOriginal) -> NoReturn:
    """Two bodies differ that were decided to be equal.

    Raises:
        MalformedRecord: the duplicate is damaged.
        Unproven: the original is, or the manifest is wrong: nothing shows which.
    """
    place = line.offset, line.length
    whole = read_whole(source, *place, inner_offset=line.inner_offset)
    if whole.shared_to is not None and not inflates(source, line.offset, whole.shared_to):
        raise damaged(source, line.offset)
    problem = MalformedRecord(
        "its body is not that of the records that are to refer to it: it is damaged, or the "
        "manifest is not that of these files; they stay full",
        file=original.file,
        offset=line.original_offset,
    )
    raise Unproven("body-differs", problem)


def original_place(line: ManifestLine) -> Place:
    """Where the original of a line is, if it names one."""
    return line.original_file or "", line.original_offset or 0, line.original_inner_offset


class OriginalReader:
    """Reads originals by their place, each from its first byte to its last; keeps what it found
    of the 65,536 read last."""

    def __init__(self, files: ArchiveFiles, duplicates: Container[Place] = ()) -> None:
        """`duplicates` are never originals: the manifest may have them replaced."""
        self._files = files
        self._duplicates = duplicates
        # A book for each file: one learns only so many shapes.
        self._shapes_of = lru_cache(maxsize=_KEPT_BOOKS)(lambda name: ShapeBook())
        self._read = lru_cache(maxsize=_KEPT_ORIGINALS)(self._outcome_of)
        self._inflates = lru_cache(maxsize=_KEPT_MEMBERS)(self._inflates_to)

    def find(self, line: ManifestLine) -> KnownOriginal:
        """The original that a line names.

        Raises:
            Unwritable: where nothing can refer to what is there; Unproven where it is damaged.
            InputRefused: where its file cannot be read.
        """
        place = original_place(line)
        if place in self._duplicates:
            raise Unwritable("original-not-full")
        found = self._read(*place, line.original_length or 0)
        if isinstance(found, Unwritable):
            # As new: each raising would add to the traceback it has.
            raise found.with_traceback(None)
        return found

    def _outcome_of(
        self, name: str, offset: int, inner_offset: int, length: int
    ) -> KnownOriginal | Unwritable:
        try:
            return self._read_original(name, offset, inner_offset, length)
        except Unwritable as reason:
            return reason
        except MalformedRecord as problem:
            return Unproven("original-unreadable", problem)

    def _inflates_to(self, name: str, offset: int, end: int) -> bool:
        return inflates(self._files.source(name), offset, end)

    def _read_original(
        self, name: str, offset: int, inner_offset: int, length: int
    ) -> KnownOriginal:
        source, shapes = self._files.source(name), self._shapes_of(name)
        whole = read_whole(source, offset, length, inner_offset=inner_offset, shapes=shapes)
        if whole.shared_to is not None and not self._inflates(name, offset, whole.shared_to):
            raise damaged(source, offset)
        header = whole.header
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
            body_size=whole.body_size,
            rest_crc32=whole.rest_crc32,
            body_sha256=whole.body_sha256,
            file=source.name,
        )


def record_not_there(source: Source, offset: int) -> MalformedRecord:
    """The problem that the manifest's record is not, or no longer, at that offset."""
    return MalformedRecord(
        "the record here is not the one that was listed: it is damaged, or the file was "
        "changed since",
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


def _check_order(line: ManifestLine, original: OriginalReference) -> None:
    """A revisit never refers to a later capture, nor to its own URI and second."""
    own = second_of(line.date)
    earlier = second_of(original.date)
    if own is None or earlier is None or earlier > own:
        raise Unwritable("original-later")
    if earlier == own and original.target_uri == line.target_uri:
        raise Unwritable("ambiguous-reference")
