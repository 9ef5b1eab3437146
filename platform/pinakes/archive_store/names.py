"""Which names an archive store takes: relative, and the same on every file system."""

from __future__ import annotations

from pathlib import PurePosixPath

from pinakes.errors import InputRefused

_MOST_BYTES = 255


def check_file_name(name: str) -> PurePosixPath:
    """The relative path that a name is.

    Raises:
        InputRefused: for `..`, an absolute path, a hidden part, control characters, or a
            part longer than file systems hold.
    """
    parts = name.split("/")
    for part in parts:
        if part in ("", ".", "..") or part.startswith("."):
            raise InputRefused("not a relative path of plain names", file=name)
        if any(ord(character) < 0x20 or ord(character) == 0x7F for character in part):
            raise InputRefused("a name with control characters is not taken", file=name)
        if len(part.encode("utf-8", "surrogateescape")) > _MOST_BYTES:
            raise InputRefused(f"a name longer than {_MOST_BYTES} bytes is not taken", file=name)
    return PurePosixPath(*parts)
