"""Revisits that landed late, and refer to records that have become revisits meanwhile.

A crawler that deduplicates by itself may refer to a capture that an earlier run of ours
has replaced.  A revisit never refers to a revisit: the target becomes a full record again,
in a new generation of its file, and is pinned, before anything else is decided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_rows import Held, read_entry, release_claim, require_claim
from pinakes.catalog.sidecar import SidecarRow, read_sidecar, sidecar_name
from pinakes.errors import UnresolvedReference
from pinakes.hbase_schema.capture_cells import DedupeMark, Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.name_keys import generation_file
from pinakes.index.seconds import second_of
from pinakes.rewrite.generations import (
    Check,
    make_current,
    put_generation_facts,
    put_locations,
    write_generation,
)
from pinakes.row_store.port import Put, RowStore
from pinakes.warc.digest import parse_digest
from pinakes.warc.record import Record

from .collection import Collection
from .originals import Originals, Place, Wanted
from .restore import RestoreCount, restorations

WHY = "restore"
_Key = tuple[str, str | None, str | None]


class Targets:
    """What the revisits of others refer to.  Memory: a key for each of them."""

    def __init__(self) -> None:
        self._keys: set[_Key] = set()

    def __bool__(self) -> bool:
        return bool(self._keys)

    def add(self, row: SidecarRow) -> None:
        """Note what a revisit refers to: by id, by URI and date, or by URI and digest."""
        if row.refers_id:
            self._keys.add(("id", row.refers_id, None))
        if row.refers_uri:
            self._keys.add(("date", row.refers_uri, second_of(row.refers_date or "")))
        elif not row.refers_id:
            digest = parse_digest(row.declared) if row.declared else None
            self._keys.add(("digest", row.target_uri, str(digest)))

    def mean(self, row: SidecarRow) -> bool:
        """Whether one of them means this record."""
        declared = parse_digest(row.declared) if row.declared else None
        return bool(
            self._keys
            & {
                ("id", row.record_id, None),
                ("date", row.target_uri, second_of(row.date or "")),
                ("digest", row.target_uri, str(declared)),
            }
        )


def replaced_targets(collection: Collection) -> dict[str, list[SidecarRow]]:
    """The records, by file, that are revisits of ours and that revisits of others mean."""
    targets = Targets()
    for name in collection.entries:
        for row in collection.sidecar_rows(name):
            if row.type == "revisit":
                targets.add(row)
    found: dict[str, list[SidecarRow]] = defaultdict(list)
    if not targets:
        return found
    for name, entry in collection.entries.items():
        if entry.generation == 1:
            continue
        for row in collection.sidecar_rows(name):
            if row.copy_number is not None and row.copy_number > 1 and targets.mean(row):
                found[name].append(row)
    return found


class LateRevisits:
    """Gives late revisits their targets back, under a run's lease."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        *,
        run: str,
        claim: Callable[[str], Held],
        check: Check,
        at: Callable[[str], None],
    ) -> None:
        self._rows = rows
        self._archive = archive
        self._run = run
        self._claim = claim
        self._check = check
        self._at = at

    def restore_targets(self, collection: Collection) -> int:
        """Make every such target a full record; return how many there were.

        Raises:
            UnresolvedReference: where one cannot be: nothing of its file is changed.
        """
        needed = replaced_targets(collection)
        for name, targets in needed.items():
            held = self._claim(name)
            self._restore(collection, name, targets, held)
            release_claim(self._rows, held)
        return sum(map(len, needed.values()))

    def _restore(
        self, collection: Collection, name: str, targets: list[SidecarRow], held: Held
    ) -> None:
        entry = read_entry(self._rows, name)
        count = RestoreCount()
        ordinals = {row.ordinal for row in targets}
        with collection.open_files() as files:
            written = write_generation(
                self._archive,
                entry,
                held,
                partial(
                    restorations,
                    originals=self._originals_of(collection, targets),
                    files=files,
                    count=count,
                    only=frozenset((row.offset, row.inner_offset) for row in targets),
                ),
                check=self._check,
                annotate=partial(_annotate, ordinals),
                at=self._at,
            )
        if count.restored != len(targets):
            raise UnresolvedReference(
                f"{len(targets) - count.restored} records that late revisits refer to could "
                "not be restored: run fsck",
                file=name,
            )
        stored = generation_file(name, written.generation)
        with self._archive.open(sidecar_name(stored)) as file:
            put_locations(
                self._rows, read_sidecar(file), written.generation, held.claim.act_time_ms
            )
        self._put_marks(targets, held.claim.act_time_ms)
        put_generation_facts(self._rows, held, written, WHY)
        require_claim(self._rows, held)
        make_current(self._rows, held, entry.generation, written.generation)
        self._at("target restored")

    def _originals_of(self, collection: Collection, targets: list[SidecarRow]) -> Originals:
        """Where the originals of these records are, by the row keys they were given."""
        originals = Originals()
        keys: dict[bytes, list[Wanted]] = defaultdict(list)
        for row in targets:
            second = second_of(row.refers_date or "")
            if row.refers_uri and second and row.original_key:
                wanted = Wanted(row.refers_uri, second)
                originals.want(wanted)
                keys[row.original_key].append(wanted)
        for name, row in _rows_of(collection, keys):
            place = Place(name, row.offset, row.inner_offset, row.record_id, row.payload_size)
            for wanted in keys[row.row_key or b""]:
                originals.note_place(wanted, place)
        return originals

    def _put_marks(self, targets: list[SidecarRow], act_time_ms: int) -> None:
        puts = []
        for row in targets:
            if row.row_key is None:
                continue
            mark = DedupeMark(run=self._run, hash_extension=row.hash_extension or 0, copy_number=1)
            cells = {
                DedupeMark.COLUMN: encode_cell(mark),
                Pin.COLUMN: encode_cell(Pin(run=self._run)),
            }
            puts.append(Put(row.row_key, cells, act_time_ms))
        self._rows.mutate("captures", puts)


def _rows_of(
    collection: Collection, keys: dict[bytes, list[Wanted]]
) -> Iterator[tuple[str, SidecarRow]]:
    for name in collection.entries:
        for row in collection.sidecar_rows(name):
            if row.row_key in keys:
                yield name, row


def _annotate(ordinals: set[int], row: SidecarRow, _: Record) -> SidecarRow:
    if row.ordinal not in ordinals:
        return row
    return row._replace(
        copy_number=1, original_key=None, refers_uri=None, refers_date=None, refers_id=None
    )
