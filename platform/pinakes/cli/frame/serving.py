"""Where a verb listens, and how it serves until a signal ends it: here, or by several processes.

Then the parent binds the address, and serves nothing itself.  Each process is started as a new
Python process (spawn: stores and threads do not outlive a fork) and opens its own stores.  One that
ends by itself is named, and another takes its place; all end with their parent, however it ends.
"""

from __future__ import annotations

import argparse
import ipaddress
import multiprocessing
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any, NoReturn

from pinakes.access.asgi import Application
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import options_of
from pinakes.cli.frame.output import Console, notices
from pinakes.config import Configuration
from pinakes.errors import ConfigError

TIMEOUT_S = 10.0
"""For how long a store is asked again: who looks wants to know that it is away."""

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_BACKLOG = 2048


def add_port(parser: argparse.ArgumentParser, default: int) -> None:
    """`--port N`."""
    options_of(parser)(
        "--port N", "port; 0: any free one (default: %(default)s)", type=parse_port, default=default
    )


def parse_port(text: str) -> int:
    """The argument of a port option."""
    if not text.isdecimal() or int(text) >= 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, a number up to 65535")
    return int(text)


@contextmanager
def listening(
    application: Application, host: str, port: int
) -> Iterator[tuple[str, Callable[[], None]]]:
    """The address that is listened on, as a URL, and what serves until a signal ends it.

    Raises:
        ConfigError: no process can listen there.
    """
    # Imported where something is served: uvloop takes as long to import as all the rest.
    from pinakes.access.bounded_server import serve

    with bound_sockets(host, port) as (url, [sockets]):
        yield url, lambda: serve(application, sockets)


@contextmanager
def bound_sockets(
    host: str, port: int, processes: int = 1
) -> Iterator[tuple[str, list[list[socket.socket]]]]:
    """The address as a URL, and for each process the sockets that listen there, one an address.

    Each process has its own, and the kernel gives each its share of connections (SO_REUSEPORT);
    those of a process that has ended wait for the one that takes its place.

    Raises:
        ConfigError: no process can listen there.
    """
    with ExitStack() as stack:
        groups: list[list[socket.socket]] = [[] for _ in range(processes)]
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
            for family, address in dict.fromkeys((one[0], one[4]) for one in found):
                # Where the kernel chose the port of the first address, the others have the same.
                wanted = (address[0], port, *address[2:])
                for number, group in enumerate(groups):
                    one = stack.enter_context(closing(_bound(family, wanted, share=number > 0)))
                    # From now on, for ours alone: the first was bound where no other process is.
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                    group.append(one)
                    port = one.getsockname()[1]
                    wanted = (address[0], port, *address[2:])
            for one in (one for group in groups for one in group):
                one.listen(_BACKLOG)
        except OSError as error:
            raise ConfigError(
                f"cannot listen on {host} port {port}: {error.strerror or error}"
            ) from error
        yield f"http://{f'[{host}]' if ':' in host else host}:{port}/", groups


def _bound(family: int, address: tuple[Any, ...], *, share: bool) -> socket.socket:
    one = socket.socket(family, socket.SOCK_STREAM)
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if share:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.bind(address)
    except OSError:
        one.close()
        raise
    return one


def with_short_retries(configuration: Configuration) -> Configuration:
    """The same, but for how long a store that is away is waited for."""
    return replace(
        configuration,
        hbase_retry_s=min(configuration.hbase_retry_s, TIMEOUT_S),
        hbase_timeout_s=min(configuration.hbase_timeout_s, TIMEOUT_S),
        hdfs_retry_s=min(configuration.hdfs_retry_s, TIMEOUT_S),
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches this address, under any name."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConfigError(
            f"--host {host} is not an address of this machine: {error.strerror}"
        ) from error
    return all(ipaddress.ip_address(address[0]).is_loopback for *_, address in found)


_GRACE_S = 15.0
"""Longer than the server's own, for answers under way."""
_SETTLED_S = 10.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.5, 30.0

Open = Callable[[], AbstractContextManager[Application]]


@dataclass(slots=True)
class _Place:
    """What one process serves on, and that process; None while its successor is waited for."""

    sockets: list[socket.socket]
    process: BaseProcess | None = None
    began_s: float = 0.0
    begin_at_s: float = 0.0
    pause_s: float = 0.0


def serve_in_processes(
    open_site: Open, groups: Sequence[list[socket.socket]], console: Console
) -> None:
    """Serve each group of sockets by a process of its own, until SIGINT, SIGTERM or SIGHUP.

    `open_site` can be pickled.
    """
    places = [_Place(sockets) for sockets in groups]
    try:
        while True:
            for place in places:
                if place.process is None and time.monotonic() >= place.begin_at_s:
                    _begin(place, open_site, console)
            for place in _ended(places):
                console.warn(_bury(place))
    except KeyboardInterrupt:
        pass
    finally:
        _end([place.process for place in places if place.process is not None])


def _begin(place: _Place, open_site: Open, console: Console) -> None:
    form = {name: getattr(console, name) for name in ("json", "log_json", "quiet", "verbose")}
    place.process = multiprocessing.get_context("spawn").Process(
        target=_serve, args=(open_site, place.sockets, os.getpid(), form), daemon=True
    )
    with _held_back(signal.SIGINT):
        place.process.start()
    place.began_s = time.monotonic()


@contextmanager
def _held_back(number: signal.Signals) -> Iterator[None]:
    """Ctrl-C reaches the whole group: a process that begins is not to print a traceback of it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [number])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _ended(places: Sequence[_Place]) -> list[_Place]:
    """Those whose process has ended, waiting for one, or for the time to begin another."""
    alive = {p.process.sentinel: p for p in places if p.process is not None}
    pauses = [p.begin_at_s - time.monotonic() for p in places if p.process is None]
    if not alive:
        time.sleep(max(0.0, min(pauses)))
        return []
    ready = wait(list(alive), max(0.0, min(pauses)) if pauses else None)
    return [place for sentinel, place in alive.items() if sentinel in ready]


def _bury(place: _Place) -> str:
    """What to say of a process that has ended; another is begun after a pause that grows."""
    assert place.process is not None
    place.process.join()
    now_s = time.monotonic()
    was_well = now_s - place.began_s > _SETTLED_S
    place.pause_s = (
        _FIRST_PAUSE_S if was_well else min(2 * place.pause_s or _FIRST_PAUSE_S, _LONGEST_PAUSE_S)
    )
    place.begin_at_s = now_s + place.pause_s
    pid, code = place.process.pid, place.process.exitcode
    place.process = None
    why = signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
    return f"the serving process {pid} ended ({why}): another takes its place"


def _end(processes: Sequence[BaseProcess]) -> None:
    """End them: with the answers under way, at once at a second signal or after a while."""
    for process in processes:
        process.terminate()
    until_s = time.monotonic() + _GRACE_S
    try:
        for process in processes:
            process.join(max(0.0, until_s - time.monotonic()))
    except KeyboardInterrupt:
        pass
    for process in processes:
        if process.is_alive():
            process.kill()
            process.join()


def _serve(
    open_site: Open, sockets: list[socket.socket], parent: int, form: dict[str, bool]
) -> NoReturn:
    """In a process: serve until the parent ends it, or is gone."""
    from pinakes.access.bounded_server import serve

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers Ctrl-C
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    console = Console.standard(**form)
    code = Exit.STOPPED
    with notices(console):
        try:
            with open_site() as application:
                serve(application, sockets, parent=parent)
        except Exception as error:  # noqa: BLE001  the parent says that this process has ended
            code = console.fail(error)
    sys.exit(code)
