"""Finds the request that a capture answers: the request record next to it.

Writers put a request before its response (wget) or after it (warcprox, warcio, Heritrix); the two
name each other by `WARC-Concurrent-To` or not at all.  A response without a request next to it
counts as the answer to a GET.

The response to another method than GET has the request's query in its row key, as replay tools
look it up (`index.post_query`), and is excluded from dedupe.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from pinakes.index.beside import BESIDE_RECORDS, are_beside
from pinakes.index.post_query import request_query, with_query
from pinakes.warc.record import Record

from .record_rows import row_key_of, sidecar_row
from .sidecar import SidecarRow

ANSWERS = frozenset({"response", "revisit"})
_METHOD = SidecarRow._fields.index("method")


class _Request(NamedTuple):
    row: SidecarRow
    query: str | None


def iter_rows(
    records: Iterable[Record], *, archive_file: str, landed: datetime
) -> Iterator[SidecarRow]:
    """The rows of a file's records, in their order, each capture with its request's method.

    A response to another method than GET gets `skip="method"`: an equal body would answer
    another request.  Holds back `BESIDE_RECORDS` rows.
    """
    held: deque[SidecarRow] = deque()
    passed: deque[_Request] = deque(maxlen=BESIDE_RECORDS)
    for record in records:
        row = sidecar_row(record, archive_file=archive_file, landed=landed)
        if row.type == "request":
            request = _Request(row, request_query(record) if row.method != "GET" else None)
            for at, capture in enumerate(held):
                if capture.method is None and capture.type in ANSWERS:
                    held[at] = _answer(capture, request, archive_file)
            passed.append(request)
        elif row.type in ANSWERS:
            for request in passed:
                if row.method is None:
                    row = _answer(row, request, archive_file)
        held.append(row)
        if len(held) > BESIDE_RECORDS:
            yield held.popleft()
    yield from held


def _answer(capture: SidecarRow, request: _Request, archive_file: str) -> SidecarRow:
    """A capture, with the method and query of this request if that is next to it."""
    asked, query = request
    if not are_beside(asked, capture):
        return capture
    if asked.method == "GET":
        # Does the same as `_replace` in a third of the time: nearly every capture comes here.
        return SidecarRow._make((*capture[:_METHOD], "GET", *capture[_METHOD + 1 :]))
    skip, row_key = capture.skip, capture.row_key
    if capture.type == "response":
        skip = skip or "method"
    if query is not None and capture.target_uri:
        uri = with_query(capture.target_uri, query)
        row_key = row_key_of(uri, capture.date, archive_file, capture.ordinal)
    return capture._replace(method=asked.method, skip=skip, row_key=row_key)
