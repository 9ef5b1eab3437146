"""`pinakes split`: parts of a manifest that keep the captures of a digest together."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path

from pinakes.application.parts import rarely_collecting
from pinakes.cli.frame.chain_options import add_manifests
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run, options_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import output_file
from pinakes.cli.verbs.manifest_lines import ManifestInput, size_of, space_of
from pinakes.dedupe.decide.split import split_lines
from pinakes.errors import ConfigError
from pinakes.index.manifest import format_line

_MOST_PARTS = 512
"""Each is an open file."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Manifests, how many parts, and where they go."""
    add_manifests(parser)
    option = options_of(parser)
    option("-n N", "number of parts", dest="parts", type=int, required=True)
    option("-o, --output DIR", "folder for part-000, part-001, …", required=True)
    add_dry_run(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write the parts, each of them whole or not at all; a result per part."""
    parts, dry_run, folder = arguments.parts, arguments.dry_run, Path(arguments.output)
    if not 1 <= parts <= _MOST_PARTS:
        raise ConfigError(f"-n is {parts}, and should be a number from 1 to {_MOST_PARTS}")
    names = [str(folder / f"part-{number:03d}") for number in range(parts)]
    counts = [0] * parts
    if not dry_run:
        folder.mkdir(parents=True, exist_ok=True)
    with (
        rarely_collecting(),
        ExitStack() as stack,
        console.progress("split", total=size_of(arguments.manifests)) as progress,
    ):
        manifest = ManifestInput(arguments.manifests, console, progress)
        lines = split_lines(manifest, parts, space=space_of(arguments))
        if dry_run:
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
