"""Calls to one of HBase's services: connections that are shared, opened anew, asked again.

A connection serves one call at a time and lies idle in between.  One on which anything but
an answer came is thrown away, since an answer that is late would be taken for the next.
A child process opens its own.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from types import ModuleType
from typing import Any, TypeVar

from pinakes.errors import ConfigError, StoreUnavailable
from pinakes.waiting import Waiting

from .hbase_ahead import Call, ask_ahead
from .hbase_connection import HBaseConnection, Server
from .hbase_errors import passing_errors, translated
from .hbase_retries import waits_s
from .hbase_wire import open_client

T = TypeVar("T")


class HBaseCalls:
    """A service of one or several servers that give the same answers."""

    def __init__(
        self,
        interface: Callable[[], ModuleType],
        service: str,
        servers: tuple[Server, ...],
        connection: HBaseConnection,
        *,
        on_retry: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_retry` is called before each attempt behind the first: somebody may count them."""
        if not servers:
            raise ConfigError(f"no server of HBase's {service} is named")
        self.interface = interface()
        self._service = getattr(self.interface, service)
        self._servers = servers
        self._connection = connection
        self._on_retry = on_retry
        self._waiting = Waiting("HBase", connection.patience_s)
        self._forget()

    def _forget(self) -> None:
        self._pid = os.getpid()
        self._turns = cycle(random.sample(self._servers, len(self._servers)))
        self._idle: list[tuple[Server, Any]] = []
        self._free = threading.Semaphore(self._connection.connections)

    def call(self, ask: Callable[[Any], T]) -> T:
        """What `ask` gets of a client; asked again while HBase is away.

        So `ask` must do no harm when it is done twice, even where it was thought to have
        failed.  Raises StoreUnavailable when patience ends, and at once what no patience mends.
        """
        began = time.monotonic()
        waits = waits_s(
            self._connection.patience_s, lambda: time.monotonic() - began, random.random
        )
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
        """What `ask` gets of a client.  After StoreUnavailable it may have been done, or be yet."""
        if self._pid != os.getpid():
            _inherited.append(self._idle)
            self._forget()
        with self._free, self._client() as client:
            return ask(client)

    def each(self, client: Any, calls: Sequence[Call]) -> list[Any]:
        """What a client of `call` gets of several calls, with one wait (`hbase_ahead`)."""
        return ask_ahead(client, calls, self._connection)

    @contextmanager
    def _client(self) -> Iterator[Any]:
        try:
            server, client = self._idle.pop()
        except IndexError:  # asked first, another thread might be quicker
            server, client = next(self._turns), None
        try:
            client = client or open_client(self._service, server, self._connection, self._waiting)
            yield client
        except passing_errors() as error:
            _close(client)
            self._give_up_idle()  # a server that went took all of them along
            raise translated(error, server) from error
        except BaseException:
            _close(client)
            raise
        self._idle.append((server, client))

    def close(self) -> None:
        """Close what lies idle; a later call opens anew."""
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
