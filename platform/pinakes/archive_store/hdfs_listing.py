"""The files below a folder of HDFS, lazily and sorted by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .hdfs_errors import NotThere

if TYPE_CHECKING:
    from hdfs_native import Client

    from .hdfs_calls import HdfsCalls


def walk_files(calls: HdfsCalls, folder: str, inside: str = "") -> Iterator[tuple[str, int]]:
    """Yield name and size of the files below a folder, sorted by name, without hidden ones.

    Memory: the names of one folder, because HDFS sorts by signed bytes, and folders without
    their `/`.  A folder that cannot be read is an error, not an empty folder; one that does not
    exist (any more) has no files.
    """
    for name, size in sorted(_entries(calls, folder)):
        if name.startswith("."):
            continue
        if name.endswith("/"):
            yield from walk_files(calls, f"{folder}/{name[:-1]}", inside + name)
        else:
            yield inside + name, size


def folder_sizes(calls: HdfsCalls, folder: str) -> Iterator[tuple[str, int]]:
    """Yield the folders in a folder, sorted by name, each with the size of its files in bytes."""
    for name, _ in sorted(_entries(calls, folder)):
        if name.endswith("/"):
            found = _entries(calls, f"{folder}/{name[:-1]}")
            yield name[:-1], sum(size for _, size in found)


def _entries(calls: HdfsCalls, folder: str) -> list[tuple[str, int]]:
    """Name and size of each entry of a folder; folder names end with `/`."""

    def entries(client: Client) -> list[tuple[str, int]]:
        return [
            (status.path.rpartition("/")[2] + "/" * status.isdir, status.length)
            for status in client.list_status(folder)
            if status.path != folder  # HDFS lists a file as itself
        ]

    try:
        return calls.ask(folder, entries)
    except NotThere:
        return []
