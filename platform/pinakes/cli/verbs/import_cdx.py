"""`pinakes import-cdx`: index lines of archives that lie elsewhere, from files."""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from itertools import islice
from pathlib import Path

from pinakes.access.cdx.external import LineReader, put_lines
from pinakes.acts.actor import Actor
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import (
    add_dry_run,
    add_inputs,
    add_settings,
    configuration_of,
    inputs_of,
)
from pinakes.cli.frame.output import Console, printable
from pinakes.counts import count_of
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.index.cdxj import CdxLine
from pinakes.index.inflated import GZIP, inflated
from pinakes.profile import Stores, open_stores

_TOGETHER = 5000
_MOST_LINE_BYTES = 1 << 20
# Behind a gzip member that does not end with a line end, as the blocks of some ZipNum indexes do.
_MEMBER_END = b"\0\x1e\0\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportCdxRequest:
    """Files of lines, and the collection that they are for."""

    names: Sequence[str]
    collection: str
    dry_run: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """Indexes and manifests."""
    words = "CDX, CDXJ or manifests, as they are or in gzip"
    add_inputs(parser, "FILE", words)
    add_dry_run(parser)
    add_settings(parser, "store", "collection")


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Take the lines of each file; a line that is none is named, and left out."""
    configuration = configuration_of(arguments)
    request = ImportCdxRequest(
        names=tuple(inputs_of(arguments)),
        collection=configuration.collection,
        dry_run=arguments.dry_run,
    )
    with open_stores(configuration) as stores:
        return _import(stores, request, console)


def _import(stores: Stores, request: ImportCdxRequest, console: Console) -> Exit:
    act_time_ms, failed = Actor().now_ms(), False
    for name in request.names:
        lines, taken = _Lines(name, console), 0
        parsed = lines.parsed()
        while batch := list(islice(parsed, _TOGETHER)):
            taken += len(batch)
            if not request.dry_run:
                put_lines(stores.rows, batch, request.collection, act_time_ms=act_time_ms)
        failed |= not lines.is_whole or lines.bad > 0
        would = "would be " if request.dry_run else ""
        left_out = f", {lines.bad:,} left out" if lines.bad else ""
        if lines.is_whole or taken:
            console.result(
                {"file": name, "lines": taken, "left_out": lines.bad},
                text=f"{printable(name)}: {count_of(taken, 'line')} {would}taken{left_out}",
            )
    return Exit.SOME_FAILED if failed else Exit.DONE


class _Lines:
    """The lines of one file; `bad` counts those that are none, and `is_whole` is False of a file
    that cannot be read to its end."""

    def __init__(self, name: str, console: Console) -> None:
        self.bad = 0
        self.is_whole = True
        self._name = name
        self._console = console

    def parsed(self) -> Iterator[CdxLine]:
        """Lazily; where the file cannot be read on, that is said, and they end."""
        try:
            with _opened(self._name) as file:
                yield from self._parsed(file)
        except InputRefused as refusal:
            self.is_whole = False
            self._console.warn(refusal)

    def _parsed(self, file: BufferedIOBase) -> Iterator[CdxLine]:
        reader = LineReader(takes_manifests=True)
        for number, raw in enumerate(_whole(reader, _read_lines(file, self._name)), 1):
            try:
                line = _read(reader, raw, number)
            except MalformedRecord as problem:
                self.bad += 1
                problem.file = self._name
                self._console.warn(problem, kind="not a line of an index")
                continue
            if line is not None:
                yield line


def _read(reader: LineReader, raw: bytes, number: int) -> CdxLine | None:
    if len(raw) > _MOST_LINE_BYTES:
        raise MalformedRecord(f"line {number} has more than {_MOST_LINE_BYTES:,} bytes")
    return reader.read(raw.decode("utf-8", "surrogateescape").rstrip("\r\n"), number)


def _whole(reader: LineReader, lines: Iterator[bytes]) -> Iterator[bytes]:
    """Lines; the last of a gzip member goes on in the next one (as in BGZF) unless its parts are
    two lines, or one of them is a line that the other would spoil.
    """
    held = b""
    for line in lines:
        part = line.removesuffix(_MEMBER_END)
        lines_alone = _is_line(reader, held) + _is_line(reader, part) if held else 0
        if lines_alone == 2 or (lines_alone == 1 and not _is_line(reader, held + part)):
            yield held
        else:
            part = held + part
        held = part if line.endswith(_MEMBER_END) else b""
        if not held:
            yield part
    if held:
        yield held


def _is_line(reader: LineReader, raw: bytes) -> bool:
    try:
        _read(reader, raw, 1)
    except MalformedRecord:
        return False
    return bool(raw.strip())


def _read_lines(file: BufferedIOBase, name: str) -> Iterator[bytes]:
    """Lines; of one that is too long the beginning, and the rest of it is skipped."""
    try:
        while line := file.readline(_MOST_LINE_BYTES + 1):
            is_cut = len(line) > _MOST_LINE_BYTES
            yield line
            while is_cut and line and not line.endswith(b"\n"):
                line = file.readline(_MOST_LINE_BYTES)
    except (OSError, EOFError, zlib.error) as error:
        raise InputRefused(f"cannot be read to its end: {error}", file=name) from error


@contextmanager
def _opened(name: str) -> Iterator[BufferedIOBase]:
    """The file, inflated if it is gzip; Raises InputRefused."""
    try:
        file = Path(name).open("rb")  # noqa: SIM115 (closed below)
        first = file.peek(2)
    except OSError as error:
        raise InputRefused(error.strerror or str(error), file=name) from error
    with file:
        yield inflated(file, between=_MEMBER_END) if first.startswith(GZIP) else file
