"""Provides for revisits whose originals go: some full again, others re-pointed.

    choose ─▶ of each file with some: full again, pinned, a new generation ─▶ full copies pinned
           ─▶ of each file with others: they refer to those, a new generation

Both are rewritings like any other: proven to give the old file back before they are current.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from pinakes.acts.act import Act
from pinakes.acts.generations import Check, Replacements
from pinakes.catalog.captures import get_captures, place_captures
from pinakes.catalog.file_rows import release_claim
from pinakes.catalog.generation_rows import mark_of
from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.run.collection import Collection
from pinakes.dedupe.run.late_revisits import LateRevisits
from pinakes.dedupe.write.proofs import require_records
from pinakes.errors import UnresolvedReference
from pinakes.hbase_schema.capture_cells import DedupeMark, Pin
from pinakes.hbase_schema.cells import encode_cell
from pinakes.row_store.port import Put, RowStore
from pinakes.warc.record import Record

from .choices import Choice
from .landed_revisits import RevisitChange, change_revisits
from .references import Referrer, Referrers, place_of
from .repointing import OriginalPlace, Repointing


def provide_for(
    collection: Collection,
    found: Referrers,
    choice: Choice,
    act: Act,
) -> None:
    """Do what was chosen for revisits by `dedupe` and for those that landed as such.

    May be repeated from the beginning.

    Raises:
        UnresolvedReference, DigestMismatch: a reference cannot be provided for; nothing is
            lost, and its file is as it was.
        Conflict: another process works on a file.
    """
    full: dict[bytes, bytes | None] = {copy.key: None for copy in choice.promoted}
    _restore_promoted(collection, found.ours, choice, act)
    _provide_landed(collection, found, full, act)
    _pin_originals(choice, act)
    _repoint_others(collection, found.ours, choice, act)
    _provide_landed(collection, found, choice.repointed, act)


def _provide_landed(
    collection: Collection,
    found: Referrers,
    originals: Mapping[bytes, bytes | None],
    act: Act,
) -> None:
    """Change those of these references that have an original here, by row key; None: full.

    Raises as `change_revisits`.
    """
    of_file: dict[str, dict[bytes, bytes]] = defaultdict(dict)
    for name, row, _ in found.landed:
        if row.row_key is not None and row.row_key in originals:
            of_file[name][row.row_key] = found.bodies[row.row_key].key
    for name, keys in sorted(of_file.items()):
        # Looked up for each file: changing the one before may have moved records in it.
        captures = get_captures(act.rows, sorted(set(keys.values())))
        new = {key: one for key in keys if (one := originals[key]) is not None}
        places = places_of(act.rows, new) if new else {}
        changes = {
            key: RevisitChange(
                place_of(collection, body), body.facts.payload_sha256, places.get(key)
            )
            for key, body in ((key, captures[one]) for key, one in keys.items())
        }
        change_revisits(collection, name, changes, act)


def _restore_promoted(
    collection: Collection,
    references: Sequence[Referrer],
    choice: Choice,
    act: Act,
) -> None:
    """Make those full again, and pin them, that were chosen for it.  Raises as `provide_for`."""
    wanted: dict[str, set[tuple[int, int]]] = defaultdict(set)
    promoted = {copy.key for copy in choice.promoted}
    for name, row, _ in references:
        if row.row_key in promoted:
            wanted[name].add((row.offset, row.inner_offset))
    late = LateRevisits(act, check=require_records)
    for name in sorted(wanted):
        late.restore(collection, name, wanted[name])
        collection.read_again(act.rows, name)


def _pin_originals(choice: Choice, act: Act) -> None:
    """Pin what references are re-pointed at, before they are."""
    pin = {Pin.COLUMN: encode_cell(Pin(run=act.name))}
    originals = sorted(set(choice.repointed.values()))
    act.rows.mutate("captures", [Put(key, pin, act.time_ms) for key in originals])
    act.at("pinned")


def _repoint_others(
    collection: Collection,
    references: Sequence[Referrer],
    choice: Choice,
    act: Act,
) -> None:
    """Make the other references refer to their new originals.  Raises as `provide_for`."""
    of_file: dict[str, dict[bytes, bytes]] = defaultdict(dict)
    for name, row, _ in references:
        if row.row_key in choice.repointed:
            of_file[name][row.row_key] = choice.repointed[row.row_key]
    for name in sorted(of_file):
        _repoint(collection, name, of_file[name], act)
        collection.read_again(act.rows, name)


def _repoint(
    collection: Collection,
    name: str,
    originals: Mapping[bytes, bytes],
    act: Act,
) -> None:
    """Make revisits of a file, by row key, refer to other originals; `collection` as it is now."""
    held = act.claim(name)
    places = places_of(act.rows, originals)
    own = {
        row.ordinal: (row, places[row.row_key])
        for row in collection.sidecar_rows(name)
        if row.row_key is not None and row.row_key in places
    }
    of_place = {(row.offset, row.inner_offset): place for row, place in own.values()}

    def annotate(row: SidecarRow, record: Record) -> SidecarRow:
        key = originals.get(row.row_key or b"")
        if key is None:
            return row
        uri, date, record_id = record.header.refers_to()
        return row._replace(original_key=key, refers_uri=uri, refers_date=date, refers_id=record_id)

    def marks(row: SidecarRow) -> dict[bytes, bytes]:
        mark = mark_of(row, act.name) if row.row_key in originals else None
        return {DedupeMark.COLUMN: encode_cell(mark)} if mark is not None else {}

    def parts() -> tuple[Replacements, Check]:
        repointing = Repointing(of_place, own.keys(), files, run=act.name)
        return repointing.replacements, repointing.check

    with collection.open_files() as files:
        act.rewrite(held, parts, annotate=annotate, marks=marks)
    release_claim(act.rows, held)
    act.at("re-pointed")


def places_of(rows: RowStore, originals: Mapping[bytes, bytes]) -> dict[bytes, OriginalPlace]:
    """Where each revisit's new original is now.  Raises UnresolvedReference: nowhere."""
    found = get_captures(rows, sorted(set(originals.values())))
    places = {
        placed.capture.key: OriginalPlace(
            placed.entry.archive_file, placed.location.offset, placed.location.inner_offset
        )
        for placed in place_captures(rows, found.values())
    }
    missing = set(originals.values()) - places.keys()
    if missing:
        raise UnresolvedReference(f"no place is known of {min(missing)!r}: run fsck")
    return {revisit: places[original] for revisit, original in originals.items()}
