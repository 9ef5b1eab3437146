"""Options that say where archive files are that a manifest or an index names otherwise."""

from __future__ import annotations

import argparse
from pathlib import Path

from pinakes.application.file_places import FilePlaces
from pinakes.archive_store.located import check_folder


def add_places(parser: argparse.ArgumentParser) -> None:
    """Where files are that a manifest names otherwise."""
    parser.add_argument(
        "--dir",
        metavar="DIR",
        help="also look for the manifest's files in this folder, or below this URL",
    )
    add_locations(parser, "table of file names, and paths or URLs, one pair per line")


def add_locations(parser: argparse.ArgumentParser, words: str) -> None:
    """The table alone."""
    parser.add_argument("--locations", metavar="FILE", help=words)


def places_of(arguments: argparse.Namespace) -> FilePlaces:
    """What was added; `Raises` ConfigError for a URL that cannot be asked for."""
    return FilePlaces(
        folder=check_folder(arguments.dir) if arguments.dir else None,
        table=Path(arguments.locations) if arguments.locations else None,
    )
