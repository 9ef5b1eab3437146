"""`pinakes process`: copy numbers and originals for a resolved manifest."""

from __future__ import annotations

import argparse

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console
from pinakes.cli.verbs.manifest_lines import (
    ManifestInput,
    add_decisions,
    add_manifest,
    size_of,
    space_of,
    spare_collector,
    write_lines,
    write_stats,
)
from pinakes.dedupe.decide.counting import ProcessCount
from pinakes.dedupe.decide.process import process_lines


def configure(parser: argparse.ArgumentParser) -> None:
    """A resolved manifest, and where the decisions go."""
    add_manifest(parser)
    add_decisions(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write the lines with their decisions, by file and offset; say what was counted."""
    spare_collector()
    count = ProcessCount()
    with console.progress("process", total=size_of(arguments.manifest)) as progress:
        manifest = ManifestInput(arguments.manifest, console, progress)
        lines = process_lines(
            manifest, count=count, resources=arguments.resources, space=space_of(arguments)
        )
        write_lines(lines, arguments.output, console)
    write_stats(arguments.stats, count.as_json(), console)
    console.say(describe_decisions(count))
    return Exit.SOME_FAILED if manifest.failed else Exit.DONE


def describe_decisions(count: ProcessCount) -> str:
    """What was decided, in a sentence or two."""
    text = (
        f"{count.originals:,} records stay full, {count.duplicates:,} duplicates "
        f"of {count.duplicate_bytes:,} compressed bytes"
    )
    for what, counts in (("full for a reason", count.full), ("take no part", count.skipped)):
        if counts:
            reasons = ", ".join(f"{number:,} {reason}" for reason, number in sorted(counts.items()))
            text += f"; {what}: {reasons}"
    if count.revisits:
        text += f"; revisits there before: {count.revisits:,}"
    return text
