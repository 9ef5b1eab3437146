"""What refers to a crawl in the files as they are now.

Rows lead to what may refer to the crawl (`catalog.references`); the sidecars of those files say
what does, because rows are written ahead of a generation.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.captures import CaptureRow
from pinakes.catalog.proven_sidecars import ProvenSidecars
from pinakes.catalog.reference_finder import BY_DEDUPE, CrossCrawlReference
from pinakes.catalog.references import scan_references
from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.run.collection import Collection
from pinakes.errors import Conflict, PinakesError, UnresolvedReference
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.row_store.port import RowStore

from .references import Referrer, Referrers, with_bodies


@dataclass(slots=True)
class CrawlReferences:
    """Revisits of other crawls that refer to the crawl; `listed` are all of them, for people."""

    referrers: Referrers = field(default_factory=Referrers)
    listed: list[CrossCrawlReference] = field(default_factory=list)
    problems: list[PinakesError] = field(default_factory=list)


def is_of(capture: CaptureRow, crawl: str) -> bool:
    """Whether a capture is one of this crawl."""
    return crawl_of(capture.facts.archive_file) == crawl


def find_crawl_references(
    rows: RowStore,
    archive: ArchiveStore,
    collection: Collection,
    crawl: str,
    proven: ProvenSidecars,
) -> CrawlReferences:
    """What refers to a crawl now.  Memory: what is found.

    Raises DigestMismatch where what a file refers to is not known for sure.
    """
    result = CrawlReferences()
    found_by: dict[bytes, CrossCrawlReference] = {}
    by_file: dict[str, dict[bytes, CrossCrawlReference]] = defaultdict(dict)
    for one in scan_references(rows, archive, crawl, collection.name, proven=proven):
        by_file[one.archive_file][one.capture.encode("ascii")] = one
    for name, found in sorted(by_file.items()):
        if name not in collection.entries:
            result.problems.append(Conflict("is landing, and refers to the crawl", file=name))
            continue
        bodies = with_bodies(rows, (one.original.encode("ascii") for one in found.values()))
        landed = []
        for row in collection.sidecar_rows(name):
            reference = found.get(row.row_key or b"")
            if reference is None or row.row_key is None:
                continue
            original = reference.original.encode("ascii")
            if row.is_replaced:
                result.referrers.ours.append(Referrer(name, row, row.original_key or original))
            elif row.type == "revisit" and original in bodies:
                if bodies[original][1].is_duplicate:
                    result.problems.append(_lost_original(name, row))
                    continue
                landed.append(Referrer(name, row, original))
            else:
                continue
            found_by[row.row_key] = reference
        result.referrers.add_landed(collection, landed, bodies)
    result.listed = [
        one._replace(written_by=BY_DEDUPE) if key in result.referrers.landed_ours else one
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
