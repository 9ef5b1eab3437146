"""What refers to a crawl in the files as they are now, and what becomes of it.

Rows lead to what may refer to the crawl (`catalog.references`); the sidecars of those files say
what does, because rows are written ahead of a generation.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import islice

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.captures import Capture, get_captures
from pinakes.catalog.file_records import iter_sidecar, read_generations, stored_names
from pinakes.catalog.proven_sidecars import ProvenSidecars
from pinakes.catalog.references import BY_DEDUPE, scan_references
from pinakes.catalog.references import Reference as Found
from pinakes.catalog.sidecar import SidecarRow, sidecar_name
from pinakes.dedupe.run.collection import Collection
from pinakes.errors import Conflict, PinakesError, UnresolvedReference
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.row_store.port import RowStore
from pinakes.withdraw.changed_rows import has_changed
from pinakes.withdraw.choices import Choice
from pinakes.withdraw.landed_references import as_full, is_proven_ours, with_bodies
from pinakes.withdraw.provision import choose
from pinakes.withdraw.repointing import OriginalPlace
from pinakes.withdraw.survey import Reference

_BATCH_ROWS = 500


@dataclass(slots=True)
class References:
    """Revisits of other crawls that refer to the crawl: `ours` by `dedupe`, `theirs` by crawlers.

    Those of ours that landed as such are among `theirs`; `landed_ours` are their row keys.  The
    rows of `theirs` say what their records would hold; `bodies` are the captures that have it, by
    row key of the revisit.  `found` are all of them, for people.
    """

    found: list[Found] = field(default_factory=list)
    ours: list[Reference] = field(default_factory=list)
    theirs: list[Reference] = field(default_factory=list)
    bodies: dict[bytes, Capture] = field(default_factory=dict)
    landed_ours: set[bytes] = field(default_factory=set)
    problems: list[PinakesError] = field(default_factory=list)

    def choose(self, rows: RowStore, collection: Collection, crawl: str) -> Choice:
        """Which become full, and what the others refer to."""
        both = [*self.ours, *self.theirs]
        return choose(rows, collection, both, lambda capture: is_of(capture, crawl))


def is_of(capture: Capture, crawl: str) -> bool:
    """Whether a capture is one of this crawl."""
    return crawl_of(capture.facts.archive_file) == crawl


def survey_references(
    rows: RowStore,
    archive: ArchiveStore,
    collection: Collection,
    crawl: str,
    proven: ProvenSidecars,
) -> References:
    """What refers to a crawl now.  Memory: what is found.

    Raises DigestMismatch where what a file refers to is not known for sure.
    """
    result = References()
    found_by: dict[bytes, Found] = {}
    by_file: dict[str, dict[bytes, Found]] = defaultdict(dict)
    for one in scan_references(rows, archive, crawl, collection.name, proven=proven):
        by_file[one.archive_file][one.capture.encode("ascii")] = one
    for name, found in sorted(by_file.items()):
        if name not in collection.entries:
            result.problems.append(Conflict("is landing, and refers to the crawl", file=name))
            continue
        named = (one.original.encode("ascii") for one in found.values())
        originals = with_bodies(rows, named)
        for row in collection.sidecar_rows(name):
            reference = found.get(row.row_key or b"")
            if reference is None or row.row_key is None:
                continue
            original = reference.original.encode("ascii")
            if row.is_replaced:
                result.ours.append(Reference(name, row, row.original_key or original))
            elif row.type == "revisit" and original in originals:
                capture, body = originals[original]
                if body.is_duplicate:
                    result.problems.append(_lost_original(name, row))
                    continue
                result.theirs.append(Reference(name, as_full(row, capture), original))
                result.bodies[row.row_key] = body
            else:
                continue
            found_by[row.row_key] = reference
    _find_ours(collection, result)
    result.found = [
        one._replace(written_by=BY_DEDUPE) if key in result.landed_ours else one
        for key, one in found_by.items()
    ]
    return result


def _lost_original(name: str, row: SidecarRow) -> UnresolvedReference:
    return UnresolvedReference(
        "refers to a record that is a revisit by now, whose original the catalogue does not have: "
        "see `pinakes fsck`",
        file=name,
        offset=row.offset,
    )


def _find_ours(collection: Collection, result: References) -> None:
    """Which of those that landed as revisits are ours."""
    with collection.open_files() as files:
        for name, row, _ in result.theirs:
            key = row.row_key or b""
            here = OriginalPlace(name, row.offset, row.inner_offset)
            if is_proven_ours(files, here, collection, result.bodies[key]):
                result.landed_ours.add(key)


def superseded_files(
    rows: RowStore, archive: ArchiveStore, collection: Collection, crawl: str, changed: set[str]
) -> list[str]:
    """The stored files of older generations in other crawls that refer to the crawl.

    `changed` are the files of which revisits were changed; of others only those have any that
    have three generations or more.  The sidecars of those that are still there are read.
    """
    found = []
    for name, entry in sorted(collection.entries.items()):
        if crawl_of(name) == crawl or entry.generation < 2:
            continue
        if name not in changed and entry.generation < 3:
            continue
        current = entry.stored_name
        for stored in stored_names(entry, read_generations(rows, name)):
            if stored == current or archive.size(sidecar_name(stored)) is None:
                continue
            if _refers_to(rows, archive, stored, crawl) or (
                name in changed and has_changed(archive, stored, current)
            ):
                found.append(stored)
    return found


def _refers_to(rows: RowStore, archive: ArchiveStore, stored: str, crawl: str) -> bool:
    keys = (row.original_key for row in iter_sidecar(archive, stored) if row.is_replaced)
    while batch := list(islice(keys, _BATCH_ROWS)):
        originals = get_captures(rows, sorted({key for key in batch if key}))
        if any(is_of(capture, crawl) for capture in originals.values()):
            return True
    return False


def added_bytes(rows: RowStore, references: References, promoted: set[bytes]) -> int:
    """About what records that become full take more: as much as they, or their originals, did."""
    captures = get_captures(rows, sorted(promoted))
    total = 0
    for _, row, _ in references.ours:
        if row.row_key in promoted and row.row_key in captures:
            total += (captures[row.row_key].facts.length or row.length) - row.length
    for _, row, _ in references.theirs:
        if row.row_key in promoted:
            total += references.bodies[row.row_key].facts.length or 0
    return total
