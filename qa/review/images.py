"""The images of a run, by name: only image files of its folder.

A name must be plain and one of those in the run's results; links are not followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO

from pinakes.qa.results.pair_line import is_image_name

_TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp"}


def image_type(name: str) -> str:
    """The media type of an image's name; None for other names."""
    return _TYPES[name.rpartition(".")[2]]


class RunImages:
    """Opens the images of a run's folder."""

    def __init__(self, folder: Path, names: Collection[str]) -> None:
        self._folder = folder
        self._names = frozenset(filter(is_image_name, names))

    def open(self, name: str) -> tuple[BinaryIO, int] | None:
        """The file, for the caller to close, and its size in bytes; None if there is none."""
        if name not in self._names:
            return None
        try:
            # Opening a pipe would block; a link may lead elsewhere.
            number = os.open(self._folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            return None
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode):
            os.close(number)
            return None
        return os.fdopen(number, "rb"), found.st_size
