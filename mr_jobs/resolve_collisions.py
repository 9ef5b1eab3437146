"""Equal digests, unequal bodies: `pinakes resolve` as a job.

    lines ─▶ by digest ─▶ by file: each body is read once, in order ─▶ by digest: compared

    python -m pinakes.mr_jobs.resolve_collisions -r inline|local|hadoop MANIFEST...

A digest with one capture needs no body.  One with very many is divided into shards, each
with a copy of the first body, so that no reducer has them all; what is unequal to the first
is left in `_again-…` beside the output, to be run once more with `--first-extension 1`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.bodies import ArchiveBodies
from pinakes.dedupe.counting import ResolveCount
from pinakes.dedupe.resolve import takes_part
from pinakes.dedupe.travelling_bodies import Arrival, number_arrivals
from pinakes.index.external_sort import Spool
from pinakes.index.manifest import ManifestLine, estimate_line_bytes
from pinakes.mr_jobs.archive_job import LINES, LINES_OF_REDUCES, ArchiveJob, TaskFiles
from pinakes.mr_jobs.extra import MRStep
from pinakes.mr_jobs.settled import SETTLED, settled
from pinakes.mr_jobs.sort_text import SEPARATOR, sortable, sortable_place
from pinakes.mr_jobs.travelling import COPY, MEMBER, arrive, depart, line_text, text_line

SHARD_LINES = 100_000
COLLISIONS = "collisions"
Pair = tuple[bytes, bytes]
# What keys begin with, behind `SETTLED`: a file to read, a digest to compare.
_FILE, _DIGEST = b"f", b"d"


class ResolveCollisionsJob(ArchiveJob):
    """See the module."""

    SORT_VALUES = True
    INPUT_COUNTER = LINES
    AGAIN = "again"
    ROUND_OPTION = "--first-extension"  # each round settles one content of a digest

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--shard-lines", type=int, default=SHARD_LINES)
        self.add_passthru_arg("--first-extension", type=int, default=0)

    def steps(self) -> list[MRStep]:
        """Cluster, read, compare."""
        return [
            MRStep(
                mapper_init=self.begin_task,
                mapper=self.by_digest,
                mapper_final=self.end_task,
                reducer_init=self.begin_task,
                reducer=self.by_file,
                reducer_final=self.end_task,
            ),
            MRStep(
                reducer_init=self.begin_reading,
                reducer=self.read_bodies,
                reducer_final=self.end_task,
            ),
            MRStep(
                reducer_init=self.begin_task,
                reducer=self.compare_bodies,
                reducer_final=self.end_task,
                jobconf=LINES_OF_REDUCES,
            ),
        ]

    # --- cluster

    def by_digest(self, _: None, text: bytes) -> Iterator[Pair]:
        line = text_line(text)
        self.task.count(LINES)
        if takes_part(line):
            self.task.count("records")
            yield (
                _DIGEST + line.digest.encode("utf-8", "surrogateescape"),
                SEPARATOR.join((sortable_place(line), text)),
            )
        else:
            self.task.count(f"skipped: {line.skip or line.type or ''}")
            yield settled(line._replace(hash_extension=None))

    def by_file(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        if key.startswith(SETTLED):
            yield from ((key, value) for value in values)
            return
        self.task.count("clusters")
        lines = self._once(text_line(value.split(SEPARATOR, 2)[2]) for value in values)
        first = next(lines)
        second = next(lines, None)
        if second is None:
            self.task.count("contents")
            yield settled(first._replace(hash_extension=self.options.first_extension))
            return
        for number, line in enumerate(chain((first, second), lines)):
            shard, place = divmod(number, self.options.shard_lines)
            to = b"%b#%08d" % (key, shard)
            if shard and not place:
                yield _to_read(first, COPY, to)
            yield _to_read(line, MEMBER, to)

    def _once(self, lines: Iterator[ManifestLine]) -> Iterator[ManifestLine]:
        """Lines about a record that an earlier line is about already are left out, counted."""
        last: bytes | None = None
        for line in lines:
            place = sortable_place(line)
            if place == last:
                self.task.count("repeated")
                continue
            last = place
            yield line

    # --- read

    def begin_reading(self) -> None:
        self.begin_task()
        self._files: ArchiveFiles = self.task.enter(TaskFiles(self.task))
        self._bodies = ArchiveBodies(self._files)

    def read_bodies(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        if key.startswith(SETTLED):
            yield from ((key, value) for value in values)
            return
        self.task.count("files opened")
        for value in values:
            _, to, role, text = value.split(SEPARATOR, 3)
            for piece in depart(text_line(text), role, self._bodies):
                yield to, piece

    # --- compare

    def compare_bodies(self, key: bytes, values: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        if key.startswith(SETTLED):
            yield from ((None, value) for value in values)
            return
        shard = int(key.rpartition(b"#")[2])
        count = ResolveCount()
        members = 0

        def arrivals() -> Iterator[Arrival]:
            nonlocal members
            for role, arrival in arrive(values):
                members += role == MEMBER
                yield arrival

        first: ManifestLine | None = None
        with Spool[ManifestLine](item_bytes=estimate_line_bytes) as later:
            for line in number_arrivals(arrivals(), count=count):
                is_first, first = first is None, first or line
                if is_first and shard:
                    continue  # a copy: in the first shard it is a member
                # Without the first body, what is equal here may be another's in other shards.
                is_lost = first.hash_extension is None and not is_first
                if line.hash_extension is None or (line.hash_extension == 0 and not is_lost):
                    yield None, line_text(self._extended(line))
                else:
                    later.append(line)
            is_sharded = shard > 0 or members >= self.options.shard_lines
            for line in later:
                if is_sharded:
                    self.task.keep(self.AGAIN, line_text(line._replace(hash_extension=None)))
                else:
                    yield None, line_text(self._extended(line))
        self._count(count, first, shard, is_sharded=is_sharded)

    def _count(
        self, count: ResolveCount, first: ManifestLine | None, shard: int, *, is_sharded: bool
    ) -> None:
        self.task.count("bytes compared", count.compared_bytes)
        for problem in count.problems:
            self.task.find(problem)
        if not is_sharded:
            self.task.count("contents", count.contents)
        elif not shard and first is not None and first.hash_extension is not None:
            self.task.count("contents")
        for collision in count.collisions:
            captures = [capture._asdict() for capture in collision.captures]
            text = json.dumps({"digest": collision.digest, "captures": captures})
            self.task.keep(COLLISIONS, text.encode())

    def _extended(self, line: ManifestLine) -> ManifestLine:
        if line.hash_extension is None:
            return line
        return line._replace(hash_extension=line.hash_extension + self.options.first_extension)


def _to_read(line: ManifestLine, role: bytes, to: bytes) -> Pair:
    place = b"%020d%020d" % (line.offset, line.inner_offset)
    return _FILE + sortable(line.file), SEPARATOR.join((place, to, role, line_text(line)))


if __name__ == "__main__":
    ResolveCollisionsJob.run()
