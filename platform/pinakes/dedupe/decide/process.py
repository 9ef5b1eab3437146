"""`process`: copy numbers and originals for a resolved manifest.

Two sorts outside memory, by urlkey and second (`marks`) and by content, and one back to
file and offset, the order in which `refs` rewrites.  No archive file is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from pinakes.errors import ConfigError
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine, estimate_line_bytes, place_of
from pinakes.index.seconds import second_of

from .clusters import ContentCluster
from .counting import ProcessCount
from .marks import mark_lines

RESOURCE = "resource"
REPEATED = "repeated"
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


def process_lines(
    lines: Iterable[ManifestLine],
    *,
    count: ProcessCount,
    resources: bool = False,
    space: SortSpace = DEFAULT_SPACE,
) -> Iterator[ManifestLine]:
    """Yield every line with its decision, in order of file, offset, inner offset.

    A line that may take part gets a copy number: 1 where the record stays full, more
    where it is to become a revisit, with the original it refers to in the `original_`
    fields.  Earlier decisions in the lines are dropped, so that processing twice is
    processing once.  `resources` lets `resource` records take part, too.  Reads all lines
    before the first is yielded; memory is a few times `space`.

    Raises:
        ConfigError: for a line that may take part and has not been resolved.
    """
    with Spool[ManifestLine](space=space, item_bytes=estimate_line_bytes) as rest:
        entries = _entries(lines, rest, count, resources=resources, space=space)
        by_content = sort_outside_memory(entries, space=space, item_bytes=_entry_bytes)
        # `rest` last: all that is in it is there by then.
        decided = chain(decide_contents(by_content, count), rest)
        yield from sort_outside_memory(
            decided, key=place_of, space=space, item_bytes=estimate_line_bytes
        )


def _entries(
    lines: Iterable[ManifestLine],
    rest: Spool[ManifestLine],
    count: ProcessCount,
    *,
    resources: bool,
    space: SortSpace,
) -> Iterator[Entry]:
    """What is to be decided on; the other lines go to `rest`."""
    number = 0
    for line, flags in mark_lines(lines, space=space):
        file, offset, _, _, date, digest, extension = line[:7]
        second = second_of(date)
        if is_decided_on(line, resources=resources):
            if extension is None or second is None:
                raise ConfigError(
                    "this line has no hash extension: run `pinakes resolve` on the manifest first",
                    file=file,
                    offset=offset,
                )
            number += 1
            yield (
                digest, extension, second, file, offset, line.inner_offset, number, flags, line
            )  # fmt: skip
            continue
        rest.append(leave_undecided(line, count))


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


def _entry_bytes(entry: Entry) -> int:
    return 200 + estimate_line_bytes(entry[8])
