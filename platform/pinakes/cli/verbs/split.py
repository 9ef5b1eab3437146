"""`pinakes split`: parts of a manifest that keep the captures of a digest together."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import output_file
from pinakes.cli.verbs.manifest_lines import (
    ManifestInput,
    add_manifests,
    size_of,
    space_of,
    spare_collector,
)
from pinakes.dedupe.decide.split import split_lines
from pinakes.errors import ConfigError
from pinakes.index.external_sort import SortSpace
from pinakes.index.manifest import format_line

_MOST_PARTS = 512
"""Each is an open file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitRequest:
    """Which manifests to split, into how many parts, and where those go."""

    manifests: Sequence[str]
    parts: int
    folder: Path
    dry_run: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Manifests, how many parts, and where they go."""
    add_manifests(parser)
    parser.add_argument(
        "-n", dest="parts", metavar="N", type=int, required=True, help="number of parts"
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", required=True, help="folder for part-000, part-001, …"
    )
    add_dry_run(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write the parts, each of them whole or not at all; a result per part."""
    request = SplitRequest(
        manifests=arguments.manifests,
        parts=arguments.parts,
        folder=Path(arguments.output),
        dry_run=arguments.dry_run,
    )
    return _split(request, space_of(arguments), console)


def _split(request: SplitRequest, space: SortSpace, console: Console) -> Exit:
    spare_collector()
    if not 1 <= request.parts <= _MOST_PARTS:
        raise ConfigError(f"-n is {request.parts}, and should be a number from 1 to {_MOST_PARTS}")
    names = [str(request.folder / f"part-{number:03d}") for number in range(request.parts)]
    counts = [0] * request.parts
    if not request.dry_run:
        request.folder.mkdir(parents=True, exist_ok=True)
    with (
        ExitStack() as stack,
        console.progress("split", total=size_of(request.manifests)) as progress,
    ):
        manifest = ManifestInput(request.manifests, console, progress)
        lines = split_lines(manifest, request.parts, space=space)
        if request.dry_run:
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
