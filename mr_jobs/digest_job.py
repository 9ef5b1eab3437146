"""The steps of `resolve_collisions` by digest: which bodies are read, and where they are sent.

A digest with one capture needs none.  Lines of a very frequent digest bypass its reducer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from zlib import crc32

from pinakes.dedupe.decide.resolve import takes_part
from pinakes.dedupe.decide.trust import Trust
from pinakes.index.manifest import ManifestLine
from pinakes.mr_jobs.archive_job import LINES, ArchiveJob
from pinakes.mr_jobs.extra import jobconf_from_env
from pinakes.mr_jobs.lines.bodies import (
    COPY,
    FIRST,
    MEMBER,
    line_text,
    settled,
    text_line,
)
from pinakes.mr_jobs.lines.digests import (
    DIGEST,
    LEADS,
    LINE,
    SHARD,
    OftenDigest,
    believed,
    lines_of,
    noted,
    to_read,
)
from pinakes.mr_jobs.lines.frequent import Frequent
from pinakes.mr_jobs.lines.sort_text import SEPARATOR, Pair, sortable_place

SHARD_LINES = 100_000
OFTEN_LINES = 100
# Shards that maps begin, numbered after those of the reducer: so many, and of each so many.
_MAP_SHARDS, _PARTS = 990, 100_000


def trust_options(trust: Trust | None) -> list[str]:
    """The options for the level of trust."""
    if trust is None:
        return []
    seed = ["--seed", trust.seed] if trust.seed else []
    return ["--compare", "sha256", "--sample-bytes", str(trust.sample), *seed]


class DigestJob(ArchiveJob):
    """A job whose first step gathers the lines of each digest."""

    SORT_VALUES = True
    INPUT_COUNTER = LINES
    AGAIN = "again"
    ROUND_OPTION = "--first-extension"  # each round settles one content of a digest

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg(
            "--compare",
            choices=("bytes", "sha256"),
            default="bytes",
            help="sha256: read other digests, a sample, and where the second digest disagrees",
        )
        self.add_passthru_arg("--sample-bytes", type=float, default=Trust().sample)
        self.add_passthru_arg("--seed", default="")
        self.add_passthru_arg("--shard-lines", type=int, default=SHARD_LINES)
        self.add_passthru_arg("--often-lines", type=int, default=OFTEN_LINES)
        self.add_passthru_arg("--first-extension", type=int, default=0)

    def _believes(self, digest: str) -> bool:
        # Lines of another round are known to be unequal to the first.
        believing = self.options.compare == "sha256" and not self.options.first_extension
        return believing and self._trust().believes(digest)

    def _trust(self) -> Trust:
        return Trust(sample=self.options.sample_bytes, seed=self.options.seed)

    # --- cluster

    def begin_clustering(self) -> None:
        self.begin_task()
        self._frequent = Frequent(self.options.often_lines)
        self._often: dict[bytes, OftenDigest] = {}
        # Two attempts at a task give shards the same names.
        task = crc32(jobconf_from_env("mapreduce.task.id").encode())
        self._first_shard = (1 + task % _MAP_SHARDS) * _PARTS

    def end_clustering(self) -> Iterator[Pair]:
        for key, often in self._often.items():
            if often.leads:
                yield key, SHARD + LEADS + often.place
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
        elif self._believes(line.digest):
            yield self._believed(key, place, line)
        else:
            part, first = divmod(self._often[key].lines, self.options.shard_lines)
            shard = b"%08d" % (self._first_shard + part % _PARTS)
            if not first:
                yield key, SHARD + shard
            yield to_read(self._often[key].take(place, line), MEMBER, b"%b#%b" % (key, shard))

    def _believed(self, key: bytes, place: bytes, line: ManifestLine) -> Pair:
        often = self._often[key]
        if not self._trust().agree(often.first, line):
            return key, SEPARATOR.join((LINE, place, line_text(line)))
        often.leads = True
        self.task.count("believed")
        return settled(often.take(place, line)._replace(hash_extension=0))

    def by_file(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        if not key.startswith(DIGEST):
            yield from ((key, value) for value in values)
            return
        self.task.count("clusters", not self.options.first_extension)
        begun: set[bytes] = set()
        lines = self._once(lines_of(values, begun))
        first = next(lines)  # `begun` is complete then
        if self._believes(first.digest):
            leading = {text[len(LEADS) :] for text in begun}
            every = chain((first,), lines)
            yield from believed(key, every, leading, self._trust(), self.task.count)
            return
        if not self.options.first_extension:
            yield from noted(first)
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
        """Skip and count lines about a record that an earlier line is about."""
        last: bytes | None = None
        for line in lines:
            place = sortable_place(line)
            if place == last:
                self.task.count("repeated")
                continue
            last = place
            yield line
