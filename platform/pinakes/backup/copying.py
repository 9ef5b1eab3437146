"""Copies files from one archive store into another, and verifies each."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from pinakes.archive_store.port import ArchiveReader, ArchiveStore, PublishedFile

from .contents import FileLine, not_backed_up, store_file


def copy_file(
    source: ArchiveReader, name: str, target: ArchiveStore, new_name: str, *, token: str
) -> FileLine:
    """Copy one file under another name; it is read back before it is published.

    Raises:
        DigestMismatch: the stored bytes differ from the bytes read.
    """
    with source.open(name) as file:
        return store_file(file, target, new_name, token=token)


def copy_missing(
    source: ArchiveStore, name: str, target: ArchiveStore, new_name: str, *, token: str
) -> FileLine:
    """Copy a file unless it exists with the same bytes; a different one is replaced."""
    size = target.size(new_name)
    if size is not None:
        sha256 = target.checksum(new_name)
        if size == source.size(name) and sha256 == source.checksum(name):
            return FileLine(new_name, size, sha256)
        target.delete(new_name)
    return copy_file(source, name, target, new_name, token=token)


def copy_listed(
    backup: ArchiveReader, line: FileLine, target: ArchiveStore, name: str, *, token: str
) -> None:
    """Copy a file out of a backup, unless it is there as it was backed up.

    Raises:
        DigestMismatch: the file in the backup differs from what was written.
    """
    if target.size(name) == line.size and target.checksum(name) == line.sha256:
        return
    target.delete(name)
    if copy_file(backup, line.name, target, name, token=token).sha256 != line.sha256:
        target.delete(name)
        raise not_backed_up(line.name)


def copy_each(
    source: ArchiveStore,
    target: ArchiveStore,
    folder: str,
    *,
    token: str,
    jobs: int = 1,
    is_copied: Callable[[str], bool] = lambda name: True,
    at: Callable[[str], None] = lambda step: None,
) -> Iterator[FileLine]:
    """Copy every file of a store into a folder of another; yield lines sorted by name.

    Copies `jobs` files at a time, and leaves out those that `is_copied` says are not.
    """

    def copy(number: int, stored: PublishedFile) -> FileLine:
        line = copy_missing(
            source, stored.name, target, f"{folder}/{stored.name}", token=f"{token}.{number}"
        )
        at("copied")
        return line

    wanted = enumerate(stored for stored in source.list() if is_copied(stored.name))
    if jobs == 1:
        yield from (copy(number, stored) for number, stored in wanted)
        return
    with ThreadPoolExecutor(jobs) as threads:
        waiting: deque[Future[FileLine]] = deque()
        for number, stored in wanted:
            waiting.append(threads.submit(copy, number, stored))
            if len(waiting) > 4 * jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
