"""What is said of files in a folder that are not read."""

from __future__ import annotations

from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.ingest.inputs import LeftOut


def say_others(left: LeftOut, console: Console) -> None:
    """Say how many files were skipped, and name the first."""
    if not left.others:
        return
    more = ", …" if left.others > len(left.examples) else ""
    names = ", ".join(map(printable, left.examples))
    why = "not named as archive files, or behind links to folders"
    console.say(f"{count_of(left.others, 'file')} skipped ({why}): {names}{more}")
