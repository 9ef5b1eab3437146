"""Copy numbers and originals: `pinakes process` as a job.

    lines ─▶ by urlkey: clashes, pins ─▶ by record id: pins ─▶ by content: decided

    python -m pinakes.mr_jobs.flag_duplicates -r inline|local|hadoop RESOLVED...

A line that takes no part is left undecided, and its urlkey is used for others: a revisit pins what
it refers to, in any file.

A content with very many captures is divided, so that no reducer has them all: they are left in
`_again-…` next to the output, with the data needed about them, for another run with `--round 1`:

    captures ─▶ by part: decided ─▶ by time interval: numbered

Captures that refer within a scope alone (`dedupe.decide.policy`) are left undecided.  Another run
over the whole output, with the same options, decides on them, with `--scopes` naming all scopes:
what is full by then is offered to each of these.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain

from pinakes.dedupe.decide.clusters import OFFERED, PINNED, WAITS
from pinakes.dedupe.decide.counting import ProcessCount
from pinakes.dedupe.decide.entries import elsewhere_flag, is_decided_on, leave_undecided, waits
from pinakes.dedupe.decide.flags import flag_urlkey
from pinakes.dedupe.decide.pins import PinRequest, estimate_request_bytes, request_of
from pinakes.dedupe.decide.policy import scope_of, scoped_content
from pinakes.errors import ConfigError
from pinakes.index.external_sort import Spool
from pinakes.index.manifest import ManifestLine
from pinakes.index.seconds import second_of
from pinakes.index.urlkey import urlkey
from pinakes.mr_jobs.archive_job import LINES, LINES_OF_REDUCES
from pinakes.mr_jobs.content_job import ContentJob
from pinakes.mr_jobs.extra import MRStep
from pinakes.mr_jobs.lines.bodies import SETTLED, line_text, settled, text_line
from pinakes.mr_jobs.lines.parts import LINE, SUMMARY, entry_text, flags_text
from pinakes.mr_jobs.lines.sort_text import SEPARATOR, Pair, sortable, sortable_place

_KNOWN_IDS = 100_000
# Prefixes of keys, besides those of `settled` and `parts`.
_URLKEY, _ID = b"u", b"i"


class FlagDuplicatesJob(ContentJob):
    """See the module."""

    def configure_args(self) -> None:
        super().configure_args()
        self.add_passthru_arg("--resources", action="store_true")
        self.add_passthru_arg(
            "--scopes", default="", help="decide on what waits in these: same-url+within-30"
        )

    def steps(self) -> list[MRStep]:
        """By urlkey, by record id, by content; in another round, by part and time."""
        if self.options.round:
            return self.divided_steps()
        return [
            MRStep(
                **self.mapping(self.by_urlkey, self.begin_asking, self.end_counting),
                **self.reducing(self.mark, self.begin_counting, self.end_counting),
            ),
            MRStep(**self.reducing(self.pin_by_id, self.begin_pinning, self.end_pinning)),
            MRStep(
                **self.reducing(self.decide, self.begin_counting, self.end_counting),
                jobconf=LINES_OF_REDUCES,
            ),
        ]

    # --- by urlkey

    def begin_asking(self) -> None:
        self.begin_counting()
        self._asked: set[str] = set()

    def by_urlkey(self, _: None, text: bytes) -> Iterator[Pair]:
        self.task.count(LINES)
        line = text_line(text)
        second = second_of(line.date)
        if line.type == "revisit":
            request = request_of(line, second)
            asked = SEPARATOR.join((SUMMARY, json.dumps(request).encode()))
            yield _URLKEY + sortable(request.prefix[:-1]), asked
            if request.record_id is not None and self._is_new(request.record_id):
                yield _ID + sortable(request.record_id), SUMMARY
        if second is None:
            yield from self._undecided(line)
            return
        value = (LINE, second.encode(), sortable_place(line), text)
        yield _URLKEY + sortable(urlkey(line.target_uri)), SEPARATOR.join(value)

    def _is_new(self, record_id: str) -> bool:
        """Whether this map has not requested the id recently: some are requested 10^8 times."""
        if record_id in self._asked:
            return False
        if len(self._asked) == _KNOWN_IDS:
            self._asked.clear()
        self._asked.add(record_id)
        return True

    def mark(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        if not key.startswith(_URLKEY):
            yield from ((key, value) for value in values)
            return
        stream = iter(values)
        with Spool[PinRequest](item_bytes=estimate_request_bytes) as requests:
            first: bytes | None = None
            for value in stream:
                if not value.startswith(SUMMARY):
                    first = value
                    break
                requests.append(PinRequest(*json.loads(value.split(SEPARATOR, 1)[1])))
            if first is None:
                return
            texts = (value.split(SEPARATOR, 4)[4] for value in chain((first,), stream))
            for line, flags in flag_urlkey(map(text_line, texts), requests):
                if not is_decided_on(line, resources=self.options.resources):
                    yield from self._undecided(line)
                    continue
                for scope in self._scopes_for(line):
                    identity = line.record_id or f"{line.file} {line.offset} {line.inner_offset}"
                    kind = _ID if line.record_id else _URLKEY
                    value = LINE + SEPARATOR.join((flags_text(flags), scope, line_text(line)))
                    yield kind + sortable(identity), value
                if self._is_decided(line):
                    yield from self._left(line)

    def _is_decided(self, line: ManifestLine) -> bool:
        return bool(self.options.scopes) and line.copy_number is not None

    def _scopes_for(self, line: ManifestLine) -> Iterable[bytes]:
        """The scopes in which a line is to be decided on, or is offered; an empty one: all."""
        if not self._is_decided(line):
            return (scope_of(line.marks).encode() if self.options.scopes else b"",)
        return () if line.is_duplicate else self.options.scopes.encode().split(b"+")

    def _undecided(self, line: ManifestLine) -> Iterator[Pair]:
        # In a run for scopes it was counted before.
        count = ProcessCount() if self.options.scopes else self._count
        yield from self._left(leave_undecided(line, count))

    def _left(self, line: ManifestLine) -> Iterator[Pair]:
        if line.is_duplicate or not self.options.duplicates_only:
            yield settled(line)

    # --- by record id

    def pin_by_id(self, key: bytes, values: Iterable[bytes]) -> Iterator[Pair]:
        if key.startswith(SETTLED):
            yield from ((key, value) for value in values)
            return
        pinned = 0
        for value in values:
            if value.startswith(SUMMARY):
                pinned = PINNED
                continue
            flags_of, scope, text = value[1:].split(SEPARATOR, 2)
            flags = int(flags_of) | pinned
            line = text_line(text)
            if line.hash_extension is None:
                raise ConfigError(
                    "this line has no hash extension: run resolve_collisions on the manifest first",
                    file=line.file,
                    offset=line.offset,
                )
            content = f"{line.digest} {line.hash_extension}"
            if scope:
                second = second_of(line.date) or ""
                content += f" {scoped_content(scope.decode(), line.target_uri, second)}"
                flags |= OFFERED if line.copy_number is not None else elsewhere_flag(line)
            elif waits(line, flags):
                flags |= WAITS
            yield self.to_content(sortable(content), entry_text(line, flags))


if __name__ == "__main__":
    FlagDuplicatesJob.run()
