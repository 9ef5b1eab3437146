"""What the bytes of a stored file say of its records, next to what its sidecar says.

Every record is read and hashed.  A record that dedupe has replaced shows its header as landed, its
HTTP head, and what it refers to; that its body is its original's is checked at the original
(`fsck_originals`).  Only the sidecar says what a tombstone stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timezone
from typing import Any, NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.requests import iter_rows
from pinakes.catalog.sidecar import SidecarRow, sidecar_name
from pinakes.catalog.withdrawals import as_tombstone_row, is_tombstone_row
from pinakes.errors import MalformedRecord
from pinakes.hbase_schema.capture_keys import decode_capture_key, encode_mark
from pinakes.warc.field_names import CONTENT_LENGTH_KEY, WARC_PAYLOAD_DIGEST_KEY, WARC_TYPE_KEY
from pinakes.warc.header import Header
from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import Record
from pinakes.warc.replaced_field import REPLACED_FIELD, parse_replaced
from pinakes.warc.revisit import is_ours, restore_header
from pinakes.warc.source import Source
from pinakes.warc.tombstone import is_tombstone

from .accepting import RowsInOrder, is_unread

_PLACE = ("offset", "length", "inner_offset", "record_id", "target_uri")
_DECISION = ("hash_extension", "copy_number", "original_key")
_OF_BODY = (
    "sha1",
    "sha256",
    "dechunked_sha1",
    "dechunked_sha256",
    "verified_over",
    "skip",
    "findings",
)
"""What a record that was replaced does not say of its body."""
_OF_WITHDRAWN = ("payload_size", "sha1", "sha256", "dechunked_sha1", "dechunked_sha256")
Counting = Callable[[Iterator[Item]], Iterator[Record]]
"""Passes the records among items on, and counts."""


class ReadRow(NamedTuple):
    """`row` is what the bytes say, with what only the sidecar can say taken from `stands`.

    `run` wrote the revisit that stands for the record; None where there is none of ours.  `wrong`
    are the fields in which `stands` differs.
    """

    row: SidecarRow
    stands: SidecarRow
    run: str | None
    wrong: tuple[str, ...]

    def with_row(self, **fields: Any) -> ReadRow:
        """With other values of what the bytes say."""
        return _compared(self.row._replace(**fields), self.stands, self.run)

    @property
    def is_misplaced(self) -> bool:
        """Whether the sidecar leads to another place, or to another record."""
        return any(field in _PLACE for field in self.wrong)


class OtherRecordsError(MalformedRecord):
    """A sidecar has not one row for each record of its file."""


def _compared(row: SidecarRow, stands: SidecarRow, run: str | None) -> ReadRow:
    if row == stands:
        return ReadRow(row, stands, run, ())
    both = zip(SidecarRow._fields, row, stands, strict=True)
    return ReadRow(row, stands, run, tuple(name for name, one, other in both if one != other))


class _Replaced(NamedTuple):
    """What a revisit of ours says of the record that it stands for."""

    run: str
    fields: dict[str, Any]


class _OneRead(NamedTuple):
    """A record as read: `old` of what it has replaced, `is_stone`: a tombstone."""

    row: SidecarRow
    old: _Replaced | None
    is_stone: bool


def read_beside(
    archive: ArchiveReader,
    entry: FileEntry,
    *,
    act_time_ms: int,
    counting: Counting,
    is_accepted: bool,
) -> Iterator[ReadRow]:
    """Each record of the current generation, read, together with its row.  Memory: few rows.

    `act_time_ms` is the time of the file's landing; `is_accepted`: damage of it was.

    Raises:
        OtherRecordsError: the sidecar has more rows, or fewer, or in another order.
        MalformedRecord, SchemaError: the sidecar cannot be read.
    """
    name = entry.stored_name
    rows = iter_sidecar(archive, name)
    for one in _read_records(archive, entry, act_time_ms, counting):
        stands = next(rows, None)
        if stands is None or stands.ordinal != one.row.ordinal:
            raise OtherRecordsError(f"no row of record {one.row.ordinal}", file=sidecar_name(name))
        row, run = _as_known(one, stands, entry, is_accepted=is_accepted)
        yield _compared(row, stands, run)
    if next(rows, None) is not None:
        raise OtherRecordsError("it has rows of no record", file=sidecar_name(name))


def read_accepted(
    archive: ArchiveReader, entry: FileEntry, before: RowsInOrder, *, act_time_ms: int
) -> Iterator[SidecarRow]:
    """The rows of a file whose damage was accepted, as `read_beside` compares them.

    What only a sidecar can say is taken from the rows before.
    """

    def counting(items: Iterator[Item]) -> Iterator[Record]:
        return (item for item in items if isinstance(item, Record))

    for one in _read_records(archive, entry, act_time_ms, counting):
        yield _as_known(one, before.of(one.row) or one.row, entry, is_accepted=True)[0]


def _read_records(
    archive: ArchiveReader, entry: FileEntry, act_time_ms: int, counting: Counting
) -> Iterator[_OneRead]:
    name = entry.stored_name
    landed = datetime.fromtimestamp(act_time_ms / 1000, timezone.utc)
    replaced: dict[int, _Replaced] = {}
    stones: set[int] = set()

    def records(source: Source) -> Iterator[Record]:
        for record in counting(iter_records(source, digests=("sha1", "sha256"))):
            if entry.generation > 1:
                if record.type == "revisit" and is_ours(record.header):
                    with suppress(MalformedRecord):
                        replaced[record.ordinal] = _replaced(record)
                elif is_tombstone(record.header):
                    stones.add(record.ordinal)
            yield record

    with archive.open(name) as file:
        source = Source(file, name=name)
        for row in iter_rows(records(source), archive_file=entry.archive_file, landed=landed):
            yield _OneRead(row, replaced.pop(row.ordinal, None), row.ordinal in stones)


def _as_known(
    one: _OneRead, stands: SidecarRow, entry: FileEntry, *, is_accepted: bool
) -> tuple[SidecarRow, str | None]:
    """What the bytes say, with what only `stands` can; and the run that replaced the record."""
    row, old = one.row, one.old
    # One that landed as a revisit of ours is no decision of this store.
    if old is not None and (stands.is_replaced or stands.type != "revisit"):
        return _as_replaced(row, stands, old), old.run
    if one.is_stone:
        return _as_stone(row, stands, entry.archive_file), None
    known = _as_read(row, stands, entry.generation)
    return (_without_digests(known, row) if is_accepted and is_unread(row) else known), None


def _without_digests(known: SidecarRow, row: SidecarRow) -> SidecarRow:
    """Of a record that did not decode whole, which nothing may be compared with."""
    return known._replace(
        sha1=None,
        sha256=None,
        dechunked_sha1=None,
        dechunked_sha256=None,
        verified_over=None,
        findings=row.findings,
        skip=row.skip,
    )


def _replaced(record: Record) -> _Replaced:
    """Raises MalformedRecord where its header does not give the old one back."""
    old = Header(restore_header(record.header))
    length = int(old.field(CONTENT_LENGTH_KEY) or 0)
    uri, date, record_id = record.header.refers_to()
    return _Replaced(
        parse_replaced(record.header.get(REPLACED_FIELD) or "").run,
        {
            "type": (old.field(WARC_TYPE_KEY) or "").lower(),
            "declared": old.field(WARC_PAYLOAD_DIGEST_KEY),
            "content_length": length,
            "payload_size": length - record.content_length,
            "refers_uri": uri,
            "refers_date": date,
            "refers_id": record_id,
        },
    )


def _as_replaced(row: SidecarRow, stands: SidecarRow, old: _Replaced) -> SidecarRow:
    known = _taken(stands, (*_OF_BODY, *_DECISION))
    number = stands.copy_number if stands.is_replaced else 2
    # dedupe leaves what has a reason to take no part as it is.
    return row._replace(**old.fields, **known | {"copy_number": number, "skip": None})


def _as_stone(row: SidecarRow, stands: SidecarRow, archive_file: str) -> SidecarRow:
    known = _taken(stands, _OF_WITHDRAWN)
    key = stands.row_key
    if key is not None and not _is_of(key, archive_file, row.ordinal):
        key = None
    return as_tombstone_row(row._replace(row_key=key, **known))


def _is_of(key: bytes, archive_file: str, ordinal: int) -> bool:
    try:
        return decode_capture_key(key).mark.encode("ascii") == encode_mark(archive_file, ordinal)
    except MalformedRecord:
        return False


def _as_read(row: SidecarRow, stands: SidecarRow, generation: int) -> SidecarRow:
    if generation == 1:
        return row
    # As landed: a record that is rewritten has the faults of its old place no more.
    known = {} if is_tombstone_row(stands) else _taken(stands, ("findings", "skip"))
    if stands.copy_number == 1:
        known |= _taken(stands, ("hash_extension", "copy_number"))
    return row._replace(**known)


def _taken(row: SidecarRow, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
