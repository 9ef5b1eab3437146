"""Captures as candidates for references: read in the bytes of their rows.

What look-ups by digest need of a capture is cut out of its `m:capture` as it is stored: to decode
all of it takes three times as long as the rest of an answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from pinakes.hbase_schema.capture_cells import (
    FACTS_LEAD,
    FIRST_GENERATION,
    NAME_END,
    NAME_LEAD,
    CaptureFacts,
    DedupeMark,
    ExternalLine,
    Location,
    Pin,
)
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.withdrawal_cells import Withdrawal
from pinakes.row_store.cells import decode_stored, read_cell
from pinakes.row_store.port import Row
from pinakes.warc.digest import Digest, parse_digest

from .captures import TABLE as CAPTURES

_DUPLICATE = 3
_RESPONSE = NAME_END + b'response"'
_ORDINAL = b',"ordinal":'
_INNER = b',"inner_offset":'
_STORED, _DECHUNKED = b',"payload_sha256":"', b',"dechunked_sha256":"'


class Traits(NamedTuple):
    """What policies go by: size of the stored body, media type, status, 14 digits."""

    size: int
    media_type: str | None
    status: int | None
    second: str


class Copy:
    """A capture with a digest: its row, and its `m:capture` as it is stored.

    What every look-up asks of it is found in the bytes: to read all fields of the cell takes three
    times as long as the rest of an answer.  A quote within a value is escaped, so a name with its
    quotes is that of a field.
    """

    __slots__ = ("_facts", "_row", "cells", "filename", "key", "name_end", "value")

    def __init__(self, row: Row) -> None:
        """Raises KeyError if the row has no facts, as a leftover."""
        self._row = row
        self.key = row.key
        self.cells = row.cells
        value = self.cells[CaptureFacts.COLUMN].value
        if not value.startswith(FACTS_LEAD):
            value = encode_cell(
                decode_stored(CaptureFacts, CAPTURES, row.key, CaptureFacts.COLUMN, value)
            )
        self.value = value
        start = value.find(NAME_LEAD) + len(NAME_LEAD)
        self.name_end = end = value.find(NAME_END, start)
        name = value[start:end]
        self.filename = str(json.loads(b'"%b"' % name)) if b"\\" in name else name.decode()
        """The archive file that it landed in."""
        self._facts: dict[str, Any] | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """All fields of the cell, by their names in it."""
        if self._facts is None:
            self._facts = json.loads(self.value)
        return self._facts

    @property
    def time(self) -> str:
        """Its time, 17 digits."""
        return self.key[-26:-9].decode("ascii")

    @property
    def second(self) -> str:
        """Its time, 14 digits."""
        return self.key[-26:-12].decode("ascii")

    @property
    def ordinal(self) -> int:
        """The number of its record in the file as landed."""
        start = self.value.find(_ORDINAL, self.name_end) + len(_ORDINAL)
        return int(self.value[start : self.value.find(b",", start)].rstrip(b"}"))

    def sha256(self, body: str) -> bytes | None:
        """The digest of its `stored` or `dechunked` body, as it is in the cell."""
        lead = _STORED if body == "stored" else _DECHUNKED
        start = self.value.find(lead, self.name_end) + len(lead)
        return self.value[start : self.value.find(b'"', start)] if start >= len(lead) else None

    def location(self, generation: int) -> Location | None:
        """Its place in a generation of its file, if it is known."""
        facts = self.facts
        if generation == FIRST_GENERATION and "offset" in facts and "length" in facts:
            return Location(
                offset=int(facts["offset"]),
                length=int(facts["length"]),
                inner_offset=int(facts.get("inner_offset", 0)),
            )
        return read_cell(Location, CAPTURES, self._row, numbered_column(Location, generation))

    @property
    def digests(self) -> set[Digest]:
        """Those that references may name it by."""
        names = ("digest", "payload_sha256", "dechunked_sha1", "dechunked_sha256")
        texts = (self.facts[name] for name in names if name in self.facts)
        return {digest for text in texts if (digest := parse_digest(text)) is not None}

    @property
    def traits(self) -> Traits:
        """What policies go by."""
        facts = self.facts
        status = str(facts.get("status", ""))
        return Traits(
            size=int(facts.get("payload_size", 0)),
            media_type=facts.get("media_type") or facts.get("mime"),
            status=int(status) if status.isdecimal() else None,
            second=self.second,
        )

    @property
    def choice(self) -> int:
        """0 if something refers to it, 1 if `dedupe` made it an original, 3 a duplicate, else 2."""
        if len(self.cells) == 1:
            return 2
        mark = read_cell(DedupeMark, CAPTURES, self._row)
        if mark is not None and mark.copy_number > 1:
            return _DUPLICATE
        pin = read_cell(Pin, CAPTURES, self._row)
        if pin is not None and pin.pinned:
            return 0
        return 1 if mark is not None else 2

    def is_fit(self, generation: int) -> bool:
        """Whether it is a full record that `dedupe` would let others refer to, in this generation
        of its file.

        One that declares the digest of no bytes is none: tools that go by declared digests would
        not find it.  Nor is one that is not the first of its member: no index has a line for it.
        """
        value, end = self.value, self.name_end
        return (
            value.startswith(_RESPONSE, end)
            and value.find(b',"skip":"', end) < 0
            and value.find(b',"declared_over":"none"', end) < 0
            and value.find(_STORED, end) > 0
            and Withdrawal.COLUMN not in self.cells
            and self.choice != _DUPLICATE
            and self._has_line(generation)
        )

    def _has_line(self, generation: int) -> bool:
        """Whether an index leads to it in this generation of its file."""
        value = self.value
        is_plain = generation == FIRST_GENERATION and value.find(_INNER, self.name_end) < 0
        if is_plain and value.find(b',"offset":"') > 0:
            return True
        location = self.location(generation)
        return location is not None and not location.inner_offset


def copies_of(rows: Iterable[Row]) -> dict[bytes, Copy]:
    """By key, those of these rows that are captures."""
    return {row.key: Copy(row) for row in rows if CaptureFacts.COLUMN in row.cells}


def gives_body_of(copy: Copy, row: Row, digests: set[Digest]) -> bool:
    """Whether a row at the address of a capture gives its body or none, as withdrawn ones do.

    `digests` are the capture's.
    """
    if row.value(Withdrawal.COLUMN) is not None:
        return True
    external = read_cell(ExternalLine, CAPTURES, row)
    if external is not None:
        return parse_digest(external.digest or "") in digests
    if CaptureFacts.COLUMN not in row.cells:
        return True
    other = Copy(row)
    facts = other.facts
    if facts["type"] == "revisit":
        return parse_digest(facts.get("declared_digest", "")) in digests
    is_fit = facts["type"] == "response" and "skip" not in facts
    return is_fit and other.sha256("stored") == copy.sha256("stored")
