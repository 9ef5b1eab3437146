"""`pinakes refs`: archive files anew, their duplicates as revisits."""

from __future__ import annotations

import argparse
import hashlib
from collections import defaultdict
from functools import partial
from pathlib import Path

from pinakes.cli.exits import Exit
from pinakes.cli.options import add_dry_run, add_inputs, configuration_of, input_names
from pinakes.cli.output import Console
from pinakes.dedupe.archive_files import ArchiveFiles, read_locations
from pinakes.dedupe.refs import RefsCount, RevisitWriter
from pinakes.dedupe.rewriting import (
    Replacements,
    refuse_equal_names,
    rewrite_in_place,
    rewrite_to,
)
from pinakes.errors import ConfigError, Conflict, DigestMismatch, InputRefused
from pinakes.index.manifest import ManifestLine, parse_line
from pinakes.warc.source import open_source

_TO_COUNT = "min_saving_bytes"


def configure(parser: argparse.ArgumentParser) -> None:
    """WARC files, the manifest that says what to do, and where to write."""
    add_inputs(parser, "WARC", "the files to write anew")
    parser.add_argument(
        "--manifest", metavar="FILE", required=True, help="what `pinakes process` decided"
    )
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("-o", "--output", metavar="DIR", help="write the new files there")
    target.add_argument(
        "--in-place",
        action="store_true",
        help="put them in the old ones' place, and those in superseded/",
    )
    parser.add_argument(
        "--min-saving",
        metavar="BYTES",
        dest=_TO_COUNT,
        help="leave a record full that would save less, or none (default: 64)",
    )
    add_locations(parser)
    parser.add_argument(
        "--run", metavar="ID", help="name this run in the revisits (default: from the manifest)"
    )
    add_dry_run(parser)


def add_locations(parser: argparse.ArgumentParser) -> None:
    """Where files are that a manifest names otherwise."""
    parser.add_argument("--dir", metavar="DIR", help="look for the manifest's files there, too")
    parser.add_argument(
        "--locations", metavar="FILE", help="a table of names and paths, one pair a line"
    )


def open_files(arguments: argparse.Namespace) -> ArchiveFiles:
    """The archive files that these arguments describe."""
    folder = Path(arguments.dir) if arguments.dir else None
    locations = read_locations(Path(arguments.locations)) if arguments.locations else None
    return ArchiveFiles(folder=folder, locations=locations)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file: what was replaced, what stayed full and why."""
    names = list(input_names(arguments))
    refuse_equal_names(names)
    manifest = Path(arguments.manifest)
    duplicates = read_duplicates(manifest)
    run_id = arguments.run or run_id_of(manifest)
    if not run_id.isascii() or not run_id.replace("-", "").replace("_", "").isalnum():
        raise ConfigError("--run is letters, digits, - and _")
    total, failed = RefsCount(), False
    with open_files(arguments) as files, console.progress("refs", total=_size(names)) as progress:
        writer = RevisitWriter(
            files, run=run_id, min_saving_bytes=configuration_of(arguments).min_saving_bytes
        )
        for name in names:
            count = RefsCount()
            replace = partial(writer.replacements, lines=duplicates.get(name, ()), count=count)
            try:
                _rewrite(arguments, Path(name), replace)
            except (InputRefused, DigestMismatch, Conflict) as problem:
                console.warn(problem)
                failed = True
                continue
            for unreadable in count.problems:
                console.warn(unreadable)
            failed = failed or bool(count.problems)
            total.add(count)
            console.result(_report(name, count), text=_sentence(name, count))
            progress.advance(Path(name).stat().st_size)
    console.say(_sentence("all files", total))
    return Exit.SOME_FAILED if failed else Exit.DONE


def _rewrite(arguments: argparse.Namespace, path: Path, replace: Replacements) -> None:
    if arguments.dry_run:
        with open_source(path) as source:
            for _ in replace(source):
                pass
    elif arguments.in_place:
        rewrite_in_place(path, replace)
    else:
        folder = Path(arguments.output)
        folder.mkdir(parents=True, exist_ok=True)
        rewrite_to(path, folder / path.name, replace)


def read_duplicates(manifest: Path) -> dict[str, list[ManifestLine]]:
    """The lines with a copy number above 1, by file, in order of offset."""
    by_file: dict[str, list[ManifestLine]] = defaultdict(list)
    with manifest.open(encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
        for number, text in enumerate(lines, 1):
            line = parse_line(text, number=number)
            if line.copy_number is not None and line.copy_number > 1:
                by_file[line.file].append(line)
    for found in by_file.values():
        found.sort(key=lambda line: (line.offset, line.inner_offset))
    return by_file


def run_id_of(manifest: Path) -> str:
    """A name for the run that is the same whenever the manifest is."""
    with manifest.open("rb") as file:
        state = hashlib.sha256()
        while piece := file.read(1 << 20):
            state.update(piece)
    return f"refs-{state.hexdigest()[:12]}"


def _size(names: list[str]) -> int:
    return sum(path.stat().st_size for path in map(Path, names) if path.is_file())


def _report(name: str, count: RefsCount) -> dict[str, object]:
    return {
        "file": name,
        "revisits": count.records,
        "saved_bytes": count.saved_bytes,
        "left_full": dict(count.left_full),
    }


def _sentence(name: str, count: RefsCount) -> str:
    left = ", ".join(f"{number} {reason}" for reason, number in sorted(count.left_full.items()))
    return f"{name}: {count.records} revisits, {count.saved_bytes} bytes saved" + (
        f"; left full: {left}" if left else ""
    )
