"""The record that stands where a record was withdrawn.

    withdrawn record                        tombstone
    WARC/1.0                                WARC/1.0
    WARC-Type: response              ~>     WARC-Type: metadata
    WARC-Record-ID, WARC-Date,              the same lines
      WARC-Target-URI, WARC-Warcinfo-ID,
      WARC-Concurrent-To
    every other line                        -
                                      +     Content-Type: application/warc-fields
                                      +     Pinakes-Withdrawn: version=1; act=ACT; type=response
                                      +     WARC-Block-Digest, Content-Length
    block                                   that it was withdrawn, when, by which act

Id and place stay, so number, order and ids of the records of a file never change; no header line
that describes the content stays, no digest either.  The reasons for this form are in
docs/adr/0039-take-down.md.  Source: ISO 28500:2017 §6.6 (metadata), §5.

An ARC record has neither type nor id: of its line, URL and date stay.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from .arc import ArcHeader
from .digest import format_digest
from .field_names import (
    CONTENT_LENGTH,
    CONTENT_TYPE,
    WARC_BLOCK_DIGEST,
    WARC_CONCURRENT_TO_KEY,
    WARC_DATE,
    WARC_DATE_KEY,
    WARC_IP_ADDRESS,
    WARC_RECORD_ID_KEY,
    WARC_TARGET_URI,
    WARC_TARGET_URI_KEY,
    WARC_TYPE,
    WARC_WARCINFO_ID_KEY,
)
from .header import Header
from .record import Record

TOMBSTONE_FIELD = "Pinakes-Withdrawn"
TOMBSTONE_TYPE = "metadata"
_MEDIA_TYPE = "application/warc-fields"
_NO_ADDRESS = "0.0.0.0"
_ACT = b"act: "
# pywb's indexer reads any record of an ARC file as HTTP, and leaves out those with this status.
_NO_STATUS = b"status: -\r\n"
_KEPT = frozenset(
    (
        WARC_RECORD_ID_KEY,
        WARC_DATE_KEY,
        WARC_TARGET_URI_KEY,
        WARC_CONCURRENT_TO_KEY,
        WARC_WARCINFO_ID_KEY,
    )
)


class Inscription(NamedTuple):
    """What a tombstone says: the act that withdrew the record, and when, as a WARC date."""

    act: str
    date: str


def tombstone_of(header: Header, inscription: Inscription) -> bytes:
    """Header and block of the tombstone of a record; the same for the same arguments.

    The two line ends that close a record are not included.
    """
    block = (
        f"withdrawn: {inscription.date}\r\n"
        f"act: {inscription.act}\r\n"
        "description: The record that stood here was withdrawn from the archive.\r\n"
    ).encode("ascii")
    if isinstance(header, ArcHeader):
        block = _NO_STATUS + block
        return _arc_line(header, len(block)) + block
    version, _, _ = header.raw.partition(b"\n")
    kept = [line.raw.rstrip(b"\r\n") for line in header.lines() if line.name.lower() in _KEPT]
    what = header.record_type or "unknown"
    plain = what if what.isascii() and what.isalnum() else "unknown"
    added = (
        f"{CONTENT_TYPE}: {_MEDIA_TYPE}\r\n"
        f"{TOMBSTONE_FIELD}: version=1; act={inscription.act}; type={plain}\r\n"
        f"{WARC_BLOCK_DIGEST}: {format_digest('sha1', hashlib.sha1(block).digest())}\r\n"  # noqa: S324
        f"{CONTENT_LENGTH}: {len(block)}"
    ).encode("ascii")
    first = (version.rstrip(b"\r"), f"{WARC_TYPE}: {TOMBSTONE_TYPE}".encode("ascii"))
    return b"\r\n".join((*first, *kept, added, b"", b"")) + block


def _arc_line(header: ArcHeader, length: int) -> bytes:
    fields = dict(header.fields())
    words = [fields[WARC_TARGET_URI], _NO_ADDRESS, fields.get(WARC_DATE) or "0" * 14]
    words.append(_MEDIA_TYPE)
    if header.version == "ARC/2.0":
        words += ["-", "-", "-", "0", "-"]
    return " ".join([*words, str(length)]).encode("utf-8", "surrogateescape") + b"\n"


def is_tombstone(header: Header) -> bool:
    """Whether a record stands for one that was withdrawn; in an ARC file, by media type and
    address."""
    if isinstance(header, ArcHeader):
        is_ours = header.get(WARC_IP_ADDRESS) == _NO_ADDRESS
        return is_ours and header.get(CONTENT_TYPE) == _MEDIA_TYPE
    return header.get(TOMBSTONE_FIELD) is not None


def withdrawn_type(header: Header) -> str | None:
    """The type of the record for which this tombstone stands; of one in an ARC file `response`.

    None if it is no tombstone.
    """
    if isinstance(header, ArcHeader):
        return "response" if is_tombstone(header) else None
    said = header.get(TOMBSTONE_FIELD)
    return said.rpartition("type=")[2] if said is not None else None


def withdrawing_act(tombstone: Record) -> str | None:
    """The act that withdrew the record for which this tombstone stands, as its block says."""
    for line in b"".join(map(bytes, tombstone.chunks())).splitlines():
        if line.startswith(_ACT):
            return line.removeprefix(_ACT).decode("ascii", "replace")
    return None
