"""Revisits that landed late, and refer to records that have become revisits since then.

A crawler that deduplicates by itself may refer to a capture that an earlier run of ours
has replaced.  A revisit never refers to a revisit: the target becomes a full record again,
in a new generation of its file, and is pinned, before anything else is decided.  So does
a revisit of ours whose original cannot be addressed any more, since another body of its
urlkey and second has landed; what becomes of it is decided again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import partial

from pinakes.acts.act import Act
from pinakes.acts.generations import Check, Replacements
from pinakes.catalog.captures import get_captures, placed_by
from pinakes.catalog.file_rows import release_claim
from pinakes.catalog.generation_rows import mark_of
from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.references.originals import FullRecordPlace, Originals, Wanted
from pinakes.dedupe.write.restore import RestoreCount, restorations
from pinakes.errors import UnresolvedReference
from pinakes.hbase_schema.capture_cells import DedupeMark, Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.index.seconds import second_of
from pinakes.row_store.port import RowStore
from pinakes.warc.source import Source

from .collection import Collection

WHY = "restore"


class LateRevisits:
    """Gives late revisits their targets back, under a run's lease."""

    def __init__(self, act: Act, *, check: Check) -> None:
        """`check` compares a file with its new generation."""
        self._act = act
        self._rows = act.rows
        self._check = check

    def restore_targets(self, collection: Collection) -> int:
        """Make every such target a full record; return how many there were.

        Those whose originals a purge has taken away, as it was asked to, stay as they are.

        Raises:
            UnresolvedReference: where one cannot be: nothing of its file is changed.
        """
        wanted = {
            name: there
            for name, places in collection.survey().wanted.items()
            if (there := self._with_originals(collection, name, places))
        }
        for name, entry in collection.entries.items():
            if name in wanted:
                self.restore(collection, name, wanted[name])
            elif entry.unfinished_act == self._act.name:
                # Moved by this run before it died, and not given back.
                release_claim(self._rows, self._act.claim(name))
        return sum(map(len, wanted.values()))

    def _with_originals(
        self, collection: Collection, name: str, places: set[tuple[int, int]]
    ) -> set[tuple[int, int]]:
        """Those of these revisits of ours whose originals are in the catalogue."""
        keys = {
            (row.offset, row.inner_offset): row.original_key
            for row in collection.sidecar_rows(name)
            if (row.offset, row.inner_offset) in places
        }
        there = get_captures(self._rows, sorted({key for key in keys.values() if key}))
        return {place for place, key in keys.items() if key is None or key in there}

    def restore(self, collection: Collection, name: str, places: set[tuple[int, int]]) -> None:
        """Make revisits of ours in a file, by offset and inner offset, full and pinned.

        Raises:
            UnresolvedReference: where one cannot be: nothing of its file is changed.
        """
        targets = [
            row for row in collection.sidecar_rows(name) if (row.offset, row.inner_offset) in places
        ]
        ordinals = {row.ordinal for row in targets}

        def parts() -> tuple[Replacements, Check]:
            count = RestoreCount()

            def check(before: Source, after: Source) -> None:
                if count.restored != len(targets):
                    raise _not_restored(before.name, count, len(targets))
                self._check(before, after)

            contents = partial(
                restorations,
                originals=originals_of(self._rows, collection, targets),
                files=files,
                count=count,
                only=frozenset(places),
            )
            return contents, check

        with self._act.claimed(name) as held, collection.open_files() as files:
            self._act.rewrite(
                held,
                parts,
                annotate=lambda row, record: full_again(row) if row.ordinal in ordinals else row,
                marks=lambda row: (
                    marks_of_full(row, self._act.name) if row.ordinal in ordinals else {}
                ),
                why=WHY,
            )


def originals_of(
    rows: RowStore, collection: Collection, targets: Iterable[SidecarRow]
) -> Originals:
    """Where the originals of these records are, by the row keys they were given."""
    originals = Originals()
    keys: dict[bytes, list[Wanted]] = defaultdict(list)
    for row in targets:
        second = second_of(row.refers_date or "")
        if row.refers_uri and second and row.original_key:
            wanted = Wanted(row.refers_uri, second)
            originals.want(wanted)
            keys[row.original_key].append(wanted)
    for capture in get_captures(rows, sorted(keys)).values():
        facts = capture.facts
        entry = collection.entries.get(facts.archive_file)
        placed = placed_by(capture, entry) if entry is not None else None
        if placed is None:
            continue
        at = placed.location
        place = FullRecordPlace(
            facts.archive_file, at.offset, at.inner_offset, facts.record_id, facts.payload_size
        )
        for wanted in keys[capture.key]:
            originals.note_place(wanted, place)
    return originals


def _not_restored(name: str, count: RestoreCount, of: int) -> UnresolvedReference:
    """Names the first; a record that is not where its sidecar says has no problem of its own."""
    first = next(iter(count.problems), None)
    why = "its sidecar is of another file" if first is None else first.message
    return UnresolvedReference(
        f"{of - count.restored} of its revisits cannot be made full again: {why}: see "
        "`pinakes fsck --full`; nothing of it was changed",
        file=name,
        offset=first.offset if first is not None else None,
    )


def full_again(row: SidecarRow) -> SidecarRow:
    """The row of a revisit of ours, as it is when its record is full again: an original."""
    return row._replace(
        copy_number=1, original_key=None, refers_uri=None, refers_date=None, refers_id=None
    )


def marks_of_full(row: SidecarRow, run: str) -> dict[bytes, bytes]:
    """The cells of such a record; none where nothing was decided on it."""
    mark = mark_of(row, run)
    if mark is None:
        return {}
    return {DedupeMark.COLUMN: encode_cell(mark), Pin.COLUMN: encode_cell(Pin(run=run))}
