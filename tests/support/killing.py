"""A verb that is killed at its n-th step on the disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pinakes.cli import main

DIED = 99
# What Python tells of before it does it; and what the two verbs of writing do.
EVENTS = {"open", "os.link", "os.rename", "os.remove", "os.mkdir", "os.rmdir"}
CALLS = ("write", "copy_file_range", "fsync", "ftruncate", "close")


def dies(arguments: list[object], folder: Path, step: int, *, well: int = 0) -> bool:
    """Run the verb in a child that ends itself, as by kill -9, at its step on `folder`.

    False where it had fewer steps, and ended with the exit code `well`.
    """
    child = os.fork()
    if not child:
        code = 70
        try:
            code = _run(arguments, folder, step)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    assert code in (well, DIED), f"step {step}: exit {code}"
    return code == DIED


def _run(arguments: list[object], folder: Path, step: int) -> int:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    left = step

    def count() -> None:
        nonlocal left
        left -= 1
        if left < 0:
            os._exit(DIED)

    def hook(event: str, details: tuple[Any, ...]) -> None:
        reading = event == "open" and not details[2] & (os.O_WRONLY | os.O_RDWR)
        if event in EVENTS and str(folder) in str(details[0]) and not reading:
            count()

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*positional: Any, **named: Any) -> Any:
            count()
            return function(*positional, **named)

        return call

    sys.addaudithook(hook)
    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))
    return main([str(argument) for argument in arguments])


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
