"""What a verb writes: to standard output, or files that appear when they are whole."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pinakes.archive_store.local.whole_files import hidden_file
from pinakes.cli.frame.output import Console
from pinakes.errors import ConfigError
from pinakes.index.manifest import ManifestLine, format_line
from pinakes.warc.file_names import is_archive_name, is_package_name

_HEAD_BYTES = 16
# The version of WARC, the first URL of an ARC file; bzip2, gzip, Zstandard, a skippable frame;
# Parquet (sidecars), SQLite.
_KEPT = re.compile(
    rb"WARC/|filedesc:|BZh|\x1f\x8b|\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18|PAR1|SQLite format 3"
)


@contextmanager
def output_file(name: str, console: Console) -> Iterator[BinaryIO]:
    """Standard output, or a file written aside, which takes its name once it is whole."""
    if name == "-":
        out = console.binary_out
        yield out
        out.flush()
        return
    target = Path(name)
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise ConfigError(f"-o {name} is a folder: name a file")
        with target.open("wb") as device:  # /dev/null, a pipe: nothing to rename
            yield device
        return
    target = Path(os.path.realpath(target))
    _require_replaceable(target)
    with hidden_file(target) as aside:
        yield aside.file
        aside.publish(replace=True)


def _require_replaceable(target: Path) -> None:
    """Raise ConfigError for a file of an archive, of which no other copy may exist."""
    if not target.exists():
        return
    with target.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    name = target.name
    if is_archive_name(name) or is_package_name(name) or _KEPT.match(head):
        raise ConfigError(
            "is an archive file, a package or a part of a store, and is not replaced",
            file=str(target),
        )


def write_to(name: str, lines: Iterable[bytes], console: Console) -> None:
    """Write each of these, and a line end."""
    with output_file(name, console) as out:
        out.writelines(line + b"\n" for line in lines)


@contextmanager
def lines_to(name: str | None, console: Console) -> Iterator[Callable[[ManifestLine], None] | None]:
    """What writes manifest lines to it; None, where no name is given."""
    if name is None:
        yield None
        return
    with output_file(name, console) as file:

        def write(line: ManifestLine) -> None:
            file.write(f"{format_line(line)}\n".encode())

        yield write
