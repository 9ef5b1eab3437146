"""Options of the verbs that decide on duplicates, write and restore them."""

from __future__ import annotations

import argparse
from pathlib import Path

from pinakes.application.file_places import FilePlaces
from pinakes.archive_store.located import check_folder
from pinakes.cli.frame.options import options_of, parsed
from pinakes.config import parse_fraction
from pinakes.dedupe.decide.trust import Trust


def add_places(parser: argparse.ArgumentParser) -> None:
    """Where files are that a manifest names otherwise."""
    options_of(parser)(
        "--dir DIR", "also look for the manifest's files in this folder, or below this URL"
    )
    add_locations(parser, "table of file names, and paths or URLs, one pair per line")


def add_locations(parser: argparse.ArgumentParser, words: str) -> None:
    """The table alone."""
    options_of(parser)("--locations FILE", words)


def places_of(arguments: argparse.Namespace) -> FilePlaces:
    """What was added; `Raises` ConfigError for a URL that cannot be asked for."""
    return FilePlaces(
        folder=check_folder(arguments.dir) if arguments.dir else None,
        table=Path(arguments.locations) if arguments.locations else None,
    )


def add_trust(parser: argparse.ArgumentParser) -> None:
    """How much is read all the same, and which."""
    option = options_of(parser)
    option(
        "--sample-bytes FRACTION",
        "with --compare sha256: compare bytes for this part of the digests (default: 0.001)",
        default="0.001",
    )
    option("--seed TEXT", "seed of that sample; the same seed gives the same sample", default="")


def trust_of(arguments: argparse.Namespace) -> Trust | None:
    """What `--compare sha256` believes; None for other ways.

    Raises:
        ConfigError: for what is no fraction.
    """
    if arguments.compare != "sha256":
        return None
    sample = parsed("--sample-bytes", arguments.sample_bytes, parse_fraction)
    return Trust(sample=sample, seed=arguments.seed)


def add_manifests(parser: argparse.ArgumentParser) -> None:
    """The manifests to read."""
    parser.add_argument(
        "manifests",
        metavar="MANIFEST",
        nargs="+",
        help="manifests, read as if they were one (-: standard input)",
    )


def add_decisions(parser: argparse.ArgumentParser) -> None:
    """Where the lines go, and what of the decisions can be chosen."""
    option = options_of(parser)
    option("-o, --output FILE", "output file (default: -, standard output)", default="-")
    option("--stats FILE.json", "write statistics to this file")
    option("--resources", "include resource records")
