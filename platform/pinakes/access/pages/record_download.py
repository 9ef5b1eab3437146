"""One record as it is stored, for a download: the bytes of its member, never rendered here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from pinakes.access.archive_bytes import Denied, Dropped, Withdrawn
from pinakes.access.readable import ReadableCaptures
from pinakes.catalog.captures import Placed
from pinakes.errors import DigestMismatch, InputRefused

_PIECE_BYTES = 1 << 18
_ENDINGS = (".warc.gz", ".arc.gz", ".warc.zst", ".warc.bz2", ".arc.bz2", ".warc", ".arc")


def record_name(placed: Placed) -> str:
    """A file name of digits and letters: time and mark of the capture, the ending of its file."""
    _, time, mark = placed.capture.key.decode("ascii").split(" ")
    name = placed.file.lower()
    return f"{time}-{mark}{next((end for end in _ENDINGS if name.endswith(end)), '.warc')}"


def record_bytes(captures: ReadableCaptures, placed: Placed) -> Iterator[bytes]:
    """The bytes, in pieces; the first is read at once, so that errors come before any byte.

    Raises:
        InputRefused: the file is not there, or is shorter; or its member holds another record
            that may not be given out, or was withdrawn.
    """
    try:
        opened = _opened(captures, placed)
    except Dropped:  # a newer generation has replaced it
        again = captures.get([placed.capture.key]).get(placed.capture.key)
        if again is None or again.placed is None:
            raise InputRefused("the capture is not there any more", file=placed.file) from None
        placed = again.placed
        opened = _opened(captures, placed)
    pieces = _pieces(opened, placed)
    first = next(pieces, b"")
    return _chained(first, pieces)


def _opened(captures: ReadableCaptures, placed: Placed) -> BinaryIO:
    file, start = captures.files.find(placed.file), placed.location.offset
    if file is None:
        raise InputRefused("the file is not there any more", file=placed.file)
    try:
        return captures.files.open(file, start, start + placed.location.length)
    except Denied as error:
        raise InputRefused(
            "it shares its member with a record that may not be given out", file=placed.file
        ) from error
    except Withdrawn as error:
        raise InputRefused("a record in the same member was withdrawn", file=placed.file) from error
    except DigestMismatch as error:
        raise InputRefused(error.message, file=placed.file) from error


def _pieces(opened: BinaryIO, placed: Placed) -> Iterator[bytes]:
    left = placed.location.length
    with opened as file:
        file.seek(placed.location.offset)
        while left:
            piece = file.read(min(left, _PIECE_BYTES))
            if not piece:
                raise InputRefused("the file ends before the record does", file=placed.file)
            left -= len(piece)
            yield piece


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest
