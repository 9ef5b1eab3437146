"""The last look at what is put into a Zstandard file: frames that readers of this file can read.

Each has to declare its size, have a checksum, name the dictionary of the file and no other, and
need no larger window than all readers have (warc-zstd 1.0 §4.1, §4.2, §5).  Only the form is
looked at (RFC 8878 §3.1.1); what frames hold is for the proof on raw bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from zstandard import CONTENTSIZE_UNKNOWN, ZstdError, frame_header_size, get_frame_parameters

from pinakes.errors import InputRefused
from pinakes.warc.compression.zstd_format import FRAME_MAGIC, LIMIT_BYTES

_PREFIX_BYTES = len(FRAME_MAGIC) + 1
_BLOCK_HEAD_BYTES = 3
_CHECKSUM_BYTES = 4
_RLE = 1


def frames_only(
    pieces: Iterable[bytes | memoryview], dictionary_id: int
) -> Iterator[bytes | memoryview]:
    """The same pieces, looked at as they are drawn.

    Raises:
        InputRefused: they are no row of whole frames for a file with this dictionary; 0 for none.
    """
    row = _Row(dictionary_id)
    for piece in pieces:
        row.add(memoryview(piece))
        yield piece
    row.end()


class _Row:
    """Frames as they go by: heads of frames and blocks are held until they are whole."""

    def __init__(self, dictionary_id: int) -> None:
        self._dictionary_id = dictionary_id
        self._head = b""
        self._wanted_bytes = _PREFIX_BYTES
        self._skipped_bytes = 0
        self._is_in_frame = False

    def add(self, view: memoryview) -> None:
        while view:
            if self._skipped_bytes:
                step = min(self._skipped_bytes, len(view))
                self._skipped_bytes -= step
            else:
                step = min(self._wanted_bytes - len(self._head), len(view))
                self._head += view[:step]
                if len(self._head) == self._wanted_bytes:
                    self._take_head()
            view = view[step:]

    def end(self) -> None:
        if self._head or self._skipped_bytes or self._is_in_frame:
            raise _refused("a frame that does not end")

    def _take_head(self) -> None:
        if self._is_in_frame:
            self._take_block_head()
        elif self._wanted_bytes == _PREFIX_BYTES:
            if not self._head.startswith(FRAME_MAGIC):
                raise _refused("what is no Zstandard frame")
            self._wanted_bytes = frame_header_size(self._head)
        else:
            self._take_frame_head()

    def _take_frame_head(self) -> None:
        try:
            said = get_frame_parameters(self._head)
        except ZstdError as error:
            raise _refused(f"a damaged frame ({error})") from error
        if said.dict_id != self._dictionary_id:
            raise _refused(f"a frame that names {said.dict_id} as dictionary of the file")
        if said.content_size == CONTENTSIZE_UNKNOWN or not said.has_checksum:
            raise _refused("a frame without size or checksum")
        if said.window_size > LIMIT_BYTES:
            raise _refused(f"a frame with a window of {said.window_size} bytes")
        self._begin(_BLOCK_HEAD_BYTES, is_in_frame=True)

    def _take_block_head(self) -> None:
        bits = int.from_bytes(self._head, "little")
        self._skipped_bytes = 1 if bits >> 1 & 3 == _RLE else bits >> 3
        if bits & 1:
            self._skipped_bytes += _CHECKSUM_BYTES
            self._begin(_PREFIX_BYTES, is_in_frame=False)
        else:
            self._begin(_BLOCK_HEAD_BYTES, is_in_frame=True)

    def _begin(self, wanted_bytes: int, *, is_in_frame: bool) -> None:
        self._head = b""
        self._wanted_bytes = wanted_bytes
        self._is_in_frame = is_in_frame


def _refused(what: str) -> InputRefused:
    return InputRefused(f"{what} is not written into a Zstandard file")
