"""Equal digests, unequal bodies: `pinakes resolve` as a job.

    lines ─▶ by digest ─▶ by file: each body is read once, in order ─▶ by digest: compared

    python -m pinakes.mr_jobs.resolve_collisions -r inline|local|hadoop MANIFEST...

A digest with one capture needs no body.  One with very many is divided into shards, each
with a copy of the first body, so that no reducer has them all, and not even their lines: a
map that meets a digest often sends its lines straight to where their files are read, and
tells the digest of the shard only.  What is unequal to the first is left in `_again-…` beside
the output, to be run once more with `--first-extension 1`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from zlib import crc32

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.bodies import ArchiveBodies
from pinakes.dedupe.counting import ResolveCount, capture_of
from pinakes.dedupe.resolve import takes_part
from pinakes.dedupe.travelling_bodies import Arrival, number_arrivals
from pinakes.index.external_sort import Spool
from pinakes.index.manifest import ManifestLine, estimate_line_bytes
from pinakes.mr_jobs.archive_job import LINES, LINES_OF_REDUCES, ArchiveJob, TaskFiles
from pinakes.mr_jobs.collisions import COLLISIONS, collision_text
from pinakes.mr_jobs.extra import MRStep, jobconf_from_env
from pinakes.mr_jobs.frequent import Frequent
from pinakes.mr_jobs.settled import SETTLED, settled
from pinakes.mr_jobs.shards import DIGEST, LINE, SHARD, OftenDigest, lines_of, to_read
from pinakes.mr_jobs.sort_text import SEPARATOR, sortable_place
from pinakes.mr_jobs.travelling import COPY, FIRST, MEMBER, arrive, depart, line_text, text_line

SHARD_LINES = 100_000
OFTEN_LINES = 100
Pair = tuple[bytes, bytes]
# Shards that maps begin, numbered behind those of the reducer: so many, and of each so many.
_MAP_SHARDS, _PARTS = 990, 100_000


class ResolveCollisionsJob(ArchiveJob):
    """See the module."""

    SORT_VALUES = True
    INPUT_COUNTER = LINES
    AGAIN = "again"
    ROUND_OPTION = "--first-extension"  # each round settles one content of a digest

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--shard-lines", type=int, default=SHARD_LINES)
        self.add_passthru_arg("--often-lines", type=int, default=OFTEN_LINES)
        self.add_passthru_arg("--first-extension", type=int, default=0)

    def steps(self) -> list[MRStep]:
        """Cluster, read, compare."""
        return [
            MRStep(
                mapper_init=self.begin_clustering,
                mapper=self.by_digest,
                mapper_final=self.end_clustering,
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

    def begin_clustering(self) -> None:
        self.begin_task()
        self._frequent = Frequent(self.options.often_lines)
        self._often: dict[bytes, OftenDigest] = {}
        # Of two attempts at a task the shards have one name.
        task = crc32(jobconf_from_env("mapreduce.task.id").encode())
        self._first_shard = (1 + task % _MAP_SHARDS) * _PARTS

    def end_clustering(self) -> Iterator[Pair]:
        for key, often in self._often.items():
            yield key, SEPARATOR.join((LINE, often.place, line_text(often.first)))
        self.end_task()

    def by_digest(self, _: None, text: bytes) -> Iterator[Pair]:
        line = text_line(text)
        self.task.count(LINES)
        is_first_round = not self.options.first_extension
        if not takes_part(line):
            self.task.count(f"skipped: {line.skip or line.type or ''}")
            yield settled(line._replace(hash_extension=None))
            return
        self.task.count("records", is_first_round)
        key = DIGEST + line.digest.encode("utf-8", "surrogateescape")
        place = sortable_place(line)
        if not self._frequent.add(key):
            yield key, SEPARATOR.join((LINE, place, text))
        elif key not in self._often:
            self._often[key] = OftenDigest(place, line)
        else:
            part, first = divmod(self._often[key].lines, self.options.shard_lines)
            shard = b"%08d" % (self._first_shard + part % _PARTS)
            if not first:
                yield key, SHARD + shard
            yield to_read(self._often[key].take(place, line), MEMBER, b"%b#%b" % (key, shard))

    def by_file(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        if not key.startswith(DIGEST):
            yield from ((key, value) for value in values)
            return
        self.task.count("clusters", not self.options.first_extension)
        begun: set[bytes] = set()
        lines = self._once(lines_of(values, begun))
        first = next(lines)  # `begun` is complete then
        second = next(lines, None)
        if second is None and not begun and not self.options.first_extension:
            self.task.count("contents")
            yield settled(first._replace(hash_extension=0))
            return
        yield to_read(first, FIRST if begun else MEMBER, b"%b#%08d" % (key, 0))
        for shard in sorted(begun):
            yield to_read(first, COPY, b"%b#%b" % (key, shard))
        others = lines if second is None else chain((second,), lines)
        for number, line in enumerate(others, 1):
            own, place = divmod(number, self.options.shard_lines)
            to = b"%b#%08d" % (key, own)
            if own and not place:
                yield to_read(first, COPY, to)
            yield to_read(line, MEMBER, to)

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
        last: tuple[bytes, bytes] | None = None
        for value in values:
            place, to, role, text = value.split(SEPARATOR, 3)
            if role != COPY:
                # Two maps may have sent lines about one record.
                record = (place, to.rpartition(b"#")[0])
                if record == last:
                    self.task.count("repeated")
                    continue
                last = record
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
        is_sharded = shard > 0

        def arrivals() -> Iterator[Arrival]:
            nonlocal members, is_sharded
            for role, arrival in arrive(values):
                members += role != COPY
                is_sharded = is_sharded or role == FIRST
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
            is_sharded = is_sharded or members >= self.options.shard_lines
            collides = bool(later) and is_sharded
            for line in later:
                if is_sharded:
                    self.task.keep(self.AGAIN, line_text(line._replace(hash_extension=None)))
                else:
                    yield None, line_text(self._extended(line))
        has_first = first is not None and first.hash_extension is not None
        self._count(count, is_sharded=is_sharded, is_told=has_first and not shard)
        round_of = self.options.first_extension
        # Of later rounds what is there is unequal to what was settled before.
        if has_first and first is not None and (collides or (round_of and not shard)):
            text = collision_text(first.digest, [(round_of, capture_of(first))])
            self.task.keep(COLLISIONS, text)

    def _count(self, count: ResolveCount, *, is_sharded: bool, is_told: bool) -> None:
        self.task.count("bytes compared", count.compared_bytes)
        for problem in count.problems:
            self.task.find(problem)
        for reason, lines in count.skipped.items():
            # They were counted as those that take part, and cannot be read.
            self.task.count(f"skipped: {reason}", lines)
            self.task.count("records", -lines)
        if not is_sharded:
            self.task.count("contents", count.contents)
            for collision in count.collisions:
                captures = enumerate(collision.captures, self.options.first_extension)
                self.task.keep(COLLISIONS, collision_text(collision.digest, captures))
        elif is_told:
            self.task.count("contents")

    def _extended(self, line: ManifestLine) -> ManifestLine:
        if line.hash_extension is None:
            return line
        return line._replace(hash_extension=line.hash_extension + self.options.first_extension)


if __name__ == "__main__":
    ResolveCollisionsJob.run()
