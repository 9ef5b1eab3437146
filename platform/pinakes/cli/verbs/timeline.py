"""`pinakes timeline`: the captures of a URL in order of time, with their state."""

from __future__ import annotations

import argparse
import re

from pinakes.catalog.captures import place_each, scan_captures_of
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of, options_of
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.captures import (
    capture_line,
    capture_object,
    withdrawn_line,
    withdrawn_object,
)
from pinakes.cli.verbs.lookup import add_limit, limit_of
from pinakes.counts import count_of
from pinakes.errors import ConfigError
from pinakes.index.urlkey import urlkey
from pinakes.profile import open_stores

_TIME = re.compile(r"[0-9]{1,17}\Z")


def configure(parser: argparse.ArgumentParser) -> None:
    """A URL, and the stretch of time to show."""
    parser.add_argument("url", metavar="URL", help="URL, in any spelling with the same urlkey")
    option = options_of(parser)
    option("--from DIGITS", "from this time on: 2024, 20240229, …", dest="start")
    option("--to DIGITS", "before this time", dest="stop")
    add_limit(parser, None)
    add_settings(parser, "store")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line for each capture."""
    for name in ("start", "stop"):
        time = getattr(arguments, name)
        if time is not None and not _TIME.match(time):
            raise ConfigError(f"{time!r} is not a time: give up to 17 digits, such as 20240229")
    key = urlkey(arguments.url)
    count = 0
    with open_stores(configuration_of(arguments)) as stores:
        captures = scan_captures_of(
            stores.rows,
            key,
            start_time=arguments.start or "",
            stop_time=arguments.stop or "",
            limit_rows=limit_of(arguments),
        )
        for capture, placed in place_each(stores.rows, captures):
            if placed is not None:
                console.result(capture_object(placed), text=capture_line(placed))
            elif capture.withdrawal is not None:
                console.result(withdrawn_object(capture), text=withdrawn_line(capture))
            else:
                continue
            count += 1
    console.say(f"{key}: {count_of(count, 'capture')}")
    return Exit.DONE
