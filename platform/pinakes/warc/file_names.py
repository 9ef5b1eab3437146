"""What files are by their names: archive files, packages of them, files still being written."""

from __future__ import annotations

SUFFIXES = (".warc", ".arc", ".wat", ".wet")
COMPRESSIONS = (".gz", ".bz2", ".lz4", ".zst", ".xz")
UNFINISHED = (".open", ".part", ".invalid", ".tmp")
PACKAGE = ".wacz"


def is_archive_name(name: str) -> bool:
    """Whether a file name is that of an archive file."""
    name = name.lower()
    for compression in COMPRESSIONS:
        name = name.removesuffix(compression)
    return name.endswith(SUFFIXES)


def is_package_name(name: str) -> bool:
    """Whether a file name is that of a package of archive files."""
    return name.lower().endswith(PACKAGE)


def is_unfinished_name(name: str) -> bool:
    """Whether the name is that of a file still being written, which is skipped."""
    return name.lower().endswith(UNFINISHED)
