"""Serves an ASGI application on sockets that listen, until a signal comes."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from email.utils import formatdate
from typing import Any

import uvloop

from .asgi import Application
from .connection import Bounds, Connection, Served

GRACE_S = 10
"""For answers under way, once a signal has ended the server."""
DEFAULT_BOUNDS = Bounds()
_TICK_S = 0.1
_TICKS_A_SECOND = 10
_OPEN_FILES = 16_384
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class BoundedServer:
    """Serves until SIGINT, SIGTERM or SIGHUP, `should_exit`, or until the process `parent` is
    gone."""

    def __init__(
        self,
        application: Application,
        *,
        bounds: Bounds = DEFAULT_BOUNDS,
        parent: int | None = None,
    ) -> None:
        self._served = Served(application, bounds)
        self._parent = parent
        self.should_exit = False

    def run(self, sockets: Sequence[socket.socket]) -> None:
        """Serve on these, which are left open."""
        loop = uvloop.new_event_loop()
        try:
            with self._signals_end():
                loop.run_until_complete(self._serve(loop, sockets))
        finally:
            loop.close()

    async def _serve(
        self, loop: asyncio.AbstractEventLoop, sockets: Sequence[socket.socket]
    ) -> None:
        self._note_date()
        servers = [
            await loop.create_server(lambda: Connection(self._served, loop), sock=one.dup())
            for one in sockets
        ]
        ticks = 0
        while not self.should_exit:
            await asyncio.sleep(_TICK_S)
            ticks += 1
            if ticks % _TICKS_A_SECOND == 0:
                self._check(loop.time())
        for server in servers:
            server.close()
        await self._end()

    def _check(self, now_s: float) -> None:
        """Once a second."""
        self._note_date()
        for connection in tuple(self._served.connections):
            connection.check(now_s)
        if self._parent is not None and os.getppid() != self._parent:
            self.should_exit = True

    def _note_date(self) -> None:
        date = formatdate(usegmt=True)
        self._served.lead = f"server: pinakes\r\ndate: {date}\r\n".encode("ascii")

    async def _end(self) -> None:
        """Give the answers under way."""
        served = self._served
        for connection in tuple(served.connections):
            connection.shut_down()
        for _ in range(int(GRACE_S / _TICK_S)):
            if not (served.connections or served.tasks):
                return
            await asyncio.sleep(_TICK_S)
        for task in tuple(served.tasks):
            task.cancel()
        await asyncio.gather(*served.tasks, return_exceptions=True)
        for connection in tuple(served.connections):
            connection.transport.abort()

    @contextmanager
    def _signals_end(self) -> Iterator[None]:
        """Signals end the server, and are not raised again: the caller goes on."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def end(*_: object) -> None:
            self.should_exit = True

        # What was ignored stays ignored: `nohup pinakes …`, or Ctrl-C that the parent answers.
        wanted = [number for number in _SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
        before: dict[int, Any] = {number: signal.signal(number, end) for number in wanted}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def serve(
    application: Application, sockets: Sequence[socket.socket], *, parent: int | None = None
) -> None:
    """Answer on these sockets until a signal comes, then give the answers under way."""
    _allow_open_files()
    BoundedServer(application, parent=parent).run(list(sockets))


def _allow_open_files() -> None:
    """Raise the soft limit, so that connections and files of the store do not reach it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
