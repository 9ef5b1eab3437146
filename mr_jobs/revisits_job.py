"""The base of jobs that write revisits: originals are read first, and their facts are sent on.

    lines ─▶ by the original's file: each read once ─▶ by the duplicate's file: written

The place of each duplicate is sent, too, so that the task that reads an original there knows that
it will be replaced itself, and cannot be an original.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator

from pinakes.dedupe.write.proven_originals import KnownOriginal, OriginalReader, Unproven
from pinakes.dedupe.write.refs import RevisitWriter
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.archive_job import LINES, LINES_OF_REDUCES, ArchiveJob, TaskFiles
from pinakes.mr_jobs.extra import MRStep
from pinakes.mr_jobs.lines.bodies import line_text, text_line
from pinakes.mr_jobs.lines.problems import problem_text, text_problem
from pinakes.mr_jobs.lines.sort_text import SEPARATOR, Pair, from_sortable, sortable
from pinakes.warc.revisit import OriginalReference, Unwritable

_KNOWN, _UNWRITABLE, _UNPROVEN, _FAULT = b"K", b"U", b"P", b"F"

# Prefixes of values, after the place: what is replaced there sorts before references to it.
_REPLACED, _ASKED = b"0", b"1"


def sent(found: KnownOriginal | Unwritable | InputRefused | MalformedRecord) -> bytes:
    """Encode an original, or the error in its place, as a field."""
    if isinstance(found, Unproven):
        return _UNPROVEN + found.reason.encode() + b" " + problem_text(found.problem)
    if isinstance(found, Unwritable):
        return _UNWRITABLE + found.reason.encode()
    if isinstance(found, KnownOriginal):
        return _KNOWN + json.dumps(found).encode()
    return _FAULT + problem_text(found)


def received(field: bytes, line: ManifestLine) -> KnownOriginal:
    """Decode `sent`.

    Raises:
        Unwritable, InputRefused, MalformedRecord: as `OriginalReader.find` did.
    """
    kind, content = field[:1], field[1:]
    if kind == _UNPROVEN:
        reason, _, problem = content.partition(b" ")
        raise Unproven(reason.decode(), text_problem(problem))
    if kind == _UNWRITABLE:
        raise Unwritable(content.decode())
    if kind == _FAULT:
        raise text_problem(content)
    reference, *facts = json.loads(content)
    return KnownOriginal(OriginalReference(*reference), *facts)


class FileDuplicates:
    """The duplicates of one file, and facts of their originals.  Memory: all of them."""

    def __init__(self, values: Iterable[bytes]) -> None:
        self.lines: list[ManifestLine] = []
        self.notes: list[bytes] = []
        """The note of each line."""
        self._sent: dict[tuple[int, int], bytes] = {}
        for value in values:
            _, original, note, text = value.split(SEPARATOR, 3)
            line = text_line(text)
            self.lines.append(line)
            self.notes.append(note)
            self._sent[line.offset, line.inner_offset] = original

    def original_of(self, line: ManifestLine) -> KnownOriginal:
        """As `OriginalReader.find`."""
        return received(self._sent[line.offset, line.inner_offset], line)


class RevisitsJob(ArchiveJob):
    """See the module."""

    SORT_VALUES = True
    INPUT_COUNTER = LINES
    WRITES_FILES = True

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--run", dest="run_name", default="job", help="what revisits name")
        self.add_passthru_arg("--min-saving-bytes", type=int, default=None)

    def steps(self) -> list[MRStep]:
        """By the original's file, by the duplicate's."""
        return [
            MRStep(
                **self.mapping(self.by_original),
                **self.reducing(self.read_originals, self.begin_reading),
            ),
            MRStep(**self.reducing(self.write_file, self.begin_writing), jobconf=LINES_OF_REDUCES),
        ]

    @abstractmethod
    def duplicate(self, text: bytes) -> tuple[ManifestLine, bytes] | None:
        """Parse an input line into a manifest line and a note; None if it is not a duplicate."""

    @abstractmethod
    def write(self, name: str, duplicates: FileDuplicates) -> bytes | None:
        """Write a file; return its line of output."""

    # --- by the original's file

    def by_original(self, _: None, text: bytes) -> Iterator[Pair]:
        self.task.count(LINES)
        found = self.duplicate(text)
        if found is None:
            return
        line, note = found
        original = _place(line.original_offset or 0, line.original_inner_offset)
        yield (
            sortable(line.original_file or line.file),
            SEPARATOR.join((original, _ASKED, note, line_text(line))),
        )
        own = _place(line.offset, line.inner_offset)
        yield sortable(line.file), SEPARATOR.join((own, _REPLACED))

    def begin_reading(self) -> None:
        self.begin_task()
        self._originals = OriginalReader(self.task.enter(TaskFiles(self.task)))

    def read_originals(self, _: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        replaced: bytes | None = None
        for value in values:
            place, kind, *rest = value.split(SEPARATOR, 3)
            if kind == _REPLACED:
                replaced = place
                continue
            note, text = rest
            line = text_line(text)
            found: KnownOriginal | Unwritable | InputRefused | MalformedRecord
            try:
                if place == replaced:
                    raise Unwritable("original-not-full")  # noqa: TRY301
                found = self._originals.find(line)
            except (Unwritable, InputRefused, MalformedRecord) as reason:
                found = reason
            own = _place(line.offset, line.inner_offset)
            yield sortable(line.file), SEPARATOR.join((own, sent(found), note, text))

    # --- by the duplicate's file

    def begin_writing(self) -> None:
        self.begin_task()
        self.written = self.task.files_written()

    def write_file(self, key: bytes, values: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        self.task.count("files")
        line = self.write(from_sortable(key), FileDuplicates(values))
        if line is not None:
            yield None, line

    def writer(self, duplicates: FileDuplicates) -> RevisitWriter:
        """Builds the revisits of a file."""
        return RevisitWriter(
            duplicates.original_of,
            run=self.options.run_name,
            min_saving_bytes=self.options.min_saving_bytes,
        )


def _place(offset: int, inner_offset: int) -> bytes:
    return b"%020d%020d" % (offset, inner_offset)
