"""Two manifests side by side: a quick look at whether anything is missing.

Reads no archive file, proves nothing of bytes, and permits nothing: what a manifest says
of a record is what a process once read there.

An ARC file and the WARC file that it was converted to write the same captures differently: the
date as digits, and a URI that is none as it was.  Dates are compared as instants, and URIs of
ARC files as a conversion writes them; digest and size have to be equal as they stand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine
from pinakes.rewrite import arc_fields
from pinakes.warc.dates import parse_date
from pinakes.warc.file_names import without_compression

QUICK_FINDINGS = {
    "missing": "a capture of before is not there after",
    "surplus": "a capture is there after that was not before",
    "altered": "the capture is there with another body",
    "dangling": "the capture is a revisit now, and nothing is where it refers to",
    "other-body": "the capture is a revisit now, and what it refers to has another body",
}
_BEFORE, _AFTER = 0, 1
_Body = tuple[str, int]
_ARC = "arc"
# Digits of a fraction that a datetime does not hold.
_BEYOND_MICROSECONDS = re.compile(r"[.,]\d{6}(\d+)")


class QuickFinding(NamedTuple):
    """A capture that is not as it was; `code` is one of `QUICK_FINDINGS`."""

    code: str
    target_uri: str
    date: str


class _Entry(NamedTuple):
    # A tuple, sorted as it stands: one for each line of both manifests.
    uri: str
    instant: str
    side: int
    written_uri: str
    written_date: str
    revisit: bool
    digest: str
    size: int
    refers_uri: str
    refers_date: str


class _Need(NamedTuple):
    """A revisit's original, and the body it must have."""

    uri: str
    instant: str
    body: _Body
    of_uri: str
    of_date: str


class _Original(NamedTuple):
    uri: str
    instant: str
    body: _Body


def compare_manifests(
    before: Iterable[ManifestLine],
    after: Iterable[ManifestLine],
    *,
    space: SortSpace = DEFAULT_SPACE,
) -> Iterator[QuickFinding]:
    """Yield what differs, by target URI and instant; then references that fail.

    Reads both wholly before the first is yielded; memory is a few times `space`.
    """
    entries = sort_outside_memory(_entries(before, after), space=space)
    with Spool[_Original](space=space) as originals, Spool[_Need](space=space) as needs:
        for _, together in groupby(entries, key=lambda entry: entry[:2]):
            group = list(together)
            for code in _compare_captures(group, originals, needs):
                yield QuickFinding(code, group[0].written_uri, group[0].written_date)
        yield from _join(sort_outside_memory(needs, space=space), originals)


def _entries(before: Iterable[ManifestLine], after: Iterable[ManifestLine]) -> Iterator[_Entry]:
    for side, lines in ((_BEFORE, before), (_AFTER, after)):
        for line in lines:
            yield _Entry(
                *_capture(line),
                side,
                line.target_uri,
                line.date,
                line.type == "revisit",
                line.digest,
                line.size or 0,
                line.refers_uri or "",
                _instant(line.refers_date or ""),
            )


def _capture(line: ManifestLine) -> tuple[str, str]:
    """URI and instant, as they are once an ARC file is converted."""
    instant = _instant(line.date)
    if line.skip != _ARC and not without_compression(line.file.lower()).endswith(f".{_ARC}"):
        return line.target_uri, instant
    is_date = arc_fields.format_date(line.date) is not None
    return (
        arc_fields.format_target_uri(line.target_uri),
        instant if is_date else _instant(arc_fields.UNREADABLE_DATE),
    )


def _instant(date: str) -> str:
    """The same text for all ways to write an instant; what is no date as it stands."""
    moment = parse_date(date)
    if moment is None:
        return date
    beyond = _BEYOND_MICROSECONDS.search(date)
    return f"{moment.isoformat()} {beyond[1].rstrip('0') if beyond else ''}"


def _compare_captures(
    entries: list[_Entry], originals: Spool[_Original], needs: Spool[_Need]
) -> Iterator[str]:
    """Compare the captures of one URI and instant; note full ones, and what revisits need."""
    was = Counter(entry[5:] for entry in entries if entry.side == _BEFORE)
    now = Counter(entry[5:] for entry in entries if entry.side == _AFTER)
    uri, instant, _, written_uri, written_date, *_ = entries[0]
    for revisit, digest, size, *_ in now:
        if not revisit:
            originals.append(_Original(uri, instant, (digest, size)))
    gone, fresh = list((was - now).elements()), list((now - was).elements())
    for old in gone:
        # A full record became a revisit, or a revisit a full record.
        at = next((n for n, new in enumerate(fresh) if new[0] != old[0]), None)
        if at is not None:
            new = fresh.pop(at)
            full, reference = (old, new) if new[0] else (new, old)
            body = (full[1], full[2])
            needs.append(_Need(reference[3], reference[4], body, written_uri, written_date))
        elif fresh:
            fresh.pop()
            yield "altered"
        else:
            yield "missing"
    yield from ("surplus" for _ in fresh)


def _join(needs: Iterable[_Need], originals: Iterable[_Original]) -> Iterator[QuickFinding]:
    """Look every need up; both in order of URI and date."""
    standing = (
        (place, {original.body for original in group})
        for place, group in groupby(originals, key=lambda original: original[:2])
    )
    nowhere: tuple[tuple[str, str], set[_Body]] = (("", ""), set())
    place, bodies = next(standing, nowhere)
    for need in needs:
        while place < need[:2]:
            entry = next(standing, None)
            if entry is None:
                break
            place, bodies = entry
        if place != need[:2]:
            yield QuickFinding("dangling", need.of_uri, need.of_date)
        elif need.body not in bodies:
            yield QuickFinding("other-body", need.of_uri, need.of_date)
