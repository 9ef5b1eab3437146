"""`pinakes config`: the configuration in force, and where each value came from."""

from __future__ import annotations

import argparse
import json

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_settings, configuration_of
from pinakes.cli.frame.output import Console
from pinakes.config import SETTINGS


def configure(parser: argparse.ArgumentParser) -> None:
    """Every setting may be tried as an option."""
    add_settings(parser, *SETTINGS)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per setting: name, value, origin; one object per setting with --json."""
    configuration = configuration_of(arguments)
    for name, given in configuration.values().items():
        origin = configuration.origins[name]
        value = json.dumps(given) if isinstance(given, tuple) else given  # of tables
        shown = "none" if value is None else value
        plain = value if value is None or isinstance(value, (int, float)) else str(value)
        console.result(
            {"setting": name, "value": plain, "origin": origin},
            text=f"{name} = {shown}  ({origin})",
        )
    return Exit.DONE
