"""Our revisits back to full records: `pinakes restore` as a job.

    files ─▶ by URI and second: wanted, found ─▶ by file: rewritten

    python -m pinakes.mr_jobs.restore -r inline|local|hadoop --output-dir DIR
        --to FOLDER LIST...

LIST has a letter and the name of a file in each line: `r` for a file to restore, `o` for a file
that is only searched for originals.  Writes a line per restored file, as `pinakes restore --json`
prints it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain

from pinakes.config import Configuration
from pinakes.dedupe.references.originals import FullRecordPlace, Originals, Wanted, place_of
from pinakes.dedupe.write.full_records import FullRecords
from pinakes.dedupe.write.restore import RestoreCount, wanted_of
from pinakes.dedupe.write.rewriting import refuse_equal_names, rewrite_source
from pinakes.errors import DigestMismatch, InputRefused
from pinakes.index.external_sort import Spool
from pinakes.mr_jobs.archive_job import FILES, LINES_OF_REDUCES, TaskFiles
from pinakes.mr_jobs.extra import MRStep
from pinakes.mr_jobs.given import JobInputs
from pinakes.mr_jobs.lines.pairs import archives_below
from pinakes.mr_jobs.lines.problems import problem_text, text_problem
from pinakes.mr_jobs.lines.sort_text import SEPARATOR, Pair, from_sortable, sortable
from pinakes.mr_jobs.writing_job import WritingJob
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

RESTORED, ORIGINALS = "r", "o"
# Prefixes of keys: an error of a file, an original that is needed, a file to write.
_PROBLEM, _WANTED, _FILE = b"p", b"w", b"f"
# Prefixes of values: requests sort before the records that may answer them.
_ASKED, _FOUND = b"0", b"1"


class RestoreJob(WritingJob):
    """See the module."""

    SORT_VALUES = True

    @classmethod
    def input_lines(cls, given: JobInputs, configuration: Configuration) -> list[str]:
        """The files to restore, and those of a folder of originals."""
        refuse_equal_names(given.inputs)
        further = archives_below(given.originals, configuration) if given.originals else []
        known = set(given.inputs)
        return [
            *(f"{RESTORED}{name}" for name in given.inputs),
            *(f"{ORIGINALS}{name}" for name in further if name not in known),
        ]

    @classmethod
    def files_of_line(cls, line: str) -> Iterable[str]:
        return (line[1:],)

    def steps(self) -> list[MRStep]:
        """Search, match, write."""
        return [
            MRStep(**self.mapping(self.look_through), reducer=self.bring_together),
            MRStep(**self.reducing(self.write, self.begin_writing), jobconf=LINES_OF_REDUCES),
        ]

    def look_through(self, _: None, line: bytes) -> Iterator[Pair]:
        text = line.decode("utf-8", "surrogateescape")
        role, name = text[0], text[1:]
        self.task.count(FILES)
        try:
            with self.task.opened(name) as source:
                for record in iter_records(source, digests=()):
                    if not isinstance(record, Record):
                        continue
                    if role == RESTORED and (wanted := wanted_of(record)) is not None:
                        yield _key(wanted), _ASKED + sortable(name)
                    elif (found := _place(name, record)) is not None:
                        yield _key(found[0]), _FOUND + json.dumps(found[1]).encode()
        except InputRefused as problem:
            yield _PROBLEM, problem_text(problem)
            return
        if role == RESTORED:
            yield _FILE + sortable(name), b""

    def bring_together(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        """Send each file that needs an original the places where it may be."""
        if not key.startswith(_WANTED):
            yield from ((key, value) for value in values)
            return
        stream = iter(values)
        with Spool[bytes]() as asking:
            first: list[bytes] = []
            last = b""
            for value in stream:
                if value.startswith(_FOUND):
                    first.append(value)
                    break
                if value != last:
                    asking.append(value[1:])
                last = value
            if not asking:
                return
            places = [value[1:] for value in chain(first, stream)]
            for file in asking:
                for place in places:
                    yield _FILE + file, SEPARATOR.join((key[1:], place))

    def begin_writing(self) -> None:
        self.begin_task()
        self._files = self.task.enter(TaskFiles(self.task))
        self._written = self.task.files_written()

    def write(self, key: bytes, values: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        if key == _PROBLEM:
            for value in values:
                self.task.find(text_problem(value))
            return
        name = from_sortable(key[1:])
        originals = Originals()
        for value in filter(None, values):
            second, uri, place = value.split(SEPARATOR, 2)
            wanted = Wanted(from_sortable(uri), second.decode())
            originals.want(wanted)
            originals.note_place(wanted, FullRecordPlace(*json.loads(place)))
        count = RestoreCount()
        try:
            with self.task.opened(name) as source:
                work = FullRecords(originals, self._files, count)
                output = self.output_of(name, self._written)
                rewrite_source(source, output, work.replacements, check=work.check)
        except (InputRefused, DigestMismatch) as problem:
            for one in (*count.problems, problem):
                self.task.find(one)
            return
        self.task.count("restored", count.restored)
        for reason, amount in count.left.items():
            self.task.count(f"left: {reason}", amount)
        for left in count.problems:
            self.task.find(left)
        result = {"file": name, "restored": count.restored, "left": dict(count.left)}
        yield None, json.dumps(result).encode()


def _place(name: str, record: Record) -> tuple[Wanted, FullRecordPlace] | None:
    return place_of(name, record) if record.type in ("response", "resource") else None


def _key(wanted: Wanted) -> bytes:
    return _WANTED + SEPARATOR.join((wanted.second.encode(), sortable(wanted.target_uri)))


if __name__ == "__main__":
    RestoreJob.run()
