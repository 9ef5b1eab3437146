"""Check a set of archive files against the table of rules.

One pass over every file, record by record, then the checks that need all of them.
Memory: one record of the reader, and the cache of `References`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from pinakes.warc.compression.members import compression_of
from pinakes.warc.file_names import base_name
from pinakes.warc.opening import open_source
from pinakes.warc.packages.package import Package
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch
from pinakes.warc.source import Source

from . import blocks, digests, framing, headers, links, revisits, targets
from .package_members import check_package
from .references import RecordColumns, References, place_of
from .rules import Hit, Severity
from .subject import Subject
from .table import RULES

RecordCheck = Callable[[Subject], Iterator[Hit]]
Examined = tuple["Subject | None", "list[Hit]"]

_ALL_FORMATS: tuple[RecordCheck, ...] = (
    headers.check_version,
    digests.check_block_digest,
    digests.check_payload_digest,
)
_CHECKS: tuple[RecordCheck, ...] = (
    headers.check_lines,
    headers.check_presence,
    headers.check_syntax,
    blocks.check_content_type,
    blocks.check_capture,
    blocks.check_truncation,
    blocks.check_fields_block,
    blocks.check_segment,
    revisits.check_revisit,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceFinding:
    """A rule broken by a record or file.  `str` is the line that is printed.

    `clause` is that of the record's version.  `repeated`: an earlier finding in the file
    has the same code, and its rule is printed once a file.
    """

    file: str
    offset: int
    inner_offset: int
    severity: Severity
    code: str
    clause: str
    message: str
    repeated: bool = False

    def __str__(self) -> str:
        place = f"{self.file}:{self.offset}"
        return f"{place}: {self.severity} {self.code} ({self.clause}): {self.message}"


class ConformanceCheck:
    """A run over a set of files: `check_file` for each, then `check_references` once.

    A context manager: the tables of references, in a temporary `folder`, are dropped at
    its end.
    """

    def __init__(
        self, folder: Path | None = None, *, open_file: targets.OpenFile = open_source
    ) -> None:
        """`open_file` opens one of the files again, by its name."""
        self.files: list[str] = []
        self.records = 0
        self._references = References(folder)
        self._open_file = open_file
        self._printed: set[tuple[int, str]] = set()

    def __enter__(self) -> ConformanceCheck:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._references.close()

    def check_file(
        self, source: Source, *, advance: Callable[[int], None] | None = None
    ) -> Iterator[ConformanceFinding]:
        """Yield the findings of one file taken alone, in file order.

        `advance(n)` is called with the number of bytes read since the call before.
        """
        reached = 0
        number = len(self.files)
        self.files.append(source.name)
        self._references.begin_file(number)
        place = RecordColumns(number, -1, 0, 0, None, "")
        for subject, hits in _examine_file(source):
            if subject is None:
                place = place._replace(ordinal=-1)
            else:
                self.records += 1
                place = place_of(number, subject)
                if subject.version is not None:
                    self._references.note(subject)
                if advance is not None:
                    advance(max(place.offset - reached, 0))
                reached = max(place.offset, reached)
            yield from self._findings((place, hit) for hit in hits)
        if advance is not None:
            advance(source.size - reached)

    def check_package(self, package: Package, name: str) -> Iterator[ConformanceFinding]:
        """Yield the findings of a WACZ file, but for those of the archive files in it.

        `name` is its path or URL.  Raises InputRefused where a member cannot be read.
        """
        for member, hit in check_package(package):
            rule = RULES[hit.code]
            yield ConformanceFinding(
                file=f"{name}/{member}" if member else name,
                offset=0,
                inner_offset=0,
                severity=rule.severity,
                code=rule.code,
                clause=rule.clause(None),
                message=hit.message,
            )

    def check_references(self) -> Iterator[ConformanceFinding]:
        """Yield the findings that need more than one record; call it after the last file."""
        references = self._references
        references.build_indexes()
        checks: Iterable[Iterator[links.Placed]] = (
            links.check_ids(references),
            links.check_links(references),
            links.check_segments(references),
            targets.check_targets(references, self.files.__getitem__, self._open_file),
        )
        for check in checks:
            yield from self._findings(check)

    def _findings(self, placed: Iterable[links.Placed]) -> Iterator[ConformanceFinding]:
        for place, hit in placed:
            finding = self._finding(place, hit)
            if finding is not None:
                yield finding

    def _finding(self, place: RecordColumns, hit: Hit) -> ConformanceFinding | None:
        """The finding; None where the rule does not apply to such a record."""
        rule = RULES[hit.code]
        whole_file = place.ordinal < 0
        if not whole_file and not rule.holds(place.version, place.type):
            return None
        key = (place.file, hit.code)
        repeated = rule.once and key in self._printed
        self._printed.add(key)
        return ConformanceFinding(
            file=self.files[place.file],
            offset=place.offset if hit.offset is None else hit.offset,
            inner_offset=place.inner,
            severity=rule.severity,
            code=rule.code,
            clause=rule.clause(place.version),
            message=hit.message,
            repeated=repeated,
        )


def _examine_file(source: Source) -> Iterator[Examined]:
    """Yield each record with its hits, in file order; None for hits between records.

    A record that the standard does not cover (ARC, WARC/0.17) is checked only for what it
    shares with WARC/1.0.  Hits that concern the file come with its first record, whose
    version decides which clause is cited.
    """
    gaps = framing.Gaps(source)
    about_file = list(framing.check_file(source))
    compression = compression_of(source)
    name = base_name(source.name)
    covered = True
    for item in iter_records(source):
        if isinstance(item, DamagedStretch):
            yield None, [*gaps.before(item.offset), framing.check_damaged_stretch(item)]
            gaps.after_stretch(item)
            continue
        subject = Subject.of(item)
        covered = subject.version is not None
        hits = [*about_file, *gaps.before(item.offset)] if covered else []
        about_file = []
        hits += [*gaps.within(subject), *framing.check_reader_findings(subject, compression)]
        yield subject, [*hits, *examine_record(subject, name)]
        gaps.after_record(subject)
    yield None, [*about_file, *(gaps.before(source.size) if covered else ())]


def examine_record(subject: Subject, file_name: str) -> Iterator[Hit]:
    """Yield the hits of one record taken alone."""
    for check in _ALL_FORMATS:
        yield from check(subject)
    if subject.version is None:
        if not subject.is_arc:
            yield from headers.check_older_fields(subject)
        return
    if not subject.record.ordinal:
        yield from framing.check_first(subject)
    for check in _CHECKS:
        yield from check(subject)
    yield from blocks.check_warcinfo(subject, file_name)
