"""An ARC file divided: its records, and what lies between them and is none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.errors import InputRefused
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch, Finding, Record
from pinakes.warc.source import Source

from .arc_bytes import ArcBytes, Run


class ArcRecord(NamedTuple):
    """A record, and the line ends that follow it."""

    record: Record
    after: bytes


class Stretch(NamedTuple):
    """Readable bytes that are no record, and why."""

    run: Run
    reason: str


def iter_parts(source: Source) -> Iterator[ArcRecord | Stretch]:
    """Records and stretches in file order: together, all readable bytes.

    Raises:
        InputRefused: at a WARC record.
        MalformedRecord: where a record is not where the reader says, as in a file that
            is damaged in a way not foreseen here.
    """
    walk = ArcBytes(source)
    record: Record | None = None
    reason: str | None = None
    for item in iter_records(source):
        if isinstance(item, DamagedStretch):
            reason = reason or item.reason
            continue
        refuse_warc(item, source)
        yield from _divide(record, walk.take_until(item), reason)
        walk.skip(item)
        record, reason = item, None
    yield from _divide(record, walk.take_until(None), reason)


def _divide(
    record: Record | None, gap: list[Run], reason: str | None
) -> Iterator[ArcRecord | Stretch]:
    """The record before a gap with the line ends that close it; then what else lies there."""
    after = b""
    if record is not None:
        if gap and not gap[0].raw:
            first = gap[0]
            after = first.line_ends
            rest = first._replace(inner=first.inner + len(after), size=first.size - len(after))
            gap = [rest, *gap[1:]] if rest.size else gap[1:]
        yield ArcRecord(record, after)
        reason = reason or next((finding.message for finding in record.findings), None)
    for run in gap:
        yield Stretch(run, reason or "line ends that belong to no record")


def findings_of(record: Record) -> list[Finding]:
    """What is wrong with a record itself, not with how members were cut."""
    return [finding for finding in record.findings if finding.code != "member"]


def refuse_warc(record: Record, source: Source) -> None:
    """Raise InputRefused where the record is none of an ARC file."""
    if not record.version.startswith("ARC"):
        raise InputRefused(
            "a WARC record: only ARC files are converted", file=source.name, offset=record.offset
        )
