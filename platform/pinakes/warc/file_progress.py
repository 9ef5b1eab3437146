"""How far one archive file is done, in bytes of it, for showing progress.

A file may be gone through several times: each pass stands for an equal part of its bytes, so
that in the end it has advanced by its size, regardless of what was read how often.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from pinakes.errors import Busy

Advance = Callable[[int], None]
"""Called with how many more bytes are done; often, so cheap."""


def no_advance(count: int) -> None:
    """An `Advance` that no one listens to."""


class FileProgress:
    """One file; a context manager that at its end has advanced by all of the file's size.

    `with FileProgress(advance, size, passes=2) as done: source.watch(done.reached) ...`
    """

    def __init__(self, advance: Advance, size: int, *, passes: int = 1) -> None:
        self._advance = advance
        self._size = size
        self._passes = passes
        self._ended = 0
        self._furthest = 0
        self._reported = 0

    def reached(self, offset: int) -> None:
        """The file has been read so far; far back from its end, another pass has begun."""
        if self._furthest >= self._size and offset < self._size // 2:
            self._ended += 1
            self._furthest = offset
        self._furthest = max(self._furthest, offset)
        passes = min(self._ended, self._passes - 1)
        done = (passes * self._size + min(self._furthest, self._size)) // self._passes
        if done > self._reported:
            self._advance(done - self._reported)
            self._reported = done

    def __enter__(self) -> FileProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # One that another process works on is counted when it is looked at again.
        if not isinstance(error, Busy):
            self._advance(self._size - self._reported)
