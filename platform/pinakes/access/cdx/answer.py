"""Answers to CDX queries: rows of a key range, as lines in the order asked for.

    rows of captures ─▶ lines ─▶ access rules ─▶ revisits resolved ─▶ filter ─▶ collapse ─▶ limit
          │               └ files seen now, their generations
          └ some at a time; a scan holds nothing open between

No more rows are read than lines are given, but for those that are hidden, filtered or collapsed.
Their number is bounded: a query that leaves out more than `MOST_LEFT_OUT` rows is refused, or, if
it asked for a resume key, ends there with one.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial

from pinakes.access.rules import OPEN, AccessRules
from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import TABLE
from pinakes.catalog.visible_files import VisibleFiles
from pinakes.errors import ConfigError
from pinakes.hbase_schema.ranges import KeyRange
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore

from .distance import in_batches, in_order_of_second, merged, nearest, seconds, with_distance
from .filters import with_hints
from .lines import VALUES, Line
from .originals import with_originals
from .outputs import output_of
from .parameters import MOST_SORTED, CdxQuery, Dialect, Sort, encode_resume_key
from .row_lines import RowLines

MOST_LEFT_OUT = 1_000_000
_PIECE_ROWS = 1000


class TooManyRows(ConfigError):
    """A query leaves out too many rows: narrow it, or take it piece by piece."""


@dataclass(slots=True)
class AnswerProgress:
    """What an answer has read and given so far; `resume_key` is set once it has ended early."""

    rows: int = 0
    lines: int = 0
    resume_key: str | None = None

    @property
    def left_out(self) -> int:
        """Rows that were read, and are not given."""
        return max(0, self.rows - self.lines)


class CdxIndex:
    """Answers queries from a row store.  Safe for several threads."""

    def __init__(
        self,
        store: RowStore,
        archive: ArchiveReader,
        *,
        rules: AccessRules = OPEN,
        files: VisibleFiles | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(timezone.utc),
        most_left_out: int = MOST_LEFT_OUT,
    ) -> None:
        self._store = store
        self._most_left_out = most_left_out
        self.lines = RowLines(
            store, archive, rules=rules, files=files or VisibleFiles(store), now=now
        )

    def stored_answer(
        self, query: CdxQuery, collection: str | None, progress: AnswerProgress
    ) -> bytes | None:
        """The whole answer, if it is CDXJ, as it is stored, and of few rows; else None.

        Most queries are answered by this, in one or two reads.
        """
        if query.output != "cdxj" or query.fields is not None or not query.is_in_order:
            return None
        if query.filters:
            return self._filtered_as_stored(query, collection, progress)
        if query.sort is Sort.CLOSEST:
            values = self._closest_values(query)
        else:
            wanted = min(query.limit, _PIECE_ROWS)
            values = self._store.scan_values(TABLE, query.keys, VALUES, limit_rows=wanted)
            if len(values) == wanted and (wanted < query.limit or query.shows_resume_key):
                return None
        return self.lines.as_stored(values, collection) if values else None

    def _filtered_as_stored(
        self, query: CdxQuery, collection: str | None, progress: AnswerProgress
    ) -> bytes | None:
        """The lines that filters keep of few rows; None where more have to be read."""
        if query.sort is not Sort.DEFAULT or query.shows_resume_key:
            return None
        most = min(max(16, 4 * query.limit), _PIECE_ROWS, self._most_left_out)
        values = self._store.scan_values(TABLE, query.keys, VALUES, limit_rows=most)
        lines = self._kept_of(query, collection, values)
        if len(values) == most and len(lines) < query.limit:
            return None
        progress.rows = len(values)
        progress.lines = len(lines)
        return output_of(query).written(lines[: query.limit])

    def iter_bytes(
        self, query: CdxQuery, collection: str | None, progress: AnswerProgress
    ) -> Iterator[bytes]:
        """The answer to a query in the form it asks for, in pieces, some of them empty; lazy.

        `collection` None: of all.  `progress` is filled in on the way.
        """
        output = output_of(query)
        if query.is_in_order and not query.filters and output.is_stored:
            rest: CdxQuery | None = query
            if query.sort is Sort.DEFAULT:
                rest = yield from self._as_stored(query, collection, progress)
            if rest is None:
                if progress.resume_key is not None:
                    yield output.resumed(progress.resume_key)
                return
            query = rest
        yield from output.iter_bytes(
            self.iter_lines(query, collection, progress),
            lambda: progress.resume_key if query.shows_resume_key else None,
        )

    def _as_stored(
        self, query: CdxQuery, collection: str | None, progress: AnswerProgress
    ) -> Generator[bytes, None, CdxQuery | None]:
        """Lines as they are stored, up to a piece that has rows of which there is another line,
        or none; returns what is left of the query then."""
        keys, left = query.keys, query.limit
        while left:
            wanted = min(left, _PIECE_ROWS)
            values = self._store.scan_values(TABLE, keys, VALUES, limit_rows=wanted)
            text = self.lines.as_stored(values, collection)
            if text is None:
                return query._replace(keys=keys, limit=left)
            progress.rows += len(values)
            progress.lines += len(values)
            yield text
            if len(values) < wanted:
                return None
            left -= len(values)
            last = next(reversed(values))
            if query.shows_resume_key and not left:
                progress.resume_key = encode_resume_key(last, None)
            keys = _resumed(keys, last, reverse=False)
        return None

    def _closest_values(self, query: CdxQuery) -> dict[bytes, bytes]:
        """The rows closest to a time, the closest first; none where `_by_distance` has to look:
        there are very many, or several earlier ones are of one second.
        """
        wanted = query.limit
        if query.match != "exact" or wanted > _PIECE_ROWS:
            return {}
        at = _closest_key(query)
        before, after = self._store.values_around(
            TABLE, query.keys, at, VALUES, rows_before=wanted + 1, rows_after=wanted
        )
        if len({key[-26:-12] for key in before}) < len(before):
            return {}
        # Sorting keeps the order of what is equally far.
        earlier, later = [*before.items()][:wanted], [*after.items()]
        found = earlier + later if query.dialect is Dialect.PYWB else later + earlier
        if len(found) > 1:
            moment = seconds(query.closest or "")
            found.sort(key=lambda item: abs(seconds(item[0][-26:-12].decode("ascii")) - moment))
        return dict(found[:wanted])

    def iter_lines(
        self, query: CdxQuery, collection: str | None, progress: AnswerProgress
    ) -> Iterator[list[Line]]:
        """The lines of a query, in batches, some of them empty; lazy."""
        return self._within_bounds(query, self._batches(query, collection, progress), progress)

    def iter_page_counts(
        self, query: CdxQuery, collection: str | None, progress: AnswerProgress
    ) -> Iterator[bytes]:
        """How many pages an answer has, as pywb says it; empty pieces while lines are counted."""
        whole = query._replace(offset=0, limit=self._most_left_out)
        for _ in self.iter_lines(whole, collection, progress):
            yield b""
        if progress.lines == whole.limit:
            raise TooManyRows(
                f"more than {whole.limit:,} lines to count: take them in pieces with resumeKey"
            )
        pages = -(-progress.lines // query.page_lines)
        found = {"pages": pages, "pageSize": query.page_lines, "blocks": pages}
        yield json.dumps(found).encode("ascii") + b"\n"

    def _kept(
        self,
        query: CdxQuery,
        collection: str | None,
        progress: AnswerProgress,
        counted: Counter[str],
        keys: KeyRange,
        *,
        reverse: bool,
        first_rows: int,
    ) -> Iterator[list[Line]]:
        """Lines of a range, after filters; `counted` counts digests from piece to piece."""
        for values in self._pieces(keys, reverse=reverse, first_rows=first_rows):
            progress.rows += len(values)
            lines = self._kept_of(query, collection, values)
            if query.omits_self_redirects:
                lines = [line for line in lines if not _is_self_redirect(line)]
            if query.counts_duplicates:
                lines = [_counted(line, counted) for line in lines]
            yield lines

    def _kept_of(
        self,
        query: CdxQuery,
        collection: str | None,
        values: Mapping[bytes, bytes],
    ) -> list[Line]:
        """The lines of stored values that time and filters keep."""
        if not query.resolves_revisits:
            values = with_hints(values, query.filters)
        lines = self.lines.of(values, collection)
        if query.resolves_revisits:
            lines = with_originals(self._store, lines, self.lines)
        if query.start is not None or query.stop is not None:
            lines = [line for line in lines if _is_within(line, query)]
        for each in query.filters:
            lines = [line for line in lines if each.keeps(line)]
        return lines

    def _batches(
        self, query: CdxQuery, collection: str | None, progress: AnswerProgress
    ) -> Iterator[list[Line]]:
        """Lines in the order asked for, after filters, before limits."""
        kept = partial(self._kept, query, collection, progress, Counter())
        if query.sort is Sort.CLOSEST and query.closest is not None:
            return _collapsed(query, self._by_distance(query, kept))
        # What depends on the lines before it is not to be had from the end.
        from_end = query.is_last and not (query.collapse or query.counts_duplicates)
        reverse = (query.sort is Sort.REVERSE) is not from_end
        keys = query.keys
        if query.resume_after is not None:
            keys = _resumed(keys, query.resume_after, reverse=reverse)
        first_rows = min(query.limit + query.offset, _PIECE_ROWS) or 1
        batches = _collapsed(query, kept(keys, reverse=reverse, first_rows=first_rows))
        if from_end:
            return _read_from_end(query, batches)
        return _last(query, batches) if query.is_last else batches

    def _pieces(
        self, keys: KeyRange, *, reverse: bool, first_rows: int
    ) -> Iterator[dict[bytes, bytes]]:
        """The stored values of a range, by row key, in pieces that grow."""
        wanted = first_rows
        while True:
            values = self._store.scan_values(
                TABLE, keys, VALUES, limit_rows=wanted, reverse=reverse
            )
            yield values
            if len(values) < wanted:
                return
            keys = _resumed(keys, next(reversed(values)), reverse=reverse)
            wanted = min(max(4 * wanted, 16), _PIECE_ROWS)

    def _by_distance(
        self, query: CdxQuery, kept: Callable[..., Iterator[list[Line]]]
    ) -> Iterator[list[Line]]:
        """Lines by their distance from a time: of one urlkey from there both ways, else sorted."""
        moment = seconds(query.closest or "")
        wanted = query.limit + query.offset if query.collapse is None else MOST_SORTED
        if query.match != "exact":
            batches = kept(query.keys, reverse=False, first_rows=_PIECE_ROWS)
            return nearest(batches, moment, min(wanted, MOST_SORTED))
        at = _closest_key(query)
        later, earlier = KeyRange(at, query.keys.stop_row), KeyRange(query.keys.start_row, at)
        first_rows = max(1, min(wanted // 2 + 1, _PIECE_ROWS))
        forward = with_distance(kept(later, reverse=False, first_rows=first_rows), moment)
        backward = with_distance(kept(earlier, reverse=True, first_rows=first_rows), moment)
        is_pywb = query.dialect is Dialect.PYWB
        if is_pywb:
            backward = in_order_of_second(backward)
        lines = merged(forward, backward, earlier_first=is_pywb)
        return in_batches(lines, max(1, min(wanted, _PIECE_ROWS)))

    def _within_bounds(
        self, query: CdxQuery, batches: Iterator[list[Line]], progress: AnswerProgress
    ) -> Iterator[list[Line]]:
        """Skip `offset` lines, end after `limit`, and at the bound of rows that are left out."""
        skip, left = query.offset, query.limit
        last: Line | None = None
        for found in batches:
            batch = found[skip:]
            skip = max(0, skip - len(found))
            if len(batch) >= left:
                del batch[left:]
                progress.lines += len(batch)
                if query.shows_resume_key and batch:
                    progress.resume_key = _resume_key(query, batch[-1])
                yield batch
                return
            left -= len(batch)
            progress.lines += len(batch)
            last = batch[-1] if batch else last
            yield batch
            if progress.rows - progress.lines > self._most_left_out + query.offset:
                if not query.shows_resume_key or last is None:
                    raise TooManyRows(
                        f"the query reads more than {self._most_left_out:,} rows that it does not "
                        "give: narrow it, or take it in pieces with showResumeKey=true"
                    )
                progress.resume_key = _resume_key(query, last)
                return


def _closest_key(query: CdxQuery) -> bytes:
    """Where the rows of a URL from the time asked for on begin, within those asked for."""
    start_row, stop_row = query.keys
    at = start_row[: start_row.rindex(b" ") + 1] + (query.closest or "").encode("ascii")
    return max(start_row, at if stop_row is None else min(at, stop_row))


def _collapsed(query: CdxQuery, batches: Iterator[list[Line]]) -> Iterator[list[Line]]:
    if query.collapse is None:
        return batches
    return query.collapse.iter_kept(batches, query.resumed_value)


def _read_from_end(query: CdxQuery, batches: Iterable[list[Line]]) -> Iterator[list[Line]]:
    """The last lines of a range, which are read backwards, in the order asked for."""
    found: list[Line] = []
    for batch in batches:
        found += batch
        if len(found) >= query.limit:
            break
        yield []
    yield found[: query.limit][::-1]


def _last(query: CdxQuery, batches: Iterable[list[Line]]) -> Iterator[list[Line]]:
    """The last of all lines."""
    found: deque[Line] = deque(maxlen=query.limit)
    for batch in batches:
        found.extend(batch)
        yield []
    yield list(found)


def _resume_key(query: CdxQuery, line: Line) -> str:
    collapse = query.collapse
    return encode_resume_key(line.key, collapse.value(line) if collapse is not None else None)


def _resumed(keys: KeyRange, after: bytes, *, reverse: bool) -> KeyRange:
    """The rest of a range after a row."""
    if reverse:
        return KeyRange(keys.start_row, max(after, keys.start_row))
    return KeyRange(max(after + b"\0", keys.start_row), keys.stop_row)


def _is_within(line: Line, query: CdxQuery) -> bool:
    timestamp = line.timestamp.decode("ascii")
    return (query.start or "") <= timestamp <= (query.stop or "~")


def _is_self_redirect(line: Line) -> bool:
    target = line.value("redirect")
    if target is None or not (line.value("status") or "").startswith("3"):
        return False
    return urlkey(target).encode("utf-8", "replace") == line.urlkey


def _counted(line: Line, counted: Counter[str]) -> Line:
    """The line with the number of earlier lines of its digest, as Wayback's `dupecount`."""
    digest = line.value("digest") or ""
    count = counted[digest]
    if len(counted) < MOST_SORTED or count:
        counted[digest] += 1
    return line.with_fields(b'%b,"dupecount":"%d"' % (line.fields, count))
