"""What files are by their names: archive files, packages of them, files still being written."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

SUFFIXES = (".warc", ".arc", ".wat", ".wet")
COMPRESSIONS = (".gz", ".bz2", ".lz4", ".zst", ".xz")
UNFINISHED = (".open", ".part", ".invalid", ".tmp")
PACKAGE = ".wacz"
_REMOTE = ("http://", "https://", "s3://")


def is_archive_name(name: str) -> bool:
    """Whether a file name is that of an archive file."""
    name = name.lower()
    for compression in COMPRESSIONS:
        name = name.removesuffix(compression)
    return name.endswith(SUFFIXES)


def was_archive_name(name: str) -> bool:
    """The same, also of one that is, or was, still being written: `a.warc.gz.open`."""
    name = name.lower()
    for suffix in UNFINISHED:
        name = name.removesuffix(suffix)
    return is_archive_name(name)


def without_compression(name: str) -> str:
    """A file name without the suffix of gzip or Zstandard: `a.warc` of `a.warc.zst`."""
    return name.removesuffix(".gz").removesuffix(".zst")


def is_package_name(name: str) -> bool:
    """Whether a file name is that of a package of archive files."""
    return name.lower().endswith(PACKAGE)


def is_unfinished_name(name: str) -> bool:
    """Whether the name is that of a file still being written, which is skipped."""
    return name.lower().endswith(UNFINISHED)


def is_remote(place: str) -> bool:
    """Whether a place is on a server; else it is a path, or `file://` and one."""
    return place[:8].lower().startswith(_REMOTE)


def split_remote(place: str) -> tuple[str, str] | None:
    """The URL of a package, and the name of a file in it; None for any other URL."""
    start = place.index("//") + 2
    for match in re.finditer("/", place[start:]):
        package, member = place[: start + match.start()], place[start + match.end() :]
        if member and is_package_name(_last_part(package)):
            return package, member
    return None


def base_name(name: str) -> str:
    """The last part of a path or URL; of a file in a package, of its name there."""
    if not is_remote(name):
        return Path(name).name
    split = split_remote(name)
    return _last_part(name) if split is None else Path(split[1]).name


def _last_part(url: str) -> str:
    return Path(unquote(re.split("[?#]", url)[0])).name
