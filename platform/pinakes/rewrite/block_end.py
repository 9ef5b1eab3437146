r"""Where the block of a record ends that its writer did not measure, or close, rightly.

    header | block | line ends     the region: all bytes behind the header, up to the next record,
             -------------------   or to the end of the record's members

Pure.  A length is believed that leaves nothing but line ends; else the two CRLF that have to close
a record say where its block ends.  Digests that the record declares may say otherwise, and a
file that may have been cut off needs one that says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pinakes.warc.write import RECORD_END

TAIL_BYTES = 4096
Fits = Callable[[int], "bool | None"]
"""Whether what the record declares of its block is right for a block of so many bytes; None if it
declares nothing that tells."""


def block_size(
    size: int, tail: bytes, promised: int | None, fits: Fits, *, lf_only: bool, maybe_cut: bool
) -> int | None:
    """The bytes of the block in a region of `size`; None if the bytes do not say it.

    `tail` is the end of the region, at most `TAIL_BYTES`; `promised` is a usable Content-Length.
    With `lf_only`, which the header's lines are, two LF close a record, too.
    """
    line_ends = len(tail) - len(tail.rstrip(b"\r\n"))
    closings = (RECORD_END, b"\n\n") if lf_only else (RECORD_END,)
    closing = next((one for one in closings if tail.endswith(one)), None)
    closed = None if closing is None else size - len(closing)
    if promised is not None and size - line_ends <= promised <= size:
        if closed is None or closed == promised:
            return promised
        return closed if fits(closed) and not fits(promised) else promised
    if closed is None or (promised is not None and promised < size and fits(promised)):
        return None
    verdict = fits(closed)
    return closed if verdict or (verdict is None and not maybe_cut) else None


def last_bytes(pieces: Iterator[bytes | memoryview], count: int) -> tuple[int, bytes]:
    """How many bytes there are, and the last `count` of them."""
    size, tail = 0, b""
    for piece in pieces:
        size += len(piece)
        tail = (tail + bytes(piece[-count:]))[-count:]
    return size, tail
