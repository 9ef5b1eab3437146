"""Full records and references as lines, sent to the task that judges those of one URI.

The sorted values of a URI are in the order of `dedupe.references.stream`: requested record ids,
then, by second, full records before revisits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from pinakes.dedupe.references.outcomes import Full, Revisit
from pinakes.dedupe.references.resolution import Reference, reference_of
from pinakes.dedupe.references.stream import (
    NOWHERE,
    Entry,
    RecordStretch,
    entries_of,
    judge_references,
    place_of,
    uri_of,
)
from pinakes.dedupe.references.values import revisit_of
from pinakes.index.external_sort import Spool
from pinakes.mr_jobs.lines.sort_text import SEPARATOR, Pair, from_sortable, sortable
from pinakes.warc.record import Record

_WANTED, _ENTRY = b"0", b"1"


class DepartingReferences:
    """Collects what a pass over files finds, as `dedupe.references.values.FoundReferences`.

    Keys begin with `prefix`.  Full records without a URI are left out: nothing refers to them.
    """

    def __init__(self, prefix: bytes, name: str, pairs: Spool[Pair]) -> None:
        """`name` is that of the file with the references."""
        self._prefix = prefix
        self._name = name
        self._pairs = pairs

    def add_file(self, name: str) -> int:
        """A file; there is only one, with a known name."""
        return 0

    def add_full(self, uri: str | None, full: Full, stretch: RecordStretch = NOWHERE) -> None:
        if uri is not None:
            self._send(uri, full)

    def add_reference(self, file: int, record: Record, kind: str, body: str | None = None) -> None:
        revisit = revisit_of(record, kind, body, file=self._name)
        for entry in entries_of(revisit):
            self._send(uri_of(revisit) or "", entry)  # among the full records of no URI is none

    def _send(self, uri: str, entry: Entry) -> None:
        if isinstance(entry, str):
            value = _WANTED + sortable(entry)
        else:
            second, rank = place_of(entry)
            order = (sortable(second), b"%d" % rank, json.dumps(entry).encode())
            value = _ENTRY + SEPARATOR.join(order)
        self._pairs.append((self._prefix + sortable(uri), value))


def arriving_references(values: Iterable[bytes]) -> Iterator[Reference]:
    """Yield each reference to one URI with its outcome, from its sorted values.

    Memory: as `judge_references`.
    """
    for revisit, outcome in judge_references(map(_entry, values)):
        yield reference_of(revisit, outcome)


def _entry(value: bytes) -> Entry:
    if value.startswith(_WANTED):
        return from_sortable(value.removeprefix(_WANTED))
    _, rank, text = value.split(SEPARATOR, 2)
    fields = json.loads(text)
    return Full(*fields) if rank == b"0" else Revisit(*fields)
