"""What belongs to the captures to be withdrawn, and what refers to them.

A pass over the sidecars of the collection finds revisits of the targets, ours by the row key that
they note, a crawler's by the URI and second (or digest) that it names.  Each sidecar is held
against the heads of its file's records first.  Another pass, over the files of the crawls
concerned, finds what belongs to the targets (`companions`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pinakes.catalog.captures import CaptureRow, get_captures, scan_captures_of
from pinakes.catalog.payloads import has_digest
from pinakes.catalog.proven_sidecars import ProvenSidecars
from pinakes.catalog.sidecar import SidecarRow
from pinakes.catalog.withdrawals import is_tombstone_row
from pinakes.dedupe.run.collection import Collection
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import Digest, parse_digest
from pinakes.warc.source import Source

from .companions import find_companions
from .references import Referrer, Referrers, with_bodies
from .requests import WITHDRAW
from .targets import WithdrawalTarget

_FULL = ("response", "resource")


@dataclass(slots=True)
class ReferenceSurvey:
    """What was found; `targets` includes the references that are withdrawn with their originals.

    `ordinals` are those of the records of each file that tombstones are to replace, `tombstones`
    those of them that are replaced.
    """

    targets: dict[bytes, WithdrawalTarget]
    references: Referrers = field(default_factory=Referrers)
    """Only those of ours, which can be provided for."""
    unprovided: list[tuple[bytes, bytes]] = field(default_factory=list)
    ordinals: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    tombstones: dict[str, set[int]] = field(default_factory=lambda: defaultdict(set))

    def going(self, archive_file: str) -> set[int]:
        """The records of a file that are still to be replaced."""
        return self.ordinals[archive_file] - self.tombstones[archive_file]


def survey_targets(
    rows: RowStore,
    collection: Collection,
    targets: dict[bytes, WithdrawalTarget],
    references: str,
    proven: ProvenSidecars,
) -> ReferenceSurvey:
    """Look for what belongs to these captures of a collection, and for what refers to them.

    Memory: what is found.

    Raises:
        DigestMismatch: what a file refers to is not known for sure.
    """
    found = ReferenceSurvey(dict(targets))
    _find_references(rows, collection, found, references, proven)
    _find_records(collection, found)
    return found


def _find_references(
    rows: RowStore,
    collection: Collection,
    found: ReferenceSurvey,
    references: str,
    proven: ProvenSidecars,
) -> None:
    wanted = _Wanted(rows, collection, found.targets)
    with_it: dict[bytes, bytes] = {}
    landed: list[Referrer] = []
    for name, entry in sorted(collection.entries.items()):
        for row in proven.rows(entry.stored_name):
            key = row.row_key
            if key is None or key in found.targets or is_tombstone_row(row):
                continue
            original = wanted.original_of(row)
            if original is None:
                continue
            if references == WITHDRAW or found.targets[original].by_digest:
                with_it[key] = original
            elif row.is_replaced:
                found.references.ours.append(Referrer(name, row, original))
            elif found.targets[original].capture.withdrawal is None and (
                not wanted.is_elsewhere(row)
            ):
                landed.append(Referrer(name, row, original))
    revisits = found.references
    revisits.add_landed(collection, landed, with_bodies(rows, (one.original for one in landed)))
    for one in revisits.landed:
        if one.row.row_key not in revisits.landed_ours:
            found.unprovided.append((one.row.row_key or b"", one.original))
    revisits.landed = [one for one in revisits.landed if one.row.row_key in revisits.landed_ours]
    captures = get_captures(rows, sorted(with_it))
    for key, original in with_it.items():
        if key in captures:
            found.targets[key] = found.targets[original]._replace(capture=captures[key])


class _Wanted:
    """By what revisits name the targets."""

    def __init__(
        self, rows: RowStore, collection: Collection, targets: dict[bytes, WithdrawalTarget]
    ) -> None:
        self._rows = rows
        self._collection = collection
        self._targets = targets
        self._ids: dict[str, bytes] = {}
        self._seconds: dict[tuple[str, str], bytes] = {}
        self._uris: dict[str, list[CaptureRow]] = defaultdict(list)
        self._digests: dict[Digest, bytes] = {}
        for key, target in targets.items():
            facts = target.capture.facts
            if facts.type not in _FULL:
                continue
            second = second_of(facts.date)
            if second is not None:
                self._seconds[facts.target_uri, second] = key
            self._uris[facts.target_uri].append(target.capture)
            if facts.record_id:
                self._ids[facts.record_id] = key
            if target.by_digest:
                for text in (
                    facts.payload_sha1,
                    facts.payload_sha256,
                    facts.dechunked_sha1,
                    facts.dechunked_sha256,
                ):
                    digest = parse_digest(text) if text else None
                    if digest is not None:
                        self._digests[digest] = key

    def original_of(self, row: SidecarRow) -> bytes | None:
        """The target to which a revisit refers; None where it is no such revisit."""
        if row.is_replaced:
            return row.original_key if row.original_key in self._targets else None
        if row.type != "revisit":
            return None
        declared = parse_digest(row.declared) if row.declared else None
        # A body may have the de-chunked form of another, whose revisits are not its own.
        if declared in self._digests and not self.is_elsewhere(row):
            return self._digests[declared]
        if row.refers_uri and row.refers_date:
            found = self._seconds.get((row.refers_uri, second_of(row.refers_date) or ""))
            if found is not None:
                return found
        if row.refers_id in self._ids:
            return self._ids[row.refers_id]
        if row.refers_uri and row.refers_date:
            return None
        for capture in self._uris.get(row.target_uri or "", ()):
            if row.declared and has_digest(capture.facts, row.declared):
                return capture.key
        return None

    def is_elsewhere(self, row: SidecarRow) -> bool:
        """Whether a crawler's revisit resolves to a full record that stays in its collection."""
        uri, second = row.target_uri or "", ""
        if row.refers_uri and row.refers_date:
            uri, second = row.refers_uri, second_of(row.refers_date) or ""
        return any(
            capture.key not in self._targets
            and capture.facts.archive_file in self._collection.entries
            and capture.withdrawal is None
            and capture.facts.target_uri == uri
            and capture.facts.type in _FULL
            and not capture.is_duplicate
            and capture.time.startswith(second)
            and (bool(second) or bool(row.declared and has_digest(capture.facts, row.declared)))
            for capture in scan_captures_of(self._rows, urlkey(uri), start_time=second)
        )


def _find_records(collection: Collection, found: ReferenceSurvey) -> None:
    """The records of the targets, and what belongs to them in their crawls.

    Tombstones of the crawls are taken for targets: an act that died, or one that did not look into
    other files, has left what belongs to their records.
    """
    crawls: dict[str, list[str]] = defaultdict(list)
    for name in sorted(collection.entries):
        crawls[crawl_of(name)].append(name)
    for crawl in sorted({crawl_of(t.capture.facts.archive_file) for t in found.targets.values()}):
        for name in crawls[crawl]:
            for row in collection.sidecar_rows(name):
                if row.row_key in found.targets or is_tombstone_row(row):
                    _note(found, name, row)
        companions = find_companions(_sources(collection, crawls[crawl]), found.ordinals)
        for name, ordinals in companions.items():
            found.ordinals[name] |= ordinals


def _sources(collection: Collection, names: Iterable[str]) -> Iterator[tuple[str, Source]]:
    for name in names:
        stored = collection.entries[name].stored_name
        with collection.archive.open(stored) as file:
            yield name, Source(file, name=stored)


def _note(found: ReferenceSurvey, name: str, row: SidecarRow) -> None:
    found.ordinals[name].add(row.ordinal)
    if is_tombstone_row(row):
        found.tombstones[name].add(row.ordinal)
