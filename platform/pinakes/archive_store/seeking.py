"""Where one is in a file that is read by ranges, and has no descriptor to say it."""

from __future__ import annotations

import io


class SeekableRaw(io.RawIOBase):
    """Reads from `_at` on, in a file of `_size` bytes; who inherits does the reading."""

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
            raise ValueError("a place before the beginning of the file")
        self._at = base + offset
        return self._at
