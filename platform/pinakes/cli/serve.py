"""`pinakes serve`: how crawls land, as a page and as metrics, and whether the stores are there."""

from __future__ import annotations

import argparse
import ipaddress
import socket
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import waitress

from pinakes.access.site import Site
from pinakes.access.views import Views
from pinakes.cli.exits import Exit
from pinakes.cli.options import add_settings, configuration_of
from pinakes.cli.output import Console
from pinakes.config import Configuration
from pinakes.errors import ConfigError
from pinakes.profile import open_stores

DEFAULT_PORT = 8090
PATIENCE_S = 10.0
"""For how long a store is asked again: who looks wants to know that it is away."""

_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_LIMITS = {
    "threads": 8,
    "connection_limit": 500,
    "channel_timeout": 60,
    "max_request_header_size": 32 << 10,
    "max_request_body_size": 64 << 10,
    "ident": "pinakes",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Where to listen."""
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="the address to listen on; what is not loopback can be read by whoever reaches it "
        "(default: %(default)s)",
    )
    parser.add_argument(
        "--port",
        metavar="N",
        type=_port,
        default=DEFAULT_PORT,
        help="the port; 0: any that is free (default: %(default)s)",
    )
    add_settings(parser, "store")


def _port(text: str) -> int:
    if not 0 <= (number := int(text)) < 65536:
        raise ValueError(text)
    return number


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Print the address, and answer until a signal ends it: exit 5."""
    configuration = configuration_of(arguments)
    host, port = arguments.host, arguments.port
    hosts = (*_LOOPBACK_NAMES, host) if _is_loopback(host) else None
    with ExitStack() as stack:
        stores = stack.enter_context(open_stores(_impatient(configuration)))
        views = Views(stores.rows, stores.archive)
        try:
            server = waitress.create_server(
                Site(views, hosts=hosts), host=host, port=port, **_LIMITS
            )
        except OSError as error:
            raise _no_listening(host, port, error) from error
        stack.callback(server.close)
        url = f"http://{f'[{host}]' if ':' in host else host}:{_port_of(server)}/"
        console.result({"url": url}, text=url)
        console.flush()
        server.run()  # takes the signal itself, and waits for the answers that are under way
        console.say("stopped")
        if not views.close():
            # A thread hangs in a store, and ends with the process: the store is left open.
            stack.pop_all()
    return Exit.STOPPED


def _impatient(configuration: Configuration) -> Configuration:
    return replace(
        configuration,
        hbase_patience_s=min(configuration.hbase_patience_s, PATIENCE_S),
        hbase_timeout_s=min(configuration.hbase_timeout_s, PATIENCE_S),
        hdfs_patience_s=min(configuration.hdfs_patience_s, PATIENCE_S),
    )


def _is_loopback(host: str) -> bool:
    """Whether nobody else reaches this address, whatever name it has."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError as error:
        raise ConfigError(
            f"--host {host} is no address of this machine: {error.strerror}"
        ) from error
    return all(ipaddress.ip_address(address[0]).is_loopback for *_, address in found)


def _port_of(server: Any) -> int:
    """The port; of a name with several addresses, that of the first."""
    several = getattr(server, "effective_listen", None)
    return int(several[0][1] if several else server.effective_port)


def _no_listening(host: str, port: int, error: OSError) -> ConfigError:
    return ConfigError(f"cannot listen on {host} port {port}: {error.strerror or error}")
