"""A file in HDFS while it is written: sent in large pieces, checksummed, synced.

HDFS syncs only the block that is being written, and only on request: so each block is synced
when it is full, and the last one at the end.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from isal import isal_zlib

from pinakes.archive_store.port import WritingLost
from pinakes.errors import PinakesError, StoreUnavailable

from .checksums import WrittenChecksum
from .errors import FOREIGN, NOT_CLOSED, HdfsFileNotFound, TakenOver, failure_of

if TYPE_CHECKING:
    from hdfs_native import Client, FileStatus, WriteOptions
    from hdfs_native._internal import RawFileWriter

    from .calls import HdfsCalls

_PIECE_BYTES = 1 << 18
_STALL_S = 60.0
"""hdfs-native (0.14) gives up a data node that has been silent for so long.  After that it may wait
for ever: for its sender, which waits for one more packet."""


class HdfsAsideIO(io.RawIOBase):
    """A new file; `write` writes all bytes or raises StoreUnavailable.

    After a failed write, nothing more is written and the file cannot be published.  WritingLost
    is raised if writing the same again may succeed.
    """

    def __init__(
        self, calls: HdfsCalls, path: str, name: str, options: WriteOptions, *, vouched: bool
    ) -> None:
        super().__init__()
        self.name = name
        self.crc32 = 0
        self.size = 0
        self._calls = calls
        self._path = path
        self._waiting = bytearray()
        self._in_block = 0
        self._failed = False
        self._written: FileStatus | None = None
        # Not its FileWriter: when dropped, it closes the file, and waits for a dead server.
        self._writer: RawFileWriter = calls.ask(
            name, lambda client: client.inner.create(path, options)
        )
        self._block_bytes = int(self._status().blocksize or 1 << 27)
        self.kept = WrittenChecksum(self._block_bytes) if vouched else None

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.size + len(self._waiting)

    def write(self, data: Any, /) -> int:
        with memoryview(data) as whole, whole.cast("B") as view:
            length = view.nbytes
            self._check_open()
            if self._waiting or length < _PIECE_BYTES:
                self._waiting += view
            else:
                self._send(bytes(view))
        if len(self._waiting) >= _PIECE_BYTES:
            self._send_waiting()
        return length

    def finish(self) -> FileStatus:
        """Sync and close the file; return its status in HDFS."""
        if self._written is None:
            self._check_open()
            self._send_waiting()
            if self._in_block:
                self._do(lambda writer: writer.hsync())
            try:
                self._close_writer()
                self._written = self._checked()
            except HdfsFileNotFound as error:
                self._failed = True
                raise self._taken_over() from error
            except BaseException:
                self._failed = True
                raise
        return self._written

    def _check_open(self) -> None:
        if self._failed:
            raise StoreUnavailable("writing this file failed: write it again", file=self.name)
        if self.closed or self._written is not None:
            raise ValueError("write to a finished file")

    def _send_waiting(self) -> None:
        data, self._waiting = bytes(self._waiting), bytearray()
        self._send(data)

    def _send(self, data: bytes) -> None:
        self.size += len(data)
        self.crc32 = isal_zlib.crc32(data, self.crc32)
        if self.kept is not None:
            self.kept.update(data)
        while data:
            room = self._block_bytes - self._in_block
            piece, data = data[:room], data[room:]
            self._do(lambda writer, piece=piece: writer.write(piece))  # type: ignore[misc]
            self._in_block += len(piece)
            if self._in_block == self._block_bytes:
                self._do(lambda writer: writer.hsync())
                self._in_block = 0

    def _do(self, act: Callable[[RawFileWriter], object]) -> None:
        """Run a step that cannot be repeated after a failure."""
        try:
            self._calls.bounded(lambda: act(self._writer), _STALL_S)
        except FOREIGN as error:
            self._failed = True
            raise self._loss(error) from error

    def _loss(self, error: Exception) -> PinakesError:
        failure = failure_of(error, self.name)
        if isinstance(failure.error, HdfsFileNotFound):
            return self._taken_over()
        if failure.passes:
            return self._lost(failure.error.message)
        return failure.error

    def _lost(self, message: str) -> WritingLost:
        error = WritingLost(message, file=self.name)
        error.retry_s = self._calls.retry_s
        return error

    def _close_writer(self) -> None:
        """Close the file; if that fails, make HDFS close it, which has all bytes by now."""
        try:
            self._calls.bounded(self._writer.close, _STALL_S)
        except FOREIGN:
            self._calls.ask(self.name, self._recover)

    def _recover(self, client: Client) -> None:
        try:
            closed = client.recover_lease(self._path)
        except FileExistsError:  # "waiting to be minimally replicated"
            closed = False
        if not closed:
            raise RuntimeError(NOT_CLOSED)

    def _checked(self) -> FileStatus:
        found = self._status()
        if found.length != self.size:
            raise self._lost(
                f"HDFS has {found.length} of the {self.size} bytes written: run it again"
            )
        return found

    def _status(self) -> FileStatus:
        try:
            return self._calls.ask(self.name, lambda client: client.get_file_info(self._path))
        except HdfsFileNotFound as error:
            raise self._taken_over() from error

    def _taken_over(self) -> TakenOver:
        return TakenOver("the file is gone: another writer has taken its place", file=self.name)
