"""A folder into which contents are put by path: nothing in it is overwritten, or left through.

No name of it is kept in memory.  What is there decides: the same bytes are left, for others the
next name is tried, so that the same contents, put again in the same order, find their files.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pinakes.archive_store.local.files import make_folder
from pinakes.archive_store.local.whole_files import remove_leftover, written_aside
from pinakes.errors import InputRefused

from .url_paths import with_suffix

Content = Callable[[], Iterable["bytes | memoryview"]]
"""Gives the pieces of a content, again with each call."""
_IN_THE_WAY = "%2F"
"""Behind the name of a folder that a file has already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PutFile:
    """Where a content is."""

    path: str
    """Below the folder."""
    size: int
    is_new: bool


def put_file(folder: Path, path: str, content: Content, *, suffix: str | None = None) -> PutFile:
    """Write a content to `path` below `folder`, unless it is there already.

    `path` is one of `url_paths`.  Where something else is there, the name gets `suffix`, and then
    a hash of the content.  Symbolic links below `folder` are in the way, and never followed.

    Raises:
        InputRefused: all of these names are taken.
        Conflict, StoreUnavailable: as `written_aside`.
    """
    where, name = _folder_of(folder, path)
    for candidate in _candidates(name, content, suffix):
        target = where / candidate
        is_new = not os.path.lexists(target)
        size = _write(target, content) if is_new else _size_if_same(target, content)
        if size is not None:
            inside = target.relative_to(folder).as_posix()
            return PutFile(path=inside, size=size, is_new=is_new)
    raise InputRefused("something else is there, and is not replaced", file=str(where / name))


def _folder_of(folder: Path, path: str) -> tuple[Path, str]:
    """The folder of a path, made if needed, and its last name."""
    *parts, name = path.split("/")
    for part in parts:
        free = (folder / one for one in (part, part + _IN_THE_WAY) if _may_be_folder(folder / one))
        found = next(free, None)
        if found is None:
            raise InputRefused("a file is where a folder has to be", file=str(folder / part))
        folder = found
    make_folder(folder)
    return folder, name


def _may_be_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except FileNotFoundError:
        return True


def _candidates(name: str, content: Content, suffix: str | None) -> Iterator[str]:
    yield name
    if suffix is not None:
        name = with_suffix(name, suffix)
        yield name
    state = hashlib.sha256()
    for piece in content():
        state.update(piece)
    yield with_suffix(name, state.hexdigest()[:16])


def _write(target: Path, content: Content) -> int:
    size = 0
    with written_aside(target) as out:
        for piece in content():
            size += out.write(piece)
    return size


def _size_if_same(target: Path, content: Content) -> int | None:
    """The size of a file with this content; None for anything else."""
    if not stat.S_ISREG(target.lstat().st_mode):
        return None
    size = 0
    with target.open("rb") as file:
        for piece in content():
            if file.read(len(piece)) != piece:
                return None
            size += len(piece)
        if file.read(1):
            return None
    remove_leftover(target)
    return size
