"""Archive files on a web server, read by byte ranges.

A server that ignores ranges sends the whole file, which is then read from a temporary file; it is
fetched again when too many others were read since (`Spools`).  A file that changes between
two reads (ETag, Last-Modified or size) is refused: a record read partly before and partly after
would be wrong.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import IO, Any, TypeVar
from urllib.parse import urlsplit

from pinakes.archive_store.local.files import translated
from pinakes.archive_store.seeking import SeekableRaw
from pinakes.errors import InputRefused, StoreUnavailable
from pinakes.waiting import LOGGER

from .ranges import NETWORK_ERRORS, RangeAnswer, RangeClient, TryAgain, Validator, reason_of

BUFFER_BYTES = 256 << 10
_PIECE_BYTES = 1 << 20
_LONGEST_PAUSE_S = 30.0
_LONGER = "the server sends more than the range that it names"
_CHANGED = "the file changed on the server while it was read"


class Spools:
    """At most `most_files` files; for one more, the least recently read is closed."""

    def __init__(self, most_files: int) -> None:
        self._most_files = most_files
        self._kept: OrderedDict[int, IO[bytes]] = OrderedDict()
        self._logged: set[str] = set()
        self._lock = threading.Lock()

    def tell(self, url: str) -> None:
        """Log, once for each server, that it sends whole files."""
        parts = urlsplit(url)
        server = f"{parts.scheme}://{parts.netloc}"
        with self._lock:
            if server in self._logged:
                return
            self._logged.add(server)
        logging.getLogger(LOGGER).warning(
            "%s has no byte ranges and sends files whole: each is fetched into a temporary file "
            "(TMPDIR), %d are kept at a time, and others are fetched again when they are read",
            server,
            self._most_files,
        )

    def keep(self, owner: int, spool: IO[bytes]) -> None:
        """Keep the file of `owner`, and close those beyond `most_files`."""
        with self._lock:
            self._kept[owner] = spool
            while len(self._kept) > self._most_files:
                self._kept.popitem(last=False)[1].close()

    def read(self, owner: int, start: int, wanted: memoryview) -> int | None:
        """Read into `wanted`; the number of bytes, or None if the file has been closed."""
        with self._lock:
            spool = self._kept.get(owner)
            if spool is None:
                return None
            self._kept.move_to_end(owner)
            data = os.pread(spool.fileno(), wanted.nbytes, start)
        wanted[: len(data)] = data
        return len(data)

    def drop(self, owner: int) -> None:
        """Close the file of `owner`, if it is here."""
        with self._lock:
            spool = self._kept.pop(owner, None)
        if spool is not None:
            spool.close()


_SPOOLS = Spools(most_files=4)

T = TypeVar("T")


class HttpFile(SeekableRaw):
    """One URL as a seekable file; what is asked for is what is read, with no buffer.

    After `attempts` failures in a row, StoreUnavailable is raised; between attempts it
    waits 0, 0.5, 1, 2 … s, or as long as the server says.
    """

    def __init__(
        self,
        url: str,
        timeout_s: float = 30.0,
        attempts: int = 5,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__()
        self.name = url
        try:
            self._client = RangeClient(url, timeout_s=timeout_s)
        except BaseException:
            super().close()  # else the finalizer closes, and asks for the client
            raise
        self._attempts = attempts
        self._pause = pause
        self._validator: Validator | None = None
        try:
            self._retried(self._look)
        except BaseException:
            self.close()
            raise

    def readinto(self, buffer: Any, /) -> int:
        with memoryview(buffer) as whole, whole.cast("B") as view:
            length = min(view.nbytes, self._size - self._at)
            if length <= 0:
                return 0
            with view[:length] as wanted:
                got = self._retried(lambda: self._read_range(wanted))
        self._at += got
        return got

    def readall(self) -> bytes:
        # In as few requests as possible; the inherited method asks for 8 KiB at a time.
        data = bytearray(max(self._size - self._at, 0))
        with memoryview(data) as view:
            got = 0
            while count := self.readinto(view[got:]):
                got += count
        return bytes(data[:got])

    def close(self) -> None:
        if not self.closed:
            self._client.drop()
            _SPOOLS.drop(id(self))
        super().close()

    def _look(self) -> None:
        """Read size and validators; fetch the whole file if the server has no ranges."""
        answer = self._client.get(0, 1)
        self._validator = answer.validator
        if answer.whole:
            self._keep_whole(answer)
        elif answer.total is None:
            raise InputRefused("the server does not send the size of the file", file=self.name)
        else:
            self._size = answer.total
            answer.response.read(2)

    def _read_range(self, wanted: memoryview) -> int:
        """Read into `wanted` at the position: at least one byte, possibly fewer than all."""
        kept = _SPOOLS.read(id(self), self._at, wanted)
        if kept is not None:
            return kept
        answer = self._client.get(self._at, self._at + wanted.nbytes)
        if answer.validator != self._validator or answer.total not in (self._size, None):
            self._client.drop()
            raise InputRefused(_CHANGED, file=self.name)
        if answer.whole:
            size = self._size
            self._keep_whole(answer)
            if self._size != size:
                raise InputRefused(_CHANGED, file=self.name)
            return self._read_range(wanted)
        length = min(answer.length or 0, wanted.nbytes)
        got = 0
        while got < length:
            count = answer.response.readinto(wanted[got:length])
            if not count:
                break
            got += count
        if got < (answer.length or 1):
            self._client.drop()  # the rest of the body is still on this connection
        elif answer.response.read(1):
            self._client.drop()
            raise InputRefused(_LONGER, file=self.name)
        if not got:
            raise TryAgain("the server closed the connection early")
        return got

    def _keep_whole(self, answer: RangeAnswer) -> None:
        """Save the whole body in a temporary file."""
        _SPOOLS.tell(self.name)
        with translated(self.name):
            spool = tempfile.TemporaryFile()  # noqa: SIM115 (closed with this file)
        try:
            self._size = self._copy_body(answer, spool)
        except BaseException:
            spool.close()
            raise
        _SPOOLS.keep(id(self), spool)

    def _copy_body(self, answer: RangeAnswer, spool: IO[bytes]) -> int:
        while piece := answer.response.read(_PIECE_BYTES):
            with translated(self.name):
                spool.write(piece)
        with translated(self.name):
            spool.flush()
        if answer.length is not None and spool.tell() != answer.length:
            raise TryAgain("the server closed the connection early")
        return spool.tell()

    def _retried(self, attempt: Callable[[], T]) -> T:
        failed = 0
        while True:
            try:
                return attempt()
            except NETWORK_ERRORS as error:
                self._client.drop()
                failed += 1
                if failed >= self._attempts:
                    raise StoreUnavailable(
                        f"reading from the server failed {failed} times: {reason_of(error)}",
                        file=self.name,
                    ) from error
                asked_s = error.after_s if isinstance(error, TryAgain) else 0.0
                self._pause(min(max(asked_s, pause_s(failed)), _LONGEST_PAUSE_S))


def pause_s(failed: int) -> float:
    """Seconds to wait after so many failures in a row: 0, 0.5, 1, 2 …"""
    return 0.25 * 2 ** (failed - 1) if failed > 1 else 0.0
