"""The position in a file that is read by ranges and has no descriptor."""

from __future__ import annotations

import io


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
