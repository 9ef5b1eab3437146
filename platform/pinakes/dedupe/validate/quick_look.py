"""Two manifests side by side: a quick look at whether anything is missing.

Reads no archive file, proves nothing of bytes, and permits nothing: what a manifest says
of a record is what somebody once read there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine

QUICK_FINDINGS = {
    "missing": "a capture of before is not there after",
    "surplus": "a capture is there after that was not before",
    "altered": "the capture is there with another body",
    "dangling": "the capture is a revisit now, and nothing is where it refers to",
    "other-body": "the capture is a revisit now, and what it refers to has another body",
}
_BEFORE, _AFTER = 0, 1
_Body = tuple[str, int]


class QuickFinding(NamedTuple):
    """A capture that is not as it was; `code` is one of `QUICK_FINDINGS`."""

    code: str
    target_uri: str
    date: str


class _Entry(NamedTuple):
    # A tuple, sorted as it stands: one for each line of both manifests.
    uri: str
    date: str
    side: int
    revisit: bool
    digest: str
    size: int
    refers_uri: str
    refers_date: str


class _Need(NamedTuple):
    """A revisit's original, and the body it must have."""

    uri: str
    date: str
    body: _Body
    of_uri: str
    of_date: str


class _Original(NamedTuple):
    uri: str
    date: str
    body: _Body


def compare_manifests(
    before: Iterable[ManifestLine],
    after: Iterable[ManifestLine],
    *,
    space: SortSpace = DEFAULT_SPACE,
) -> Iterator[QuickFinding]:
    """Yield what differs, by target URI and date; then references that fail.

    Reads both wholly before the first is yielded; memory is a few times `space`.
    """
    entries = sort_outside_memory(_entries(before, after), space=space)
    with Spool[_Original](space=space) as originals, Spool[_Need](space=space) as needs:
        for (uri, date), group in groupby(entries, key=lambda entry: entry[:2]):
            for code in _compare_captures(list(group), originals, needs):
                yield QuickFinding(code, uri, date)
        yield from _join(sort_outside_memory(needs, space=space), originals)


def _entries(before: Iterable[ManifestLine], after: Iterable[ManifestLine]) -> Iterator[_Entry]:
    for side, lines in ((_BEFORE, before), (_AFTER, after)):
        for line in lines:
            yield _Entry(
                line.target_uri,
                line.date,
                side,
                line.type == "revisit",
                line.digest,
                line.size or 0,
                line.refers_uri or "",
                line.refers_date or "",
            )


def _compare_captures(
    entries: list[_Entry], originals: Spool[_Original], needs: Spool[_Need]
) -> Iterator[str]:
    """Compare the captures of one URI and date; note full ones, and what revisits need."""
    was = Counter(entry[3:] for entry in entries if entry.side == _BEFORE)
    now = Counter(entry[3:] for entry in entries if entry.side == _AFTER)
    uri, date = entries[0][:2]
    for revisit, digest, size, *_ in now:
        if not revisit:
            originals.append(_Original(uri, date, (digest, size)))
    gone, fresh = list((was - now).elements()), list((now - was).elements())
    for old in gone:
        # A full record became a revisit, or a revisit a full record.
        at = next((n for n, new in enumerate(fresh) if new[0] != old[0]), None)
        if at is not None:
            new = fresh.pop(at)
            full, reference = (old, new) if new[0] else (new, old)
            need = _Need(reference[3], reference[4], (full[1], full[2]), uri, date)
            needs.append(need)
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
