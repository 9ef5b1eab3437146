"""What verbs that compare bodies are told of digests that may be believed."""

from __future__ import annotations

import argparse

from pinakes.config import parse_fraction
from pinakes.dedupe.decide.trust import Trust
from pinakes.errors import ConfigError


def add_trust(parser: argparse.ArgumentParser) -> None:
    """How much is read all the same, and which."""
    parser.add_argument(
        "--sample-bytes",
        metavar="FRACTION",
        default="0.001",
        help="with --compare sha256: compare bytes for this part of the digests (default: 0.001)",
    )
    parser.add_argument(
        "--seed",
        metavar="TEXT",
        default="",
        help="seed of that sample; the same seed gives the same sample",
    )


def trust_of(arguments: argparse.Namespace) -> Trust | None:
    """What `--compare sha256` believes; None for other ways.

    Raises:
        ConfigError: for what is no fraction.
    """
    if arguments.compare != "sha256":
        return None
    try:
        sample = parse_fraction(arguments.sample_bytes)
    except ValueError as error:
        raise ConfigError(
            f"--sample-bytes is {arguments.sample_bytes!r}, and should be {error}"
        ) from error
    return Trust(sample=sample, seed=arguments.seed)
