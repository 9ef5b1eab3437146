"""What a crawl needs of others, and what they need of it: references, counted by file.

What WACZ files say that they need is in `required_files`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import parse_digest

from .captures import CaptureRow, get_captures
from .crawl_rows import LEAVING, read_crawl_states
from .file_records import iter_sidecar
from .file_rows import FileEntry, hidden_among, scan_entries
from .lookup import scan_digest
from .originals import MOST_COPIES
from .references import scan_references
from .revisit_targets import RevisitTargets, captures_named, is_foreign_revisit
from .sidecar import SidecarRow

_BATCH_ROWS = 500


class Requirement(NamedTuple):
    """How many revisits of an archive file refer to records of another one."""

    archive_file: str
    requires: str
    references: int


class Referring(NamedTuple):
    """A revisit as its file has it, and the captures that it may mean, the most likely first:
    those of its own crawl before others.

    Unless `resolves`, readers of its body find none of them.
    """

    row: SidecarRow
    targets: tuple[CaptureRow, ...]
    resolves: bool


@dataclass(slots=True)
class Requirements:
    """`needs`: of the crawl's files; `needed_by`: of files of other crawls.

    `unresolved` revisits of the crawl refer to nothing that is in the store.
    """

    needs: list[Requirement] = field(default_factory=list)
    needed_by: list[Requirement] = field(default_factory=list)
    unresolved: int = 0


def read_requirements(
    store: RowStore, archive: ArchiveReader, crawl: str, collection: str
) -> Requirements:
    """Count the references between a crawl and the others of its collection.

    Reads the crawl's sidecars, and rows: see `scan_references`.  Memory: pairs of files, and what
    refers to the crawl.
    """
    found = Requirements()
    needs: Counter[tuple[str, str]] = Counter()
    for entry in scan_entries(store, crawl):
        if entry.state is not FileState.STORED:
            continue
        for referring in iter_referring(store, archive, entry):
            if not referring.resolves:
                found.unresolved += 1
                continue
            original = referring.targets[0].facts.archive_file
            if crawl_of(original) != crawl:
                needs[entry.archive_file, original] += 1
    needed_by = Counter(
        (reference.archive_file, reference.original_file)
        for reference in scan_references(store, archive, crawl, collection)
    )
    found.needs = _listed(needs)
    found.needed_by = _listed(needed_by)
    return found


def iter_referring(
    store: RowStore, archive: ArchiveReader, entry: FileEntry
) -> Iterator[Referring]:
    """Yield the revisits of a stored file, in order, each with what it refers to.

    Reads its sidecar.  Round trips: a few for every 500 revisits, and one or two for each by a
    crawler that is not resolved by URI and second.
    """
    name = entry.stored_name
    rows = (
        row
        for row in iter_sidecar(archive, name)
        if row.row_key is not None and (row.is_replaced or row.type == "revisit")
    )
    while batch := list(islice(rows, _BATCH_ROWS)):
        yield from _referring(store, batch, entry)


def _referring(
    store: RowStore, batch: Sequence[SidecarRow], entry: FileEntry
) -> Iterator[Referring]:
    crawl = crawl_of(entry.archive_file)
    collection = entry.facts.collection if entry.facts is not None else None
    ours = {row.original_key for row in batch if row.is_replaced and row.original_key}
    originals = get_captures(store, sorted(ours))
    others = [row.row_key for row in batch if row.row_key and not row.is_replaced]
    revisits = get_captures(store, others)
    targets = RevisitTargets(store, captures_named(store, revisits.values()))
    for row in batch:
        if row.is_replaced:
            original = originals.get(row.original_key or b"")
            found = [] if original is None else [original]
            yield Referring(row, tuple(found), bool(found))
            continue
        revisit = revisits.get(row.row_key or b"")
        if revisit is not None and is_foreign_revisit(revisit):
            found, resolves = targets.of(revisit), targets.resolve(revisit)
            if not found:
                found = _with_id(store, revisit, collection)
                resolves = bool(found)
            own = [one for one in found if crawl_of(one.facts.archive_file) == crawl]
            rest = [one for one in found if crawl_of(one.facts.archive_file) != crawl]
            yield Referring(row, (*own, *rest), resolves)


def _with_id(store: RowStore, revisit: CaptureRow, collection: str | None) -> list[CaptureRow]:
    """What a revisit names by nothing but its id, where that is a capture of another URL: no row
    leads there but those of the digest."""
    facts = revisit.facts
    digest = parse_digest(facts.declared_digest or "")
    if facts.refers_to_target_uri or not facts.refers_to_id or digest is None or collection is None:
        return []
    copies = (
        found.entry.capture_key.encode("ascii")
        for found in islice(scan_digest(store, collection, digest), MOST_COPIES)
    )
    while keys := list(islice(copies, _BATCH_ROWS)):
        captures = get_captures(store, keys).values()
        hidden = hidden_among(store, {capture.facts.archive_file for capture in captures})
        for one in captures:
            is_there = one.withdrawal is None and one.facts.archive_file not in hidden
            if one.facts.record_id == facts.refers_to_id and is_there:
                return [one]
    return []


def scan_unresolved(
    store: RowStore, archive: ArchiveReader, crawl: str
) -> Iterator[list[SidecarRow]]:
    """The revisits by crawlers, of a crawl, that refer to nothing in the store, or to crawls alone
    that are being taken out; some at a time.

    Reads the sidecars of files that landed with such revisits.
    """
    states: dict[str, str] = {}

    def stays(one: Referring) -> bool:
        crawls = {crawl_of(target.facts.archive_file) for target in one.targets}
        if unknown := crawls - states.keys():
            states.update(read_crawl_states(store, unknown))
        return not crawls or any(states.get(crawl) not in LEAVING for crawl in crawls)

    for entry in scan_entries(store, crawl):
        facts = entry.facts
        if entry.state is not FileState.STORED or facts is None or not facts.records.get("revisit"):
            continue
        referring = iter_referring(store, archive, entry)
        rows = (
            one.row
            for one in referring
            if not one.row.is_replaced and not (one.resolves and stays(one))
        )
        while batch := list(islice(rows, _BATCH_ROWS)):
            yield batch


def _listed(counts: Counter[tuple[str, str]]) -> list[Requirement]:
    return [Requirement(*pair, count) for pair, count in sorted(counts.items())]
