"""Manifests as the verbs of the dedupe chain read and write them."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from pinakes.cli.frame.jobs import JobRunner
from pinakes.cli.frame.options import configuration_of
from pinakes.cli.frame.output import Console
from pinakes.cli.frame.output_file import output_file
from pinakes.cli.frame.progress import Progress
from pinakes.config import Configuration
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.index.external_sort import SortSpace
from pinakes.index.manifest import ManifestLine, format_line, parse_line

_LINES_A_PIECE = 512


class ManifestInput:
    """Manifests to be read once, one after another; what is no line is named and left out."""

    def __init__(self, names: Sequence[str], console: Console, progress: Progress) -> None:
        self.names = names
        self.failed = False
        self._console = console
        self._progress = progress

    def __iter__(self) -> Iterator[ManifestLine]:
        """The lines, lazily.  Raises InputRefused where a file cannot be read."""
        for name in self.names:
            if name == "-":
                yield from self._parse(name, sys.stdin.buffer)
                continue
            try:
                file = Path(name).open("rb")  # noqa: SIM115 (closed below)
            except OSError as error:
                raise InputRefused(error.strerror or str(error), file=name) from error
            with file:
                yield from self._parse(name, file)

    def _parse(self, name: str, file: BinaryIO) -> Iterator[ManifestLine]:
        read = 0
        for number, raw in enumerate(file, 1):
            read += len(raw)
            if not number % _LINES_A_PIECE:
                self._progress.advance(read)
                read = 0
            text = raw.decode("utf-8", "surrogateescape")
            if text.isspace():
                continue
            try:
                yield parse_line(text, number=number)
            except MalformedRecord as problem:
                self.failed = True
                problem.file = name
                self._console.warn(problem)
        self._progress.advance(read)


def size_of(names: Sequence[str]) -> int | None:
    """The size of manifests, for their progress; None where one has none."""
    paths = [Path(name) for name in names if name != "-"]
    known = len(paths) == len(names) and all(path.is_file() for path in paths)
    return sum(path.stat().st_size for path in paths) if known else None


def space_of(arguments: argparse.Namespace) -> SortSpace:
    """The memory and the folder that the configuration gives a sort."""
    configuration: Configuration = configuration_of(arguments)
    return SortSpace(memory_bytes=configuration.spill_bytes, folder=configuration.temp_dir)


def refuse_unreadable(runner: JobRunner, names: Sequence[str], console: Console) -> None:
    """Raise ConfigError for what a job that reads and writes manifests cannot do."""
    runner.refuse({"--json": console.json, "standard input (-)": "-" in names})


def write_lines(lines: Iterable[ManifestLine], name: str, console: Console) -> None:
    """Write lines to a file, or standard output for `-`; as JSON where that is asked for."""
    form = line_as_json if console.json else format_line
    with output_file(name, console) as out:
        piece: list[str] = []
        for line in lines:
            piece.append(form(line))
            if len(piece) == _LINES_A_PIECE:
                out.write(("\n".join(piece) + "\n").encode("utf-8"))
                piece.clear()
        if piece:
            out.write(("\n".join(piece) + "\n").encode("utf-8"))


def line_as_json(line: ManifestLine) -> str:
    """The line as a JSON object of what is known."""
    return json.dumps({key: value for key, value in line._asdict().items() if value is not None})


def write_stats(name: str | None, counts: Mapping[str, object], console: Console) -> None:
    """Write `--stats`, where it was asked for."""
    if name is not None:
        with output_file(name, console) as out:
            out.write((json.dumps(counts, indent=2) + "\n").encode("utf-8"))
