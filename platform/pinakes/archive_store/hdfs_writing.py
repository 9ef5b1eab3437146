"""A file in HDFS while it is written: sent in large pieces, checksummed, synced.

HDFS syncs the block that is being written, and only when it is asked to: so each block is
synced when it is full, and the last at the end.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from threading import Thread
from typing import TYPE_CHECKING, Any

from isal import isal_zlib

from pinakes.errors import StoreUnavailable

from .hdfs_checksums import WrittenChecksum
from .hdfs_errors import FOREIGN, NOT_CLOSED, NotThere, TakenOver, failure_of

if TYPE_CHECKING:
    from hdfs_native import Client, FileStatus, FileWriter, WriteOptions

    from .hdfs_calls import HdfsCalls

_PIECE_BYTES = 1 << 18


class AsideIO(io.RawIOBase):
    """A new file; a write takes all it is given, or raises StoreUnavailable.

    A write that failed ends it: nothing more is taken, and it cannot be published.
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
        self._writer: FileWriter = calls.ask(name, lambda client: client.create(path, options))
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
                self._sync()
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
                self._sync()
                self._in_block = 0

    def _sync(self) -> None:
        """Bring the block to disk.  hdfs-native waits for ever where a data node died meanwhile.

        So another thread waits, and it is given up when patience ends.
        """
        done: Future[None] = Future()

        def sync() -> None:
            try:
                self._writer.hsync()
            except BaseException as error:  # noqa: BLE001  (raised where it is waited for)
                done.set_exception(error)
            else:
                done.set_result(None)

        def wait(writer: FileWriter) -> None:
            done.result(self._calls.patience_s)

        Thread(target=sync, daemon=True).start()
        self._do(wait)

    def _do(self, act: Callable[[FileWriter], object]) -> None:
        """Something that, having failed, cannot be done again."""
        try:
            act(self._writer)
        except (*FOREIGN, FutureTimeoutError) as error:  # before 3.11, no OSError
            self._failed = True
            failure = failure_of(error, self.name).error
            raise self._taken_over() if isinstance(failure, NotThere) else failure from error

    def _close_writer(self) -> None:
        """Close it; where that fails, have HDFS close it, which has all there is by now."""
        try:
            self._writer.close()
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
            raise StoreUnavailable(
                f"HDFS has {found.length} bytes of {self.size} that were written: run it again",
                file=self.name,
            )
        return found

    def _status(self) -> FileStatus:
        try:
            return self._calls.ask(self.name, lambda client: client.get_file_info(self._path))
        except NotThere as error:
            raise self._taken_over() from error

    def _taken_over(self) -> TakenOver:
        return TakenOver("what was written is gone: another writer took its place", file=self.name)
