"""Calls to one of HBase's services: a connection pool, and repeated calls.

A connection serves one call at a time and is idle in between.  After any error it is closed,
because a late answer would be taken for the next one.  A child process opens its own.

HBase sends a Java stack trace; the exception names in it determine the kind of error.  (For a
batch on a missing table it names the table and no exception.)  Errors not known to be final count
as temporary: regions move, servers come back.
"""

from __future__ import annotations

import os
import random
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPException
from itertools import chain, cycle, islice
from types import ModuleType
from typing import Any, TypeVar

from pinakes.errors import ConfigError, PinakesError, SchemaError, StoreUnavailable
from pinakes.waiting import Waiting

from .connection import HBaseConnection, Server
from .wire import Call, ask_ahead, open_client

PARTS_AT_ONCE = 4
P = TypeVar("P")
T = TypeVar("T")


def side_by_side(parts: Iterable[P], ask: Callable[[P], T]) -> Iterator[T]:
    """What `ask` returns for each part, in order: some parts at once, each on a connection.

    A server reads the rows of one call one after the other.  Lazy: a few answers ahead.
    """
    iterator = iter(parts)
    first = list(islice(iterator, 2))
    if len(first) < 2:
        yield from map(ask, first)
        return
    with ThreadPoolExecutor(PARTS_AT_ONCE) as threads:
        asked: deque[Future[T]] = deque()
        for part in chain(first, iterator):
            asked.append(threads.submit(ask, part))
            if len(asked) > PARTS_AT_ONCE:
                yield asked.popleft().result()
        while asked:
            yield asked.popleft().result()


class HBaseCalls:
    """A service on one or several equivalent servers."""

    def __init__(
        self,
        interface: Callable[[], ModuleType],
        service: str,
        servers: tuple[Server, ...],
        connection: HBaseConnection,
        *,
        on_retry: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_retry` is called before each repeated call."""
        if not servers:
            raise ConfigError(f"no server of HBase's {service} is configured")
        self.interface = interface()
        self._service = getattr(self.interface, service)
        self._servers = servers
        self._connection = connection
        self._on_retry = on_retry
        self._waiting = Waiting("HBase", connection.retry_s)
        self._forget()

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._turns = cycle(random.sample(self._servers, len(self._servers)))
        self._idle: list[tuple[Server, Any]] = []
        self._free = threading.Semaphore(self._connection.connections)

    def call(self, ask: Callable[[Any], T]) -> T:
        """Return what `ask(client)` returns; repeat it while HBase is down.

        `ask` must be idempotent: it may be repeated after a call that only seemed to fail.
        Raises StoreUnavailable after `retry_s`; final errors at once.
        """
        began = time.monotonic()
        waits = waits_s(self._connection.retry_s, lambda: time.monotonic() - began, random.random)
        while True:
            try:
                return self.call_once(ask)
            except StoreUnavailable as problem:
                wait_s = next(waits, None)
                if wait_s is None:
                    raise
                self._waiting.tell(time.monotonic() - began, problem.message)
                time.sleep(wait_s)
                self._on_retry()

    def call_once(self, ask: Callable[[Any], T]) -> T:
        """Return `ask(client)`, once.  After StoreUnavailable it may have been done, or be yet."""
        if self._pid != os.getpid():
            _inherited.append(self._idle)
            self._forget()
        with self._free, self._client() as client:
            return ask(client)

    def each(self, client: Any, calls: Sequence[Call]) -> list[Any]:
        """The results of several calls on a client of `call`, with one wait (`hbase_ahead`)."""
        return ask_ahead(client, calls, self._connection)

    @contextmanager
    def _client(self) -> Iterator[Any]:
        try:
            server, client = self._idle.pop()
        except IndexError:  # no `if` before it: another thread may take the last one
            server, client = next(self._turns), None
        try:
            client = client or open_client(self._service, server, self._connection, self._waiting)
            yield client
        except passing_errors() as error:
            _close(client)
            self._give_up_idle()  # a server that went down broke all of them
            raise translated(error, server) from error
        except BaseException:
            _close(client)
            raise
        self._idle.append((server, client))

    def close(self) -> None:
        """Close idle connections; a later call opens others."""
        if self._pid == os.getpid():
            self._give_up_idle()

    def _give_up_idle(self) -> None:
        idle, self._idle = self._idle, []
        for _, client in idle:
            _close(client)


_inherited: list[list[tuple[Server, Any]]] = []
"""Connections of a parent process, kept so that nothing closes them here."""


def _close(client: Any) -> None:
    if client is not None:
        client.close()


_NO_TABLE = r"Failed \d+ actions?: (?!\w+(?:Exception|Error):)[\w.:-]+: \d+ times?,"
_INIT = "run `pinakes init`"
_FINAL: tuple[tuple[str, type[PinakesError], str], ...] = (
    (f"TableNotFoundException|{_NO_TABLE}", SchemaError, f"a table is missing in HBase: {_INIT}"),
    ("Column family .* does not exist", SchemaError, f"a family is missing in HBase: {_INIT}"),
    ("NamespaceNotFoundException", SchemaError, f"the namespace is missing in HBase: {_INIT}"),
    ("hbase.table.sanity.checks", SchemaError, "HBase refuses the table as declared"),
    ("AccessDeniedException", ConfigError, "this user has no permission for it in HBase"),
    ("not allowed to impersonate", ConfigError, "HBase does not allow impersonating that user"),
    ("KeyValue size too large", ConfigError, "the cell is too large for HBase"),
)
_CAUSE = re.compile(r"(?:^|\bCaused by: )(?:[\w$.]+\.)?(\w+(?:: .*)?)$", re.MULTILINE)


def passing_errors() -> tuple[type[Exception], ...]:
    """What a call may raise; after any of these the connection must be discarded."""
    from thriftpy2.thrift import TException  # the base class of HBase's own errors

    return (TException, OSError, EOFError, HTTPException)


def translated(error: Exception, server: object) -> PinakesError:
    """Our error; StoreUnavailable for all that may be repeated."""
    message = getattr(error, "message", None)
    text = (
        message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message or error)
    )
    for sign, kind, words in _FINAL:
        if re.search(sign, text):
            return kind(f"{words} ({_cause(text)})")
    if isinstance(error, TimeoutError):
        return StoreUnavailable(
            f"HBase does not answer: the Thrift server {server}, or a region server behind it"
        )
    return StoreUnavailable(
        f"HBase cannot be reached through {server}: {_cause(text) or type(error).__name__}"
    )


def _cause(text: str) -> str:
    """The last cause that a stack trace names, without its package."""
    causes = _CAUSE.findall(text)
    return str(causes[-1] if causes else text.partition("\n")[0])[:300]


FIRST_WAIT_S = 0.05
LONGEST_WAIT_S = 5.0


def waits_s(
    retry_s: float, elapsed_s: Callable[[], float], chance: Callable[[], float]
) -> Iterator[float]:
    """Seconds to wait before each new attempt, until `retry_s` have passed.

    Doubled each time, half of it by `chance` (0 to 1), so that clients that lost one server do
    not return at the same moment.  `elapsed_s` counts from the first attempt; a wait that would
    end after `retry_s` is cut to one last attempt at its end.
    """
    longest = FIRST_WAIT_S
    while (left := retry_s - elapsed_s()) > 0:
        yield min(longest * (0.5 + chance() / 2), left)
        longest = min(2 * longest, LONGEST_WAIT_S)
