"""A content with very many captures in `flag_duplicates`, divided into parts.

    c CONTENT            0 what a task has set aside, 1 captures     from tasks that pin
    p CONTENT # PART     0 leaders and bounds, 1 captures            to where they are decided
    s CONTENT # SHARD    0 copies before the shard, 1 copies         to where they are numbered

A part has the captures of some places, of all dates, so that two lines about one record
are in one part; a shard has those of a time interval.  The bounds of shards come from a sample of
the captures, drawn by a checksum, so every task draws the same.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from zlib import crc32

from pinakes.dedupe.decide.counting import ProcessCount
from pinakes.dedupe.decide.divided import Leaders, decide_part
from pinakes.dedupe.decide.entries import Entry, Group, group_of
from pinakes.errors import PinakesError
from pinakes.index.manifest import ManifestLine
from pinakes.index.seconds import second_of
from pinakes.mr_jobs.lines.bodies import line_text, settled, text_line
from pinakes.mr_jobs.lines.sort_text import SEPARATOR, from_sortable, sortable_place

CONTENT, PART, SHARD = b"c", b"p", b"s"
"""Prefixes of keys."""

SUMMARY, LINE = b"0", b"1"
"""Prefixes of values: what is known about lines sorts before the lines."""

_PARTS = 256
_MOST_SHARDS = 1000
_SAMPLES_A_SHARD = 100


def order_text(line: ManifestLine) -> bytes:
    """Second and place of a line, as bytes that sort like them."""
    return SEPARATOR.join(((second_of(line.date) or "").encode(), sortable_place(line)))


def flags_text(flags: int) -> bytes:
    """Flags, as text of one width."""
    return b"%04d" % flags


def entry_text(line: ManifestLine, flags: int) -> bytes:
    """A line to be decided, as a value."""
    return LINE + SEPARATOR.join((order_text(line), flags_text(flags), line_text(line)))


def text_entry(value: bytes) -> Entry:
    """Undo `entry_text`."""
    second, file, _, flags, text = value[1:].split(SEPARATOR, 4)
    line: ManifestLine = text_line(text)
    return (
        line.digest, line.hash_extension or 0, second.decode(), from_sortable(file),
        line.offset, line.inner_offset, 0, int(flags), line,
    )  # fmt: skip


class LeftInParts:
    """What a task reports of a content whose captures it has left in parts."""

    def __init__(self, content: bytes, *, shard_lines: int) -> None:
        """`content` is the key after `CONTENT`."""
        self._content = content
        self._shard_lines = shard_lines
        self._every = max(1, shard_lines // _SAMPLES_A_SHARD)
        self._lines = 0
        self._leaders = Leaders()
        self._sample: list[str] = []
        self._parts: set[int] = set()

    def add(self, value: bytes) -> tuple[bytes, bytes]:
        """Add one capture; return the key and value that send it to its part."""
        entry = text_entry(value)
        order = value[1:].rsplit(SEPARATOR, 2)[0]
        part = crc32(sortable_place(entry[8])) % _PARTS
        self._lines += 1
        self._leaders.add(entry)
        if crc32(order) % self._every == 0:
            self._sample.append(_text(order))
        self._parts.add(part)
        return self._part_key(part), value

    def summary(self) -> tuple[bytes, bytes]:
        """Key and value with everything known, sent to the content."""
        leaders = [_text(entry_text(entry[8], entry[7])) for entry in self._leaders.entries()]
        known = [self._lines, leaders, self._sample, sorted(self._parts)]
        return CONTENT + self._content, SUMMARY + json.dumps(known).encode()

    def merge(self, value: bytes) -> None:
        """Merge what another task has reported."""
        lines, leaders, sample, parts = json.loads(value[1:])
        self._lines += lines
        for leader in leaders:
            self._leaders.add(text_entry(_bytes(leader)))
        self._sample += sample
        self._parts.update(parts)

    def plans(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield what each part needs: the leaders, and the bounds of shards."""
        summary = json.loads(self.summary()[1][1:])
        sample = sorted(map(_bytes, self._sample))
        shards = min(_MOST_SHARDS, 1 + self._lines // self._shard_lines)
        bounds = {sample[n * len(sample) // shards] for n in range(1, shards)} if sample else ()
        plan = SUMMARY + json.dumps([summary[1], [*map(_text, sorted(bounds))]]).encode()
        for part in sorted(self._parts):
            yield self._part_key(part), plan

    def _part_key(self, part: int) -> bytes:
        return PART + self._content + b"#%03d" % part


def decided_part(
    key: bytes, values: Iterable[bytes], count: ProcessCount
) -> Iterator[tuple[bytes, bytes]]:
    """Decide on the sorted captures of a part: those that stay full are settled, copies are
    sent to their shards, and to each shard the number of earlier copies in this part.

    Raises:
        PinakesError: the leaders are missing.
    """
    stream = iter(values)
    plan = next(stream)
    if not plan.startswith(SUMMARY):
        raise PinakesError("captures of a content arrived without their leaders")
    leaders, texts = json.loads(plan[1:])
    bounds = [*map(_bytes, texts)]
    content = key[len(PART) :].rpartition(b"#")[0]
    copies: dict[int, Counter[Group]] = {}
    entries = map(text_entry, stream)
    for line in decide_part([text_entry(_bytes(leader)) for leader in leaders], entries, count):
        if not line.is_duplicate:
            yield settled(line)
            continue
        order = order_text(line)
        shard = bisect_right(bounds, order)
        copies.setdefault(shard, Counter())[group_of(line)] += 1
        yield _shard_key(content, shard), LINE + SEPARATOR.join((order, line_text(line)))
    before: Counter[Group] = Counter()
    for shard in range(len(bounds) + 1):
        if before:
            yield _shard_key(content, shard), SUMMARY + json.dumps([*before.items()]).encode()
        before.update(copies.get(shard, {}))


def numbered_shard(values: Iterable[bytes]) -> Iterator[ManifestLine]:
    """The copies of a shard, in order, with their numbers."""
    copies: Counter[Group] = Counter()
    for value in values:
        if value.startswith(SUMMARY):
            for (status, record_type, ctype), amount in json.loads(value[1:]):
                copies[status, record_type, ctype] += amount
            continue
        line = text_line(value.rpartition(SEPARATOR)[2])
        group = group_of(line)
        copies[group] += 1
        yield line._replace(copy_number=1 + copies[group])


def _shard_key(content: bytes, shard: int) -> bytes:
    return SHARD + content + b"#%04d" % shard


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
