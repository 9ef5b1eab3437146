"""Lines of a stored file that is text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO


def iter_text_lines(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file that may only have `read`, each with its newline."""
    rest = b""
    while piece := file.read(1 << 18):
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest
