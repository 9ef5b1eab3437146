"""The position in a file that is read by ranges and has no descriptor; and reading it ahead."""

from __future__ import annotations

import io
from abc import abstractmethod
from typing import Any

FIRST_AHEAD_BYTES = 1 << 18
MOST_AHEAD_BYTES = 4 << 20
"""Where requests cost some ms, and above it the system maps new memory for each."""

_GROWTH = 4


class SeekableRaw(io.RawIOBase):
    """Keeps the position `_at` in a file of `_size` bytes; subclasses read."""

    def __init__(self) -> None:
        super().__init__()
        self._at = 0
        self._size = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = (0, self._at, self._size)[whence]
        if base + offset < 0:
            raise ValueError("a position before the beginning of the file")
        self._at = base + offset
        return self._at


class ReadAhead(SeekableRaw):
    """A read that continues where the last one ended reads ahead; others fetch what is asked for.

    Memory: what is read at once, and `most_ahead_bytes`.
    """

    def __init__(self, most_ahead_bytes: int = MOST_AHEAD_BYTES) -> None:
        super().__init__()
        self._most_ahead_bytes = most_ahead_bytes
        self._ahead = b""
        self._ahead_at = 0
        self._next_ahead = FIRST_AHEAD_BYTES

    @abstractmethod
    def _read_range(self, start: int, length: int) -> bytes:
        """Exactly so many bytes, which lie within the file."""

    def read(self, size: int | None = -1, /) -> bytes:
        left = max(self._size - self._at, 0)
        wanted = left if size is None or size < 0 else min(size, left)
        if not wanted:
            return b""
        start = self._at - self._ahead_at
        if not 0 <= start <= len(self._ahead) - wanted:
            self._fetch(wanted)
            start = 0
        self._at += wanted
        return self._ahead[start : start + wanted]

    def readinto(self, buffer: Any, /) -> int:
        with memoryview(buffer) as whole, whole.cast("B") as view:
            data = self.read(view.nbytes)
            view[: len(data)] = data
        return len(data)

    def readall(self) -> bytes:
        return self.read()

    def close(self) -> None:
        self._ahead = b""
        super().close()

    def _fetch(self, wanted: int) -> None:
        """Fetch `wanted` bytes at the position, and more when reading sequentially."""
        kept = b""
        length = wanted
        if self._ahead_at <= self._at <= self._ahead_at + len(self._ahead):
            kept = self._ahead[self._at - self._ahead_at :]
            length = max(wanted - len(kept), self._next_ahead)
            self._next_ahead = min(_GROWTH * self._next_ahead, self._most_ahead_bytes)
        else:
            self._next_ahead = FIRST_AHEAD_BYTES
        start = self._at + len(kept)
        length = min(length, self._size - start)
        end = start + length
        # In pieces: each may take as long as a request may.
        pieces = [
            self._read_range(at, min(MOST_AHEAD_BYTES, end - at))
            for at in range(start, end, MOST_AHEAD_BYTES)
        ]
        self._ahead, self._ahead_at = b"".join([kept, *pieces] if kept else pieces), self._at
