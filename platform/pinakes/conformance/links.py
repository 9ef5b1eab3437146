"""Checks that need all records: unique ids, capture events, warcinfos, series of segments.

Source: ISO 28500:2017 §5.2, §5.4, §5.7, §5.16, §7.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from typing import NamedTuple

from pinakes.warc.field_names import WARC_CONCURRENT_TO_KEY

from .references import RecordColumns, References
from .rules import CAPTURE_TYPES, Hit
from .syntax import shown

Placed = tuple[RecordColumns, Hit]
_REPEATED_IDS = """
SELECT * FROM (
  SELECT file, ordinal, offset, inner, version, type,
    lag(file) OVER same AS file_before, lag(offset) OVER same AS offset_before
  FROM record WHERE id IS NOT NULL
  WINDOW same AS (PARTITION BY id ORDER BY file, ordinal))
WHERE file_before IS NOT NULL ORDER BY file, ordinal"""
# A record of the same file comes before one of another file.
_LINKS = """
SELECT link.file, link.ordinal, link.offset, link.inner, link.version, link.type,
  kind, written, link.date, found.type, found.date
FROM link LEFT JOIN record AS found ON found.rowid = coalesce(
  (SELECT min(rowid) FROM record WHERE record.id = target AND record.file = link.file),
  (SELECT min(rowid) FROM record WHERE record.id = target))
WHERE target IS NOT NULL ORDER BY link.file, link.ordinal"""
_SEGMENTS = """
SELECT file, ordinal, offset, inner, version, type, origin, number, total, size, uri, behind
FROM segment WHERE origin IS NOT NULL ORDER BY origin, number, file, ordinal"""


def check_ids(references: References) -> Iterator[Placed]:
    """No two records have one id, in a file or in all files."""
    for *place, file_before, offset_before in references.rows(_REPEATED_IDS):
        here = RecordColumns(*place)
        if here.file == file_before:
            message = f"the record at {offset_before} has the same WARC-Record-ID"
            yield here, Hit("record-id-repeated", message)
        else:
            message = "a record of another file has the same WARC-Record-ID"
            yield here, Hit("record-id-shared", message)


def check_links(references: References) -> Iterator[Placed]:
    """WARC-Concurrent-To and WARC-Warcinfo-ID name records of the right type and date."""
    for *place, kind, written, date, found_type, found_date in references.rows(_LINKS):
        check = _concurrent_hit if kind == WARC_CONCURRENT_TO_KEY else _warcinfo_hit
        hit = check(written, date, found_type, found_date)
        if hit is not None:
            yield RecordColumns(*place), hit


def _concurrent_hit(
    written: str, date: str | None, found_type: str | None, found_date: str | None
) -> Hit | None:
    if found_type is None:
        return Hit("concurrent-to-elsewhere", f"{shown(written)} is not in any of the files")
    if found_type not in CAPTURE_TYPES:
        return Hit("concurrent-to-type", f"{shown(written)} is a {found_type}")
    if date and found_date and date != found_date:
        message = f"WARC-Date is {shown(date)}, that of the concurrent record {shown(found_date)}"
        return Hit("concurrent-to-date", message)
    return None


def _warcinfo_hit(
    written: str, date: str | None, found_type: str | None, found_date: str | None
) -> Hit | None:
    if found_type is None:
        return Hit("warcinfo-id-elsewhere", f"{shown(written)} is not in any of the files")
    if found_type != "warcinfo":
        return Hit("warcinfo-id-type", f"{shown(written)} is a {found_type}")
    return None


class Segment(NamedTuple):
    """A row of `segment`; `behind` is a type other than warcinfo that precedes it in its file."""

    place: RecordColumns
    origin: bytes | None
    number: int | None
    total: int | None
    size: int
    uri: bytes | None
    behind: str | None


def check_segments(references: References) -> Iterator[Placed]:
    """Every series of segments.  Memory: the rows of one series."""
    segments = (Segment(RecordColumns(*row[:6]), *row[6:]) for row in references.rows(_SEGMENTS))
    for origin, series in groupby(segments, key=lambda segment: segment.origin):
        yield from _check_series(references, origin, list(series))


def _check_series(
    references: References, origin: bytes | None, series: list[Segment]
) -> Iterator[Placed]:
    first = next((s for s in series if s.place.type != "continuation"), None)
    later = [s for s in series if s.place.type == "continuation"]
    if first is None:
        yield from _check_origin(references, origin, later[0])
    elif first.behind:
        yield first.place, Hit("segment-place", f"the first segment comes after a {first.behind}")
    for before, segment in pairwise(series):
        if segment.number is not None and segment.number == before.number:
            message = f"there is another segment {segment.number} in the series"
            yield segment.place, Hit("segment-order", message)
        if segment.uri != before.uri:
            message = "WARC-Target-URI is not that of the segment before"
            yield segment.place, Hit("segment-target-uri", message)
    yield from _check_total(series, complete=first is not None)


def _check_origin(
    references: References, origin: bytes | None, segment: Segment
) -> Iterator[Placed]:
    """A series without segment 1: the id leads to another record, or to no record given."""
    query = "SELECT type FROM record WHERE id = ? LIMIT 1"
    for (found,) in references.rows(query, (origin,)):
        what = "a continuation" if found == "continuation" else "not marked as segment 1"
        yield segment.place, Hit("segment-origin", f"the record of that id is {what}")
        return
    yield segment.place, Hit("segment-elsewhere", "the first segment is not in any of the files")


def _check_total(series: list[Segment], *, complete: bool) -> Iterator[Placed]:
    numbers = [segment.number for segment in series]
    last = series[-1]
    for segment in series[:-1]:
        if segment.total is not None and segment.number != last.number:
            message = f"segment {segment.number} has the total length, and {last.number} follows"
            yield segment.place, Hit("segment-total", message)
    gapless = numbers == list(range(1, len(series) + 1))
    if last.total is None:
        if complete:
            message = f"segment {last.number} has no total length: are there more?"
            yield last.place, Hit("segment-elsewhere", message)
    elif gapless:
        size = sum(segment.size for segment in series)
        if size != last.total:
            message = f"the total length is {last.total}, the segments have {size} bytes"
            yield last.place, Hit("segment-total", message)
    elif complete:
        message = "earlier segments are not in any of the files"
        yield last.place, Hit("segment-elsewhere", message)
