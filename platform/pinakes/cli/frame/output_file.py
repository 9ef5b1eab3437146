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
from pinakes.warc.file_names import is_archive_name

_HEAD_BYTES = 4096
_ARCHIVES = (b"WARC/", b"filedesc:", b"BZh", b"\x28\xb5\x2f\xfd")
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f]")


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
    """Raise ConfigError for a file that is no text: an archive file, say, or rows of a store.

    What is written is text, so nothing else is replaced by it.
    """
    if not target.exists():
        return
    with target.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    if is_archive_name(target.name) or head.startswith(_ARCHIVES) or _BINARY.search(head):
        raise ConfigError("is no text file, and is not replaced", file=str(target))


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
