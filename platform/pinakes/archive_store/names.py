"""Which names an archive store takes: relative, and the same on every file system."""

from __future__ import annotations

import unicodedata
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
        if not part or part.startswith("."):  # `.` and `..` too
            raise InputRefused("not a relative path of plain names", file=name)
        if any(unicodedata.category(character) == "Cc" for character in part):
            raise InputRefused("a name with control characters is not taken", file=name)
        try:
            size_bytes = len(part.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError as error:
            raise InputRefused("the name is no text of any encoding", file=name) from error
        if size_bytes > _MOST_BYTES:
            raise InputRefused(f"a name longer than {_MOST_BYTES} bytes is not taken", file=name)
    return PurePosixPath(*parts)
