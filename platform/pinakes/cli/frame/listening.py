"""Where a verb listens, and how it serves until a signal ends it."""

from __future__ import annotations

import argparse
import ipaddress
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import waitress

from pinakes.config import Configuration
from pinakes.errors import ConfigError

PATIENCE_S = 10.0
"""For how long a store is asked again: who looks wants to know that it is away."""

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_LIMITS = {
    "threads": 8,
    "connection_limit": 500,
    # Connections that say nothing keep nobody out for long.
    "channel_timeout": 10,
    "cleanup_interval": 5,
    "max_request_header_size": 32 << 10,
    "max_request_body_size": 64 << 10,
    "ident": "pinakes",
}


def add_port(parser: argparse.ArgumentParser, default: int) -> None:
    """`--port N`."""
    parser.add_argument(
        "--port",
        metavar="N",
        type=_port,
        default=default,
        help="port; 0: any free one (default: %(default)s)",
    )


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) >= 65536:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port, a number up to 65535")
    return int(text)


@contextmanager
def listening(application: Any, host: str, port: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """The address that is listened on, as a URL, and what serves until a signal ends it.

    Raises:
        ConfigError: nobody can listen there.
    """
    # A request that waits for a thread is not worth a line on the terminal.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    try:
        server = waitress.create_server(application, host=host, port=port, **_LIMITS)
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {host} port {port}: {error.strerror or error}"
        ) from error
    try:
        # It takes the signal itself, and waits for the answers that are under way.
        yield f"http://{f'[{host}]' if ':' in host else host}:{_port_of(server)}/", server.run
    finally:
        server.close()


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


def _port_of(server: Any) -> int:
    """The port; of a name with several addresses, that of the first."""
    several = getattr(server, "effective_listen", None)
    return int(several[0][1] if several else server.effective_port)
