"""Revisits that refer to what goes: by `dedupe`, and those that landed as such.

The rows of the latter say nothing of their body: they get what the capture that it is in says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pinakes.catalog.captures import CaptureRow, get_captures, placed_by
from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.run.collection import Collection
from pinakes.errors import InputRefused, UnresolvedReference
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import parse_digest
from pinakes.warc.reader import read_record
from pinakes.warc.rebuilding import proven_ours
from pinakes.warc.record import Record
from pinakes.warc.revisit import is_ours

from .repointing import OriginalPlace

Bodies = Mapping[bytes, tuple[CaptureRow, CaptureRow]]


class Referrer(NamedTuple):
    """A revisit: its file, its row there, and the row key of its original."""

    archive_file: str
    row: SidecarRow
    original: bytes


@dataclass(slots=True)
class Referrers:
    """Revisits that stay, of what goes: `ours` by `dedupe`, `landed` those that landed as such.

    The rows of `landed` say what their records would hold; `bodies` are the captures that have it,
    by row key of the revisit.  `landed_ours` are the row keys of those that are ours as well,
    proven: of the others nothing says so but the crawler.
    """

    ours: list[Referrer] = field(default_factory=list)
    landed: list[Referrer] = field(default_factory=list)
    bodies: dict[bytes, CaptureRow] = field(default_factory=dict)
    landed_ours: set[bytes] = field(default_factory=set)

    @property
    def all(self) -> list[Referrer]:
        return [*self.ours, *self.landed]

    def add_landed(
        self, collection: Collection, revisits: Iterable[Referrer], bodies: Bodies
    ) -> None:
        """Add revisits that landed as such; `bodies` are those of all their originals.

        Reads the records of those that may be ours.
        """
        with collection.open_files() as files:
            for name, row, original in revisits:
                capture, body = bodies[original]
                key = row.row_key or b""
                here = OriginalPlace(name, row.offset, row.inner_offset)
                if is_proven_ours(files, here, collection, body):
                    self.landed_ours.add(key)
                self.landed.append(Referrer(name, as_full(row, capture), original))
                self.bodies[key] = body


def with_bodies(rows: RowStore, originals: Iterable[bytes]) -> Bodies:
    """Each original, and the capture that has its body: another one, if it is a revisit now."""
    found = get_captures(rows, sorted(set(originals)))
    marks = {
        key: capture.dedupe.refers_to_key.encode("ascii")
        for key, capture in found.items()
        if capture.dedupe is not None and capture.dedupe.refers_to_key is not None
    }
    bodies = get_captures(rows, sorted(set(marks.values())))
    return {
        key: (capture, bodies.get(marks.get(key, b""), capture)) for key, capture in found.items()
    }


def as_full(row: SidecarRow, original: CaptureRow) -> SidecarRow:
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


def place_of(collection: Collection, capture: CaptureRow) -> OriginalPlace:
    """Where a capture of the collection is now.  Raises UnresolvedReference: nowhere."""
    entry = collection.entries.get(capture.facts.archive_file)
    placed = placed_by(capture, entry) if entry is not None else None
    if placed is None:
        raise UnresolvedReference(f"no place is known of {capture.key!r}: run fsck")
    at = placed.location
    return OriginalPlace(placed.entry.archive_file, at.offset, at.inner_offset)


def is_proven_ours(
    files: ArchiveFiles, revisit: OriginalPlace, collection: Collection, body: CaptureRow
) -> bool:
    """Whether the record at a place is a revisit of ours that a body gives back.

    Reads it, and the body of one that has our field.
    """
    try:
        record = _read(files, revisit)
        if record is None or not is_ours(record.header):
            return False
        original = _read(files, place_of(collection, body))
        return original is not None and proven_ours(record, original) is not None
    except (InputRefused, UnresolvedReference):
        return False


def _read(files: ArchiveFiles, place: OriginalPlace) -> Record | None:
    name, offset, inner = place
    record = read_record(files.source(name), offset, inner_offset=inner, digests=())
    return record if isinstance(record, Record) and record.offset == offset else None
