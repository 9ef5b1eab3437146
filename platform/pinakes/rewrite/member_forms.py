"""The forms in which the parts of a new file are written: Zstandard frames, gzip members, or none.

A form is shared; what it makes is for one thread each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from zstandard import ZstdCompressionDict

from pinakes.warc.compression.zstd_writer import FrameWriter, dictionary_frame
from pinakes.warc.file_names import COMPRESSIONS
from pinakes.warc.write import gzip_member

from .file_parts import Bytes

MakeMember = Callable[[int, Iterable[Bytes]], Iterable[Bytes]]
"""Gives the member of a content of so many bytes, in pieces; lazy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberForm:
    """How each part is compressed."""

    suffix: str
    """Of names of such files."""
    start: bytes
    """What a file begins with."""
    new_maker: Callable[[], MakeMember]

    def name(self, base: str) -> str:
        """The name of a file in this form, of that in another: `a.warc.zst` of `a.warc.gz`."""
        for compression in COMPRESSIONS:
            if base.lower().endswith(compression):
                base = base[: -len(compression)]
        return base + self.suffix


def zstd_form(level: int, dictionary: ZstdCompressionDict | None = None) -> MemberForm:
    """A frame a part.  `Raises` ConfigError for a level or a dictionary that cannot be used."""
    FrameWriter(level, dictionary)
    start = b"" if dictionary is None else dictionary_frame(dictionary)
    return MemberForm(
        suffix=".zst", start=start, new_maker=partial(_frame_maker, level, dictionary)
    )


def _frame_maker(level: int, dictionary: ZstdCompressionDict | None) -> MakeMember:
    return FrameWriter(level, dictionary).frame_pieces


def _make_gzip_member(size: int, pieces: Iterable[Bytes]) -> Iterator[Bytes]:
    return gzip_member(pieces)


def _make_none(size: int, pieces: Iterable[Bytes]) -> Iterable[Bytes]:
    return pieces


GZIP = MemberForm(suffix=".gz", start=b"", new_maker=lambda: _make_gzip_member)
PLAIN = MemberForm(suffix="", start=b"", new_maker=lambda: _make_none)
