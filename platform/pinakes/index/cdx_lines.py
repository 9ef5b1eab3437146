"""Index lines from the records of an archive file.

A line for each response, resource and revisit with a URL and a readable date.  The urlkey of the
answer to another method than GET has the request's query (`post_query`), as replay tools look it
up; its request is one of the records next to it.

An index names a gzip member, and a replay tool reads the first record there.  So a record after
it in its member has no line: its place would be that of another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from pinakes.hbase_schema.capture_cells import REVISIT_MIME, cdx_digest
from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.record import Record

from .beside import BESIDE_RECORDS, RecordNames, are_beside, names_of
from .cdxj import CdxLine
from .post_query import request_query, with_query
from .scan import CAPTURE_TYPES
from .selection import entry_of
from .urlkey import urlkey

NOT_FOUND_BY = "a capture without URL or readable date"
SHARED_MEMBER = "several records share one gzip member, and this capture is not the first"
"""Why a capture has no line."""


class _Request(NamedTuple):
    names: RecordNames
    query: str


class _Held(NamedTuple):
    names: RecordNames
    line: CdxLine
    is_answer: bool


def iter_cdx_lines(
    records: Iterable[Record], filename: str, *, on_unplaced: Callable[[int, str], None]
) -> Iterator[CdxLine]:
    """The lines of one file's captures, in their order; `on_unplaced` gets the offset of those
    that have none, and why.

    `filename` stands in them.  Holds some lines back.
    """
    held: deque[_Held] = deque()
    requests: deque[_Request] = deque(maxlen=BESIDE_RECORDS)
    for record in records:
        if record.type == "request":
            request = _request_of(record)
            if request is not None:
                for at, one in enumerate(held):
                    held[at] = _answering(one, request)
                requests.append(request)
            continue
        if record.type not in CAPTURE_TYPES:
            continue
        line = _line_of(record, filename)
        if line is None or record.inner_offset:
            on_unplaced(record.offset, NOT_FOUND_BY if line is None else SHARED_MEMBER)
            continue
        one = _Held(names_of(record), line, record.type != "resource")
        for request in requests:
            one = _answering(one, request)
        held.append(one)
        if len(held) > BESIDE_RECORDS:
            yield held.popleft().line
    for one in held:
        yield one.line


def _line_of(record: Record, filename: str) -> CdxLine | None:
    entry = entry_of(record, filename)
    moment = parse_date(entry.date or "")
    if moment is None or not entry.target_uri:
        return None
    digest = entry.digest
    if digest is None and record.type != "revisit":
        digest = str(record.payload_digest())
    return CdxLine(
        urlkey(entry.target_uri),
        format_14(moment),
        entry.target_uri,
        REVISIT_MIME if record.type == "revisit" else entry.media_type,
        None if entry.status is None else str(entry.status),
        cdx_digest(digest) if digest else None,
        entry.length,
        entry.offset,
        filename,
    )


def _request_of(record: Record) -> _Request | None:
    """A request that has a query of its own: not a GET."""
    if record.starts_with(b"GET "):
        return None
    query = request_query(record)
    return _Request(names_of(record), query) if query is not None else None


def _answering(one: _Held, request: _Request) -> _Held:
    if not one.is_answer or one.line.extra or not are_beside(request.names, one.names):
        return one
    method, _, body = request.query.removeprefix("__wb_method=").partition("&")
    extra = {"method": method, **({"requestBody": body} if body else {})}
    key = urlkey(with_query(one.line.url or "", request.query))
    return one._replace(line=one.line._replace(urlkey=key, extra=extra))
