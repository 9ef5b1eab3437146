"""Copy numbers and originals: `pinakes process` as a job.

    lines ─▶ by urlkey: clashes, pins ─▶ by record id: pins ─▶ by content: decided

    python -m pinakes.mr_jobs.flag_duplicates -r inline|local|hadoop RESOLVED...

A line that takes no part is left undecided, and waits at its urlkey for others: a revisit
pins what it refers to, wherever it lies.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain

from pinakes.dedupe.clusters import PINNED
from pinakes.dedupe.counting import ProcessCount
from pinakes.dedupe.marks import mark_urlkey
from pinakes.dedupe.pins import PinRequest, estimate_request_bytes, request_of
from pinakes.dedupe.process import Entry, decide_contents, is_decided_on, leave_undecided
from pinakes.errors import ConfigError
from pinakes.index.external_sort import Spool
from pinakes.index.manifest import ManifestLine
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey
from pinakes.mr_jobs.archive_job import LINES, LINES_OF_REDUCES, ArchiveJob
from pinakes.mr_jobs.extra import MRStep
from pinakes.mr_jobs.settled import SETTLED, settled
from pinakes.mr_jobs.sort_text import SEPARATOR, from_sortable, sortable, sortable_place
from pinakes.mr_jobs.travelling import line_text, text_line

Pair = tuple[bytes, bytes]
# What keys begin with, behind `SETTLED`.
_URLKEY, _ID, _CONTENT = b"u", b"i", b"c"
# A value's beginning: what is asked for comes before the lines that may answer.
_ASKED, _LINE = b"0", b"1"


class FlagDuplicatesJob(ArchiveJob):
    """See the module."""

    SORT_VALUES = True
    INPUT_COUNTER = LINES

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--resources", action="store_true")

    def steps(self) -> list[MRStep]:
        """By urlkey, by record id, by content."""
        return [
            MRStep(
                mapper_init=self.begin_counting,
                mapper=self.by_urlkey,
                mapper_final=self.end_counting,
                reducer_init=self.begin_counting,
                reducer=self.mark,
                reducer_final=self.end_counting,
            ),
            MRStep(reducer=self.pin_by_id),
            MRStep(
                reducer_init=self.begin_counting,
                reducer=self.decide,
                reducer_final=self.end_counting,
                jobconf=LINES_OF_REDUCES,
            ),
        ]

    def begin_counting(self) -> None:
        """For the `init` of a step that decides."""
        self.begin_task()
        self._count = ProcessCount()

    def end_counting(self) -> None:
        """Tell the framework what was decided."""
        count = self._count
        for name in ("originals", "duplicates", "duplicate_bytes", "revisits", "repeated"):
            if amount := getattr(count, name):
                self.task.count(name.replace("_", " "), amount)
        for word, reasons in (("full", count.full), ("skipped", count.skipped)):
            for reason, amount in reasons.items():
                self.task.count(f"{word}: {reason}", amount)
        self.end_task()

    # --- by urlkey

    def by_urlkey(self, _: None, text: bytes) -> Iterator[Pair]:
        self.task.count(LINES)
        line = text_line(text)
        second = second_of(line.date)
        if line.type == "revisit":
            request = request_of(line, second)
            asked = SEPARATOR.join((_ASKED, json.dumps(request).encode()))
            yield _URLKEY + sortable(request.prefix[:-1]), asked
            if request.record_id is not None:
                yield _ID + sortable(request.record_id), _ASKED
        if second is None:
            yield settled(leave_undecided(line, self._count))
            return
        value = (_LINE, second.encode(), sortable_place(line), text)
        yield _URLKEY + sortable(urlkey(line.target_uri)), SEPARATOR.join(value)

    def mark(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        if not key.startswith(_URLKEY):
            yield from ((key, value) for value in values)
            return
        stream = iter(values)
        with Spool[PinRequest](item_bytes=estimate_request_bytes) as requests:
            first: bytes | None = None
            for value in stream:
                if not value.startswith(_ASKED):
                    first = value
                    break
                requests.append(PinRequest(*json.loads(value.split(SEPARATOR, 1)[1])))
            if first is None:
                return
            texts = (value.split(SEPARATOR, 4)[4] for value in chain((first,), stream))
            for line, flags in mark_urlkey(map(text_line, texts), requests):
                if not is_decided_on(line, resources=self.options.resources):
                    yield settled(leave_undecided(line, self._count))
                    continue
                identity = line.record_id or f"{line.file} {line.offset} {line.inner_offset}"
                kind = _ID if line.record_id else _URLKEY
                yield kind + sortable(identity), b"%b%03d%b" % (_LINE, flags, line_text(line))

    # --- by record id

    def pin_by_id(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        if key.startswith(SETTLED):
            yield from ((key, value) for value in values)
            return
        pinned = 0
        for value in values:
            if value.startswith(_ASKED):
                pinned = PINNED
                continue
            flags, text = int(value[1:4]) | pinned, value[4:]
            line = text_line(text)
            if line.hash_extension is None:
                raise ConfigError(
                    "this line has no hash extension: run resolve_collisions on the manifest first",
                    file=line.file,
                    offset=line.offset,
                )
            content = f"{line.digest} {line.hash_extension}"
            second = (second_of(line.date) or "").encode()
            yield (
                _CONTENT + sortable(content),
                SEPARATOR.join((second, sortable_place(line), b"%03d" % flags, text)),
            )

    # --- by content

    def decide(self, key: bytes, values: Iterable[bytes]) -> Iterator[tuple[None, bytes]]:
        if key.startswith(SETTLED):
            yield from ((None, value) for value in values)
            return
        for line in decide_contents(map(_entry, values), self._count):
            yield None, line_text(line)


def _entry(value: bytes) -> Entry:
    second, file, _, flags, text = value.split(SEPARATOR, 4)
    line: ManifestLine = text_line(text)
    return (
        line.digest, line.hash_extension or 0, second.decode(), from_sortable(file),
        line.offset, line.inner_offset, 0, int(flags), line,
    )  # fmt: skip


if __name__ == "__main__":
    FlagDuplicatesJob.run()
