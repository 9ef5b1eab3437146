"""Mends a current generation by an older one that holds whole what it lost.

    record damaged in the current one      ─▶ as it is in the old one
    revisit whose original has rotted      ─▶ the full record that the old one has, and pinned

A new generation, proven to have all that the current and the old one hold whole, before it is
current.  The old one stays until the next `--drop-old`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import partial
from itertools import chain, groupby
from operator import attrgetter

from pinakes.acts.act import Act
from pinakes.acts.generations import Check, InAnotherForm
from pinakes.catalog.file_records import iter_sidecar, read_current
from pinakes.catalog.file_rows import FileEntry
from pinakes.catalog.sidecar import SidecarRow
from pinakes.errors import DigestMismatch, InputRefused
from pinakes.hbase_schema.file_cells import ACCEPTED
from pinakes.hbase_schema.generation_names import PLAIN, ending_of
from pinakes.warc.compression.members import compression_at
from pinakes.warc.compression.port import Compression
from pinakes.warc.reader import read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source
from pinakes.warc.write import RECORD_END

from .late_revisits import WHY, full_again, marks_of_full
from .remaining import Lost, Remaining

Pieces = Iterator[bytes | memoryview]


class Mender:
    """Mends files of one pair of stores, under a run's lease.  Not for several threads."""

    def __init__(self, act: Act, remaining: Remaining) -> None:
        self._act = act
        self._archive = act.archive
        self._remaining = remaining
        self.files = 0
        """How many files were mended."""
        self.records = 0
        """How many records of these."""

    def mend(self, entry: FileEntry, old: str, lost: Collection[Lost]) -> None:
        """Put these records of the old generation into a new one, in place of what is there.

        Raises:
            DigestMismatch, InputRefused, MalformedRecord: it cannot be; the file is as it was.
            Conflict: another process works on it.
        """
        if read_current(self._act.rows, entry).why == ACCEPTED:
            # Its sidecar describes the damaged records as they are, not as they landed.
            raise InputRefused(
                "not mended: its damage was accepted; `pinakes fsck --quarantine` lists that, and "
                "`--undo ID` takes it back",
                file=entry.stored_name,
            )
        with self._act.claimed(entry.archive_file) as held:
            places = {one.ordinal: one.offset for one in lost if one.ordinal is not None}
            if len(places) < len(lost):
                raise InputRefused("not mended: bytes that are no record are lost", file=old)
            with self._archive.open(old) as file:
                self._act.rewrite(
                    held,
                    partial(self._parts, entry, Source(file, name=old), places),
                    annotate=lambda row, record: (
                        full_again(row) if row.ordinal in places and row.is_replaced else row
                    ),
                    marks=lambda row: (
                        marks_of_full(row, self._act.name) if row.ordinal in places else {}
                    ),
                    why=WHY,
                    is_mended=True,
                )
            self.files += 1
            self.records += len(places)

    def _parts(
        self, entry: FileEntry, before: Source, places: dict[int, int]
    ) -> tuple[InAnotherForm, Check]:
        current = entry.current
        ending = current.ending or ending_of(entry.archive_file)
        if ending is None:
            raise InputRefused("not mended: its name says no form", file=entry.archive_file)

        def pieces(source: Source) -> Pieces:
            rows = iter_sidecar(self._archive, current.name)
            form = compression_at(source, 0)
            if form is None and ending != PLAIN:
                form = compression_at(before, 0)  # its first bytes are damaged
            return _mended(source, rows, before, places, form)

        def check(source: Source, after: Source) -> None:
            for one, is_rotten in ((before, False), (source, True)):
                for lost in self._remaining.lost_between(
                    one, after, sidecar_of=current.name, is_rotten=is_rotten
                ):
                    if one is source and lost.ordinal in places:
                        continue  # that was damaged
                    raise DigestMismatch(
                        f"a new generation would not give this back ({lost.why}); nothing was "
                        "changed",
                        file=one.name,
                        offset=lost.offset,
                    )

        return InAnotherForm(ending, pieces), check


def _mended(
    source: Source,
    rows: Iterable[SidecarRow],
    before: Source,
    places: dict[int, int],
    form: Compression | None,
) -> Pieces:
    """The current generation with the old one's records at the places of these ordinals.

    What is between such a record and the next one, as the end of a damaged one, is left out.
    """
    size = source.size
    at = 0
    for offset, group in groupby(rows, key=attrgetter("offset")):
        first, *others = group
        yield from source.pieces(at, min(offset, size))
        at = min(offset + first.length, size)
        if not any(row.ordinal in places for row in (first, *others)):
            yield from source.pieces(min(offset, size), at)
        elif others or first.inner_offset:
            raise InputRefused(
                "not mended: several records share a member", file=source.name, offset=offset
            )
        else:
            yield from _record_of(before, places[first.ordinal], source, form)
            at = size
    yield from source.pieces(at, size)


def _record_of(
    before: Source, offset: int, source: Source, form: Compression | None
) -> Iterable[bytes | memoryview]:
    record = read_record(before, offset, digests=())
    if not isinstance(record, Record) or record.findings:
        raise InputRefused(
            "not mended: the old record is damaged, or shares a member",
            file=before.name,
            offset=offset,
        )
    pieces = chain((record.header.raw,), record.chunks(), (RECORD_END,))
    return pieces if form is None else form.compress_pieces(source, pieces)
