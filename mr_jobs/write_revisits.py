"""The duplicates of files in the store, written as revisits in new generations: as a job.

    lines ─▶ by the original's file: each read once ─▶ by the duplicate's file: written, compared

    python -m pinakes.mr_jobs.write_revisits -r inline|local|hadoop --stored LINES...

A line of input is one of `flag_duplicates` behind the row key of its original.  Each file's
new generation lies in the output, below `_written/`, with its sidecar; nothing is published,
and no row is touched: that is the driver's (`pinakes.dedupe.wave_rewriting`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from uuid import uuid4

from pinakes.catalog.sidecar import sidecar_name
from pinakes.dedupe.decided_records import (
    Decided,
    Pair,
    annotate,
    check_generation,
    decided_by_ordinal,
)
from pinakes.dedupe.proven_originals import KnownOriginal, OriginalReader
from pinakes.dedupe.refs import RefsCount, RevisitWriter
from pinakes.dedupe.tasks import FileOutcome
from pinakes.errors import Conflict, DigestMismatch, InputRefused, MalformedRecord
from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.archive_job import LINES, LINES_OF_REDUCES, ArchiveJob, TaskFiles
from pinakes.mr_jobs.extra import MRStep
from pinakes.mr_jobs.originals_sent import received, sent
from pinakes.mr_jobs.outcome_lines import outcome_text
from pinakes.mr_jobs.sort_text import SEPARATOR, from_sortable, sortable
from pinakes.mr_jobs.travelling import line_text, text_line
from pinakes.rewrite.generations import write_generation
from pinakes.rewrite.replace import Replacement
from pinakes.warc.revisit import Unwritable
from pinakes.warc.source import Source

_Pair = tuple[bytes, bytes]
_Sent = dict[tuple[int, int], bytes]
# A value's beginning behind its place: what is replaced there comes before who refers to it.
_REPLACED, _ASKED = b"0", b"1"


def pair_text(pair: Pair) -> bytes:
    """A line of this job's input."""
    line, key = pair
    return SEPARATOR.join((key.hex().encode(), line_text(line)))


def text_pair(text: bytes) -> Pair:
    """Undo `pair_text`."""
    key, line = text.split(SEPARATOR, 1)
    return text_line(line), bytes.fromhex(key.decode())


class WriteRevisitsJob(ArchiveJob):
    """See the module."""

    SORT_VALUES = True
    INPUT_COUNTER = LINES

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--run", dest="run_name", default="job", help="what revisits name")
        self.add_passthru_arg("--min-saving-bytes", type=int, default=None)

    def steps(self) -> list[MRStep]:
        """By the original's file, by the duplicate's."""
        return [
            MRStep(
                mapper_init=self.begin_task,
                mapper=self.by_original,
                mapper_final=self.end_task,
                reducer_init=self.begin_reading,
                reducer=self.read_originals,
                reducer_final=self.end_task,
            ),
            MRStep(
                reducer_init=self.begin_task,
                reducer=self.write_file,
                reducer_final=self.end_task,
                jobconf=LINES_OF_REDUCES,
            ),
        ]

    # --- by the original's file

    def by_original(self, _: None, text: bytes) -> Iterator[_Pair]:
        self.task.count(LINES)
        _key, rest = text.split(SEPARATOR, 1)
        line = text_line(rest)
        original = (line.original_offset or 0, line.original_inner_offset)
        yield (
            sortable(line.original_file or line.file),
            SEPARATOR.join((_place(*original), _ASKED, text)),
        )
        yield (
            sortable(line.file),
            SEPARATOR.join((_place(line.offset, line.inner_offset), _REPLACED)),
        )

    def begin_reading(self) -> None:
        self.begin_task()
        self._originals = OriginalReader(self.task.enter(TaskFiles(self.task)))

    def read_originals(self, _: bytes, values: Iterable[bytes]) -> Iterator[_Pair]:
        replaced: bytes | None = None
        for value in values:
            place, kind, *rest = value.split(SEPARATOR, 3)
            if kind == _REPLACED:
                replaced = place
                continue
            key, text = rest
            line = text_line(text)
            try:
                if place == replaced:
                    raise Unwritable("original-not-full")  # noqa: TRY301
                found: KnownOriginal | Unwritable | InputRefused | MalformedRecord
                found = self._originals.find(line)
            except (Unwritable, InputRefused, MalformedRecord) as reason:
                found = reason
            own = _place(line.offset, line.inner_offset)
            yield sortable(line.file), SEPARATOR.join((own, sent(found), key, text))

    # --- by the duplicate's file

    def write_file(self, key: bytes, values: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        pairs: list[Pair] = []
        found: _Sent = {}
        for value in values:
            _, original, row_key, text = value.split(SEPARATOR, 3)
            line = text_line(text)
            found[line.offset, line.inner_offset] = original
            pairs.append((line, bytes.fromhex(row_key.decode())))
        self.task.count("files")
        yield None, outcome_text(self._write(from_sortable(key), pairs, found))

    def _write(self, name: str, pairs: list[Pair], found: _Sent) -> FileOutcome:
        old = self.task.generation_of(name)
        try:
            decided = decided_by_ordinal(self.task.archive(), old.name, pairs)
            if decided is None:
                raise Conflict("these are not the places of this generation", file=name)  # noqa: TRY301
            return self._write_generation(name, pairs, found, decided)
        except (Conflict, DigestMismatch, InputRefused) as problem:
            return FileOutcome(archive_file=name, problem=problem)

    def _write_generation(
        self, name: str, pairs: list[Pair], found: _Sent, decided: Decided
    ) -> FileOutcome:
        def find(line: ManifestLine) -> KnownOriginal:
            return received(found[line.offset, line.inner_offset], line)

        def replacements(source: Source) -> Iterator[Replacement]:
            self.task.heartbeat.watch(lambda: source.position)
            lines = [line for line, _ in pairs]
            yield from writer.replacements(source, lines=lines, count=count)

        options = self.options
        writer = RevisitWriter(
            find, run=options.run_name, min_saving_bytes=options.min_saving_bytes
        )
        count = RefsCount()
        to = self.task.files_written()
        written = write_generation(
            self.task.archive(),
            to,
            self.task.generation_of(name),
            replacements,
            token=uuid4().hex,
            check=check_generation,
            annotate=partial(annotate, decided),
        )
        return FileOutcome(
            archive_file=name,
            written=written,
            sidecar_sha256=to.checksum(sidecar_name(written.name)),
            count=count,
        )


def _place(offset: int, inner_offset: int) -> bytes:
    return b"%020d%020d" % (offset, inner_offset)


if __name__ == "__main__":
    WriteRevisitsJob.run()
