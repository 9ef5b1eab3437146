"""The captures of one content, decided one after the other, in order of time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from pinakes.index.external_sort import Spool
from pinakes.index.manifest import ManifestLine
from pinakes.index.seconds import second_of

from .clusters import ALWAYS_FULL, ELSEWHERE, FULL_SCOPE, OFFERED, WAITS, ContentCluster
from .counting import ProcessCount
from .policy import scope_of, scoped_content

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


def decide_contents(
    entries: Iterable[Entry], count: ProcessCount, *, aside: WaitingEntries | None = None
) -> Iterator[ManifestLine]:
    """The entries' lines, decided; entries in their own order.  Memory: some lines.

    Those that wait for their scope are yielded undecided; or, with `aside`, left there.
    """
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
        line = decide_entry(entry, clusters, count)
        if line is not None and not (aside is not None and aside.takes(entry, line)):
            yield line


class WaitingEntries:
    """Sets aside what waits for its scope, and offers to every scope what stays full.

    `scopes` may be filled until the first line comes.
    """

    def __init__(self, scoped: Spool[Entry], scopes: Collection[str]) -> None:
        self._scoped = scoped
        self._scopes = scopes

    def takes(self, entry: Entry, line: ManifestLine) -> bool:
        """Whether a decided line is set aside, and not yielded where it is."""
        if line.copy_number is None:
            flags = entry[7] & ~WAITS | elsewhere_flag(line)
            self._scoped.append(scoped_entry(entry, scope_of(line.marks), flags))
            return True
        if line.copy_number == 1:
            for scope in self._scopes:
                self._scoped.append(scoped_entry(entry, scope, entry[7] | OFFERED))
        return False


def waits(line: ManifestLine, flags: int) -> bool:
    """Whether a line is decided on in its scope alone (`policy`)."""
    return not flags & ALWAYS_FULL and bool(scope_of(line.marks))


def elsewhere_flag(line: ManifestLine) -> int:
    """The flag for a line that has waited: whether there is an earlier copy of its content."""
    return ELSEWHERE if line.full is not None else 0


def scoped_entry(entry: Entry, scope: str, flags: int) -> Entry:
    """An entry among those that may refer to each other in a scope, with these flags."""
    digest, extension, second = entry[:3]
    content = scoped_content(scope, entry[8].target_uri, second)
    return (f"{digest} {content}", extension, second, *entry[3:7], flags, entry[8])


def group_of(line: ManifestLine) -> Group:
    """Within one content, captures that may refer to each other."""
    return line.status, line.type, line.ctype


def _cluster_of(entry: Entry, clusters: Clusters) -> ContentCluster[ManifestLine]:
    group = group_of(entry[8])
    cluster = clusters.get(group)
    if cluster is None:
        cluster = clusters[group] = ContentCluster()
    return cluster


def offer_entry(entry: Entry, clusters: Clusters) -> None:
    """Let the next capture of a content be decided on, where another part yields it."""
    decide_entry(entry, clusters, ProcessCount())


def decide_entry(entry: Entry, clusters: Clusters, count: ProcessCount) -> ManifestLine | None:
    """The next line of a content, decided; counted.

    One that waits for its scope is neither, and `full` says whether an earlier copy is there.
    None for one that is offered here, and decided before.
    """
    second, flags, line = entry[2], entry[7], entry[8]
    cluster = _cluster_of(entry, clusters)
    if flags & OFFERED:
        cluster.offer(second, line.target_uri, flags, line)
        return None
    if flags & WAITS:
        return _await(line, FULL_SCOPE if cluster.pass_over() else None)
    copy, original, full = cluster.decide(second, line.target_uri, flags, line)
    if original is not None:
        count.duplicates += 1
        count.duplicate_bytes += line.length
        return _refer(line, copy, original)
    count.originals += 1
    if full is not None:
        count.full[full] += 1
    return _keep(line, full)


def _await(line: ManifestLine, full: str | None) -> ManifestLine:
    return _decided(line, (None, None, None), (None, None, None, 0, full))


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
