"""`pinakes resolve`: compare the bodies of equal digests, byte for byte."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.trust_options import add_trust, trust_of
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
from pinakes.cli.verbs.process import describe_decisions
from pinakes.cli.verbs.refs import add_locations, open_files
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.decide.bodies import ArchiveBodies
from pinakes.dedupe.decide.counting import Collision, ProcessCount, ResolveCount
from pinakes.dedupe.decide.foreign import ForeignLines
from pinakes.dedupe.decide.process import process_lines
from pinakes.dedupe.decide.resolve import resolve_lines
from pinakes.errors import PinakesError
from pinakes.index.external_sort import SortSpace, sort_outside_memory
from pinakes.index.manifest import ManifestLine, content_order, estimate_line_bytes

_NAMED_COLLISIONS = 20


def configure(parser: argparse.ArgumentParser) -> None:
    """A manifest, how to compare, and whether to process it in one go."""
    add_manifest(parser)
    parser.add_argument(
        "--compare",
        choices=("bytes", "sha256", "none"),
        default="bytes",
        help="sha256: read bodies only of other digests, of a sample, and where the second digest "
        "disagrees; none: read nothing, digests must be sha256 or sha512 (bytes)",
    )
    add_trust(parser)
    parser.add_argument(
        "--process", action="store_true", help="find copy numbers and originals as well"
    )
    add_decisions(parser)
    add_locations(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Write the resolved lines; name collisions, and bodies that could not be read."""
    spare_collector()
    space = space_of(arguments)
    count, decisions = ResolveCount(), ProcessCount()
    problems: list[PinakesError] = []
    with (
        open_files(arguments) as files,
        console.progress("resolve", total=size_of(arguments.manifest)) as progress,
    ):
        manifest = ManifestInput(arguments.manifest, console, progress)
        complete = ForeignLines(files, now=datetime.now(timezone.utc), space=space)
        lines = resolve_lines(
            complete.completed(manifest),
            _bodies(arguments, files),
            count=count,
            trust=trust_of(arguments),
            space=space,
        )
        if arguments.process:
            lines = process_lines(
                lines, count=decisions, resources=arguments.resources, space=space
            )
        else:
            lines = _sorted(lines, space)
        write_lines(lines, arguments.output, console)
        problems += complete.problems + count.problems
    statistics = count.as_json()
    statistics["compare"] = arguments.compare
    if arguments.process:
        statistics["process"] = decisions.as_json()
    write_stats(arguments.stats, statistics, console)
    for problem in problems:
        console.warn(problem)
    _describe(count, arguments.compare, console)
    if arguments.process:
        console.say(describe_decisions(decisions))
    return Exit.SOME_FAILED if problems or manifest.failed else Exit.DONE


def _bodies(arguments: argparse.Namespace, files: ArchiveFiles) -> ArchiveBodies | None:
    return ArchiveBodies(files) if arguments.compare != "none" else None


def _sorted(lines: Iterator[ManifestLine], space: SortSpace) -> Iterator[ManifestLine]:
    return sort_outside_memory(
        lines, key=content_order, space=space, item_bytes=estimate_line_bytes
    )


def _describe(count: ResolveCount, compare: str, console: Console) -> None:
    if compare == "none":
        console.say(f"{count.records:,} records, their digests trusted")
    else:
        console.say(
            f"{count.records:,} records, {count.clusters:,} digests, {count.contents:,} contents, "
            f"{count.compared_bytes:,} bytes compared"
            + (f", {count.believed:,} records by their digests" if count.believed else "")
        )
    name_collisions(count.collisions, console, where="--stats FILE.json names them all")


def name_collisions(collisions: Sequence[Collision], console: Console, *, where: str) -> None:
    """Warn of the first of them; `where` is how to learn of the others."""
    for collision in collisions[:_NAMED_COLLISIONS]:
        console.warn(_collision(collision))
    if len(collisions) > _NAMED_COLLISIONS:
        console.warn(f"{len(collisions) - _NAMED_COLLISIONS:,} more collisions: {where}")


def _collision(collision: Collision) -> str:
    places = ", ".join(f"{c.file}:{c.offset}" for c in collision.captures)
    return f"collision: {collision.digest} has {len(collision.captures)} contents: {places}"
