"""Examines files before `commit_copy` copies: checksums, and references between files.

    files ─▶ sums;  by URI: references judged, files that refer to files ─▶ each pair once

    python -m pinakes.mr_jobs.copy_check -r inline|local|hadoop LIST...

LIST has lines `["source", NAME, PLACE]`, for files whose references and full records are read,
too; `["target", …]`; and `["standing", …]`, of which only the full records are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from pinakes.dedupe.copy.reference_check import add_set_records, add_standing_records
from pinakes.dedupe.references.outcomes import Full
from pinakes.dedupe.references.stream import Entry, has_place
from pinakes.errors import InputRefused
from pinakes.index.external_sort import Spool
from pinakes.mr_jobs.archive_job import FILES, LINES_OF_REDUCES, ArchiveJob
from pinakes.mr_jobs.extra import MRStep
from pinakes.mr_jobs.lines.problems import problem_text, text_problem
from pinakes.mr_jobs.lines.references import (
    DepartingReferences,
    arriving_references,
)
from pinakes.mr_jobs.lines.sort_text import SEPARATOR, Pair, sortable

SOURCE, TARGET, STANDING = "source", "target", "standing"
# Prefixes of keys: an error, a line of output, a URI, a place that is referred to, an edge
# between two files.
_PROBLEM, _LINE, _URI, _PLACE, _EDGE = b"p", b"=", b"u", b"s", b"e"
# Prefixes of values: files with full records sort before those that refer to them.
_HOLDS, _REFERS = b"0", b"1"


class CopyCheckJob(ArchiveJob):
    """See the module."""

    SORT_VALUES = True

    @classmethod
    def files_of_line(cls, line: str) -> Iterable[str]:
        return map(str, json.loads(line)[2:])

    def steps(self) -> list[MRStep]:
        """Look, judge, gather."""
        return [
            MRStep(**self.mapping(self.check), reducer=self.judge),
            MRStep(**self.reducing(self.gather), jobconf=LINES_OF_REDUCES),
        ]

    def check(self, _: None, line: bytes) -> Iterator[Pair]:
        role, name, place = json.loads(line)
        self.task.count(FILES)
        with Spool[Pair]() as pairs:
            references = _FileReferences(_URI, name, pairs)
            try:
                with self.task.opened(place) as source:
                    if role == STANDING:
                        add_standing_records(references, source, 0)
                    else:
                        found = {"role": role, "name": name, "sha256": source.sha256()}
                        yield _LINE, json.dumps(found).encode()
                    if role == SOURCE:
                        add_set_records(references, source, 0, all_must_resolve=False)
                    source.check_unchanged()
            except InputRefused as problem:
                yield _PROBLEM, problem_text(problem)
                return
            yield from pairs

    def judge(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        """Yield the outcome of each reference, and the edges of each place."""
        if key.startswith(_URI):
            for reference in arriving_references(values):
                if reference.outcome != "resolves":
                    yield _LINE, json.dumps({"reference": reference}).encode()
        elif key.startswith(_PLACE):
            holding = set()
            for value in values:
                file = value[1:]
                if value.startswith(_HOLDS):
                    holding.add(file)
                    continue
                for other in sorted(holding - {file}):
                    yield SEPARATOR.join((_EDGE + file, other)), b""
        else:
            yield from ((key, value) for value in values)

    def gather(self, key: bytes, values: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        if key == _PROBLEM:
            for value in values:
                self.task.find(text_problem(value))
        elif key == _LINE:
            yield from ((None, value) for value in values)
        else:
            file, other = map(json.loads, key[1:].split(SEPARATOR))
            yield None, json.dumps({"file": file, "refers_to": other}).encode()


class _FileReferences(DepartingReferences):
    """Also sends which file has, or refers to, a full record of a URI and second."""

    def _send(self, uri: str, entry: Entry) -> None:
        super()._send(uri, entry)
        if not has_place(entry):
            return
        place = (sortable(entry.second or ""), sortable(uri))
        name = json.dumps(self._name).encode()
        kind = _HOLDS if isinstance(entry, Full) else _REFERS
        self._pairs.append((_PLACE + SEPARATOR.join(place), kind + name))


if __name__ == "__main__":
    CopyCheckJob.run()
