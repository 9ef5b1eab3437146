"""The parts of an ARC file: its records, and bytes that are not records."""

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
    """Readable bytes that are not a record, and why."""

    run: Run
    reason: str


def iter_parts(source: Source) -> Iterator[ArcRecord | Stretch]:
    """Records and stretches in file order: together, all readable bytes.

    Raises:
        InputRefused: at a WARC record.
        MalformedRecord: if a record is not where the reader found it, as in a file with a
            kind of damage that is not handled.
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
    """The record before a gap with the line ends that close it; then the rest of the gap."""
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
    """The findings about a record itself, without those about members."""
    return [finding for finding in record.findings if finding.code != "member"]


def refuse_warc(record: Record, source: Source) -> None:
    """Raise InputRefused if the record is not that of an ARC file."""
    if not record.version.startswith("ARC"):
        raise InputRefused(
            "a WARC record: only ARC files are converted", file=source.name, offset=record.offset
        )
