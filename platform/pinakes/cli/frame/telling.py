"""What is said while an act goes on that takes long, besides what it has done."""

from __future__ import annotations

from pinakes.application.told import Notice, Others, Skipped
from pinakes.cli.frame.input_paths import say_others
from pinakes.cli.frame.output import Console, printable


def say_aside(told: Skipped | Others | Notice, console: Console) -> None:
    """Files that are left out, and notices."""
    if isinstance(told, Skipped):
        console.warn(f"{printable(told.place)}: {told.why}")
    elif isinstance(told, Others):
        say_others(told.left, console)
    else:
        _say(told, console)


def _say(notice: Notice, console: Console) -> None:
    text = printable(notice.text)
    if notice.level == "warning":
        console.warn(text)
    elif notice.level == "detail":
        console.detail(text)
    else:
        console.say(text)
