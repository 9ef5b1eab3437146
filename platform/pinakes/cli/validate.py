"""`pinakes validate`: nothing lost, nothing altered, every reference resolves."""

from __future__ import annotations

import argparse
from datetime import datetime, timezone
from pathlib import Path

from pinakes import __version__
from pinakes.cli.exits import Exit
from pinakes.cli.output import Console
from pinakes.dedupe.folders import Validation, archive_folder, validate_folders
from pinakes.dedupe.receipt import format_receipt, read_accepted
from pinakes.dedupe.second_reader import WarcioReader
from pinakes.rewrite.aside import written_aside


def configure(parser: argparse.ArgumentParser) -> None:
    """Two folders of archive files."""
    parser.add_argument("before", metavar="BEFORE_DIR", type=Path, help="the files as they were")
    parser.add_argument("after", metavar="AFTER_DIR", type=Path, help="the files as they are")
    parser.add_argument(
        "--receipt", metavar="FILE", type=Path, help="write what was found, for commit-copy"
    )
    parser.add_argument(
        "--accept",
        metavar="FILE",
        type=Path,
        help="discrepancies that somebody accepted: file, ordinal, code, who, why, a JSON "
        "object a line",
    )


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per discrepancy, then the verdict; exit 1 where anything was found."""
    accepted = read_accepted(arguments.accept) if arguments.accept else []
    size = sum(path.stat().st_size for path in archive_folder(arguments.before).archives.values())
    with WarcioReader() as warcio, console.progress("validate", total=size) as progress:
        result = validate_folders(
            arguments.before,
            arguments.after,
            accepted=accepted,
            second_reader=warcio,
            advance=progress.advance,
        )
    for found in result.open_discrepancies:
        console.result(
            found._asdict(),
            text=f"{found.file}:{found.offset}: {found.code}: record {found.ordinal}: "
            f"{found.message}",
        )
    if arguments.receipt:
        made = datetime.now(timezone.utc).isoformat(timespec="seconds")
        with (
            written_aside(arguments.receipt) as descriptor,
            open(descriptor, "w", encoding="utf-8", closefd=False) as file,
        ):
            file.write(format_receipt(result, made=made, version=__version__) + "\n")
    console.say(_sentence(result))
    return Exit.DONE if result.passed else Exit.FOUND


def _sentence(result: Validation) -> str:
    found = result.comparison
    references = ", ".join(f"{n} {outcome}" for outcome, n in sorted(result.references.items()))
    verdict = "passed" if result.passed else f"FAILED: {len(result.open_discrepancies)} found"
    return (
        f"{verdict}; {len(result.files)} files, {found.records} records, "
        f"{found.rewritten} rewritten, {found.restored} restored"
        + (f"; references: {references}" if references else "")
    )
