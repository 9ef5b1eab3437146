"""Where a verb listens, and how it serves until a signal ends it."""

from __future__ import annotations

import argparse
import ipaddress
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import Any

from pinakes.access.asgi import Application
from pinakes.config import Configuration
from pinakes.errors import ConfigError

PATIENCE_S = 10.0
"""For how long a store is asked again: who looks wants to know that it is away."""

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_BACKLOG = 2048


def add_port(parser: argparse.ArgumentParser, default: int) -> None:
    """`--port N`."""
    parser.add_argument(
        "--port",
        metavar="N",
        type=parse_port,
        default=default,
        help="port; 0: any free one (default: %(default)s)",
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
        ConfigError: nobody can listen there.
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
        ConfigError: nobody can listen there.
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
                    # From now on, for ours alone: the first was bound where nobody else is.
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


def impatient(configuration: Configuration) -> Configuration:
    """The same, but for how long a store that is away is waited for."""
    return replace(
        configuration,
        hbase_patience_s=min(configuration.hbase_patience_s, PATIENCE_S),
        hbase_timeout_s=min(configuration.hbase_timeout_s, PATIENCE_S),
        hdfs_patience_s=min(configuration.hdfs_patience_s, PATIENCE_S),
    )


def is_loopback(host: str) -> bool:
    """Whether nobody else reaches this address, whatever name it has."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConfigError(
            f"--host {host} is not an address of this machine: {error.strerror}"
        ) from error
    return all(ipaddress.ip_address(address[0]).is_loopback for *_, address in found)
