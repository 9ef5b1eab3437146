"""Opening archive files: by path, in a package, or files that are open.  See `source`."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Protocol

from pinakes.errors import ConfigError, InputRefused
from pinakes.warc.packages.paths import open_member, open_package

from .file_names import is_package_name
from .source import READ_BYTES, WINDOW_BYTES, SeekableFile, Source


class Stream(Protocol):
    """What can be read once, from where it stands: a pipe, an HTTP response."""

    def read(self, size: int, /) -> bytes: ...


Place = str | os.PathLike[str] | Stream
"""A path, or a file that is open for reading bytes."""


@contextmanager
def open_file(path: str | os.PathLike[str]) -> Iterator[SeekableFile]:
    """Open a local file, or a member of a package (`packages`), unbuffered.

    Raises:
        InputRefused: it is not a readable file.
    """
    name = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise InputRefused("not a regular file", file=name)
        if is_package_name(name):
            with open_package(name) as package:
                example = next(package.archives(), None)
            why = "no archive file in it" if example is None else f"name one in it, like {example}"
            raise InputRefused(f"a package: {why}", file=name)
        file = Path(path).open("rb", buffering=0)  # noqa: SIM115 (closed below)
    except NotADirectoryError:
        with open_member(name) as member:
            yield member
        return
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputRefused(f"cannot be read: {reason}", file=name) from error
    with file:
        yield file


@contextmanager
def open_source(path: Place, *, window_bytes: int = READ_BYTES) -> Iterator[Source]:
    """Open a local archive file for reading, or take one that is open: see `open_stream`.

    Raises:
        InputRefused: it is not a readable file.
    """
    if not isinstance(path, (str, os.PathLike)):
        with open_stream(path, window_bytes=window_bytes) as source:
            yield source
        return
    with open_file(path) as file:
        yield Source(file, name=os.fspath(path), window_bytes=window_bytes)


@contextmanager
def open_stream(file: Stream, *, window_bytes: int = READ_BYTES) -> Iterator[Source]:
    """An archive file that is open for reading bytes, from its first byte; it stays open.

    Of one that can seek, only `read`, `seek` and `tell` are called.  All others are first copied,
    from where they stand, into a temporary file, since damage and large blocks are read twice.

    Raises:
        ConfigError: it is no file, or was opened as text.
    """
    if not callable(getattr(file, "read", None)):
        raise ConfigError(
            f"an archive file is a path or an open file, not {type(file).__name__} "
            "(of bytes, make io.BytesIO)"
        )
    name = getattr(file, "name", None)
    name = name if isinstance(name, str) else f"<{type(file).__name__}>"
    if _is_text(file):
        raise ConfigError("opened as text: open it with mode 'rb'", file=name)
    size = _size_of(file)
    if size is not None:
        yield Source(file, name=name, size=size, window_bytes=window_bytes)  # type: ignore[arg-type]
        return
    from tempfile import TemporaryFile  # only streams need it, and what it imports

    with TemporaryFile(prefix="pinakes-") as kept:
        _copy(file, kept, name)
        yield Source(kept, name=name, window_bytes=window_bytes)


def _is_text(file: object) -> bool:
    return isinstance(file, io.TextIOBase)


def _size_of(file: Stream) -> int | None:
    """None for a file that cannot seek.  `seek` of some files returns nothing: `tell` does."""
    seek, tell, seekable = (getattr(file, part, None) for part in ("seek", "tell", "seekable"))
    if seek is None or tell is None or (seekable is not None and not seekable()):
        return None
    try:
        seek(0, os.SEEK_END)
        return int(tell())
    except OSError:
        return None


def _copy(file: Stream, kept: IO[bytes], name: str) -> None:
    try:
        while piece := file.read(WINDOW_BYTES):
            kept.write(piece)
        kept.flush()
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputRefused(f"cannot be copied to a temporary file: {reason}", file=name) from error


def is_file(path: str | os.PathLike[str]) -> bool:
    """Whether it is a file on disk, or a member of a package."""
    return size_of(path) is not None


def size_of(path: str | os.PathLike[str]) -> int | None:
    """Of a file on disk, or a member of a package, in bytes; None for what is neither."""
    try:
        status = os.stat(path)
        return status.st_size if stat.S_ISREG(status.st_mode) else None
    except NotADirectoryError:
        with suppress(InputRefused), open_source(path) as source:
            return source.size
    except (OSError, ValueError):
        pass
    return None
