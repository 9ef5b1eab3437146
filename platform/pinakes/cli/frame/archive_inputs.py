"""Archive files that a verb only reads: by path or URL, or one that is piped in, called `-`."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, BinaryIO

from pinakes.archive_store.located import open_place
from pinakes.errors import ConfigError
from pinakes.warc.source import Source

from .options import PIPED, inputs_of


class ArchiveInputs:
    """The inputs, and how each is opened; what is piped in is kept in a temporary file."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._piped: IO[bytes] | None = None
        self._stack = ExitStack()
        self.names: Iterator[str] = iter(())

    def __enter__(self) -> ArchiveInputs:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def is_piped(self) -> bool:
        """Whether one came by standard input; known once the names were drawn."""
        return self._piped is not None

    @contextmanager
    def opened(self, name: str) -> Iterator[Source]:
        """One of the inputs, or of the files in it; `Raises` as `located.open_place`."""
        if name == PIPED and self._piped is not None:
            yield Source(self._piped, name=name)
            return
        with open_place(name) as source:
            yield source

    def keep(self, first: bytes, rest: BinaryIO) -> None:
        """Take what is piped in; called while the names are drawn."""
        if self._piped is not None:
            raise ConfigError("standard input is given twice")
        self._piped = self._stack.enter_context(
            tempfile.TemporaryFile(prefix="pinakes-", dir=self._folder)  # noqa: SIM115 (entered)
        )
        self._piped.write(first)
        shutil.copyfileobj(rest, self._piped, 1 << 20)
        self._piped.flush()


def archive_inputs_of(arguments: argparse.Namespace, folder: Path | None) -> ArchiveInputs:
    """What `options.add_inputs` has added, for a verb that only reads; a context manager.

    `folder` is where what is piped in is kept, none: the system's.
    """
    inputs = ArchiveInputs(folder)
    inputs.names = inputs_of(arguments, on_archive=inputs.keep)
    return inputs
