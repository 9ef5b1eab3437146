"""What refers to a crawl in the files as they are now, and what becomes of it.

Rows lead to what may refer to the crawl (`catalog.references`); the sidecars of those files say
what does, because rows are written ahead of a generation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.captures import Capture, get_captures
from pinakes.catalog.file_records import iter_sidecar, read_generations, stored_names
from pinakes.catalog.references import Reference as Found
from pinakes.catalog.references import scan_references
from pinakes.catalog.sidecar import SidecarRow, sidecar_name
from pinakes.dedupe.run.collection import Collection
from pinakes.errors import Conflict, PinakesError
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import parse_digest
from pinakes.withdraw.choices import Choice
from pinakes.withdraw.provision import choose
from pinakes.withdraw.survey import Reference

from .foreign import has_changed

_BATCH_ROWS = 500


@dataclass(slots=True)
class References:
    """Revisits of other crawls that refer to the crawl: `ours` by `dedupe`, `theirs` by crawlers.

    The rows of `theirs` say what their records would hold; `bodies` are the captures that have
    it, by row key of the revisit.  `found` are all of them, for people.
    """

    found: list[Found] = field(default_factory=list)
    ours: list[Reference] = field(default_factory=list)
    theirs: list[Reference] = field(default_factory=list)
    bodies: dict[bytes, Capture] = field(default_factory=dict)
    problems: list[PinakesError] = field(default_factory=list)

    def choose(self, rows: RowStore, collection: Collection, crawl: str) -> Choice:
        """Which become full, and what the others refer to."""
        both = [*self.ours, *self.theirs]
        return choose(rows, collection, both, lambda capture: is_of(capture, crawl))


def is_of(capture: Capture, crawl: str) -> bool:
    """Whether a capture is one of this crawl."""
    return crawl_of(capture.facts.archive_file) == crawl


def survey_references(
    rows: RowStore, archive: ArchiveStore, collection: Collection, crawl: str
) -> References:
    """What refers to a crawl now.  Memory: what is found."""
    result = References()
    by_file: dict[str, dict[bytes, Found]] = defaultdict(dict)
    for one in scan_references(rows, archive, crawl, collection.name):
        by_file[one.archive_file][one.capture.encode("ascii")] = one
    for name, found in sorted(by_file.items()):
        if name not in collection.entries:
            result.problems.append(Conflict("is landing, and refers to the crawl", file=name))
            continue
        originals = _with_bodies(rows, found.values())
        for row in collection.sidecar_rows(name):
            reference = found.get(row.row_key or b"")
            if reference is None or row.row_key is None:
                continue
            original = reference.original.encode("ascii")
            if row.is_replaced:
                result.found.append(reference)
                result.ours.append(Reference(name, row, row.original_key or original))
            elif row.type == "revisit" and original in originals:
                named, body = originals[original]
                result.found.append(reference)
                result.theirs.append(Reference(name, _as_full(row, named), original))
                result.bodies[row.row_key] = body
    return result


def _with_bodies(rows: RowStore, found: Iterable[Found]) -> dict[bytes, tuple[Capture, Capture]]:
    """Each original, and the capture that has its body: another one, if it is a revisit now."""
    keys = sorted({one.original.encode("ascii") for one in found})
    originals = get_captures(rows, keys)
    marks = {
        key: capture.dedupe.refers_to_key.encode("ascii")
        for key, capture in originals.items()
        if capture.dedupe is not None and capture.dedupe.refers_to_key is not None
    }
    bodies = get_captures(rows, sorted(set(marks.values())))
    return {
        key: (capture, bodies.get(marks.get(key, b""), capture))
        for key, capture in originals.items()
    }


def _as_full(row: SidecarRow, original: Capture) -> SidecarRow:
    """The row of a crawler's revisit as that of a record with the body that it refers to."""
    facts, mark = original.facts, original.dedupe
    digest = parse_digest(facts.payload_sha256 or "")
    return row._replace(
        type=facts.type,
        status=facts.status,
        media_type=facts.media_type,
        payload_size=facts.payload_size,
        sha256=digest.value if digest is not None else None,
        hash_extension=mark.hash_extension if mark is not None else 0,
    )


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
