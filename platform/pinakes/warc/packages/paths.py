"""Members of packages by path: `crawl.wacz/archive/data.warc.gz`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

from pinakes.errors import InputRefused
from pinakes.warc.file_names import PACKAGE, is_package_name

from .package import Package


def split_member(path: str) -> tuple[str, str] | None:
    """A package on disk, and the name of a member; None for any other path.

    The member need not exist.
    """
    parts = path.split("/")
    for count in range(1, len(parts)):
        if is_package_name(parts[count - 1]):
            package = "/".join(parts[:count])
            if os.path.isfile(package):
                return package, "/".join(parts[count:])
    return None


def flat_name(name: str) -> str:
    """A relative name for a copy of a member next to its package: `crawl-data.warc.gz`.

    Of a name without a package, the same.
    """
    *folders, base = name.split("/")
    for count, folder in enumerate(folders):
        if is_package_name(folder):
            stems = [part[: -len(PACKAGE)] for part in folders[count:] if is_package_name(part)]
            return "/".join([*folders[:count], "-".join([*stems, base])])
    return name


@contextmanager
def open_package(path: str) -> Iterator[Package]:
    """A package on disk; raises InputRefused if it is none that can be read."""
    with ExitStack() as stack:
        try:
            file = stack.enter_context(Path(path).open("rb"))
        except OSError as error:
            raise InputRefused(f"cannot be read: {error.strerror}", file=path) from error
        yield stack.enter_context(Package(file, path))


@contextmanager
def open_member(path: str) -> Iterator[BinaryIO]:
    """A member by its path, for reading.

    Raises:
        InputRefused: the package has no member of this name, or it cannot be read.
    """
    split = split_member(path)
    if split is None:
        raise InputRefused("cannot be read: not a package", file=path)
    with open_package(split[0]) as package, package.opened(split[1]) as file:
        yield file
