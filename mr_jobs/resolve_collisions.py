"""Equal digests, unequal bodies: `pinakes resolve` as a job.

    lines ─▶ by digest ─▶ by file: each body is read once, in order ─▶ by digest: compared

    python -m pinakes.mr_jobs.resolve_collisions -r inline|local|hadoop MANIFEST...

A digest with one capture needs no body.  A very frequent one is divided into shards, each with a
copy of the first body, so that no reducer has all bodies, or even all lines: a map that finds a
digest frequent sends its lines directly to the tasks that read their files, and only the shard to
the digest.  Lines unequal to the first are left in `_again-…` next to the output, for another run
with `--first-extension 1`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.decide.bodies import ArchiveBodies
from pinakes.dedupe.decide.counting import ResolveCount, capture_of
from pinakes.dedupe.decide.shuffled_bodies import Place, ShuffledBody, number_shuffled
from pinakes.errors import PinakesError
from pinakes.index.external_sort import Spool
from pinakes.index.manifest import ManifestLine, estimate_line_bytes, place_of
from pinakes.mr_jobs.archive_job import LINES_OF_REDUCES, TaskFiles
from pinakes.mr_jobs.digest_job import DigestJob
from pinakes.mr_jobs.extra import MRStep
from pinakes.mr_jobs.lines.bodies import (
    COPY,
    FIRST,
    LEADER,
    SETTLED,
    line_text,
    received_bodies,
    send_body,
    text_line,
)
from pinakes.mr_jobs.lines.collisions import COLLISIONS, collision_text
from pinakes.mr_jobs.lines.digests import (
    COLLISION,
    SECOND,
    not_equal,
    second_collisions,
)
from pinakes.mr_jobs.lines.sort_text import SEPARATOR, Pair


class ResolveCollisionsJob(DigestJob):
    """See the module."""

    def steps(self) -> list[MRStep]:
        """Cluster, read, compare."""
        return [
            MRStep(
                **self.mapping(self.by_digest, self.begin_clustering, self.end_clustering),
                **self.reducing(self.by_file),
            ),
            MRStep(**self.reducing(self.read_bodies, self.begin_reading)),
            MRStep(**self.reducing(self.compare_bodies), jobconf=LINES_OF_REDUCES),
        ]

    # --- read

    def begin_reading(self) -> None:
        self.begin_task()
        self._files: ArchiveFiles = self.task.enter(TaskFiles(self.task))
        self._bodies = ArchiveBodies(self._files)

    def read_bodies(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        if key.startswith(SETTLED):
            yield from ((key, value) for value in values)
            return
        if key.startswith(SECOND):
            problems: list[PinakesError] = []
            second = key[len(SECOND) :].decode("utf-8", "surrogateescape")
            count = self.task.count
            yield from second_collisions(values, second, self._bodies, count, problems)
            for problem in problems:
                self.task.find(problem)
            return
        self.task.count("files opened")
        last: tuple[bytes, bytes] | None = None
        for value in values:
            place, to, role, text = value.split(SEPARATOR, 3)
            if role != COPY:
                # Two maps may have sent lines about the same record.
                record = (place, to.rpartition(b"#")[0])
                if record == last:
                    self.task.count("repeated")
                    continue
                last = record
            for piece in send_body(text_line(text), role, self._bodies):
                yield to, piece

    # --- compare

    def compare_bodies(self, key: bytes, values: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        if key.startswith(SETTLED):
            yield from ((None, value) for value in values)
            return
        if key == COLLISION:
            for value in values:
                self.task.keep(COLLISIONS, value)
            return
        yield from ((None, line_text(line)) for line in self._compared(key, values))

    def _compared(self, key: bytes, values: Iterable[bytes]) -> Iterator[ManifestLine]:
        """Yield the settled lines of a shard; others are kept for another round."""
        shard = int(key.rpartition(b"#")[2])
        count = ResolveCount()
        members = 0
        is_sharded = shard > 0
        leaders: set[Place] = set()

        def arrivals() -> Iterator[ShuffledBody]:
            nonlocal members, is_sharded
            for role, arrival in received_bodies(values):
                if role == LEADER:
                    leaders.add(place_of(arrival.line))
                members += role != COPY
                is_sharded = is_sharded or role == FIRST
                yield arrival

        first: ManifestLine | None = None
        with Spool[ManifestLine](item_bytes=estimate_line_bytes) as later:
            for line in number_shuffled(arrivals(), count=count):
                is_first, first = first is None, first or line
                if is_first and shard:
                    continue  # a copy: in the first shard it is a member
                # Without the first body, what is equal here may be another's in other shards.
                is_lost = first.hash_extension is None and not is_first
                is_equal = line.hash_extension == 0 and not is_lost
                if place_of(line) in leaders and not is_equal:
                    raise not_equal(line)
                if line.hash_extension is None or is_equal:
                    yield self._extended(line)
                else:
                    later.append(line)
            is_sharded = is_sharded or members >= self.options.shard_lines
            collides = bool(later) and is_sharded
            for line in later:
                if is_sharded:
                    self.task.keep(self.AGAIN, line_text(line._replace(hash_extension=None)))
                else:
                    yield self._extended(line)
        has_first = first is not None and first.hash_extension is not None
        self._count(count, is_sharded=is_sharded, is_reported=has_first and not shard)
        round_of = self.options.first_extension
        # In later rounds all lines are unequal to those settled before.
        if has_first and first is not None and (collides or (round_of and not shard)):
            text = collision_text(first.digest, [(round_of, capture_of(first))])
            self.task.keep(COLLISIONS, text)

    def _count(self, count: ResolveCount, *, is_sharded: bool, is_reported: bool) -> None:
        self.task.count("bytes compared", count.compared_bytes)
        for problem in count.problems:
            self.task.find(problem)
        for reason, lines in count.skipped.items():
            # They were counted as taking part, but cannot be read.
            self.task.count(f"skipped: {reason}", lines)
            self.task.count("records", -lines)
        if not is_sharded:
            self.task.count("contents", count.contents)
            for collision in count.collisions:
                captures = enumerate(collision.captures, self.options.first_extension)
                self.task.keep(COLLISIONS, collision_text(collision.digest, captures))
        elif is_reported:
            self.task.count("contents")

    def _extended(self, line: ManifestLine) -> ManifestLine:
        if line.hash_extension is None:
            return line
        return line._replace(hash_extension=line.hash_extension + self.options.first_extension)


if __name__ == "__main__":
    ResolveCollisionsJob.run()
