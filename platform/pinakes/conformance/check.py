"""Check a set of archive files against the table of rules.

One pass over every file, record by record, then the checks that need all of them.
Memory: one record of the reader, and the cache of `References`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from pinakes.warc.source import Source

from . import links, targets
from .examine import examine_file
from .references import Place, References, place_of
from .rules import Hit, Severity
from .table import RULES


@dataclass(frozen=True, slots=True, kw_only=True)
class ConformanceFinding:
    """A rule broken by a record or file.  `str` is the line that is printed.

    `clause` cites the version of the record.  `repeated`: the rule is one that is
    printed once a file, and was.
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

    def __init__(self, folder: Path | None = None) -> None:
        self.files: list[str] = []
        self.records = 0
        self._references = References(folder)
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
        """What one file alone can break, in file order; lazily.

        `advance` is told the bytes of the file that were passed.
        """
        reached = 0
        number = len(self.files)
        self.files.append(source.name)
        self._references.begin_file(number)
        place = Place(number, -1, 0, 0, None, "")
        for subject, hits in examine_file(source):
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

    def check_references(self) -> Iterator[ConformanceFinding]:
        """What records break together; after the last file."""
        references = self._references
        references.build_indexes()
        checks: Iterable[Iterator[links.Placed]] = (
            links.check_ids(references),
            links.check_links(references),
            links.check_segments(references),
            targets.check_targets(references, self.files.__getitem__),
        )
        for check in checks:
            yield from self._findings(check)

    def _findings(self, placed: Iterable[links.Placed]) -> Iterator[ConformanceFinding]:
        for place, hit in placed:
            finding = self._finding(place, hit)
            if finding is not None:
                yield finding

    def _finding(self, place: Place, hit: Hit) -> ConformanceFinding | None:
        """The finding; None where the rule does not hold for such a record."""
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
