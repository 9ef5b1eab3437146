"""What records say of themselves and of others, as references are judged by.  Pure.

full record ─▶ URI, Full        revisit ─▶ Revisit        (judged by `outcomes`)
"""

from __future__ import annotations

from typing import Protocol

from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.digest import parse_digest
from pinakes.warc.record import Record
from pinakes.warc.revisit import is_ours

from .outcomes import WHOLE, Full, Revisit
from .stream import NOWHERE, RecordStretch

ALGORITHM = "sha256"
FULL_TYPES = ("response", "resource")
"""Of records that others may refer to."""


class FoundReferences(Protocol):
    """Takes full records, and references to them, as files are walked through."""

    def add_file(self, name: str) -> int:
        """A number for the file, to be given with its references."""
        ...

    def add_full(self, uri: str | None, full: Full, stretch: RecordStretch = NOWHERE) -> None:
        """A full record of this target URI; `stretch` is where it is, by the number of its file."""
        ...

    def add_reference(self, file: int, record: Record, kind: str, body: str | None = None) -> None:
        """A revisit; `body` is what its original's must be (SHA-256), None where it is unknown."""
        ...


def body_of(record: Record) -> str:
    """The SHA-256 of a record's stored body, in hex."""
    return record.payload_digest(ALGORITHM).hex


def full_of(record: Record, body: str, *, stays: bool) -> tuple[str | None, Full]:
    """A full record's target URI, and what is judged by; `body` as `body_of` has it.

    `stays` is false for one that was full before and is a revisit now.
    """
    uri, full = indexed_full(
        record.target_uri, record.date_text, digest_of(record), record.record_id
    )
    return uri, full._replace(body=body, stays=int(stays))


def indexed_full(
    target_uri: str | None,
    date: str | None,
    digest: str | None,
    record_id: str | None = None,
    *,
    proof: str = WHOLE,
) -> tuple[str | None, Full]:
    """The same of a full record as its header or an index describes it: `digest` as it is looked up
    by."""
    full = Full(
        id=record_id,
        second=second_or_date(date),
        declared=normal_digest(digest),
        written=digest,
        body=None,
        stays=1,
        proof=proof,
    )
    return target_uri, full


def digest_of(record: Record) -> str:
    """What a full record is looked up by: the digest that it declares, else its body's SHA-1."""
    return record.header.payload_digest or str(record.payload_digest("sha1"))


def revisit_of(record: Record, kind: str, body: str | None, *, file: str) -> Revisit:
    """A revisit, and what it refers to; `body` as `FoundReferences` has it."""
    header = record.header
    uri, date, record_id = header.refers_to()
    digest = header.payload_digest
    return Revisit(
        ordinal=record.ordinal,
        kind=kind,
        uri=uri,
        second=second_or_date(date) if uri else None,
        id=record_id,
        declared=normal_digest(digest),
        written=digest,
        body=body,
        own_uri=record.target_uri,
        own_second=second_or_date(record.date_text),
        file=file,
        is_ours=is_ours(header),
    )


def normal_digest(digest: str | None) -> str | None:
    """A digest in our spelling, where it is one."""
    parsed = parse_digest(digest) if digest else None
    return str(parsed) if parsed else None


def second_or_date(date: str | None) -> str | None:
    """The second that a date is in, 14 digits; what is no date, as it is."""
    moment = parse_date(date) if date else None
    return format_14(moment) if moment else date
