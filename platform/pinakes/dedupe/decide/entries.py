"""The captures of one content, decided one after the other, in order of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pinakes.index.manifest import ManifestLine
from pinakes.index.seconds import second_of

from .clusters import ContentCluster
from .counting import ProcessCount

RESOURCE = "resource"
Entry = tuple[str, int, str, str, int, int, int, int, ManifestLine]
"""Digest, extension, second, file, offset, inner offset, number, flags, line."""

Group = tuple[int | None, str | None, str | None]
"""Status, type, Content-Type."""

Clusters = dict[Group, ContentCluster[ManifestLine]]
"""What is known of one content so far, by group."""

_make = ManifestLine._make
# `copy_number` to `original_date`, and `original_file` to `full`: what is decided of a line.
_COPY = slice(7, 10)
_ORIGINAL = slice(20, 25)


def is_decided_on(line: ManifestLine, *, resources: bool) -> bool:
    """Whether a line is one that copies are looked for of."""
    if line.skip is not None or second_of(line.date) is None:
        return False
    return line.type is None or (resources and line.type == RESOURCE)


def leave_undecided(line: ManifestLine, count: ProcessCount) -> ManifestLine:
    """A line that takes no part, without what was decided earlier; counted."""
    if line.type == "revisit":
        count.revisits += 1
    else:
        count.skipped[line.skip or line.type or "date-unreadable"] += 1
    return _undecided(line)


def decide_contents(entries: Iterable[Entry], count: ProcessCount) -> Iterator[ManifestLine]:
    """The entries' lines, decided; entries in their own order.  Memory: some lines."""
    content: tuple[str, int] | None = None
    clusters: Clusters = {}
    place: tuple[str, int, int] | None = None
    for entry in entries:
        if content != entry[:2]:
            content, clusters, place = entry[:2], {}, None
        if place == entry[3:6]:
            count.repeated += 1
            continue
        place = entry[3:6]
        yield decide_entry(entry, clusters, count)


def group_of(line: ManifestLine) -> Group:
    """Within one content, captures that may refer to each other."""
    return line.status, line.type, line.ctype


def offer_entry(entry: Entry, clusters: Clusters) -> tuple[int, ManifestLine | None, str | None]:
    """Let the next capture of a content be decided on: `ContentCluster.decide`."""
    line = entry[8]
    group = group_of(line)
    cluster = clusters.get(group)
    if cluster is None:
        cluster = clusters[group] = ContentCluster()
    return cluster.decide(entry[2], line.target_uri, entry[7], line)


def decide_entry(entry: Entry, clusters: Clusters, count: ProcessCount) -> ManifestLine:
    """The next line of a content, decided; counted."""
    line = entry[8]
    copy, original, full = offer_entry(entry, clusters)
    if original is not None:
        count.duplicates += 1
        count.duplicate_bytes += line.length
        return _refer(line, copy, original)
    count.originals += 1
    if full is not None:
        count.full[full] += 1
    return _keep(line, full)


def _refer(line: ManifestLine, copy: int, original: ManifestLine) -> ManifestLine:
    file, offset, length, uri, date = original[:5]
    return _decided(
        line, (copy, uri, date), (file, offset, length, original.inner_offset, None)
    )  # fmt: skip


def _keep(line: ManifestLine, full: str | None) -> ManifestLine:
    return _decided(line, (1, None, None), (None, None, None, 0, full))


def _undecided(line: ManifestLine) -> ManifestLine:
    if line.copy_number is None and line.full is None:
        return line
    return _decided(line, (None, None, None), (None, None, None, 0, None))


def _decided(
    line: ManifestLine, copy: tuple[object, ...], original: tuple[object, ...]
) -> ManifestLine:
    # Half of what `_replace` or three slices take.
    values: list[object] = [*line]
    values[_COPY], values[_ORIGINAL] = copy, original
    return _make(values)
