"""Checks of the originals that revisits refer to, in the files given.

A revisit names its original by id, by URI and date, or by both.  The original must be an
earlier response or resource with the declared digest.  That it is not in any of the files
is only an info.  Source: ISO 28500:2017 §5.11-5.13, §6.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

from pinakes.warc.dates import parse_warc_date
from pinakes.warc.digest import parse_digest
from pinakes.warc.reader import read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .links import Placed
from .payload import Basis, basis_of
from .references import RecordColumns, References
from .rules import Hit
from .syntax import shown

NameOf = Callable[[int], str]
OpenFile = Callable[[str], AbstractContextManager[Source]]
_WRONG = (Basis.BLOCK, Basis.NONE)
_ORIGINAL_TYPES = ("response", "resource")
_REVISITS = """
SELECT file, ordinal, offset, inner, version, type,
  identical, target, uri, names_uri, date, second, digest, own_date
FROM revisit ORDER BY file, ordinal"""
_BY_ID = """
SELECT file, ordinal, offset, inner, version, type, uri, date, second, digest
FROM record WHERE id = ? ORDER BY file, ordinal LIMIT 1000"""
# Full records first; the condition on the type lets SQLite use the partial index.
_BY_URI_AND_DATE = """
SELECT file, ordinal, offset, inner, version, type, uri, date, second, digest
FROM record WHERE uri = ? AND second = ? AND type IN ('response', 'resource', 'revisit')
ORDER BY type = 'revisit', file, ordinal LIMIT 1000"""


class RevisitRow(NamedTuple):
    """A row of `revisit`: its references to the original, and its own date.

    `uri` is the original's where `names_uri`, otherwise the revisit's own.
    """

    place: RecordColumns
    identical: bool
    target: bytes | None
    uri: bytes | None
    names_uri: bool
    date: str | None
    second: str | None
    digest: str | None
    own_date: str | None


class TargetRecord(NamedTuple):
    """A record that a revisit may refer to."""

    place: RecordColumns
    uri: bytes | None
    date: str | None
    second: str | None
    digest: str | None


def check_targets(references: References, name_of: NameOf, open_file: OpenFile) -> Iterator[Placed]:
    """Every revisit of a known profile, in file order.

    Reads an original only where it does not declare the digest that the revisit declares.
    """
    for row in references.rows(_REVISITS):
        revisit = RevisitRow(RecordColumns(*row[:6]), bool(row[6]), *row[7:])
        for hit in _check_revisit(references, revisit, name_of, open_file):
            yield revisit.place, hit


def _check_revisit(
    references: References, revisit: RevisitRow, name_of: NameOf, open_file: OpenFile
) -> Iterator[Hit]:
    named = list(_by_id(references, revisit))
    found = named or list(_by_uri_and_date(references, revisit))
    if not found:
        if revisit.target is not None or revisit.second is not None:
            yield Hit("revisit-target-elsewhere", "the original is not in any of the files")
        return
    faults = []
    for target in found:
        fault = _fault(revisit, target, name_of, open_file)
        if fault is None:
            if named:
                yield from _check_agreement(revisit, target)
            return
        faults.append(fault)
    yield faults[0]


def _by_id(references: References, revisit: RevisitRow) -> Iterator[TargetRecord]:
    if revisit.target is not None:
        yield from map(_target, references.rows(_BY_ID, (revisit.target,)))


def _by_uri_and_date(references: References, revisit: RevisitRow) -> Iterator[TargetRecord]:
    if revisit.uri is not None and revisit.second is not None:
        wanted = (revisit.uri, revisit.second)
        yield from map(_target, references.rows(_BY_URI_AND_DATE, wanted))


def _target(row: tuple[Any, ...]) -> TargetRecord:
    return TargetRecord(RecordColumns(*row[:6]), *row[6:])


def _fault(
    revisit: RevisitRow, target: TargetRecord, name_of: NameOf, open_file: OpenFile
) -> Hit | None:
    """Why a record cannot be the original; None where it can."""
    where = f"{name_of(target.place.file)}:{target.place.offset}"
    if target.place[:2] == revisit.place[:2]:
        return Hit("revisit-target-self", "the revisit refers to itself")
    if target.place.type == "revisit":
        return Hit("revisit-target-revisit", f"the record at {where} is a revisit, too")
    if target.place.type not in _ORIGINAL_TYPES:
        return Hit("revisit-target-type", f"the record at {where} is a {target.place.type}")
    own, earlier = parse_warc_date(revisit.own_date or ""), parse_warc_date(target.date or "")
    if own and earlier and own < earlier:
        return Hit(
            "revisit-target-later", f"the record at {where} has the date {shown(target.date or '')}"
        )
    if revisit.identical and not _has_digest(revisit, target, name_of, open_file):
        declared = shown(revisit.digest or "")
        return Hit("revisit-target-digest", f"the payload of {where} does not have {declared}")
    return None


def _has_digest(
    revisit: RevisitRow, target: TargetRecord, name_of: NameOf, open_file: OpenFile
) -> bool:
    """Whether the original has the payload digest that the revisit declares.

    The digest that the original declares is believed here: it is checked with that record.
    """
    declared = parse_digest(revisit.digest or "")
    if declared is None or declared == parse_digest(target.digest or ""):
        return True
    place = target.place
    with open_file(name_of(place.file)) as source:
        record = _reread(source, place)
        return record is not None and basis_of(record, declared) not in _WRONG


def _reread(source: Source, place: RecordColumns) -> Record | None:
    found = read_record(source, place.offset, inner_offset=place.inner)
    return found if isinstance(found, Record) else None


def _check_agreement(revisit: RevisitRow, target: TargetRecord) -> Iterator[Hit]:
    """The id names the same record as URI and date."""
    if revisit.date is not None and revisit.second != target.second:
        message = (
            f"WARC-Refers-To-Date is {shown(revisit.date)}, its date {shown(target.date or '')}"
        )
        yield Hit("revisit-target-differs", message)
    elif revisit.names_uri and revisit.uri != target.uri:
        message = "WARC-Refers-To-Target-URI is not the URI of the record with that id"
        yield Hit("revisit-target-differs", message)
