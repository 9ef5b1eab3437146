"""`dedupe --plan`: what a run would save, before anything is written.

Decides as a run does, from sidecars and with equal SHA-256 taken for equal bodies, so
that no archive file is read but for a few records: what a revisit takes is measured on a
seeded sample of those that would be written.

With a fraction, only the contents whose digest falls into it are looked at, whole
clusters at a time; totals are scaled up, with a 95% interval from the spread of what the
sampled contents save (Horvitz and Thompson's estimator under Bernoulli sampling).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from urllib.parse import urlsplit
from zlib import crc32

from pinakes.catalog.sidecar import SidecarRow, sidecar_name
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.decide.counting import Decisions
from pinakes.dedupe.decide.process import resolve_and_process
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.dedupe.write.refs import RefsCount, RevisitWriter
from pinakes.errors import PinakesError
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.index.manifest import ManifestLine

from .collection import Collection
from .plan_sizes import ExtraDisk, SameEntities, count_same_entities
from .run_report import DedupeRequest

MEASURED_REVISITS = 200
_TOP = 10
_WHOLE = 1 << 32


@dataclass(slots=True)
class Savings:
    """Records and compressed bytes."""

    records: int = 0
    bytes: int = 0

    def add(self, saved: int) -> None:
        self.records += 1
        self.bytes += saved


@dataclass(slots=True)
class Plan:
    """What a run would do; sums are of the sample until `scaled` by `fraction`."""

    fraction: float = 1.0
    records: int = 0
    archive_bytes: int = 0
    revisit_bytes: float = 0.0
    total: Savings = field(default_factory=Savings)
    duplicate_bytes: int = 0
    files: int = 0
    disk: ExtraDisk = field(default_factory=ExtraDisk)
    left_full: Counter[str] = field(default_factory=Counter)
    """Copies that stay full, by reason."""
    no_part: Counter[str] = field(default_factory=Counter)
    """Captures that take no part, by reason."""
    by_host: dict[str, Savings] = field(default_factory=lambda: defaultdict(Savings))
    by_media_type: dict[str, Savings] = field(default_factory=lambda: defaultdict(Savings))
    by_status: dict[str, Savings] = field(default_factory=lambda: defaultdict(Savings))
    by_content: Counter[str] = field(default_factory=Counter)
    same_entities: SameEntities | None = None
    """Bodies that differ from another in their chunks alone; None of a sample."""

    @property
    def saved_bytes(self) -> int:
        """The estimate for the whole collection."""
        return round(self.total.bytes / self.fraction)

    @property
    def interval_bytes(self) -> tuple[int, int]:
        """The 95% interval of `saved_bytes`; the estimate twice, where nothing was sampled."""
        p = self.fraction
        spread = sum(saved * saved for saved in self.by_content.values()) * (1 - p) / (p * p)
        half = round(1.96 * math.sqrt(spread))
        return max(self.saved_bytes - half, 0), self.saved_bytes + half

    def as_json(self) -> dict[str, object]:
        low, high = self.interval_bytes
        return {
            "fraction": self.fraction,
            "captures": self.records,
            "archive_bytes": self.archive_bytes,
            "revisits": round(self.total.records / self.fraction),
            "saved_bytes": self.saved_bytes,
            "saved_bytes_95": [low, high],
            "revisit_bytes_mean": round(self.revisit_bytes),
            "files_rewritten": self.files,
            "extra_bytes_peak": self.disk.total(self.fraction),
            "extra_bytes": self.disk.as_json(self.fraction),
            "left_full": dict(sorted((self.left_full + self.no_part).items())),
            "same_entities": self.same_entities._asdict() if self.same_entities else None,
            "by_host": _top(self.by_host),
            "by_media_type": _top(self.by_media_type),
            "by_status": _top(self.by_status),
        }


def _top(groups: dict[str, Savings]) -> dict[str, dict[str, int]]:
    ordered = sorted(groups.items(), key=lambda item: (-item[1].bytes, item[0]))
    return {
        name: {"revisits": saved.records, "saved_bytes": saved.bytes}
        for name, saved in ordered[:_TOP]
    }


def plan_dedupe(
    collection: Collection,
    request: DedupeRequest,
    *,
    fraction: float = 1.0,
    decided_on: Callable[[ManifestLine], None] | None = None,
) -> Plan:
    """Forecast a run over a collection.  Memory: a number for each content it would merge.

    `decided_on` is given each capture of the files that the run may write, with its decision,
    in order of file and offset.
    """
    plan = Plan(fraction=fraction)
    decisions = Decisions()
    lines = (
        line
        for line in collection.lines()
        if fraction >= 1.0 or crc32(line.digest.encode()) < fraction * _WHOLE
    )
    decided = resolve_and_process(lines, None, decisions)
    with collection.open_files() as files:
        _forecast(plan, collection, request, _files_decided(decided, request, decided_on), files)
    if fraction >= 1.0:
        rows = (row for name in sorted(collection.entries) for row in collection.given_rows(name))
        plan.same_entities = count_same_entities(rows)
    return plan


def _files_decided(
    lines: Iterable[ManifestLine],
    request: DedupeRequest,
    decided_on: Callable[[ManifestLine], None] | None,
) -> Iterator[ManifestLine]:
    for line in lines:
        if decided_on is not None and request.crawl in (None, crawl_of(line.file)):
            decided_on(line)
        yield line


def _forecast(
    plan: Plan,
    collection: Collection,
    request: DedupeRequest,
    decided: Iterable[ManifestLine],
    files: ArchiveFiles,
) -> None:
    ruler = _Ruler(files)
    for name, lines in groupby(decided, key=lambda line: line.file):
        facts = collection.entries[name].facts
        if facts is None or request.crawl not in (None, crawl_of(name)):
            continue
        plan.archive_bytes += facts.size
        merged = [
            (line, row)
            for line, row in _with_rows(lines, collection.given_rows(name), plan)
            if line.is_duplicate
        ]
        for line, row in merged:
            plan.disk.add_decided(line, row)
        worth = []
        for line, row in merged:
            saved = line.length - ruler.revisit_bytes(line)
            if request.min_saving_bytes is not None and saved < request.min_saving_bytes:
                plan.left_full["min-saving"] += 1
            else:
                worth.append((line, row, round(saved)))
        saving = sum(saved for _, _, saved in worth)
        if worth and saving < request.min_file_saving * facts.size * plan.fraction:
            plan.left_full["min-file-saving"] += len(worth)
            continue
        if worth:
            plan.files += 1
            stored = collection.entries[name].stored_name
            plan.disk.add_file(
                collection.archive.size(stored) or 0,
                collection.archive.size(sidecar_name(stored)) or 0,
                ending=collection.entries[name].ending,
                captures=facts.captures,
                saving=saving,
                revisits=[(line, row) for line, row, _ in worth],
            )
        for line, row, saved in worth:
            _add(plan, line, row, saved)
    plan.revisit_bytes = ruler.mean


def _add(plan: Plan, line: ManifestLine, row: SidecarRow, saved: int) -> None:
    plan.total.add(saved)
    plan.duplicate_bytes += line.length
    plan.by_host[_host(line.target_uri)].add(saved)
    plan.by_media_type[row.media_type or "unknown"].add(saved)
    plan.by_status[str(line.status)].add(saved)
    if plan.fraction < 1.0:
        plan.by_content[line.digest] += saved


def _host(uri: str) -> str:
    try:
        return urlsplit(uri).hostname or "none"
    except ValueError:
        return "none"


def _with_rows(
    lines: Iterable[ManifestLine], rows: Iterator[SidecarRow], plan: Plan
) -> Iterator[tuple[ManifestLine, SidecarRow]]:
    """Each line with its sidecar row; both in order of place."""
    for line in lines:
        plan.records += 1
        if line.full is not None:
            plan.left_full[line.full] += 1
        elif line.copy_number is None and line.type != "revisit":
            plan.no_part[line.skip or line.type or "date-unreadable"] += 1
        for row in rows:
            if (row.offset, row.inner_offset) == (line.offset, line.inner_offset):
                yield line, row
                break


class _Ruler:
    """What a revisit takes: the mean of the first ones that can be built for real."""

    def __init__(self, files: ArchiveFiles) -> None:
        self._files = files
        self._writer = RevisitWriter(OriginalReader(files).find, run="plan")
        self._total = self._built = self._tried = 0

    @property
    def mean(self) -> float:
        return self._total / self._built if self._built else 0.0

    def revisit_bytes(self, line: ManifestLine) -> float:
        """The mean so far; every so often another one is built to know it better."""
        if self._built < MEASURED_REVISITS and self._tried < 2 * MEASURED_REVISITS:
            self._tried += 1
            self._measure(line)
        return self.mean

    def _measure(self, line: ManifestLine) -> None:
        try:
            source = self._files.source(line.file)
            for replacement in self._writer.replacements(source, [line], RefsCount()):
                self._total += sum(len(piece) for piece in replacement.pieces)
                self._built += 1
        except PinakesError:
            return
