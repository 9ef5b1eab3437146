"""Which request a capture answers: the request record beside it says.

Writers put a request before its response (wget) or behind it (warcprox, warcio,
Heritrix), name each other by `WARC-Concurrent-To` or not at all.  A response without
any request beside it is taken as the answer to a GET.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from .sidecar import SidecarRow

BESIDE_RECORDS = 4
ANSWERS = frozenset({"response", "revisit"})


def assign_methods(rows: Iterable[SidecarRow]) -> Iterator[SidecarRow]:
    """Give each response and revisit the method of its request; order stays.

    A capture that answers no GET gets `skip="method"`: an equal body was the answer to
    another question.  Holds back `BESIDE_RECORDS` rows.
    """
    held: deque[SidecarRow] = deque()
    passed: deque[SidecarRow] = deque(maxlen=BESIDE_RECORDS)
    for row in rows:
        if row.type == "request":
            for at, capture in enumerate(held):
                held[at] = _answer(capture, row)
            passed.append(row)
            held.append(row)
        else:
            if row.type in ANSWERS:
                for request in passed:
                    row = _answer(row, request)  # noqa: PLW2901
            held.append(row)
        if len(held) > BESIDE_RECORDS:
            yield held.popleft()
    yield from held


def _answer(capture: SidecarRow, request: SidecarRow) -> SidecarRow:
    if capture.method is not None or capture.type not in ANSWERS:
        return capture
    if request.concurrent_to or capture.concurrent_to:
        beside = (
            request.concurrent_to is not None and request.concurrent_to == capture.record_id
        ) or (capture.concurrent_to is not None and capture.concurrent_to == request.record_id)
    else:
        beside = request.target_uri == capture.target_uri
    if not beside:
        return capture
    skip = capture.skip
    if request.method != "GET" and capture.type == "response":
        skip = skip or "method"
    return capture._replace(method=request.method, skip=skip)
