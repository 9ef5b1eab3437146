"""Which request a capture answers: a record near it in the file.

Writers put a request before its response (wget) or after it (warcprox, warcio, Heritrix); the two
name each other by `WARC-Concurrent-To` or not at all.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from pinakes.warc.field_names import WARC_CONCURRENT_TO_KEY
from pinakes.warc.header import strip_brackets
from pinakes.warc.record import Record

BESIDE_RECORDS = 4
"""So many records before or after a capture its request is looked for."""


class Named(Protocol):
    """By what a request and its answer are known to belong together."""

    @property
    def record_id(self) -> str | None: ...
    @property
    def concurrent_to(self) -> str | None: ...
    @property
    def target_uri(self) -> str | None: ...


class RecordNames(NamedTuple):
    """The same of a record."""

    record_id: str | None
    concurrent_to: str | None
    target_uri: str | None


def names_of(record: Record) -> RecordNames:
    """How a record is named, and names others."""
    to = strip_brackets(record.header.field(WARC_CONCURRENT_TO_KEY))
    return RecordNames(record.record_id, to, record.target_uri)


def are_beside(asked: Named, answer: Named) -> bool:
    """Whether one names the other; if neither names any, whether they have the same URI."""
    to, named = asked.concurrent_to, answer.concurrent_to
    if to or named:
        return (to is not None and to == answer.record_id) or (
            named is not None and named == asked.record_id
        )
    return asked.target_uri == answer.target_uri
