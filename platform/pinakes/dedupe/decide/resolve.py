"""`resolve`: tell unequal bodies of one digest apart, by comparing them.

Each digest's bodies are compared with one representative per content found so far, and
numbered: the hash extension.  A digest with one capture costs nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Iterator
from itertools import groupby, islice
from operator import itemgetter

from pinakes.errors import ConfigError
from pinakes.index.eligibility import UNREADABLE
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine, estimate_line_bytes

from .bodies import BodyReader
from .capture_table import CaptureTable, blob_of, line_of, text_of
from .compare import Representative, UnreadableBody, read_body, represent
from .counting import Collision, ResolveCount, capture_of
from .second_digests import MOST_READ, find_collision
from .trust import Trust, is_strong

_MOST_ROUNDS = 16
"""Of the contents of one digest; real ones have one, real collisions two."""
_make = ManifestLine._make


def resolve_lines(
    lines: Iterable[ManifestLine],
    bodies: BodyReader | None,
    *,
    count: ResolveCount,
    trust: Trust | None = None,
    space: SortSpace = DEFAULT_SPACE,
) -> Iterator[ManifestLine]:
    """Yield every line, with a hash extension where it may take part; in no order.

    With `bodies` every body of a digest that occurs twice is compared.  A body that
    cannot be read leaves its line out (`skip=unreadable`), named in `count.problems`.
    Without, digests are trusted and nothing is read or sorted.  With `trust` bodies are read
    only where that does not believe two lines to be equal; what was not read is not known to
    be readable.  Where lines have a second digest (`trust.second_digest`), captures that are
    equal in it and unequal in the first are read, and are collisions if it is so.

    Extensions count contents in order of the file and offset of their first capture, so
    that they do not depend on the order of the lines.  Memory: a few times `space`, and
    `KEPT_BODY_BYTES` for the representative.

    Raises:
        ConfigError: without `bodies`, for a digest that is neither sha256 nor sha512.
    """
    if bodies is None:
        yield from trust_digests(lines, count)
        return
    with CaptureTable(space) as table:
        table.load(lines, anew=True)
        resolve_captures(table, bodies, count, trust, space)
        for stored, extension, reason in table.rows("SELECT line, extension, reason FROM captures"):
            yield resolved_line(line_of(stored), extension, reason)


def resolved_line(line: ManifestLine, extension: int | None, reason: bytes | None) -> ManifestLine:
    """A line with what the table has found of it."""
    if reason is not None and line.skip is None and text_of(reason) == UNREADABLE:
        return line._replace(hash_extension=None, skip=UNREADABLE)
    if line.hash_extension == extension:
        return line
    return _make((*line[:6], extension, *line[7:]))


def takes_part(line: ManifestLine) -> bool:
    """Whether this line's body is worth comparing."""
    return line.skip is None and line.type != "revisit"


def trust_digests(lines: Iterable[ManifestLine], count: ResolveCount) -> Iterator[ManifestLine]:
    """See `resolve_lines` without bodies."""
    for line in lines:
        if not takes_part(line):
            yield _pass(line, count)
            continue
        if not is_strong(line.digest):
            raise ConfigError(
                "--compare none needs a manifest made with --digest sha256 or sha512; "
                f"this line has {line.digest.partition(':')[0]}",
                file=line.file,
                offset=line.offset,
            )
        count.records += 1
        yield _extend(line, 0)


def resolve_captures(
    table: CaptureTable,
    bodies: BodyReader,
    count: ResolveCount,
    trust: Trust | None,
    space: SortSpace,
) -> None:
    """The same for the captures of a table, loaded anew: numbers contents in `extension`."""
    _count_captures(table, count)
    table.execute(
        "CREATE TABLE several AS SELECT digest, min(place) AS first, count(*) AS copies, "
        "count(size) IN (0, count(*)) AND min(size) IS NOT DISTINCT FROM max(size) "
        "AND count(second_digest) IN (0, count(*)) "
        "AND min(second_digest) IS NOT DISTINCT FROM max(second_digest) AS agree "
        "FROM captures WHERE takes_part GROUP BY digest HAVING count(*) > 1"
    )
    count.contents += count.clusters - table.value("SELECT count(*) FROM several")
    if trust is not None:
        _believe(table, trust, count)
    _keep_unequal(table, _compared(table, bodies, count, trust, space))
    count.collisions += _second_collisions(table, bodies, count)
    _note_unequal(table)


def _count_captures(table: CaptureTable, count: ResolveCount) -> None:
    query = "SELECT reason, count(*) FROM captures WHERE NOT takes_part GROUP BY reason"
    for reason, number in table.rows(query):
        count.skipped[text_of(reason)] += number
    ((records, digests),) = table.rows(
        "SELECT count(*), count(DISTINCT digest) FROM captures WHERE takes_part"
    )
    count.records += records
    count.clusters += digests


def _believe(table: CaptureTable, trust: Trust, count: ResolveCount) -> None:
    """Take the digests out of `several` of which no body need be read."""
    table.create("believed", {"first": "int64"})
    query = "SELECT first, digest FROM several WHERE agree"
    table.insert_rows(
        "believed",
        ((first,) for first, digest in table.rows(query) if trust.believes(text_of(digest))),
    )
    ((contents, copies),) = table.rows(
        "SELECT count(*), coalesce(sum(copies), 0)::BIGINT FROM several SEMI JOIN believed "
        "USING (first)"
    )
    count.contents += contents
    count.believed += copies - contents
    table.execute("DELETE FROM several WHERE first IN (SELECT first FROM believed)")


def _compared(
    table: CaptureTable,
    bodies: BodyReader,
    count: ResolveCount,
    trust: Trust | None,
    space: SortSpace,
) -> Iterator[ManifestLine]:
    """The captures of a digest that occurs twice, compared, `copy_number` their `n`.

    Digests come by where their first capture lies.
    """
    rows = table.rows(
        "SELECT first, n, line FROM captures JOIN several USING (digest) "
        "WHERE takes_part ORDER BY first, place"
    )
    for _, cluster in groupby(rows, key=itemgetter(0)):
        lines = (line_of(stored)._replace(copy_number=number) for _, number, stored in cluster)
        yield from number_contents(lines, bodies, count, space, trust, most_rounds=_MOST_ROUNDS)


def _keep_unequal(table: CaptureTable, compared: Iterable[ManifestLine]) -> None:
    """Keep what the comparison has told apart or left out: of most lines it has nothing to say."""
    table.create("unequal", {"n": "int64", "extension": "int64"})
    table.insert_rows(
        "unequal",
        ((line.copy_number, line.hash_extension) for line in compared if line.hash_extension != 0),
    )


def _note_unequal(table: CaptureTable) -> None:
    table.execute(
        "UPDATE captures SET extension = unequal.extension, "
        "takes_part = unequal.extension IS NOT NULL, "
        "reason = CASE WHEN unequal.extension IS NULL THEN $unreadable ELSE reason END "
        "FROM unequal WHERE captures.n = unequal.n",
        unreadable=blob_of(UNREADABLE),
    )


def _second_collisions(
    table: CaptureTable, bodies: BodyReader, count: ResolveCount
) -> Iterator[Collision]:
    """The second digests that bodies of several first digests really have."""
    rows = table.rows(
        "SELECT second_digest, arg_min(line, place) FROM captures SEMI JOIN "
        "(SELECT second_digest FROM captures "
        "WHERE takes_part AND second_digest IS NOT NULL "
        "GROUP BY second_digest HAVING count(DISTINCT digest) > 1) USING (second_digest) "
        "WHERE takes_part GROUP BY second_digest, digest ORDER BY second_digest, digest"
    )
    for second, group in groupby(rows, key=itemgetter(0)):
        contents = [line_of(stored) for _, stored in islice(group, MOST_READ)]
        count.second_digests_unread += sum(1 for _ in group)
        collision = find_collision(text_of(second), contents, bodies, count.problems)
        if collision is not None:
            yield collision


def number_contents(
    lines: Iterable[ManifestLine],
    bodies: BodyReader,
    count: ResolveCount,
    space: SortSpace,
    trust: Trust | None = None,
    *,
    most_rounds: int | None = None,
) -> Iterator[ManifestLine]:
    """Give the captures of one digest, ordered by place, their extensions.

    One round a content: the first capture that is left stands for it, those equal to it
    leave, the others go another round.  With `trust` no body is read that it can do without.
    After `most_rounds` what is left is told apart by its SHA-256 first, each body read once
    more: a digest that is declared, or broken, may have as many contents as captures.
    """
    found: list[ManifestLine] = []
    extension, left = yield from _rounds(lines, bodies, count, space, trust, found, 0, most_rounds)
    if left:
        for group in _by_sha256(left, bodies, count, space):
            if isinstance(group, ManifestLine):
                yield group
            else:
                extension, _ = yield from _rounds(
                    group, bodies, count, space, None, found, extension, None
                )
    count.contents += extension
    if len(found) > 1:
        count.collisions.append(Collision(found[0].digest, tuple(map(capture_of, found))))


def _rounds(
    lines: Iterable[ManifestLine],
    bodies: BodyReader,
    count: ResolveCount,
    space: SortSpace,
    trust: Trust | None,
    found: list[ManifestLine],
    extension: int,
    most: int | None,
) -> Generator[ManifestLine, None, tuple[int, Iterable[ManifestLine]]]:
    """Rounds from this extension on; the next one, and what is left after `most` rounds.

    `found` gets the first line of each content.
    """
    believed: Trust | None = None
    waiting: Iterable[ManifestLine] = lines
    while True:
        unequal: Spool[ManifestLine] = Spool(space=space, item_bytes=estimate_line_bytes)
        one: Representative | None = None
        lost = False
        for line in waiting:
            try:
                if one is None:
                    believed = trust if trust is not None and trust.believes(line.digest) else None
                    one = (
                        represent(line, bodies)
                        if believed is None
                        else Representative(line, None, is_read=False)
                    )
                    found.append(line)
                elif believed is not None and believed.agree(one.line, line):
                    count.believed += 1
                elif not one.equals(line, bodies):
                    unequal.append(line)
                    continue
            except UnreadableBody as fault:
                count.problems.append(fault.problem)
                if fault.line is not line:
                    # The representative, read once, is unreadable now: another must do.
                    lost = True
                    unequal.append(line)
                else:
                    yield _leave_out(line, count)
                continue
            yield _extend(line, extension)
        if one is None:
            return extension, ()
        count.compared_bytes += one.compared_bytes
        extension += 1
        if lost:
            # Nobody knows whether the next content is this one: no collision.
            found.pop()
        if not unequal or extension == most:
            return extension, unequal
        waiting = unequal


def _by_sha256(
    lines: Iterable[ManifestLine], bodies: BodyReader, count: ResolveCount, space: SortSpace
) -> Iterator[ManifestLine | Iterator[ManifestLine]]:
    """The lines in groups of one SHA-256, ordered by their first; and those left out."""
    known: Spool[tuple[bytes, int, ManifestLine]] = Spool(space=space, item_bytes=_hashed_bytes)
    for number, line in enumerate(lines):
        digest = hashlib.sha256()
        try:
            for piece in read_body(line, bodies):
                count.compared_bytes += len(piece)
                digest.update(piece)
        except UnreadableBody as fault:
            count.problems.append(fault.problem)
            yield _leave_out(line, count)
        else:
            known.append((digest.digest(), number, line))

    def in_groups() -> Iterator[tuple[int, int, ManifestLine]]:
        ordered = sort_outside_memory(
            known, key=itemgetter(0, 1), space=space, item_bytes=_hashed_bytes
        )
        for _, group in groupby(ordered, key=itemgetter(0)):
            first: int | None = None
            for _, number, line in group:
                first = number if first is None else first
                yield first, number, line

    ordered = sort_outside_memory(
        in_groups(), key=itemgetter(0, 1), space=space, item_bytes=_hashed_bytes
    )
    for _, group in groupby(ordered, key=itemgetter(0)):
        yield (line for _, _, line in group)


def _extend(line: ManifestLine, extension: int) -> ManifestLine:
    return _make((*line[:6], extension, *line[7:]))


def _pass(line: ManifestLine, count: ResolveCount) -> ManifestLine:
    count.skipped[line.skip or line.type or ""] += 1
    return line if line.hash_extension is None else _make((*line[:6], None, *line[7:]))


def _leave_out(line: ManifestLine, count: ResolveCount) -> ManifestLine:
    count.skipped[UNREADABLE] += 1
    count.records -= 1
    return line._replace(hash_extension=None, skip=UNREADABLE)


def _hashed_bytes(entry: tuple[object, int, ManifestLine]) -> int:
    return 160 + estimate_line_bytes(entry[-1])
