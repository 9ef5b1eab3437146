"""What is said of files in a folder that are not read."""

from __future__ import annotations

from pinakes.cli.frame.output import Console, printable
from pinakes.ingest.inputs import LeftOut


def say_others(left: LeftOut, console: Console) -> None:
    """Say how many files are no archive files by their names, and name the first."""
    if not left.others:
        return
    more = ", …" if left.others > len(left.examples) else ""
    names = ", ".join(map(printable, left.examples))
    what = (
        "file is no archive file by its name"
        if left.others == 1
        else "files are no archive files by their names"
    )
    console.say(
        f"{left.others:,} {what}, or behind a link to a folder, and not read: {names}{more}"
    )
