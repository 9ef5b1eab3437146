"""What lies below a folder of HDFS, lazily and in order of names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .hdfs_errors import NotThere

if TYPE_CHECKING:
    from hdfs_native import Client

    from .hdfs_calls import HdfsCalls


def walk_files(calls: HdfsCalls, folder: str, inside: str = "") -> Iterator[tuple[str, int]]:
    """Name and size of the files below a folder, in order of their names; no hidden ones.

    One folder's names are in memory at a time: HDFS sorts by bytes with a sign, and a folder
    without its `/`.  A folder that cannot be read is an error, and not a folder without
    files; one that is not there (any more) has none.
    """
    for name, size in sorted(_entries(calls, folder)):
        if name.startswith("."):
            continue
        if name.endswith("/"):
            yield from walk_files(calls, f"{folder}/{name[:-1]}", inside + name)
        else:
            yield inside + name, size


def folder_sizes(calls: HdfsCalls, folder: str) -> Iterator[tuple[str, int]]:
    """The folders in a folder, each with the bytes of the files in it, in order of names."""
    for name, _ in sorted(_entries(calls, folder)):
        if name.endswith("/"):
            found = _entries(calls, f"{folder}/{name[:-1]}")
            yield name[:-1], sum(size for _, size in found)


def _entries(calls: HdfsCalls, folder: str) -> list[tuple[str, int]]:
    """Name and size of what is in a folder, a folder's name with a `/` behind."""

    def entries(client: Client) -> list[tuple[str, int]]:
        return [
            (status.path.rpartition("/")[2] + "/" * status.isdir, status.length)
            for status in client.list_status(folder)
            if status.path != folder  # asked for a file, HDFS gives that
        ]

    try:
        return calls.ask(folder, entries)
    except NotThere:
        return []
