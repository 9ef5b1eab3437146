"""`process`: copy numbers and originals for a resolved manifest.

Captures are grouped by content in columns; of what is pinned, or an original already, the rules
in `clusters` judge one capture after another.  No archive file is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from pinakes.errors import ConfigError
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace
from pinakes.index.manifest import ManifestLine
from pinakes.index.seconds import second_of

from .bodies import BodyReader
from .capture_table import CaptureTable, blob_of, line_of, text_of
from .clusters import (
    CLASH,
    FULL_AMBIGUOUS,
    FULL_UNADDRESSABLE,
    PINNED,
    SETTLED,
    ContentCluster,
)
from .counting import Decisions, ProcessCount
from .flags import flag_captures
from .resolve import resolve_captures, resolved_line, trust_digests
from .trust import Trust

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
    before the first is yielded.  Memory: that of a `CaptureTable`.

    Raises:
        ConfigError: for a line that may take part and has not been resolved.
    """
    with CaptureTable(space) as table:
        table.load(lines)
        decide_captures(table, count, resources=resources, space=space)
        yield from decided_lines(table)


def resolve_and_process(
    lines: Iterable[ManifestLine],
    bodies: BodyReader | None,
    decisions: Decisions,
    *,
    trust: Trust | None = None,
    resources: bool = False,
    only_duplicates: bool = False,
    space: SortSpace = DEFAULT_SPACE,
) -> Iterator[ManifestLine]:
    """What `process_lines` gives of what `resolve_lines` gives, over one table.

    Raises:
        ConfigError: as `resolve_lines`.
    """
    if bodies is None:
        lines = trust_digests(lines, decisions.resolved)
    with CaptureTable(space) as table:
        table.load(lines, anew=True)
        if bodies is not None:
            resolve_captures(table, bodies, decisions.resolved, trust, space)
        decide_captures(table, decisions.processed, resources=resources, space=space)
        yield from duplicate_lines(table) if only_duplicates else decided_lines(table)


def decide_captures(
    table: CaptureTable, count: ProcessCount, *, resources: bool = False, space: SortSpace
) -> None:
    """Decide on the captures of a table, into tables of it.

        eligible   n                     what takes part
        decided    n, copy, original, why
                   what is a copy, with the `n` of its original, and what stays full for a reason

    Raises:
        ConfigError: as `process_lines`.
    """
    flag_captures(table, space)
    table.execute(
        "CREATE TABLE eligible AS SELECT n, second, place, urlkey, digest, extension, status, "
        "variety, flags, length FROM flagged WHERE takes_part AND second IS NOT NULL "
        "AND (reason IS NULL OR ($resources AND reason = $resource))",
        resources=resources,
        resource=blob_of(RESOURCE),
    )
    _refuse_unresolved(table)
    _count_others(table, count)
    if table.has_repeated:
        _drop_repeated(table, count)
    table.execute(
        "CREATE TABLE groups AS SELECT row_number() OVER () AS g, * FROM ("
        "SELECT digest, extension, status, variety, bit_or(flags) AS flags, "
        "min({'second': second, 'place': place, 'n': n, 'urlkey': urlkey}) "
        "FILTER (flags & $clash = 0) AS first FROM eligible "
        "GROUP BY digest, extension, status, variety HAVING count(*) > 1)",
        clash=CLASH,
    )
    table.execute(
        "CREATE VIEW grouped AS SELECT eligible.*, g, first, groups.flags AS group_flags "
        "FROM eligible JOIN groups ON eligible.digest = groups.digest "
        "AND eligible.extension = groups.extension "
        "AND eligible.status IS NOT DISTINCT FROM groups.status "
        "AND eligible.variety IS NOT DISTINCT FROM groups.variety"
    )
    table.create("decided", {"n": "int64", "copy": "int64", "original": "int64", "why": "text"})
    if table.value("SELECT count(*) FROM groups"):
        _decide_plain(table)
        table.insert_rows("decided", _decide_kept(table))
    _count_decided(table, count)


def _refuse_unresolved(table: CaptureTable) -> None:
    for (stored,) in table.rows(
        "SELECT line FROM captures SEMI JOIN (SELECT n FROM eligible WHERE extension IS NULL) "
        "USING (n) ORDER BY n LIMIT 1"
    ):
        line = line_of(stored)
        raise ConfigError(
            "this line has no hash extension: run `pinakes resolve` on the manifest first",
            file=line.file,
            offset=line.offset,
        )


def _count_others(table: CaptureTable, count: ProcessCount) -> None:
    for is_revisit, reason, number in table.rows(
        "SELECT is_revisit, reason, count(*) FROM captures ANTI JOIN eligible USING (n) "
        "GROUP BY ALL"
    ):
        if is_revisit:
            count.revisits += number
        else:
            count.skipped["date-unreadable" if reason is None else text_of(reason)] += number


def _drop_repeated(table: CaptureTable, count: ProcessCount) -> None:
    """Of several lines about one record and content the first is decided on, and left."""
    table.execute(
        "CREATE TABLE repeated AS SELECT n FROM captures SEMI JOIN eligible USING (n) "
        "QUALIFY row_number() OVER "
        "(PARTITION BY digest, extension, file, start, inner_start ORDER BY second, n) > 1"
    )
    count.repeated += table.value("SELECT count(*) FROM repeated")
    table.execute("DELETE FROM captures WHERE n IN (SELECT n FROM repeated)")
    table.execute("DELETE FROM eligible WHERE n IN (SELECT n FROM repeated)")


def _decide_plain(table: CaptureTable) -> None:
    """Groups of which nothing is pinned or settled: columns tell what `ContentCluster` would.

    It would keep one candidate there, the first capture that can be addressed.
    """
    table.execute(
        "INSERT INTO decided WITH entry AS ("
        "SELECT g, n, second, place, first, "
        "row_number() OVER (PARTITION BY g ORDER BY second, place) AS number, "
        "CASE WHEN first IS NULL OR (second, place) <= (first.second, first.place) "
        "THEN $unaddressable "
        "WHEN second = first.second AND urlkey = first.urlkey THEN $ambiguous END AS why "
        "FROM grouped WHERE group_flags & $kept = 0) "
        "SELECT n, CASE WHEN why IS NULL THEN 1 + count(*) FILTER (why IS NULL) OVER "
        "(PARTITION BY g ORDER BY second, place ROWS UNBOUNDED PRECEDING) ELSE 1 END, "
        "CASE WHEN why IS NULL THEN first.n END, why FROM entry QUALIFY number > 1",
        unaddressable=blob_of(FULL_UNADDRESSABLE),
        ambiguous=blob_of(FULL_AMBIGUOUS),
        kept=PINNED | SETTLED,
    )


def _decide_kept(table: CaptureTable) -> Iterator[tuple[int, int, int | None, str | None]]:
    """The other groups: what is pinned or settled may be the original of several."""
    rows = table.rows(
        "SELECT g, n, grouped.flags, line FROM grouped JOIN captures USING (n) "
        "WHERE group_flags & $kept <> 0 ORDER BY g, grouped.second, grouped.place",
        kept=PINNED | SETTLED,
    )
    for _, group in groupby(rows, key=itemgetter(0)):
        cluster: ContentCluster[int] = ContentCluster()
        for _, number, flags, stored in group:
            line = line_of(stored)
            second = second_of(line.date) or ""
            copy, original, why = cluster.decide(second, line.target_uri, flags, number)
            if original is not None or why is not None:
                yield number, copy, original, why


def _count_decided(table: CaptureTable, count: ProcessCount) -> None:
    duplicates = 0
    for why, number, size in table.rows(
        "SELECT why, count(*), sum(length)::BIGINT FROM decided JOIN eligible USING (n) "
        "GROUP BY why"
    ):
        if why is None:
            duplicates += number
            count.duplicate_bytes += size
        else:
            count.full[text_of(why)] += number
    count.duplicates += duplicates
    count.originals += table.value("SELECT count(*) FROM eligible") - duplicates


def decided_lines(table: CaptureTable) -> Iterator[ManifestLine]:
    """All lines of a table that has been decided on, by place."""
    rows = table.rows(
        "SELECT captures.line, captures.extension, captures.reason, eligible.n, copy, why, "
        "original.line FROM captures LEFT JOIN eligible USING (n) LEFT JOIN decided USING (n) "
        "LEFT JOIN captures AS original ON original.n = decided.original ORDER BY captures.place"
    )
    for stored, extension, reason, taken, copy, why, original in rows:
        line = resolved_line(line_of(stored), extension, reason)
        if original is not None:
            yield _refer(line, copy, line_of(original))
        elif taken is not None:
            yield _keep(line, None if why is None else text_of(why))
        else:
            yield _undecided(line)


def duplicate_lines(table: CaptureTable) -> Iterator[ManifestLine]:
    """The copies among them."""
    rows = table.rows(
        "SELECT captures.line, captures.extension, copy, original.line "
        "FROM decided JOIN captures USING (n) "
        "JOIN captures AS original ON original.n = decided.original ORDER BY captures.place"
    )
    for stored, extension, copy, original in rows:
        yield _refer(resolved_line(line_of(stored), extension, None), copy, line_of(original))


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
