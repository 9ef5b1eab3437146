"""The steps of `flag_duplicates` by content: decided at once, or in parts.

A content with more captures than `--content-lines` is divided by the tasks that pin, and left in
`_again-…`; a second round, with `--round 1`, decides on it (`parts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from pinakes.dedupe.decide.counting import ProcessCount
from pinakes.dedupe.decide.entries import decide_contents
from pinakes.mr_jobs.archive_job import LINES, LINES_OF_REDUCES, ArchiveJob
from pinakes.mr_jobs.extra import MRStep, jobconf_from_env
from pinakes.mr_jobs.lines.bodies import SETTLED, line_text
from pinakes.mr_jobs.lines.frequent import Frequent
from pinakes.mr_jobs.lines.parts import (
    CONTENT,
    PART,
    SUMMARY,
    LeftInParts,
    decided_part,
    numbered_shard,
    text_entry,
)
from pinakes.mr_jobs.lines.sort_text import Pair

CONTENT_LINES = 1_000_000
SHARD_LINES = 100_000


class ContentJob(ArchiveJob):
    """A job whose last step decides on the captures of each content."""

    SORT_VALUES = True
    INPUT_COUNTER = LINES
    AGAIN = "again"
    ROUND_OPTION = "--round"

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg(
            "--content-lines",
            type=int,
            default=CONTENT_LINES,
            help="a content of more captures is divided",
        )
        self.add_passthru_arg("--shard-lines", type=int, default=SHARD_LINES)
        self.add_passthru_arg("--round", type=int, default=0)
        self.add_passthru_arg(
            "--duplicates-only", action="store_true", help="no lines of what stays as it is"
        )

    def divided_steps(self) -> list[MRStep]:
        """Steps of divided contents: by part, by time interval."""
        return [
            MRStep(
                **self.mapping(self.take_up),
                **self.reducing(self.decide_part, self.begin_counting, self.end_counting),
            ),
            MRStep(reducer=self.number, jobconf=LINES_OF_REDUCES),
        ]

    def begin_counting(self) -> None:
        """For the `init` of a step that decides."""
        self.begin_task()
        self._count = ProcessCount()

    def end_counting(self) -> None:
        """Report the decisions to the framework's counters."""
        count = self._count
        for name in ("originals", "duplicates", "duplicate_bytes", "revisits", "repeated"):
            if amount := getattr(count, name):
                self.task.count(name.replace("_", " "), amount)
        for word, reasons in (("full", count.full), ("skipped", count.skipped)):
            for reason, amount in reasons.items():
                self.task.count(f"{word}: {reason}", amount)
        self.end_task()

    def begin_pinning(self) -> None:
        """For the `init` of a step that sends captures to contents."""
        self.begin_task()
        tasks = int(jobconf_from_env("mapreduce.job.reduces", "1"))
        self._frequent = Frequent(max(1, self.options.content_lines // tasks))
        self._aside: dict[bytes, LeftInParts] = {}

    def end_pinning(self) -> Iterator[Pair]:
        """For its `final`: report to contents what was divided."""
        for aside in self._aside.values():
            yield aside.summary()
        self.end_task()

    def to_content(self, content: bytes, value: bytes) -> Pair:
        """Key and value that send a capture to its content, or to a part of a very large one."""
        if not self._frequent.add(content):
            return CONTENT + content, value
        if content not in self._aside:
            self._aside[content] = LeftInParts(content, shard_lines=self.options.shard_lines)
        return self._aside[content].add(value)

    # --- by content

    def decide(self, key: bytes, values: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        if key.startswith(SETTLED):
            yield from ((None, value) for value in values)
            return
        if key.startswith(PART):
            for value in values:
                self._leave(key, value)
            return
        stream = iter(values)
        first = next(stream)
        if first.startswith(SUMMARY):
            self._divide(key, chain((first,), stream))
            return
        for line in decide_contents(map(text_entry, chain((first,), stream)), self._count):
            if line.is_duplicate or not self.options.duplicates_only:
                yield None, line_text(line)

    def _divide(self, key: bytes, values: Iterable[bytes]) -> None:
        """Send the captures of a content that only some tasks have divided to its parts."""
        self.task.count("contents divided")
        aside = LeftInParts(key[len(CONTENT) :], shard_lines=self.options.shard_lines)
        for value in values:
            if value.startswith(SUMMARY):
                aside.merge(value)
            else:
                self._leave(*aside.add(value))
        for part, plan in aside.plans():
            self._leave(part, plan)

    def _leave(self, key: bytes, value: bytes) -> None:
        self.task.keep(self.AGAIN, b"%b\t%b" % (key, value))

    # --- in parts

    def take_up(self, _: None, text: bytes) -> Iterator[Pair]:
        self.task.count(LINES)
        key, _tab, value = text.partition(b"\t")
        yield key, value

    def decide_part(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        for to, value in decided_part(key, values, self._count):
            if not (to.startswith(SETTLED) and self.options.duplicates_only):
                yield to, value

    def number(self, key: bytes, values: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        if key.startswith(SETTLED):
            yield from ((None, value) for value in values)
            return
        for line in numbered_shard(values):
            yield None, line_text(line)
