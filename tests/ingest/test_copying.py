"""The copy is the file, however the parser jumps about in it."""

from __future__ import annotations

import hashlib
import io
import zlib

from hypothesis import given
from hypothesis import strategies as st

from pinakes.ingest.copying import CopyingFile

_MOVES = st.lists(st.tuples(st.integers(0, 120), st.integers(0, 60)), max_size=20)


@given(st.binary(max_size=100), _MOVES)
def test_the_copy_is_the_file_whatever_was_read(data: bytes, moves: list[tuple[int, int]]) -> None:
    copy = io.BytesIO()
    file = CopyingFile(io.BytesIO(data), copy)
    for offset, size in moves:
        file.seek(offset)
        assert file.read(size) == data[offset : offset + size]
        assert copy.getvalue() == data[: file.copied_bytes]
        assert file.crc32 == zlib.crc32(copy.getvalue())
    assert file.finish() == hashlib.sha256(data).hexdigest()
    assert copy.getvalue() == data
    assert (file.copied_bytes, file.crc32) == (len(data), zlib.crc32(data))


class _Sparing(io.BytesIO):
    """An unbuffered file, which may take less than it is given."""

    def write(self, data: object, /) -> int:
        return super().write(bytes(data)[:3])  # type: ignore[call-overload]


def test_a_short_write_is_gone_on_with() -> None:
    copy = _Sparing()
    file = CopyingFile(io.BytesIO(b"0123456789"), copy)
    file.read(7)
    file.finish()
    assert copy.getvalue() == b"0123456789"
