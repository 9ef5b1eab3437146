"""The names that an archive store accepts: relative, and valid on every file system."""

from __future__ import annotations

import unicodedata
from pathlib import PurePosixPath

from pinakes.errors import InputRefused

_MOST_BYTES, _MOST_PARTS = 255, 100


def check_file_name(name: str) -> PurePosixPath:
    """Return a name as a relative path.

    Raises:
        InputRefused: for `..`, an absolute path, a hidden part, control characters, or a
            part that is too long for file systems, or more of them than 100.
    """
    parts = name.split("/")
    if len(parts) > _MOST_PARTS:  # paths are made folder by folder, by functions that recur
        why = f"names of more than {_MOST_PARTS} parts are not accepted"
        raise InputRefused(why, file=f"{name[:_MOST_BYTES]}...")
    for part in parts:
        if not part or part.startswith("."):  # `.` and `..` too
            raise InputRefused("not a relative path of plain names", file=name)
        if any(unicodedata.category(character) == "Cc" for character in part):
            raise InputRefused("names with control characters are not accepted", file=name)
        try:
            size_bytes = len(part.encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError as error:
            raise InputRefused("the name cannot be encoded as text", file=name) from error
        if size_bytes > _MOST_BYTES:
            raise InputRefused(f"names longer than {_MOST_BYTES} bytes are not accepted", file=name)
    return PurePosixPath(*parts)
