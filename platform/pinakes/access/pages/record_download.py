"""One record as it is stored, for a download: the bytes of its member, never rendered here."""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.access.readable import ReadableCaptures
from pinakes.catalog.captures import Placed, require_visible
from pinakes.catalog.file_rows import read_entry
from pinakes.catalog.withdrawals import rows_still_there, withdrawn_at
from pinakes.errors import InputRefused

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
        InputRefused: the file is not there, or is shorter; or its member holds a record that was
            withdrawn.
    """
    require_visible(captures.rows, placed.entry.archive_file)
    if captures.archive.size(placed.file) is None:  # a newer generation may have replaced it
        again = captures.get([placed.capture.key]).get(placed.capture.key)
        placed = (again.placed if again is not None else None) or placed
    start, end = placed.location.offset, placed.location.offset + placed.location.length
    withdrawing = read_entry(captures.rows, placed.entry.archive_file).withdrawing
    for row in rows_still_there(captures.archive, placed.file, withdrawing):
        if row.offset < end and start < row.offset + row.length:
            raise withdrawn_at(placed.file, row.offset)
    pieces = _pieces(captures, placed)
    first = next(pieces, b"")
    return _chained(first, pieces)


def _pieces(captures: ReadableCaptures, placed: Placed) -> Iterator[bytes]:
    left = placed.location.length
    with captures.archive.open(placed.file) as file:
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
