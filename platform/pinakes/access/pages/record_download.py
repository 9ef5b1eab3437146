"""One record as it is stored, for a download: the bytes of its member, never rendered here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from pinakes.access.archive_bytes import Denied, Dropped, Withdrawn
from pinakes.access.checked_bytes import CheckedBytes
from pinakes.access.readable import ReadableCaptures
from pinakes.catalog.captures import Placed
from pinakes.errors import DigestMismatch, InputRefused

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
        DigestMismatch: it has other bytes than it had; of a large one before the last piece.
    """
    try:
        opened = _opened(captures, placed)
    except Dropped:  # a newer generation has replaced it
        again = captures.get([placed.capture.key]).get(placed.capture.key)
        if again is None or again.placed is None:
            raise InputRefused("the capture is not there any more", file=placed.file) from None
        placed = again.placed
        opened = _opened(captures, placed)
    pieces = opened.pieces()
    first = next(pieces, b"")
    return chain((first,), pieces)


def _opened(captures: ReadableCaptures, placed: Placed) -> CheckedBytes:
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
