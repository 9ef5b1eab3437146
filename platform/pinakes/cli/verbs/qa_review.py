"""`pinakes qa review`: people review the results of a run in a web page on loopback."""

from __future__ import annotations

import argparse
import os
import secrets
from collections.abc import Callable

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.serving import LOOPBACK_NAMES, add_port, listening, with_short_retries
from pinakes.cli.verbs.qa_pages import add_run_folder
from pinakes.config import Configuration
from pinakes.counts import count_of
from pinakes.errors import InputRefused
from pinakes.profile import ROWS, open_stores

DEFAULT_PORT = 8091
_HOST = "127.0.0.1"


def configure(parser: argparse.ArgumentParser) -> None:
    """The run, the address to listen on, the leads."""
    add_run_folder(parser)
    options_of(parser)(
        "--lead NAME",
        "a reviewer who settles disputes and signs the run; may be repeated",
        action="append",
        default=[],
    )
    add_port(parser, DEFAULT_PORT)
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Print the address, with the token for writing, and answer until a signal ends it: exit 5."""
    # Imported here, so that other verbs of QA start without a web server.
    from pinakes.access.asgi_site import AsgiSite
    from pinakes.qa.result_rows import is_known
    from pinakes.qa.review.board import Board
    from pinakes.qa.review.reviewed_pair import reviewed_pairs
    from pinakes.qa.review.site import HEADERS, ReviewSite, RunImages
    from pinakes.qa.run.run_folder import read_extent, read_pairs

    configuration, folder = configuration_of(arguments), arguments.folder
    judged = read_pairs(folder)
    if not judged:
        raise InputRefused("this run has no judged page yet", file=str(folder))
    extent = read_extent(folder, judged)
    if extent is not None and extent.not_captured:
        console.warn(extent.not_captured)
    pairs, repeated = reviewed_pairs(judged)
    if repeated:
        console.warn(
            f"{count_of(repeated, 'result repeats', 'results repeat')} a pair: the worst "
            "of each pair is shown"
        )
    run = pairs[0].judged.result.run
    images = {
        view.image
        for pair in pairs
        for view in (pair.judged.result.reference, pair.judged.result.other)
        if view.image
    }
    token = secrets.token_urlsafe(32)
    with open_stores(with_short_retries(configuration)) as stores:
        if not is_known(stores.rows, run):
            console.warn(
                f"run {run} is unknown to this store, which will hold the judgements: {folder}"
            )
        board = Board(
            run,
            pairs,
            stores.rows,
            leads=arguments.lead,
            extent=extent,
            is_there=_is_there(configuration),
        )
        site = ReviewSite(
            board,
            RunImages(folder, images),
            token=token,
            title=os.path.basename(os.path.realpath(folder)),
        )
        served = AsgiSite(site, hosts=LOOPBACK_NAMES, headers=HEADERS)
        with listening(served, _HOST, arguments.port) as (url, serve):
            # After the #: browsers do not send it, so that it is in no log.
            address = f"{url}#token={token}"
            console.result({"url": address, "pairs": len(pairs)}, text=address)
            console.say(f"{count_of(len(pairs), 'pair')} of run {board.run}; stop with Ctrl-C")
            console.flush()
            serve()
            console.say("stopped")
    return Exit.STOPPED


def _is_there(configuration: Configuration) -> Callable[[], bool]:
    """Whether the embedded store's file is still the one that was opened."""
    if configuration.profile != "embedded":
        return lambda: True
    path = configuration.store / ROWS

    def identity() -> tuple[int, int] | None:
        try:
            found = os.stat(path)
        except OSError:
            return None
        return found.st_dev, found.st_ino

    opened = identity()
    return lambda: identity() == opened
