"""Provides for revisits of ours whose originals go: some full again, others re-pointed.

    choose ─▶ of each file with some: full again, pinned, a new generation ─▶ full copies pinned
           ─▶ of each file with others: they refer to those, a new generation

Both are rewritings like any other: proven to give the old file back before they are current.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from datetime import datetime, timezone

from pinakes.acts.act import Act
from pinakes.acts.generations import Check, Replacements
from pinakes.catalog.captures import (
    Capture,
    get_captures,
    place_captures,
    placed_by,
    scan_captures_of,
)
from pinakes.catalog.file_rows import release_claim
from pinakes.catalog.generation_rows import mark_of
from pinakes.catalog.lookup import scan_digest
from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.run.collection import Collection
from pinakes.dedupe.run.late_revisits import LateRevisits
from pinakes.dedupe.write.given_back import require_records
from pinakes.errors import UnresolvedReference
from pinakes.hbase_schema.capture_cells import DedupeMark, Pin
from pinakes.hbase_schema.capture_keys import decode_capture_key
from pinakes.hbase_schema.cells import encode_cell
from pinakes.index.eligibility import RecordFacts, skip_reason
from pinakes.row_store.port import Put, RowStore
from pinakes.warc.digest import Digest, format_digest
from pinakes.warc.record import Record

from .choices import Choice, Copy, choose_originals
from .repointing import OriginalPlace, Repointing
from .survey import Reference


def choose(
    rows: RowStore,
    collection: Collection,
    references: Sequence[Reference],
    goes: Callable[[Capture], bool],
) -> Choice:
    """What becomes of these references; `goes` tells what is no copy any more.

    Their rows say what their records hold, or would.
    """
    by_content: dict[tuple[object, ...], list[Reference]] = defaultdict(list)
    for reference in references:
        row = reference.row
        kind = (row.type, row.status, row.media_type if row.type == "resource" else None)
        by_content[(row.sha256, row.payload_size, row.hash_extension, kind)].append(reference)
    theirs = {reference.row.row_key for reference in references}
    promoted: list[Copy] = []
    repointed: dict[bytes, bytes] = {}
    for some in by_content.values():
        row = some[0].row
        full = [
            _copy(capture.key, capture.facts.archive_file, capture.facts.ordinal)
            for capture in _full_copies(rows, collection, row)
            if not goes(capture) and capture.key not in theirs
        ]
        copies = [_copy(r.row.row_key or b"", r.archive_file, r.row.ordinal) for r in some]
        both = (*full, *copies)
        same = {copy.key for copy in both}
        unfit = {copy.key for copy in both if _is_ambiguous(rows, copy, row, same, goes)}
        unfit |= {r.row.row_key or b"" for r in some if _is_unfit(r.row)}
        choice = choose_originals(copies, full, frozenset(unfit))
        promoted += choice.promoted
        repointed |= choice.repointed
    return Choice(sorted(promoted), repointed)


def _copy(key: bytes, archive_file: str, ordinal: int) -> Copy:
    return Copy(decode_capture_key(key).time[:14], archive_file, ordinal, key)


def _full_copies(rows: RowStore, collection: Collection, row: SidecarRow) -> Iterator[Capture]:
    """Full records of the same content in the collection that an index has a line for."""
    if row.sha256 is None:
        return
    keys = {
        copy.entry.capture_key.encode("ascii")
        for copy in scan_digest(rows, collection.name, Digest("sha256", row.sha256))
        if copy.entry.body == "stored" and copy.key.length == row.payload_size
    }
    for capture in get_captures(rows, sorted(keys)).values():
        facts = capture.facts
        if (
            (facts.type, facts.status, facts.skip) == (row.type, row.status, None)
            and (facts.type == "response" or facts.media_type == row.media_type)
            and not capture.is_duplicate
            and capture.withdrawal is None
            and facts.archive_file in collection.entries
            and not _is_behind_another(capture, collection)
        ):
            yield capture


def _is_behind_another(capture: Capture, collection: Collection) -> bool:
    """Whether it is not the first record of its member now: no index has a line for it."""
    placed = placed_by(capture, collection.entries[capture.facts.archive_file])
    return placed is not None and placed.location.inner_offset > 0


def _is_unfit(row: SidecarRow) -> bool:
    """Whether a record is none that `dedupe` would let others refer to, but for its address: a
    crawler's revisit may have no date, or answer a POST."""
    facts = RecordFacts(
        type=row.type,
        target_uri=row.target_uri or "",
        date=row.date or "",
        size=row.payload_size or 0,
        status=row.status,
        method=row.method or "GET",
    )
    return skip_reason(facts, landed=datetime.now(timezone.utc)) is not None


def _is_ambiguous(
    rows: RowStore,
    copy: Copy,
    row: SidecarRow,
    same: Container[bytes],
    goes: Callable[[Capture], bool],
) -> bool:
    """Whether another body has the urlkey and second of this copy, or may have.

    `same` are the captures that are known to have its body; the row of a crawler's revisit does
    not say so.
    """
    body = format_digest("sha256", row.sha256 or b"")
    urlkey = decode_capture_key(copy.key).urlkey
    following = f"{int(copy.second) + 1:014d}"
    return any(
        other.key not in same
        and not goes(other)
        and other.withdrawal is None
        and other.facts.payload_sha256 != body
        for other in scan_captures_of(rows, urlkey, start_time=copy.second, stop_time=following)
    )


def restore_promoted(
    collection: Collection,
    references: Sequence[Reference],
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


def pin_originals(choice: Choice, act: Act) -> None:
    """Pin what references are re-pointed at, before they are."""
    pin = {Pin.COLUMN: encode_cell(Pin(run=act.name))}
    originals = sorted(set(choice.repointed.values()))
    act.rows.mutate("captures", [Put(key, pin, act.time_ms) for key in originals])
    act.at("pinned")


def repoint_others(
    collection: Collection,
    references: Sequence[Reference],
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
