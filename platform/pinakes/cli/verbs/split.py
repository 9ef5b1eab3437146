"""`pinakes split`: parts of a manifest that keep the captures of a digest together."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import output_file
from pinakes.cli.verbs.manifest_lines import (
    ManifestInput,
    add_manifest,
    size_of,
    space_of,
    spare_collector,
)
from pinakes.dedupe.decide.split import split_lines
from pinakes.errors import ConfigError
from pinakes.index.manifest import format_line

_MOST_PARTS = 512
"""Each is an open file."""


def configure(parser: argparse.ArgumentParser) -> None:
    """A manifest, how many parts, and where they go."""
    add_manifest(parser)
    parser.add_argument(
        "-n", dest="parts", metavar="N", type=int, required=True, help="how many parts"
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", required=True, help="folder for part-000, part-001, …"
    )
    add_dry_run(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write the parts, each of them whole or not at all; a result per part."""
    spare_collector()
    if not 1 <= arguments.parts <= _MOST_PARTS:
        raise ConfigError(f"-n is a number from 1 to {_MOST_PARTS}")
    folder = Path(arguments.output)
    names = [str(folder / f"part-{number:03d}") for number in range(arguments.parts)]
    counts = [0] * arguments.parts
    if not arguments.dry_run:
        folder.mkdir(parents=True, exist_ok=True)
    with (
        ExitStack() as stack,
        console.progress("split", total=size_of(arguments.manifest)) as progress,
    ):
        manifest = ManifestInput(arguments.manifest, console, progress)
        lines = split_lines(manifest, arguments.parts, space=space_of(arguments))
        if arguments.dry_run:
            for part, _ in lines:
                counts[part] += 1
        else:
            outs = [stack.enter_context(output_file(name, console)) for name in names]
            for part, line in lines:
                outs[part].write((format_line(line) + "\n").encode("utf-8"))
                counts[part] += 1
    for name, lines_in_part in zip(names, counts, strict=True):
        console.result({"part": name, "lines": lines_in_part}, text=f"{name}: {lines_in_part}")
    return Exit.SOME_FAILED if manifest.failed else Exit.DONE
