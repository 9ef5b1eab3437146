"""The archive files of a folder in HDFS, for a job: as those of a folder here are found."""

from __future__ import annotations

from collections.abc import Callable

from pinakes.cli.frame.input_paths import say_left
from pinakes.cli.frame.output import Console
from pinakes.config import Configuration
from pinakes.errors import ConfigError, PinakesError
from pinakes.ingest.inputs import Input, LeftOut, sorted_out
from pinakes.profile import open_folder


def is_folder_for_tasks(name: str) -> bool:
    """Whether this is hdfs://… or file://… with a slash at its end."""
    return "://" in name and name.endswith("/")


def files_below(
    folder: str,
    configuration: Configuration,
    warn: Callable[[PinakesError], None],
    console: Console,
) -> list[str]:
    """The files of such a folder, by the names that tasks open; skipped files are named.

    Raises:
        ConfigError: there is none, or it is in no place that has folders.
        StoreUnavailable: that cannot be reached.
    """
    left = LeftOut()
    with open_folder(folder, configuration) as store:
        given = (Input(f"{folder.rstrip('/')}/{name}", name) for name, _ in store.list())
        found = [item.place for each in given for item in sorted_out(each, left)]
    say_left(left, warn, console)
    if not found:
        raise ConfigError("no archive files in this folder", file=folder)
    return found
