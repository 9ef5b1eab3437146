"""`pinakes serve`: how crawls land, as a page and as metrics, and whether the stores are there."""

from __future__ import annotations

import argparse
from contextlib import ExitStack

from pinakes.access.readable import ReadableCaptures
from pinakes.access.site import Site
from pinakes.access.views import Views
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.listening import LOOPBACK_NAMES, add_port, impatient, is_loopback, listening
from pinakes.cli.frame.options import add_settings, configuration_of
from pinakes.cli.frame.output import Console
from pinakes.profile import open_stores

DEFAULT_PORT = 8090


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
    add_settings(parser, "store", "replay_url")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Print the address, and answer until a signal ends it: exit 5."""
    configuration = configuration_of(arguments)
    host, port = arguments.host, arguments.port
    hosts = (*LOOPBACK_NAMES, host) if is_loopback(host) else None
    with ExitStack() as stack:
        stores = stack.enter_context(open_stores(impatient(configuration)))
        views = Views(stores.rows, stores.archive)
        captures = ReadableCaptures(stores.rows, stores.archive)
        site = Site(views, captures, hosts=hosts, replay_url=configuration.replay_url)
        url, serve = stack.enter_context(listening(site, host, port))
        console.result({"url": url}, text=url)
        console.flush()
        serve()
        console.say("stopped")
        if not views.close():
            # A thread hangs in a store, and ends with the process: the store is left open.
            stack.pop_all()
    return Exit.STOPPED
