"""`pinakes serve`: how crawls land, as a page and as metrics, and whether the stores are there."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from pinakes.access.asgi import Application
from pinakes.access.asgi_site import AsgiSite
from pinakes.access.bounded_server import serve
from pinakes.access.cdx.answer import CdxIndex
from pinakes.access.cdx.handler import CdxSite
from pinakes.access.readable import ReadableCaptures
from pinakes.access.rules import parse_rules
from pinakes.access.site import HEADERS, Site
from pinakes.access.views import Views
from pinakes.access.wsgi_mount import WsgiMount
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.listening import (
    LOOPBACK_NAMES,
    add_port,
    bound_sockets,
    impatient,
    is_loopback,
)
from pinakes.cli.frame.options import add_settings, configuration_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.served_processes import serve_in_processes
from pinakes.config import Configuration
from pinakes.errors import ConfigError
from pinakes.profile import open_stores

DEFAULT_PORT = 8090
_MOST_PROCESSES = 256
_STORE_THREADS = 16
_LEAST_TOKEN = 16


def configure(parser: argparse.ArgumentParser) -> None:
    """Where to listen."""
    parser.add_argument(
        "--host",
        metavar="ADDRESS",
        default="127.0.0.1",
        help="address to listen on; there is no login: any address but loopback is open to all who "
        "reach it (default: %(default)s)",
    )
    add_port(parser, DEFAULT_PORT)
    parser.add_argument(
        "--processes",
        metavar="N",
        type=_processes,
        default=len(os.sched_getaffinity(0)),
        help="processes that answer, each with its share of the connections (default: one for "
        "each processor)",
    )
    add_settings(parser, "store", "replay_url")


def _processes(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= _MOST_PROCESSES:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {_MOST_PROCESSES}")
    return int(text)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Print the address, and answer until a signal ends it: exit 5."""
    configuration = impatient(configuration_of(arguments))
    host, port = arguments.host, arguments.port
    hosts = (*LOOPBACK_NAMES, host) if is_loopback(host) else None
    processes = arguments.processes
    open_site = partial(_open_site, configuration, hosts)
    with bound_sockets(host, port, processes) as (url, groups):
        if processes == 1:
            with open_site() as application:
                _tell(console, url)
                serve(application, groups[0])
        else:
            with open_stores(configuration):
                pass  # what is wrong with them is said once, here
            _tell(console, url)
            serve_in_processes(open_site, groups, console)
    console.say("stopped")
    return Exit.STOPPED


def _tell(console: Console, url: str) -> None:
    console.result({"url": url}, text=url)
    console.flush()


@contextmanager
def _open_site(configuration: Configuration, hosts: Sequence[str] | None) -> Iterator[Application]:
    """What one process answers with, on stores of its own."""
    with ExitStack() as stack:
        stores = stack.enter_context(open_stores(configuration))
        views = Views(stores.rows, stores.archive)
        threads = None
        if configuration.profile == "cluster":
            threads = stack.enter_context(ThreadPoolExecutor(_STORE_THREADS))
        rules = parse_rules(configuration.access)
        cdx = CdxSite(
            CdxIndex(stores.rows, rules=rules),
            stores.rows,
            threads=threads,
            tokens=_tokens(configuration.token_file),
            replay_url=configuration.replay_url,
        )
        captures = ReadableCaptures(stores.rows, stores.archive, rules=rules)
        pages = Site(views, captures, hosts=hosts, replay_url=configuration.replay_url)
        yield AsgiSite(WsgiMount(pages), hosts=hosts, headers=HEADERS, routes=cdx.routes())
        if not views.close():
            # A thread hangs in a store, and ends with the process: the store is left open.
            stack.pop_all()


def _tokens(path: Path | None) -> tuple[str, ...]:
    """The tokens in a file, a line each."""
    if path is None:
        return ()
    try:
        lines = path.read_text("ascii").split()
    except (OSError, ValueError) as error:
        raise ConfigError(f"token_file cannot be read: {error}", file=str(path)) from error
    if not lines or any(len(token) < _LEAST_TOKEN for token in lines):
        raise ConfigError(
            f"token_file has tokens of {_LEAST_TOKEN} characters or more, a line each",
            file=str(path),
        )
    return tuple(lines)
