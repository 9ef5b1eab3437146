"""Full records and references as lines, sent to the task that judges those of one URI.

The sorted values of a URI are in the order of `dedupe.references.stream`: requested record ids,
then, by second, full records before revisits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain

from pinakes.dedupe.references.outcomes import Full, Revisit
from pinakes.dedupe.references.resolution import Reference, reference_of
from pinakes.dedupe.references.stream import judge_references, place_of, uri_of, wanted_id
from pinakes.dedupe.references.values import as_bytes, full_of, indexed_full, revisit_of
from pinakes.index.external_sort import Spool
from pinakes.mr_jobs.lines.sort_text import SEPARATOR, from_sortable, sortable
from pinakes.warc.record import Record

Pair = tuple[bytes, bytes]
_WANTED, _ENTRY = b"0", b"1"
_BYTES = ("utf-8", "surrogateescape")


class DepartingReferences:
    """Collects what a pass over files finds, as `dedupe.references.values.FoundReferences`.

    Keys begin with `prefix`.  Full records without a URI are left out: nothing refers to them.
    """

    def __init__(self, prefix: bytes, name: str, pairs: Spool[Pair]) -> None:
        """`name` is that of the file with the references."""
        self._prefix = prefix
        self._name = _data(name)
        self._pairs = pairs

    def add_file(self, name: str) -> int:
        """A file; there is only one, with a known name."""
        return 0

    def add_full(self, record: Record, body: str, *, stays: bool) -> None:
        """See `FoundReferences`."""
        uri, full = full_of(record, body, stays=stays)
        if uri is not None:
            self._send(uri, full)

    def add_indexed(
        self,
        target_uri: str | None,
        date: str | None,
        digest: str | None,
        *,
        record_id: str | None = None,
        file: int | None = None,
    ) -> None:
        """See `dedupe.reference_check.IndexedReferences`."""
        uri, full = indexed_full(target_uri, date, digest, record_id)
        if uri is not None:
            self._send(uri, full)

    def add_reference(self, file: int, record: Record, kind: str, body: str | None = None) -> None:
        """See `FoundReferences`."""
        revisit = revisit_of(record, kind, body, name=self._name)
        uri = uri_of(revisit) or b""  # among the full records of no URI there is none
        record_id = wanted_id(revisit)
        if record_id is not None:
            self._pairs.append((self._key(uri), _WANTED + sortable(_text(record_id))))
        self._send(uri, revisit)

    def _send(self, uri: bytes, entry: Full | Revisit) -> None:
        second, rank = place_of(entry)
        order = _ENTRY + SEPARATOR.join((sortable(second), b"%d" % rank))
        text = json.dumps([_plain(field) for field in entry]).encode()
        self._pairs.append((self._key(uri), SEPARATOR.join((order, text))))

    def _key(self, uri: bytes) -> bytes:
        return self._prefix + sortable(_text(uri))


def arriving_references(values: Iterable[bytes]) -> Iterator[Reference]:
    """Yield each reference to one URI with its outcome, from its sorted values.

    Memory: as `judge_references`.
    """
    stream = iter(values)
    wanted: set[bytes] = set()
    first: list[bytes] = []
    for value in stream:
        if value.startswith(_ENTRY):
            first.append(value)
            break
        wanted.add(_data(from_sortable(value.removeprefix(_WANTED))))
    judged = judge_references(wanted, map(_entry, chain(first, stream)))
    for revisit, outcome in judged:
        yield reference_of(revisit, outcome)


def _entry(value: bytes) -> Full | Revisit:
    _, rank, text = value.split(SEPARATOR, 2)
    fields = json.loads(text)
    if rank == b"0":
        return Full(*fields)._replace(id=as_bytes(fields[0]))
    revisit = Revisit(*fields)
    return revisit._replace(
        uri=as_bytes(fields[2]),
        id=as_bytes(fields[4]),
        own_uri=as_bytes(fields[8]),
        name=_data(fields[10]),
    )


def _plain(field: object) -> object:
    return _text(field) if isinstance(field, bytes) else field


def _text(data: bytes) -> str:
    return data.decode(*_BYTES)


def _data(text: str) -> bytes:
    return text.encode(*_BYTES)
