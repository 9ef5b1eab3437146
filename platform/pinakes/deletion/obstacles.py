"""What a purge cannot do, found before it changes anything: by reading each revisit that is to
change, and what it refers to.

What only shows when a whole file is written again is not found here: that a gzip member, which
several records share, cannot be cut apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from pinakes.catalog.captures import get_captures
from pinakes.catalog.payloads import UNSOUND, have_one_body
from pinakes.catalog.revisit_targets import (
    ID_ALONE,
    SEVERAL_MEANT,
    RevisitTargets,
    captures_named,
    is_named_by_id_alone,
)
from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.references.originals import Originals
from pinakes.dedupe.run.collection import Collection
from pinakes.dedupe.run.late_revisits import originals_of
from pinakes.dedupe.write.restore import RestoreCount, restored_or_none
from pinakes.errors import (
    PinakesError,
    UnresolvedReference,
)
from pinakes.row_store.port import RowStore

from .choices import Choice
from .landed_revisits import ChangedRevisits, RevisitChange
from .providing import places_of
from .references import Referrer, Referrers, place_of
from .repointing import OriginalPlace, read_at, repointings

_OF_A_RECORD = (*UNSOUND, UnresolvedReference)
_ACT = "purge"


def find_obstacles(
    rows: RowStore, collection: Collection, found: Referrers, choice: Choice
) -> dict[bytes, PinakesError]:
    """The references that cannot become what was chosen, by row key, each with the reason.

    Reads the record of each reference, and the body of what it refers to.
    """
    with collection.open_files() as files:
        return _Obstacles(rows, collection, files, choice).find(found)


class _Obstacles:
    def __init__(
        self, rows: RowStore, collection: Collection, files: ArchiveFiles, choice: Choice
    ) -> None:
        self._rows = rows
        self._collection = collection
        self._files = files
        self._promoted = {copy.key for copy in choice.promoted}
        self._repointed = choice.repointed
        self._found: dict[bytes, PinakesError] = {}

    def find(self, found: Referrers) -> dict[bytes, PinakesError]:
        ours: dict[str, list[SidecarRow]] = defaultdict(list)
        for name, row, _ in found.ours:
            ours[name].append(row)
        for name in sorted(ours):
            self._look_at_ours(name, ours[name])
        for reference in found.landed:
            with self._noting(reference.archive_file, reference.row):
                self._look_at_theirs(reference, found)
        self._look_at_meanings(found)
        return self._found

    @contextmanager
    def _noting(self, name: str, row: SidecarRow) -> Iterator[None]:
        try:
            yield
        except _OF_A_RECORD as problem:
            if problem.file is None:
                problem.file = self._collection.entries[name].stored_name
                problem.offset = row.offset
            self._found[row.row_key or b""] = problem

    def _look_at_ours(self, name: str, some: list[SidecarRow]) -> None:
        full = [row for row in some if row.row_key in self._promoted]
        originals = originals_of(self._rows, self._collection, full)
        for row in full:
            with self._noting(name, row):
                self._restore(name, row, originals)
        for row in some:
            original = self._repointed.get(row.row_key or b"")
            # Of one that is a revisit itself, yet to be made full, nothing can be asked.
            if original is not None and original not in self._promoted:
                with self._noting(name, row):
                    self._repoint(name, row, original)

    def _restore(self, name: str, row: SidecarRow, originals: Originals) -> None:
        count = RestoreCount()
        source = self._files.source(name)
        record = read_at(source, row.offset, row.inner_offset, digests=())
        restored_or_none(source.name, record, originals, self._files, count)
        for problem in count.problems:
            raise problem

    def _repoint(self, name: str, row: SidecarRow, original: bytes) -> None:
        place = (row.offset, row.inner_offset)
        originals = {place: places_of(self._rows, {b"": original})[b""]}
        for _ in repointings(self._files.source(name), originals, self._files, run=_ACT):
            """Written to nowhere."""

    def _look_at_theirs(self, reference: Referrer, found: Referrers) -> None:
        name, row, _ = reference
        key = row.row_key or b""
        capture = found.bodies[key]
        body = place_of(self._collection, capture)
        original = self._repointed.get(key)
        new = None
        if original is not None:
            # One that is a revisit itself, yet to be made full, gets the same body.
            is_full = original not in self._promoted
            new = places_of(self._rows, {key: original})[key] if is_full else body
        place = (row.offset, row.inner_offset)
        changes = {place: RevisitChange(body, capture.facts.payload_sha256, new)}
        changing = ChangedRevisits(changes, {}, self._files, act=_ACT)
        changing.require_changeable(OriginalPlace(name, *place))

    def _look_at_meanings(self, found: Referrers) -> None:
        revisits = get_captures(
            self._rows, [row.row_key for _, row, _ in found.landed if row.row_key is not None]
        )
        originals = get_captures(self._rows, sorted({one.original for one in found.landed}))
        targets = RevisitTargets(self._rows, captures_named(self._rows, revisits.values()))
        for name, row, original in found.landed:
            if row.row_key in found.landed_ours:
                continue  # its checksum says which body it means
            with self._noting(name, row):
                meant = targets.of(revisits[row.row_key or b""], [originals[original]])
                if not have_one_body(meant):
                    raise UnresolvedReference(SEVERAL_MEANT)
                if is_named_by_id_alone(revisits[row.row_key or b""], originals[original]):
                    raise UnresolvedReference(ID_ALONE)
