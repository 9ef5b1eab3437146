"""A body without its codings: chunks and transfer-codings, then the content-codings of its header.

Source: RFC 9112 §6.1 (transfer-codings), §7.1 (chunked), RFC 9110 §8.4 (content-codings).
"""

from __future__ import annotations

from typing import Protocol

from pinakes.warc.digest import Digest, hasher

from .decoders import (
    DECODERS,
    FIRST_BYTES,
    NO_CODINGS,
    NotThisCoding,
    Pieces,
    TooLarge,
    is_coded,
    peeked,
)
from .message import Dechunker, HttpHead

_MOST_CODINGS = 16
# What a coding within another may hold: no limit of what comes out would end a body whose inner
# layers are endless and whose content is empty.
_MOST_WITHIN_BYTES = 1 << 24
_MOST_WITHIN_TIMES = 16


class Coded(Protocol):
    """What of a `Record` matters here."""

    @property
    def http(self) -> HttpHead | None: ...
    @property
    def chunks_finished(self) -> bool: ...
    @property
    def payload_size(self) -> int: ...
    def payload(self) -> Pieces: ...


class Undecodable(Exception):
    """A body is not in the coding that its header names; the caller says where it is."""


class NotDecodedHere(Undecodable):
    """Nor is it known whether it is in that coding: unknown here, or too large."""


def codings_of(record: Coded) -> list[str]:
    """The content-codings that the header names, in the order in which they were applied."""
    return _named(record, "content-encoding")


def _named(record: Coded, field: str) -> list[str]:
    return named_codings(record.http.get_all(field) if record.http is not None else [])


def named_codings(values: list[str]) -> list[str]:
    """The codings in the values of a field, in lower case; without those that change nothing."""
    codings = (coding.strip().lower() for value in values for coding in value.split(","))
    return [coding for coding in codings if coding not in NO_CODINGS]


def _transfer_codings_of(record: Coded) -> list[str]:
    """Those besides chunked; words that are no coding stand there, too, and are passed over."""
    named = (coding.partition(";")[0].rstrip() for coding in _named(record, "transfer-encoding"))
    return [coding for coding in named if coding in DECODERS]


def dechunked(record: Coded) -> Pieces:
    """The body without chunks; as it is stored, where it does not begin with one.

    Many writers remove the chunks and leave the header.

    Raises:
        Undecodable: it is chunked, and damaged or cut off in its chunks.
    """
    if record.http is None or not record.http.says_chunked:
        yield from record.payload()
        return
    if not record.chunks_finished:
        start = Dechunker()
        for piece in record.payload():
            start.feed(piece)
            if start.begun:
                raise Undecodable("the body is chunked, and cut off or damaged in its chunks")
        yield from record.payload()
        return
    dechunker = Dechunker()
    for piece in record.payload():
        yield from dechunker.feed(piece)


def decoded(record: Coded, *, content: bool = True) -> Pieces:
    """The body without any coding, in pieces of at most 2 MiB.

    Without `content`, its content-codings stay: the entity body.

    An empty body is in any coding: servers name one with 304, too.  A body that does not begin
    with the transfer-coding that is named, besides chunked, is taken as without: as with chunks,
    writers remove it and leave the header.

    Raises:
        Undecodable: naming a coding that is unknown, or that the body is not in.
    """
    inner = codings_of(record) if content else []
    outer = _transfer_codings_of(record)
    if not inner and not outer:
        return dechunked(record)
    first, pieces = peeked(dechunked(record), FIRST_BYTES)
    if not first:
        return iter(())
    if outer and not is_coded(outer[-1], first):
        outer = []
    most_within = max(_MOST_WITHIN_BYTES, _MOST_WITHIN_TIMES * record.payload_size)
    return undone(pieces, [*inner, *outer], most_within)


def undone(pieces: Pieces, codings: list[str], most_within_bytes: int) -> Pieces:
    """A body without these codings, in the order in which they were applied.

    All but the first of them may give `most_within_bytes`.  `Raises` as `decoded`.
    """
    if len(codings) > _MOST_CODINGS:
        raise NotDecodedHere(f"{len(codings)} content-codings, one in the other")
    for left, coding in reversed(list(enumerate(codings))):
        decode = DECODERS.get(coding)
        if decode is None:
            raise NotDecodedHere(f"{coding} is an unknown content-coding")
        pieces = _said(coding, decode(pieces))
        if left:
            pieces = _bounded(pieces, most_within_bytes)
    return pieces


def _said(coding: str, pieces: Pieces) -> Pieces:
    try:
        yield from pieces
    except NotThisCoding as error:
        raise Undecodable(f"the body is not {coding}, as its header says ({error})") from error
    except TooLarge as error:
        raise NotDecodedHere(f"the body is not decoded from {coding}: {error}") from error


def _bounded(pieces: Pieces, most_bytes: int) -> Pieces:
    """The same; `Raises` NotDecodedHere where they have more bytes than that."""
    seen = 0
    for piece in pieces:
        seen += len(piece)
        if seen > most_bytes:
            raise NotDecodedHere(f"the body decodes to more than {most_bytes} bytes")
        yield piece


def decoded_digest(
    record: Coded, algorithm: str, most_bytes: int, *, content: bool = True
) -> Digest | None:
    """The digest of the body without any coding; None where it has none, or is not in it.

    Without `content`, its content-codings stay.

    Raises:
        NotDecodedHere: that is not known, or it decodes to more than `most_bytes`.
    """
    if not _transfer_codings_of(record) and not (content and codings_of(record)):
        return None
    state = hasher(algorithm)()
    try:
        for piece in _bounded(decoded(record, content=content), most_bytes):
            state.update(piece)
    except NotDecodedHere:
        raise
    except Undecodable:
        return None
    return Digest(algorithm, state.digest())
