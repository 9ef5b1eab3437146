"""A file in HDFS while it is written: sent in large pieces, checksummed, synced.

HDFS syncs the block that is being written, and only when it is asked to: so each block is
synced when it is full, and the last at the end.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from isal import isal_zlib

from pinakes.errors import PinakesError, StoreUnavailable

from .hdfs_checksums import WrittenChecksum
from .hdfs_errors import FOREIGN, NOT_CLOSED, NotThere, TakenOver, failure_of
from .port import WritingLost

if TYPE_CHECKING:
    from hdfs_native import Client, FileStatus, WriteOptions
    from hdfs_native._internal import RawFileWriter

    from .hdfs_calls import HdfsCalls

_PIECE_BYTES = 1 << 18
_STALL_S = 60.0
"""After so long without a word hdfs-native (0.14) takes a data node for lost; and where one is
lost, it may wait for ever: for its sender, which waits for a packet more."""


class AsideIO(io.RawIOBase):
    """A new file; a write takes all it is given, or raises StoreUnavailable.

    A write that failed ends it: nothing more is taken, and it cannot be published.  Where the
    same might be written with more luck, WritingLost is raised.
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
        # Not its FileWriter: let go of, that closes the file, and waits for a dead server.
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
        """Bring everything to disk and close it; what HDFS says of it then."""
        if self._written is None:
            self._check_open()
            self._send_waiting()
            if self._in_block:
                self._do(lambda writer: writer.hsync())
            try:
                self._close_writer()
                self._written = self._checked()
            except NotThere as error:
                self._failed = True
                raise self._taken_over() from error
            except BaseException:
                self._failed = True
                raise
        return self._written

    def _check_open(self) -> None:
        if self._failed:
            raise StoreUnavailable("writing this file has failed: begin anew", file=self.name)
        if self.closed or self._written is not None:
            raise ValueError("write to a file that was finished")

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
        """Something that, having failed, cannot be done again."""
        try:
            self._calls.bounded(lambda: act(self._writer), _STALL_S)
        except FOREIGN as error:
            self._failed = True
            raise self._loss(error) from error

    def _loss(self, error: Exception) -> PinakesError:
        failure = failure_of(error, self.name)
        if isinstance(failure.error, NotThere):
            return self._taken_over()
        if failure.passes:
            return self._lost(failure.error.message)
        return failure.error

    def _lost(self, message: str) -> WritingLost:
        error = WritingLost(message, file=self.name)
        error.patience_s = self._calls.patience_s
        return error

    def _close_writer(self) -> None:
        """Close it; where that fails, have HDFS close it, which has all there is by now."""
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
                f"HDFS has {found.length} bytes of {self.size} that were written: run it again"
            )
        return found

    def _status(self) -> FileStatus:
        try:
            return self._calls.ask(self.name, lambda client: client.get_file_info(self._path))
        except NotThere as error:
            raise self._taken_over() from error

    def _taken_over(self) -> TakenOver:
        return TakenOver("what was written is gone: another writer took its place", file=self.name)
