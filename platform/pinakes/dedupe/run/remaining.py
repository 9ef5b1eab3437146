"""What would be lost without an old generation of a file: asked before it is deleted.

    old generation ─▶ all inflated bytes come out of the current one (`raw_proof`)
                      or else, record by record: each whole one is in it
                   ─▶ of what is a revisit there, the original is read: its body is the old one

Nothing is believed that was not read in this run.  Sidecars and rows say where originals are; what
they have wrong leads to no original, or to another body, and so to a refusal.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import Placed, get_captures, place_captures
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.sidecar import SidecarRow, sidecar_name
from pinakes.dedupe.archive_files import StoredFiles
from pinakes.dedupe.references.originals import Wanted, place_of, wanted_by
from pinakes.dedupe.validate.raw_proof import compare_raw
from pinakes.dedupe.validate.stretches import is_damaged
from pinakes.errors import InputRefused, at_place
from pinakes.hbase_schema.file_states import FileState
from pinakes.row_store.port import RowStore
from pinakes.warc.reader import iter_records, read_record
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.source import Source
from pinakes.warc.tombstone import is_tombstone

from .record_digests import (
    ALGORITHM,
    body_of,
    changed_of,
    head_of,
    is_revisit_of_ours,
    stretch_of,
    whole_of,
)

_BATCH_ROWS = 500
_KEPT_ORIGINALS = 1 << 16


class Lost(NamedTuple):
    """A record of an old generation that nothing else gives back, and why; None: no record."""

    ordinal: int | None
    offset: int
    why: str


class _Body(NamedTuple):
    """What was read of an original: what references name it by, and its stored body."""

    named: Wanted
    record_id: str | None
    body: bytes


class _Revisit(NamedTuple):
    """A revisit of ours: what it refers to, and the original's row key."""

    wanted: Wanted | None
    record_id: str | None
    original_key: bytes | None


class _NotHeld(NamedTuple):
    """What is not in the current generation as it is; the head and body of a full record."""

    ordinal: int | None
    offset: int
    head: bytes
    body: bytes


class _Held(NamedTuple):
    """What a generation holds, as digests: some 200 bytes for each record."""

    known: set[bytes]
    """Heads, and heads with their bodies."""
    revisits: dict[bytes, list[_Revisit]]
    """By the head of the record that each stands for."""
    withdrawn: dict[int, str | None]
    """Ids of the records that tombstones stand for, by number in the file."""


class Remaining:
    """Asks what the current generations of a store give back.  Not for several threads.

    Each original is read once for all files that are asked about: what was read last is kept.
    """

    def __init__(self, rows: RowStore, archive: ArchiveReader) -> None:
        self._rows = rows
        self._archive = archive
        self._originals: OrderedDict[tuple[str, int, int], _Body | str] = OrderedDict()

    def lost_without(self, old: str, current: str, *, is_rotten: bool) -> Iterator[Lost]:
        """The records of the old generation that neither the current one nor, where that has a
        revisit, its original gives back.

        `is_rotten`: the old one is not what was written; what is damaged in it is lost already.
        Cost: of both all bytes are inflated twice, and each original once.  Memory: `_Held`.

        Raises:
            MalformedRecord: the current generation's sidecar is damaged.
            InputRefused: a file cannot be read.
        """
        with self._archive.open(old) as old_file, self._archive.open(current) as current_file:
            before, after = Source(old_file, name=old), Source(current_file, name=current)
            lost = self.lost_between(before, after, sidecar_of=current, is_rotten=is_rotten)
            yield from self._without_altered(lost, before) if is_rotten else lost

    def _without_altered(self, lost: Iterator[Lost], source: Source) -> Iterator[Lost]:
        """Those but of bodies that are not as they landed, where only the sidecar says so.

        Of the record that the sidecar names alone: what is there of another file is lost.
        """
        landed: dict[int, SidecarRow] | None = None
        for one in lost:
            if landed is None:
                is_there = self._archive.size(sidecar_name(source.name)) is not None
                rows = iter_sidecar(self._archive, source.name) if is_there else iter(())
                landed = {row.ordinal: row for row in rows if not row.is_replaced}
            row = landed.get(one.ordinal) if one.ordinal is not None else None
            if row is None or row.sha256 is None or not _is_altered(source, one.offset, row):
                yield one

    def lost_between(
        self, before: Source, after: Source, *, sidecar_of: str, is_rotten: bool
    ) -> Iterator[Lost]:
        """The same of two open files; the second has the references of the one that has this
        sidecar."""
        proof = compare_raw(before, after)
        if proof.difference is None and not proof.holds_revisits:
            return
        held = self._held(after, sidecar_of)
        asked = _not_held(before, held, is_rotten=is_rotten)
        files = StoredFiles(self._archive, {})
        with files:
            while batch := list(islice(asked, _BATCH_ROWS)):
                yield from self._not_given_back(batch, held, files)

    def _held(self, source: Source, sidecar_of: str) -> _Held:
        held = _Held(set(), defaultdict(list), {})
        keys = {
            row.ordinal: row.original_key
            for row in iter_sidecar(self._archive, sidecar_of)
            if row.is_replaced
        }
        for item in iter_records(source, digests=(ALGORITHM,)):
            if isinstance(item, DamagedStretch):
                held.known.add(stretch_of(source, item))
                continue
            if changed := changed_of(item):
                held.known.add(changed)
            if is_revisit_of_ours(item) and not is_damaged(item):
                revisit = _Revisit(
                    wanted_by(item.header), item.header.refers_to()[2], keys.get(item.ordinal)
                )
                held.revisits[head_of(item)].append(revisit)
            else:
                head = head_of(item)
                held.known.update((head, head + body_of(item)))
                if is_tombstone(item.header):
                    held.withdrawn[item.ordinal] = item.record_id
        return held

    def _not_given_back(
        self, batch: Sequence[_NotHeld], held: _Held, files: StoredFiles
    ) -> Iterator[Lost]:
        """Those of these that no revisit gives back by its original."""
        keys = {
            revisit.original_key
            for one in batch
            for revisit in held.revisits.get(one.head, ())
            if revisit.original_key is not None
        }
        captures = get_captures(self._rows, sorted(keys)).values()
        placed = {one.capture.key: one for one in place_captures(self._rows, captures)}
        for one in batch:
            why = "the current generation does not have it"
            for revisit in held.revisits.get(one.head, ()):
                found = self._why_not(revisit, placed.get(revisit.original_key or b""), one, files)
                if found is None:
                    break
                why = found
            else:
                yield Lost(one.ordinal, one.offset, why)

    def _why_not(
        self, revisit: _Revisit, placed: Placed | None, asked: _NotHeld, files: StoredFiles
    ) -> str | None:
        """Why the original of a revisit does not give that body back; None where it does."""
        if placed is None or placed.entry.state is not FileState.STORED:
            return "its original is not found"
        original = self._original(placed, files)
        if isinstance(original, str):
            return original
        is_named = revisit.wanted == original.named
        if not is_named or revisit.record_id not in (None, original.record_id):
            return f"{_named(placed)} is not the original that it names"
        if original.body != asked.body:
            return f"its original, {_named(placed)}, has another body"
        return None

    def _original(self, placed: Placed, files: StoredFiles) -> _Body | str:
        """The body of an original, as it is read; or why it is none."""
        found = self._originals.get(placed.place)
        if found is None:
            found = self._originals[placed.place] = _read_original(placed, files)
            if len(self._originals) > _KEPT_ORIGINALS:
                self._originals.popitem(last=False)
        return found


def _read_original(placed: Placed, files: StoredFiles) -> _Body | str:
    at = placed.location
    files.add(placed.file)
    try:
        source = files.source(placed.file)
        record = read_record(source, at.offset, inner_offset=at.inner_offset, digests=(ALGORITHM,))
    except InputRefused as problem:
        return f"its original, {_named(placed)}, cannot be read: {problem.message}"
    if not isinstance(record, Record) or record.type not in ("response", "resource"):
        return f"its original, {_named(placed)}, is no full record"
    found = place_of(placed.file, record)
    if found is None:
        return f"its original, {_named(placed)}, is damaged"
    return _Body(found[0], record.record_id, body_of(record))


def _is_altered(source: Source, offset: int, row: SidecarRow) -> bool:
    """Whether this is the record that landed there, with another body."""
    record = read_record(source, offset, digests=(ALGORITHM,))
    if not isinstance(record, Record) or record.payload_hash(ALGORITHM) == row.sha256:
        return False
    named = record.record_id, record.target_uri, record.date_text
    return named == (row.record_id, row.target_uri, row.date)


def _named(placed: Placed) -> str:
    return at_place(placed.file, placed.location.offset)


def _not_held(source: Source, held: _Held, *, is_rotten: bool) -> Iterator[_NotHeld]:
    """What of an old generation is not in the current one as it is."""
    for item in iter_records(source, digests=(ALGORITHM,)):
        if isinstance(item, DamagedStretch):
            if not is_rotten and stretch_of(source, item) not in held.known:
                yield _NotHeld(None, item.offset, b"", b"")
            continue
        head, body = head_of(item), body_of(item)
        if is_revisit_of_ours(item):
            is_there = head in held.known or head in held.revisits
        else:
            is_there = head + body in held.known
        is_gone = is_rotten and is_damaged(item)
        is_withdrawn = (
            item.ordinal in held.withdrawn and held.withdrawn[item.ordinal] == item.record_id
        )
        if not (is_there or is_gone or is_withdrawn or whole_of(item) in held.known):
            yield _NotHeld(item.ordinal, item.offset, head, body)
