"""`pinakes serve`: how crawls land, as a page and as metrics, and whether the stores are there."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from pinakes.access.asgi import Application
from pinakes.access.asgi_site import AsgiSite, Route
from pinakes.access.bounded_server import serve
from pinakes.access.cdx.answer import CdxIndex
from pinakes.access.cdx.handler import CdxSite
from pinakes.access.readable import ReadableCaptures
from pinakes.access.rules import parse_rules
from pinakes.access.site import HEADERS, Site
from pinakes.access.views import Views
from pinakes.access.warc_server import WarcServer
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.listening import (
    LOOPBACK_NAMES,
    add_port,
    bound_sockets,
    impatient,
    is_loopback,
    parse_port,
)
from pinakes.cli.frame.options import add_settings, configuration_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.replaying import find_wayback, replaying
from pinakes.cli.frame.served_processes import serve_in_processes
from pinakes.config import Configuration
from pinakes.dedupe.decide.policy import parse_policies
from pinakes.errors import ConfigError
from pinakes.hadoop_tools import parse_command
from pinakes.profile import open_stores

DEFAULT_PORT = 8090
REPLAY_PORT = 8092
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
    parser.add_argument(
        "--replay",
        metavar="PORT",
        nargs="?",
        type=parse_port,
        const=REPLAY_PORT,
        help="also run pywb, to look at archived pages, on this port (%(const)s; 0: any free one); "
        "see wayback_command",
    )
    add_settings(parser, "store", "replay_url", "wayback_command")


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
    command = _wayback(configuration) if arguments.replay is not None else ()
    # Read here, once: a process that begins later has the same.
    tokens = _tokens(configuration.token_file)
    with ExitStack() as stack:
        url, groups = stack.enter_context(bound_sockets(host, port, processes))
        with open_stores(configuration):
            pass  # what is wrong with them is said once, here
        told = {"url": url}
        if arguments.replay is not None:
            told["replay"] = stack.enter_context(
                replaying(command, _local(url, host), host, arguments.replay, console.warn)
            )
            configuration = replace(configuration, replay_url=told["replay"])
        open_site = partial(_open_site, configuration, hosts, tokens)
        console.result(told, text="\n".join(told.values()))
        console.flush()
        if processes == 1:
            with open_site() as application:
                serve(application, groups[0])
        else:
            serve_in_processes(open_site, groups, console)
    console.say("stopped")
    return Exit.STOPPED


def _wayback(configuration: Configuration) -> tuple[str, ...]:
    return find_wayback(parse_command(configuration.wayback_command))


def _local(url: str, host: str) -> str:
    """The URL for a client on this host."""
    return url.replace(f"//{host}:", "//127.0.0.1:") if host == "0.0.0.0" else url


@contextmanager
def _open_site(
    configuration: Configuration, hosts: Sequence[str] | None, tokens: tuple[str, ...]
) -> Iterator[Application]:
    """What one process answers with, on stores of its own."""
    with ExitStack() as stack:
        stores = stack.enter_context(open_stores(configuration, serving=True))
        threads = None
        if configuration.profile == "cluster":
            threads = stack.enter_context(ThreadPoolExecutor(_STORE_THREADS))
        rules = parse_rules(configuration.access)
        captures = ReadableCaptures(stores.rows, stores.archive, rules=rules)
        views = Views(stores.rows, stores.archive, shows_crawl=captures.shows_crawl)
        pages = Site(views, captures, replay_url=configuration.replay_url)
        cdx = CdxSite(
            CdxIndex(stores.rows, stores.archive, rules=rules),
            stores.rows,
            threads=threads,
            otherwise=pages,
            pages=pages.first_parts,
            tokens=tokens,
            replay_url=configuration.replay_url,
            policies=parse_policies(configuration.dedupe),
        )
        warc = Route(re.compile(rb"/warc/.+"), WarcServer(captures.files))
        in_gzip = Route(re.compile(rb"/gzip/.+"), WarcServer(captures.files, in_gzip=True))
        routes = (*cdx.routes(), warc, in_gzip)
        yield AsgiSite(pages, hosts=hosts, headers=HEADERS, routes=routes)
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
