"""`pinakes serve`: how crawls land, as a page and as metrics, and whether the stores are there."""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from pinakes.access.bounded_server import serve
from pinakes.application.site import open_site, read_tokens
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of, number_to, options_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.replaying import find_wayback, replaying
from pinakes.cli.frame.serving import (
    LOOPBACK_NAMES,
    add_port,
    bound_sockets,
    is_loopback,
    parse_port,
    serve_in_processes,
    with_short_retries,
)
from pinakes.hadoop_tools import parse_command
from pinakes.profile import open_stores

DEFAULT_PORT = 8090
REPLAY_PORT = 8092
_MOST_PROCESSES = 256


def configure(parser: argparse.ArgumentParser) -> None:
    """Where to listen."""
    option = options_of(parser)
    option(
        "--host ADDRESS",
        "address to listen on; there is no login: any address but loopback is open to all who "
        "reach it (default: %(default)s)",
        default="127.0.0.1",
    )
    add_port(parser, DEFAULT_PORT)
    option(
        "--processes N",
        "processes that answer, each with its share of the connections (default: one for "
        "each processor)",
        type=number_to(_MOST_PROCESSES),
        default=len(os.sched_getaffinity(0)),
    )
    option(
        "--replay PORT",
        "also run pywb, to look at archived pages, on this port (%(const)s; 0: any free one); "
        "see wayback_command",
        nargs="?",
        type=parse_port,
        const=REPLAY_PORT,
    )
    add_settings(parser, "store", "replay_url", "wayback_command")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Print the address, and answer until a signal ends it: exit 5."""
    configuration = with_short_retries(configuration_of(arguments))
    host, port = arguments.host, arguments.port
    hosts = (*LOOPBACK_NAMES, host) if is_loopback(host) else None
    processes = arguments.processes
    replays = arguments.replay is not None
    command = find_wayback(parse_command(configuration.wayback_command)) if replays else ()
    # Read here, once: a process that begins later has the same.
    tokens = read_tokens(configuration.token_file)
    with ExitStack() as stack:
        url, groups = stack.enter_context(bound_sockets(host, port, processes))
        with open_stores(configuration):
            pass  # what is wrong with them is said once, here
        addresses = {"url": url}
        if replays:
            addresses["replay"] = stack.enter_context(
                replaying(command, _local(url, host), host, arguments.replay, console.warn)
            )
            configuration = replace(configuration, replay_url=addresses["replay"])
        opened = partial(open_site, configuration, hosts, tokens)
        console.result(addresses, text="\n".join(addresses.values()))
        console.flush()
        if processes == 1:
            with opened() as application:
                serve(application, groups[0])
        else:
            serve_in_processes(opened, groups, console)
    console.say("stopped")
    return Exit.STOPPED


def _local(url: str, host: str) -> str:
    """The URL for a client on this host."""
    return url.replace(f"//{host}:", "//127.0.0.1:") if host == "0.0.0.0" else url
