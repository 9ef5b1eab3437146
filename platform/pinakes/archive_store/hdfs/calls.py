"""Calls to HDFS through hdfs-native: one client per process; calls repeat while HDFS is down.

A call ends after `retry_s`, also when a server hangs: hdfs-native itself sets no time limit.

hdfs-native keeps connections to data nodes, for all its clients, until 3 s after their last
read; and threads, which a forked process does not inherit.  So a forked process makes a client
of its own, and a fork waits until no connection is kept: two processes that share one would get
each other's bytes.  (This assumes that no other thread reads during a fork.)

So calls run in other threads; a thread that does not return in time is abandoned.  (A sync was
seen not to return after a data node was killed.)  Threads are kept for later calls: starting one
takes as long as a short call.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from math import inf
from typing import TYPE_CHECKING, TypeVar

from pinakes.errors import ConfigError
from pinakes.extras import missing_extra
from pinakes.waiting import Waiting

from .connection import HdfsConnection
from .errors import FOREIGN, failure_of

if TYPE_CHECKING:
    from hdfs_native import Client


from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from pinakes.waiting import NOTICE_AFTER_S

T = TypeVar("T")
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 5.0
_ONCE_S = 20.0
_KEPT_S = 3.2
"""A little longer than hdfs-native keeps a connection (3 s in the source of 0.14)."""


class HdfsCalls:
    """hdfs-native's client of one connection, for several threads."""

    def __init__(
        self, connection: HdfsConnection, on_retry: Callable[[], None] = lambda: None
    ) -> None:
        """`on_retry` is called before each repeated call."""
        try:
            import hdfs_native
        except ImportError as error:
            raise missing_extra("HDFS needs hdfs_native", "cluster") from error
        self._native = hdfs_native
        self._connection = connection
        self._on_retry = on_retry
        self._lock = threading.Lock()
        self._waiting = Waiting(f"HDFS ({connection.server})", connection.retry_s)
        self._bounded = Bounded(self._waiting)
        self._client: Client | None = None
        self._pid = 0

    @property
    def retry_s(self) -> float:
        """How long failed calls are repeated, in seconds."""
        return self._connection.retry_s

    def ask(self, name: str, act: Callable[[Client], T]) -> T:
        """Return what `act(client)` returns; repeat it while HDFS is down.

        `act` must be idempotent: it may be repeated after a call that only seemed to fail.
        Errors that waiting cannot solve are raised at once, with `name` as their file.
        """
        began = time.monotonic()
        pauses_s = pauses(self.retry_s, lambda: time.monotonic() - began)
        while True:
            try:
                return self.bounded(lambda: act(self.client()), inf)
            except FOREIGN as error:
                # Not in a variable: it and this frame would keep each other alive, and by what it
                # was raised from the client: which a forked process must never clear away.
                failure = failure_of(error, name)
                passes, why = failure.passes, failure.error.message
                del failure
                pause_s = next(pauses_s, None) if passes else None
                if pause_s is None:
                    raise failure_of(error, name).error from error
                self._waiting.tell(time.monotonic() - began, why)
                time.sleep(pause_s)
                self._on_retry()

    def once(self, name: str, act: Callable[[Client], T]) -> T:
        """Return what `act(client)` returns; call it once, and wait some seconds at most."""
        try:
            return self.bounded(lambda: act(self.client()), _ONCE_S)
        except FOREIGN as error:
            raise failure_of(error, name).error from error

    def bounded(self, act: Callable[[], T], most_s: float) -> T:
        """Return what a call on an object of a client returns.

        Raises TimeoutError after `retry_s`, or after `most_s`.
        """
        return self._bounded.call(act, min(most_s, self.retry_s))

    def client(self) -> Client:
        """The client of this process."""
        if self._pid != os.getpid():
            with self._lock:
                if self._pid != os.getpid():
                    self._inherit()
                    self._client = self._connect()
                    self._pid = os.getpid()
        _last_use.at_s = time.monotonic()
        assert self._client is not None
        return self._client

    def close(self) -> None:
        """Close the client; a later call makes another."""
        if self._pid == os.getpid():
            self._client, self._pid = None, 0
            self._bounded.close()

    def _inherit(self) -> None:
        if self._client is not None:
            _inherited.append(self._client)  # its threads are not here: it cannot be closed
        self._lock = threading.Lock()

    def _connect(self) -> Client:
        given = self._connection
        try:
            return self._native.Client(
                given.server,
                {},
                str(given.config_folder) if given.config_folder else None,
                kerberos_principal=given.principal,
                kerberos_keytab=str(given.keytab) if given.keytab else None,
                kerberos_cache=str(given.ticket_cache) if given.ticket_cache else None,
            )
        except FOREIGN as error:
            raise ConfigError(f"HDFS cannot be reached as configured: {error}") from error


def pauses(retry_s: float, elapsed_s: Callable[[], float]) -> Iterator[float]:
    """Seconds to wait before each new attempt: doubled each time, half of it random."""
    longest = _FIRST_PAUSE_S
    while (left := retry_s - elapsed_s()) > 0:
        chance = random.random()  # noqa: S311  (so that clients of a lost server do not all return at once)
        yield min(longest * (0.5 + chance / 2), left)
        longest = min(2 * longest, _LONGEST_PAUSE_S)


class _LastUse:
    at_s = -_KEPT_S


_last_use = _LastUse()
_inherited: list[Client] = []


def _wait_for_connections_to_lapse() -> None:
    time.sleep(max(0.0, _last_use.at_s + _KEPT_S - time.monotonic()))


os.register_at_fork(before=_wait_for_connections_to_lapse)


class Bounded:
    """Runs calls in threads of its own.  Safe for several threads, and across forks."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._idle: list[_Caller] = []
        self._pid = os.getpid()

    def call(self, act: Callable[[], T], retry_s: float) -> T:
        """Return or raise what `act` does; raise TimeoutError after `retry_s`.

        `waiting` logs a call that takes long.
        """
        if self._pid != os.getpid():  # a forked process does not have these threads
            self._idle, self._pid = [], os.getpid()
        try:
            caller = self._idle.pop()
        except IndexError:  # no `if` before it: another thread may take the last one
            caller = _Caller()
        caller.given.put(act)
        result: T
        try:
            try:
                result, error = caller.answers.get(timeout=min(NOTICE_AFTER_S, retry_s))
            except Empty:
                self._waiting.tell(NOTICE_AFTER_S, "it has not answered yet")
                left_s = max(0.0, retry_s - NOTICE_AFTER_S)
                result, error = caller.answers.get(timeout=left_s)
        except Empty:
            caller.given.put(None)
            raise TimeoutError(f"no answer in {retry_s:g} s") from None
        self._idle.append(caller)
        if error is None:
            return result
        try:
            raise error
        finally:
            del error  # else a reference cycle would keep this frame and its callers alive

    def close(self) -> None:
        """End the idle threads; a later call starts others."""
        idle, self._idle = self._idle, []
        for caller in idle:
            caller.given.put(None)


class _Caller:
    """A thread that runs the calls it is given, one after another, until one is None."""

    def __init__(self) -> None:
        self.given: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self.answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while (act := self.given.get()) is not None:
            try:
                self.answers.put((act(), None))
            except BaseException as error:  # noqa: BLE001  (raised where it is waited for)
                self.answers.put((None, error))
            del act
