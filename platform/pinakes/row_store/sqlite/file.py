"""One SQLite file, used by several threads and processes at once.

Write-ahead log; one connection per thread, which ends with it, opened again after a fork (a
connection used across a fork corrupts the file).  Writers wait for their turn; readers never wait.

`synchronous=FULL`: a commit is on disk when it returns, so that neither a kill nor a power loss
undoes what landing relies on.  With `NORMAL` a power loss would undo the last transactions, after
the files that they describe were renamed.  It costs one fsync per commit, which is negligible in
batches of thousands (docs/adr/0011-row-store.md).
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pinakes.errors import ConfigError, SchemaError, StoreUnavailable

APPLICATION_ID = int.from_bytes(b"Pina", "big")
TIMEOUT_S = 60.0
# Of a new file.  Landing takes a sixth less time than with SQLite's 4096, reading the same.
PAGE_BYTES = 16384
_LOG_BYTES = 32 << 20
_MOST_LOG_BYTES = 64 << 20
_LOG_TIMEOUT_MS = 1000
_SETTINGS = (
    "PRAGMA synchronous=FULL",
    "PRAGMA cache_size=-32768",
    f"PRAGMA journal_size_limit={_MOST_LOG_BYTES}",
)

_MAPPED = f"PRAGMA mmap_size={1 << 40}"
"""Pages are read where the system has them, not copied: a quarter less time for many rows.  An
error of the disk ends the process then, so it is for readers that are started again."""

T = TypeVar("T")


class _UntilThreadEnds:
    """Closes a connection when its thread ends: servers have one thread per connection.

    Not in a child process: there the parent's threads end with the fork.
    """

    def __init__(self, connection: sqlite3.Connection, among: list[sqlite3.Connection]) -> None:
        self._connection = connection
        self._among = among
        self._pid = os.getpid()

    def __del__(self) -> None:
        if self._pid == os.getpid():
            with suppress(ValueError):  # `close` may have been before
                self._among.remove(self._connection)
            self._connection.close()


class SqliteFile:
    """Reads and write transactions; every error of SQLite comes out as one of ours.

    `serving`: for a process that reads very often, and is started again when it dies.  Pages are
    mapped, and what an event loop reads in one turn is one read transaction: beginning and ending
    one takes as long as a small query.  It is ended before the loop looks for new requests.
    """

    def __init__(self, path: Path, *, timeout_s: float = TIMEOUT_S, serving: bool = False) -> None:
        self.path = path
        # A thread opens it when it first reads, and tasks of a job change the working folder.
        self._file = path.absolute()
        self._serving = serving
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._was_there = False
        self._forget()

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._local = threading.local()
        self._has_written = False
        self._longest_log_bytes = _MOST_LOG_BYTES
        self._open: list[sqlite3.Connection] = []

    def read(self, sql: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query, as one consistent view."""
        try:  # without their context managers: this is called per row
            connection = self._connection()
            if self._serving and not connection.in_transaction:
                _hold_for_this_turn(connection)
            return connection.execute(sql, values).fetchall()
        except sqlite3.Error:
            with translated(self.path):
                return self._until_unlocked(
                    lambda: self._connection().execute(sql, values).fetchall()
                )

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all or nothing; on disk when this ends."""
        with translated(self.path):
            connection = self._connection()
            if self._serving:
                _end_turn(connection)
            self._until_unlocked(lambda: connection.execute("BEGIN IMMEDIATE"))
            self._has_written = True
            try:
                yield connection
                connection.execute("COMMIT")
                self._shorten_log(connection)
            except BaseException:
                # A full disk rolls back by itself; the connection stays usable either way.
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _shorten_log(self, connection: sqlite3.Connection) -> None:
        """Begin the log again where it has become long, which waits for readers.

        SQLite does so by itself at a moment without readers.  With readers that never pause
        there is none, and the log would grow as long as anything is written.
        """
        try:
            log_bytes = os.stat(f"{self._file}-wal").st_size
        except OSError:
            return
        if log_bytes > self._longest_log_bytes:
            _empty_log(connection, "RESTART", self._timeout_s)
            # Where a reader took too long, not at each commit again.
            self._longest_log_bytes = log_bytes + _LOG_BYTES

    def create(self) -> None:
        """Create the file, in write-ahead mode, if missing; on disk when this ends.

        Only its owner may read it, unless the mode is changed (chmod); SQLite gives the files
        next to it the same mode.
        """
        with translated(self.path):
            with suppress(OSError):  # of which SQLite says more
                os.close(os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            connection = sqlite3.connect(self._file, timeout=self._timeout_s, isolation_level=None)
            try:
                connection.execute(f"PRAGMA page_size={PAGE_BYTES:d}")
                [[mode]] = self._until_unlocked(
                    lambda: connection.execute("PRAGMA journal_mode=WAL").fetchall()
                )
                if mode != "wal":
                    raise StoreUnavailable(
                        "this file system cannot be shared by processes (no write-ahead log)",
                        file=str(self.path),
                    )
            finally:
                connection.close()
        folder = os.open(self._file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def close(self) -> None:
        """Close the connections of all threads.

        Who has written empties the log first.  SQLite does so when the last connection closes,
        but a server that only reads, and keeps one, would keep a log of many megabytes with it.
        """
        with self._lock:
            connections = list(self._open) if self._pid == os.getpid() else []
            if connections and self._has_written:
                _empty_log(connections[0], "TRUNCATE", self._timeout_s)
            self._forget()
        for connection in connections:
            connection.close()

    def _connection(self) -> sqlite3.Connection:
        if self._pid != os.getpid():
            # The parent's connections are left as they are: closing one here would disturb it.
            _inherited.append(self._open)
            self._lock = threading.Lock()
            self._forget()
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
            self._local.until = _UntilThreadEnds(connection, self._open)
            with self._lock:
                self._open.append(connection)
        return connection

    def _connect(self) -> sqlite3.Connection:
        if not self._file.is_file():
            if self._was_there:
                raise StoreUnavailable("the store is gone: it was moved or deleted, or its disk is "
                                       "not mounted", file=str(self.path))  # fmt: skip
            raise ConfigError("there is no store here: make one with `pinakes init`",
                              file=str(self.path))  # fmt: skip
        connection = sqlite3.connect(
            f"{self._file.as_uri()}?mode=rw",
            uri=True,
            timeout=self._timeout_s,
            isolation_level=None,
            check_same_thread=False,  # `close` is called by one thread for all
        )
        for setting in (*_SETTINGS, _MAPPED) if self._serving else _SETTINGS:
            connection.execute(setting)
        self._was_there = True
        [[page_bytes]] = connection.execute("PRAGMA page_size")
        connection.execute(f"PRAGMA wal_autocheckpoint={_LOG_BYTES // page_bytes:d}")
        return connection

    def _until_unlocked(self, call: Callable[[], T]) -> T:
        # SQLite waits by itself, but for some moments of recovery and of closing.
        give_up = time.monotonic() + self._timeout_s
        while True:
            try:
                return call()
            except sqlite3.OperationalError as error:
                if "lock" not in str(error) or time.monotonic() >= give_up:
                    raise
                time.sleep(0.01)


def _hold_for_this_turn(connection: sqlite3.Connection) -> None:
    """Begin a read transaction that ends with this turn of the event loop, if there is one."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return
    connection.execute("BEGIN")
    loop.call_soon(_end_turn, connection)


def _end_turn(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.ProgrammingError):  # it may have been closed since then
        if connection.in_transaction:
            connection.execute("COMMIT")


def _empty_log(connection: sqlite3.Connection, way: str, timeout_s: float) -> None:
    """Move the log into the file, and cut it off (TRUNCATE) or write it from its beginning again
    (RESTART); left as it is where others are just at it."""
    with suppress(sqlite3.Error):  # what is in the log is as safe there
        connection.execute(f"PRAGMA busy_timeout={_LOG_TIMEOUT_MS:d}")
        connection.execute(f"PRAGMA wal_checkpoint({way})").fetchall()
        connection.execute(f"PRAGMA busy_timeout={1000 * timeout_s:.0f}")


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors about a file into ours."""
    try:
        yield
    except sqlite3.Error as error:
        _raise_ours(error, path)


_inherited: list[list[sqlite3.Connection]] = []
"""Connections of a parent process, kept so that nothing closes them here."""

# By words: Python 3.10 does not give SQLite's error codes.
_UNAVAILABLE = (
    ("full", "the disk is full: make room and run it again; what is done stays done"),
    ("locked", "another process has been writing for too long; try again"),
    ("locking protocol", "another process stands still with the store open; try again"),
    ("readonly", "the store is not writable: check its owner"),
    ("unable to open", "the store cannot be opened: check whether you may write to it"),
    ("disk i/o", "the disk failed to read or write: check whether it is full"),
    ("malformed", "the store is damaged: restore it from a backup"),
)


def _raise_ours(error: sqlite3.Error, path: Path) -> NoReturn:
    words = str(error).lower()
    if "not a database" in words:
        raise SchemaError("this file is not a store of Pinakes", file=str(path)) from error
    for part, advice in _UNAVAILABLE:
        if part in words:
            raise StoreUnavailable(f"{advice} ({error})", file=str(path)) from error
    raise error


def stored_version(database: SqliteFile) -> int | None:
    """The schema version in the file; None in an empty one.  Raises SchemaError for another's."""
    [[application]] = database.read("PRAGMA application_id")
    [[version]] = database.read("PRAGMA user_version")
    if application not in (0, APPLICATION_ID) or (application == 0 and version):
        raise SchemaError("this is the database of another program", file=str(database.path))
    return int(version) if application else None
