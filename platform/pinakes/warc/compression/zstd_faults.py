"""What frames that are read should have, or be, by the standard of Zstandard WARC files.

By the headers of frames alone, nothing is decompressed.  Source: IIPC warc-zstd 1.0 §4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pinakes.warc.source import Source

from .port import Damage
from .zstd_dictionary import FileDictionary, dictionary_of
from .zstd_format import (
    DICTIONARY_MAGIC,
    FRAME_MAGIC,
    FrameHeader,
    end_by_form,
    end_of_skippable,
    frame_header,
    is_start,
)


class FrameFault(NamedTuple):
    """A fault of the frame at `offset`; `code` is `frame`, `dictionary` or `start`."""

    code: str
    message: str
    offset: int


def iter_start_faults(source: Source) -> Iterator[FrameFault]:
    """Faults of what a file begins with."""
    start = bytes(source.view(0, len(FRAME_MAGIC)))
    if start == DICTIONARY_MAGIC:
        if not dictionary_of(source).is_formatted:
            yield FrameFault("dictionary", "the dictionary has not the format of one", 0)
    elif is_start(start) and start != FRAME_MAGIC:
        yield FrameFault("start", "the file begins with an extension frame", 0)


def iter_frame_faults(source: Source, start: int, end: int) -> Iterator[FrameFault]:
    """Faults of the frames of `[start, end)`, which begin at its start; ends where none does."""
    file, at = dictionary_of(source), start
    while at < end:
        following: int | None
        magic = bytes(source.view(at, len(FRAME_MAGIC)))
        if magic == FRAME_MAGIC:
            try:
                header = frame_header(source, at)
            except Damage:
                return
            yield from _faults_of(header, file)
            following = end_by_form(source, header, header.body)
        else:
            if magic == DICTIONARY_MAGIC and at:
                yield FrameFault("dictionary", "a dictionary that is not the first frame", at)
            following = end_of_skippable(source, at)
        if following is None:
            return
        at = following


def _faults_of(header: FrameHeader, file: FileDictionary) -> Iterator[FrameFault]:
    if header.content_size is None:
        yield FrameFault("frame", "a frame does not declare its content's size", header.offset)
    if not header.has_checksum:
        yield FrameFault("frame", "a frame has no checksum", header.offset)
    if file.dictionary_id and not header.dictionary_id:
        why = "a frame does not name the dictionary of the file"
        yield FrameFault("dictionary", why, header.offset)
