"""The names that an archive store accepts: relative, and valid on every file system."""

from __future__ import annotations

import unicodedata
from pathlib import PurePosixPath

from pinakes.errors import InputRefused

from .port import ASIDE, QUARANTINE

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


def check_stored_name(name: str) -> PurePosixPath:
    """Return the name of a file of a store, or of one in its quarantine, as a relative path.

    Raises:
        InputRefused: as `check_file_name`.
    """
    head, slash, inner = name.partition("/")
    if head == QUARANTINE and slash:
        return PurePosixPath(QUARANTINE) / check_file_name(inner)
    return check_file_name(name)


def check_token(token: str) -> PurePosixPath:
    """Return the path of what is written aside under a token.

    Raises:
        InputRefused: it has more than one part, or as `check_file_name`.
    """
    path = check_file_name(token)
    if len(path.parts) > 1:
        raise InputRefused("a token must be a single plain name", file=token)
    return PurePosixPath(ASIDE) / path


def check_place(name: str) -> PurePosixPath:
    """Return the path of a stored file, or of the file or folder `ASIDE/token`.

    Raises:
        InputRefused: as `check_stored_name` and `check_token`.
    """
    head, _, token = name.partition("/")
    return check_token(token) if head == ASIDE else check_stored_name(name)


def may_be_folder(name: str) -> bool:
    """Whether a name of `check_place` may be that of a folder, which is moved and deleted whole."""
    return name.startswith((f"{ASIDE}/", f"{QUARANTINE}/"))
