"""What a purge would do, or has done, as its report says it: references, bytes, old generations."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.captures import get_captures
from pinakes.catalog.crawl_rows import CrawlEntry
from pinakes.catalog.file_records import iter_sidecar, read_generations, stored_names
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.proven_sidecars import ProvenSidecars
from pinakes.catalog.sidecar import sidecar_name
from pinakes.catalog.unknown_files import require_all_known
from pinakes.dedupe.run.collection import Collection
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.row_store.port import RowStore

from .changed_rows import has_changed
from .choices import Choice, choose
from .crawl_references import CrawlReferences, find_crawl_references, is_of
from .file_removal import content_of
from .last_copies import LastCopies
from .obstacles import find_obstacles
from .references import Referrers
from .requests import FORCE, LISTED, REFUSE, DeletionReport, PurgeRequest

_BATCH_ROWS = 500


class PurgeSurvey:
    """Surveys crawls of one pair of stores for purging.  Not for several threads."""

    def __init__(self, rows: RowStore, archive: ArchiveStore) -> None:
        self._rows = rows
        self._archive = archive
        self._proven = ProvenSidecars(archive)
        self._copies = LastCopies(rows, archive)

    def survey(
        self,
        collection: Collection,
        entry: CrawlEntry,
        request: PurgeRequest,
        report: DeletionReport,
    ) -> tuple[Referrers, Choice]:
        """What refers to the crawl, and what becomes of it; added to the report.

        Raises DigestMismatch where what a file refers to is not known for sure.
        """
        found = self._find(collection, entry.crawl)
        choice = Choice([], {})
        report.problems += found.problems
        if request.references == REFUSE:
            report.references = found.listed[:LISTED]
        elif request.references == FORCE:
            known = {one.capture for one in report.dangling}
            report.dangling += [one for one in found.listed if one.capture not in known]
            # Where an act that died was to provide for them, it has done so for some.
            self._keep_done(found, report)
        else:
            choice = self._choose(collection, entry.crawl, found.referrers, report)
        if request.references != FORCE and not report.references:
            report.problems += self._copies.lost_with_crawl(collection, entry.crawl)
        self._count(entry, report)
        return found.referrers, choice

    def _find(self, collection: Collection, crawl: str) -> CrawlReferences:
        require_all_known(self._rows, self._archive)
        return find_crawl_references(self._rows, self._archive, collection, crawl, self._proven)

    def _choose(
        self, collection: Collection, crawl: str, found: Referrers, report: DeletionReport
    ) -> Choice:
        """Which become full, and what the others refer to; added to the report."""
        choice = choose(self._rows, collection, found.all, lambda capture: is_of(capture, crawl))
        theirs = {one.row.row_key for one in found.landed} - found.landed_ours
        full = {copy.key for copy in choice.promoted}
        obstacles = find_obstacles(self._rows, collection, found, choice)
        report.problems += obstacles.values()
        noted = {key.encode("ascii") for key in (*report.promoted, *report.filled)}
        report.added_bytes += self._added_bytes(found, full - noted - obstacles.keys())
        report.promoted = _joined(report.promoted, full - theirs - obstacles.keys())
        report.filled = _joined(report.filled, (full & theirs) - obstacles.keys())
        report.repointed = _joined(report.repointed, choice.repointed.keys() - obstacles.keys())
        return choice

    def keep_done(self, collection: Collection, crawl: str, report: DeletionReport) -> None:
        """Report no change of what still refers to the crawl.  Raises as `survey`."""
        self._keep_done(self._find(collection, crawl), report)

    def _keep_done(self, found: CrawlReferences, report: DeletionReport) -> None:
        left = {one.capture for one in found.listed}
        undone = left.intersection((*report.promoted, *report.filled))
        keys = {key.encode("ascii") for key in undone}
        report.added_bytes -= self._added_bytes(found.referrers, keys)
        report.keep_done(left)

    def _added_bytes(self, found: Referrers, promoted: set[bytes]) -> int:
        """About what records that become full take more: as much as they, or their originals,
        did."""
        captures = get_captures(self._rows, sorted(promoted))
        total = 0
        for _, row, _ in found.ours:
            if row.row_key in promoted and row.row_key in captures:
                total += (captures[row.row_key].facts.length or row.length) - row.length
        for _, row, _ in found.landed:
            if row.row_key in promoted:
                total += found.bodies[row.row_key].facts.length or 0
        return total

    def _count(self, entry: CrawlEntry, report: DeletionReport) -> None:
        report.files = report.captures = report.freed_bytes = 0
        for file in scan_entries(self._rows, entry.crawl):
            if file.facts is None or file.state is None or file.state.is_gone:
                continue
            report.add(content_of(self._rows, self._archive, file))

    def superseded(self, collection: Collection, crawl: str, report: DeletionReport) -> list[str]:
        """The stored files of older generations in other crawls that refer to the crawl.

        Of files without revisits that were changed, as reported, only those have any that have
        three generations or more.  The sidecars of those that are still there are read.
        """
        changes = (*report.promoted, *report.filled, *report.repointed)
        captures = get_captures(self._rows, [key.encode("ascii") for key in changes])
        changed = {capture.facts.archive_file for capture in captures.values()}
        return [
            stored
            for name, entry in sorted(collection.entries.items())
            if crawl_of(name) != crawl and entry.generation >= (2 if name in changed else 3)
            for stored in stored_names(entry, read_generations(self._rows, name))
            if stored != entry.stored_name
            and self._archive.size(sidecar_name(stored)) is not None
            and (
                self._refers_to(stored, crawl)
                or (name in changed and has_changed(self._archive, stored, entry.stored_name))
            )
        ]

    def _refers_to(self, stored: str, crawl: str) -> bool:
        keys = (row.original_key for row in iter_sidecar(self._archive, stored) if row.is_replaced)
        while batch := list(islice(keys, _BATCH_ROWS)):
            originals = get_captures(self._rows, sorted({key for key in batch if key}))
            if any(is_of(capture, crawl) for capture in originals.values()):
                return True
        return False


def _joined(noted: Iterable[str], keys: Iterable[bytes]) -> list[str]:
    return sorted({*noted, *(key.decode("ascii") for key in keys)})
