"""What accepting the bytes of a damaged file means for its records: which are lost or altered.

    records before (sidecar, else rows) ─▶ by what names them, and by what they hold ─▶ losses
    records read and hashed now         ─▶

A record is named by id, URI and date: its number in the file changes when one before it is lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import readable_captures
from pinakes.catalog.file_records import iter_sidecar, sidecar_of
from pinakes.catalog.generation_rows import without_decision
from pinakes.catalog.row_deletion import RowName, scan_rows_of
from pinakes.catalog.sidecar import SidecarOf, SidecarRow
from pinakes.errors import InputRefused, MalformedRecord, SchemaError
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.hbase_schema.capture_keys import encode_mark
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import format_digest
from pinakes.warc.record import UNREADABLE

from .accounts import number_of
from .quarantine import in_batches

_MOST_NAMED = 20


class StatedRecord(NamedTuple):
    """What a sidecar, or the row of a capture, says of a record.

    `sha256` is that of its payload; None of a record that was not read whole.
    """

    ordinal: int
    record_id: str | None
    target_uri: str | None
    date: str | None
    type: str
    status: int | None
    media_type: str | None
    size: int | None
    sha256: str | None
    declared: str | None
    refers_to: tuple[str | None, ...]
    is_whole: bool

    @property
    def name_number(self) -> int:
        """Stands for what names the record."""
        return _number(self.record_id, self.target_uri, self.date)

    @property
    def number(self) -> int:
        """Stands for all but where it is."""
        return _number(*self[1:])


class LostRecord(NamedTuple):
    """A record that is not there as it was: lost, or there with another content (`altered`).

    `ordinal` is its number in the file, from 0, before.
    """

    ordinal: int
    record_id: str | None
    target_uri: str | None
    date: str | None
    altered: bool


class Losses(NamedTuple):
    """`before` counts the records that were known, `lost` and `altered` those of them that are not
    there, or not as they were; `named` are the first.  `new` counts records that were not there.
    """

    before: int
    lost: int
    altered: int
    new: int
    named: tuple[LostRecord, ...]


class RecordsBefore:
    """The records of a stored file as its sidecar gives them; else its captures, by their rows."""

    def __init__(self, rows: RowStore, archive: ArchiveReader, of: SidecarOf) -> None:
        """`of` is what the sidecar must describe: the file as it was stored."""
        self._rows = rows
        self._archive = archive
        self._name = of.file
        self._archive_file = generation_of(of.file).archive_file
        self.has_sidecar = self._is_own(of)
        """Whether it can be read, and is this file's."""

    def _is_own(self, of: SidecarOf) -> bool:
        """That of an older version does not say whose it is: its row keys do."""
        try:
            found = sidecar_of(self._archive, self._name)
            if found is not None and found != of:
                return False
            return all(  # reads all, and so finds damage
                row.row_key is None
                or row.row_key.endswith(encode_mark(self._archive_file, row.ordinal))
                for row in iter_sidecar(self._archive, self._name)
            )
        except (OSError, MalformedRecord, SchemaError, InputRefused):
            return False

    def rows(self) -> Iterator[SidecarRow]:
        """The rows of the sidecar, if it has one."""
        if self.has_sidecar:
            yield from iter_sidecar(self._archive, self._name)

    def row_names(self) -> Iterator[RowName]:
        """The rows of the file, found by reading both tables to the end."""
        return scan_rows_of(self._rows, {self._archive_file})

    def losses(self, now: Iterable[SidecarRow]) -> Losses:
        """Compare with the records that were read now.  Memory: some numbers for each record."""
        if self.has_sidecar:
            return find_losses(map(_stated, self.rows()), map(_stated, now))
        captures = (
            _stated(without_decision(row) if row.is_replaced else row)
            for row in now
            if row.row_key is not None
        )
        return find_losses(self._stated_by_rows(), captures)

    def _stated_by_rows(self) -> Iterator[StatedRecord]:
        keys = (name.key for name in self.row_names() if name.table == "captures")
        for batch in in_batches(keys):
            for capture in readable_captures(self._rows, batch).values():
                yield _stated_by(capture.facts)


def find_losses(before: Iterable[StatedRecord], now: Iterable[StatedRecord]) -> Losses:
    """Which records are not there any more as they were, in any order."""
    whole: Counter[int] = Counter()
    by_name: Counter[int] = Counter()
    for stated in now:
        whole[stated.number] += 1
        by_name[stated.name_number] += 1
    count = 0
    missed: list[int] = []
    first: list[StatedRecord] = []
    for stated in before:
        count += 1
        name = stated.name_number
        if whole[stated.number] > 0:
            whole[stated.number] -= 1
            by_name[name] -= 1
            continue
        missed.append(name)
        if len(first) < _MOST_NAMED:
            first.append(stated)
    altered = [_take(by_name, name) for name in missed]
    named = (
        LostRecord(stated.ordinal, stated.record_id, stated.target_uri, stated.date, is_there)
        for stated, is_there in zip(first, altered, strict=False)
    )
    there = sum(altered)
    return Losses(count, len(missed) - there, there, by_name.total(), tuple(named))


def _take(counts: Counter[int], number: int) -> bool:
    is_there = counts[number] > 0
    counts[number] -= is_there
    return is_there


class RowsInOrder:
    """Rows before, drawn together with records that are read now, which may be fewer.

    Memory: a number for each record, and the keys of originals that have another number now.
    """

    def __init__(self, rows: Callable[[], Iterator[SidecarRow]], archive_file: str) -> None:
        """`rows` gives them, twice."""
        self._archive_file = archive_file
        self._left = Counter(_stated(row).name_number for row in rows())
        self._rows = rows()
        self._keys: dict[bytes, bytes] = {}

    def of(self, row: SidecarRow) -> SidecarRow | None:
        """That of this record, with its number now; None: it is not known."""
        wanted = _stated(row).name_number
        if self._left[wanted] <= 0:
            return None
        for one in self._rows:
            number = _stated(one).name_number
            self._left[number] -= 1
            if number == wanted:
                return self._renumbered(one, row.ordinal)
        return None

    def _renumbered(self, row: SidecarRow, ordinal: int) -> SidecarRow:
        original = self._keys.get(row.original_key or b"", row.original_key)
        if row.ordinal == ordinal or row.row_key is None:
            return row._replace(ordinal=ordinal, original_key=original)
        key = row.row_key.removesuffix(encode_mark(self._archive_file, row.ordinal))
        key += encode_mark(self._archive_file, ordinal)
        if row.copy_number == 1:
            self._keys[row.row_key] = key
        return row._replace(ordinal=ordinal, row_key=key, original_key=original)


def is_unread(row: SidecarRow) -> bool:
    """Whether the bytes of its record did not decode whole."""
    return not is_whole((row.findings or "").split())


def is_whole(findings: Iterable[str]) -> bool:
    """Whether a record of these findings, as sidecars and rows note them, decoded whole."""
    return UNREADABLE.isdisjoint(findings)


def _stated(row: SidecarRow) -> StatedRecord:
    whole = not is_unread(row)
    size = row.payload_size if row.payload_size is not None else row.content_length
    sha256 = format_digest("sha256", row.sha256) if row.sha256 is not None and whole else None
    return StatedRecord(
        row.ordinal,
        row.record_id,
        row.target_uri,
        row.date,
        row.type,
        row.status,
        row.media_type,
        size,
        sha256,
        row.declared,
        (row.refers_uri, row.refers_date, row.refers_id),
        whole,
    )


def _stated_by(facts: CaptureFacts) -> StatedRecord:
    whole = is_whole(facts.findings)
    return StatedRecord(
        facts.ordinal,
        facts.record_id,
        facts.target_uri,
        facts.date,
        facts.type,
        facts.status,
        facts.revisit_media_type if facts.type == "revisit" else facts.mime,
        facts.payload_size,
        facts.payload_sha256 if whole else None,
        facts.declared_digest,
        (facts.refers_to_target_uri, facts.refers_to_date, facts.refers_to_id),
        whole,
    )


def _number(*fields: object) -> int:
    return number_of(repr(fields).encode("utf-8", "backslashreplace"))
