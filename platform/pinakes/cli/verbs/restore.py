"""`pinakes restore`: revisits that we wrote, back to full records."""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path

from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run, add_inputs, input_names
from pinakes.cli.frame.output import Console, printable
from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.dedupe.references.index_originals import note_indexed
from pinakes.dedupe.references.originals import Originals
from pinakes.dedupe.write.restore import RestoreCount, restorations, want_originals
from pinakes.dedupe.write.rewriting import refuse_equal_names, rewrite_to
from pinakes.errors import ConfigError, Conflict, DigestMismatch, InputRefused
from pinakes.warc.source import open_source

_SUFFIXES = (".warc", ".warc.gz")


def configure(parser: argparse.ArgumentParser) -> None:
    """WARC files, and where their originals are."""
    add_inputs(parser, "WARC", "the files whose revisits become full records")
    parser.add_argument(
        "-o", "--output", metavar="DIR", required=True, help="write the restored files there"
    )
    parser.add_argument(
        "--dir",
        metavar="DIR",
        dest="originals",
        help="look for originals in the WARC files of this folder, too",
    )
    parser.add_argument(
        "--cdx",
        metavar="FILE",
        help="look originals up in this CDX or CDXJ, not by reading the files through",
    )
    add_dry_run(parser)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file; what could not be restored is named, and stays a revisit."""
    names = list(input_names(arguments))
    refuse_equal_names(names)
    originals = Originals()
    readable = []
    failed = False
    for name in names:
        try:
            with open_source(name) as source:
                want_originals(source, originals)
            readable.append(name)
        except InputRefused as problem:
            console.warn(problem)
            failed = True
    if arguments.cdx:
        note_indexed(Path(arguments.cdx), originals)
    else:
        for name in _with_originals(readable, arguments.originals):
            with open_source(name) as source:
                originals.look_through(source)
    output = Path(arguments.output)
    folder = Path(arguments.originals) if arguments.originals else None
    locations = {Path(name).name: name for name in readable}
    with ArchiveFiles(folder=folder, locations=locations) as files:
        for name in readable:
            count = RestoreCount()
            restore = partial(restorations, originals=originals, files=files, count=count)
            try:
                if arguments.dry_run:
                    with open_source(name) as source:
                        for _ in restore(source):
                            pass
                else:
                    output.mkdir(parents=True, exist_ok=True)
                    rewrite_to(Path(name), output / Path(name).name, restore)
            except (InputRefused, DigestMismatch, Conflict) as problem:
                console.warn(problem)
                failed = True
                continue
            for unresolved in count.problems:
                console.warn(unresolved)
            failed = failed or bool(count.problems)
            console.result(
                {"file": name, "restored": count.restored, "left": dict(count.left)},
                text=_sentence(printable(name), count),
            )
    return Exit.SOME_FAILED if failed else Exit.DONE


def _with_originals(names: list[str], folder: str | None) -> list[str]:
    if folder is None:
        return names
    if not Path(folder).is_dir():
        raise ConfigError(f"--dir {folder} is no folder")
    known = {os.path.realpath(name) for name in names}
    found = sorted(path for path in Path(folder).rglob("*") if path.name.endswith(_SUFFIXES))
    return names + [str(path) for path in found if os.path.realpath(path) not in known]


def _sentence(name: str, count: RestoreCount) -> str:
    left = ", ".join(f"{number} {reason}" for reason, number in sorted(count.left.items()))
    return f"{name}: {count.restored} restored" + (f"; {left}" if left else "")
