"""Writing Zstandard files: a frame a record, and before them the dictionary that they need.

    file        dictionary frame, where there is a dictionary | frame | frame | …
    dictionary  5D 2A 4D 18 | size, 4 bytes | the dictionary, or a frame of it if that is smaller
    frame       size of the content, id of the dictionary | blocks | checksum

No frame needs a window of more than 8 MiB, at any level.  The same record gives the same frame,
however it comes in pieces.  Source: IIPC warc-zstd 1.0 §4, §5; RFC 8878 §3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from zstandard import (
    ZstdCompressionDict,
    ZstdCompressionParameters,
    ZstdCompressor,
    ZstdError,
)

from pinakes.errors import ConfigError, MalformedRecord
from pinakes.warc.source import IN_MEMORY_BYTES

from .zstd_format import DICTIONARY_MAGIC, LIMIT_BYTES

LEVELS = range(1, 23)
_DICTIONARY_LEVEL = 19
_WINDOW_LOG = LIMIT_BYTES.bit_length() - 1


class FrameWriter:
    """Makes the frames of one file; for one thread at a time."""

    def __init__(self, level: int, dictionary: ZstdCompressionDict | None = None) -> None:
        if level not in LEVELS:
            raise ConfigError(f"a level is a number from 1 to {LEVELS[-1]}, not {level}")
        self._level = level
        self._dictionary = dictionary

    @cached_property
    def _small(self) -> ZstdCompressor:
        # A window is no larger than its content: none of these needs a limit.
        return ZstdCompressor(
            level=self._level,
            dict_data=self._dictionary,
            write_checksum=True,
            write_content_size=True,
            write_dict_id=True,
        )

    @cached_property
    def _large(self) -> ZstdCompressor:
        chosen = ZstdCompressionParameters.from_level(self._level)
        parameters = ZstdCompressionParameters.from_level(
            self._level,
            window_log=min(chosen.window_log, _WINDOW_LOG),
            write_checksum=True,
            write_content_size=True,
            write_dict_id=True,
        )
        return ZstdCompressor(compression_params=parameters, dict_data=self._dictionary)

    def frame(self, content: bytes | bytearray | memoryview) -> bytes:
        """The frame of a record in memory, of any size."""
        if len(content) > IN_MEMORY_BYTES:
            return b"".join(self.frame_pieces(len(content), [content]))
        return self._small.compress(content)

    def frame_pieces(
        self, size: int, pieces: Iterable[bytes | bytearray | memoryview]
    ) -> Iterator[bytes]:
        """The frame of a record of `size` bytes; with the memory of a window and a piece.

        Raises:
            MalformedRecord: the pieces have not that size together.
        """
        if size <= IN_MEMORY_BYTES:
            content = b"".join(pieces)
            _require(len(content) == size)
            yield self._small.compress(content)
            return
        stream = self._large.compressobj(size=size)
        try:
            for piece in pieces:
                yield stream.compress(piece)
            yield stream.flush()
        except ZstdError as error:
            raise _wrong_size() from error


def dictionary_frame(dictionary: ZstdCompressionDict) -> bytes:
    """What a file begins with whose frames are made with this dictionary.

    Raises:
        ConfigError: it has no id, or more than 8 MiB: readers need not take it.
    """
    content = dictionary.as_bytes()
    if not dictionary.dict_id():
        raise ConfigError("not a Zstandard dictionary: it has no id (`zstd --train` makes one)")
    if len(content) > LIMIT_BYTES:
        raise ConfigError(
            f"a Zstandard dictionary of {len(content)} bytes: at most {LIMIT_BYTES} are read by "
            "all (warc-zstd 1.0 §5)"
        )
    compressor = ZstdCompressor(
        level=_DICTIONARY_LEVEL, write_checksum=True, write_content_size=True
    )
    user_data = min(content, compressor.compress(content), key=len)
    return DICTIONARY_MAGIC + len(user_data).to_bytes(4, "little") + user_data


def _require(is_as_long: bool) -> None:
    if not is_as_long:
        raise _wrong_size()


def _wrong_size() -> MalformedRecord:
    return MalformedRecord("this record is not as long as it was found to be; nothing was written")
