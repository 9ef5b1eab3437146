"""Archive files before and after: `pinakes validate` as a job.

    pairs ─▶ records compared ─▶ by URI: references judged ─▶ what is not as it should be

    python -m pinakes.mr_jobs.validate -r inline|local|hadoop LIST...

LIST has a line of `pairs` for each pair of files, and for files that are only read for
originals.  Writes a line per discrepancy, as `pinakes validate --json` prints it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from pinakes.config import Configuration
from pinakes.dedupe.references.further_originals import add_originals
from pinakes.dedupe.references.values import FoundReferences
from pinakes.dedupe.validate.file_pairs import (
    Discrepancy,
    FilesComparison,
    Observers,
    compare_files,
)
from pinakes.dedupe.validate.folders import unresolved_reference, without_counterpart
from pinakes.dedupe.validate.second_reader import WarcioReader
from pinakes.errors import ConfigError, InputRefused, MalformedRecord
from pinakes.index.external_sort import Spool
from pinakes.mr_jobs.archive_job import FILES, FOUND, LINES_OF_REDUCES, ArchiveJob
from pinakes.mr_jobs.given import JobInputs
from pinakes.mr_jobs.lines.pairs import (
    FilePair,
    OriginalsFile,
    archives_below,
    files_of_pair,
    format_pair,
    pair_folders,
    parse_pair,
)
from pinakes.mr_jobs.lines.problems import problem_text, text_problem
from pinakes.mr_jobs.lines.references import (
    DepartingReferences,
    arriving_references,
)
from pinakes.mr_jobs.lines.sort_text import Pair
from pinakes.warc.source import Source

SUMS = "--sums"
FACTS = "facts"
"""The key of lines that list, with `SUMS`, the compared files."""

REFERENCES = "references: "
UNREAD = "originals not read"
# Prefixes of keys: an error of a file, a discrepancy, facts of a pair, a URI that is referred
# to.
_PROBLEM, _FOUND, _FACTS, _URI = b"p", b"=", b"f", b"u"


class ValidateJob(ArchiveJob):
    """See the module."""

    SORT_VALUES = True
    JOBCONF = LINES_OF_REDUCES

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg(
            SUMS, action="store_true", help="a line of size and SHA-256 for each pair, too"
        )

    @classmethod
    def input_lines(cls, given: JobInputs, configuration: Configuration) -> list[str]:
        """Two folders, paired, and the files of another that are read for originals only."""
        if given.stored or len(given.inputs) != 2:
            raise ConfigError("give two folders, before and after: paths, or hdfs://…")
        before, after = given.inputs
        pairs = pair_folders(before, after, configuration)
        names = archives_below(given.originals, configuration) if given.originals else ()
        further = (OriginalsFile(name=name) for name in names)
        return [*map(format_pair, pairs), *map(format_pair, further)]

    @classmethod
    def files_of_line(cls, line: str) -> Iterable[str]:
        return files_of_pair(line)

    def mapper_init(self) -> None:
        super().mapper_init()
        self._warcio = self.task.enter(WarcioReader(through_source=True))

    def mapper(self, _: None, line: bytes) -> Iterator[Pair]:
        given = parse_pair(line.decode())
        self.task.count(FILES)
        with Spool[Pair]() as pairs:
            found = FilesComparison()
            references = DepartingReferences(_URI, given.name, pairs)
            try:
                if not isinstance(given, OriginalsFile):
                    yield from self._compare(given, references, found)
                elif given.at is not None:
                    self._add_places(given.name, given.at, references)
                else:
                    with self.task.opened(given.name) as source:
                        add_originals(source, references)
            except (InputRefused, MalformedRecord) as problem:
                yield _PROBLEM, problem_text(problem)
            for discrepancy in found.discrepancies:
                yield _FOUND, _text(discrepancy._replace(file=given.name))
            yield from pairs
        self._count(found)

    def _add_places(
        self, name: str, places: Sequence[tuple[int, int]], references: FoundReferences
    ) -> None:
        """Records that cannot be read are only counted: references to them are found dangling."""
        try:
            with self.task.opened(name) as source:
                for place in places:
                    try:
                        add_originals(source, references, [place])
                    except MalformedRecord:
                        self.task.count(UNREAD)
        except InputRefused:
            self.task.count(UNREAD, len(places))

    def _compare(
        self, pair: FilePair, references: FoundReferences, found: FilesComparison
    ) -> Iterator[Pair]:
        if pair.before is None or pair.after is None:
            is_missing = pair.after is None
            found.discrepancies.append(without_counterpart(pair.name, is_missing=is_missing))
            return
        with self.task.opened(pair.before) as before, self.task.opened(pair.after) as after:
            observers = Observers(second_reader=self._warcio)
            compare_files(before, after, references, found, observers=observers)
            if self.options.sums:
                facts = {
                    "name": pair.name,
                    "before": {"name": pair.before, **_facts(before)},
                    "after": _facts(after),
                }
                yield _FACTS, json.dumps({FACTS: facts}).encode()
            before.check_unchanged()
            after.check_unchanged()

    def _count(self, found: FilesComparison) -> None:
        for name in ("records", "rewritten", "restored", "read_twice"):
            self.task.count(name.replace("_", " "), getattr(found, name))

    def reducer_init(self) -> None:
        self.begin_task()

    def reducer(self, key: bytes, values: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        if key == _PROBLEM:
            for value in values:
                self.task.find(text_problem(value))
            return
        if key == _FOUND:
            for value in values:
                self.task.count(FOUND)
                yield None, value
            return
        if key == _FACTS:
            yield from ((None, value) for value in values)
            return
        for reference in arriving_references(values):
            self.task.count(f"{REFERENCES}{reference.outcome}")
            if (discrepancy := unresolved_reference(reference)) is not None:
                self.task.count(FOUND)
                yield None, _text(discrepancy)

    def reducer_final(self) -> None:
        self.end_task()


def _facts(source: Source) -> dict[str, object]:
    return {"size": source.size, "sha256": source.sha256()}


def _text(discrepancy: Discrepancy) -> bytes:
    return json.dumps(discrepancy._asdict()).encode()


if __name__ == "__main__":
    ValidateJob.run()
