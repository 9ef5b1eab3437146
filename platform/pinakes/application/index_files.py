"""Files of index lines of archives that lie elsewhere: CDX, CDXJ or manifests."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from itertools import islice
from pathlib import Path

from pinakes.access.cdx.external import LineReader, put_lines
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.index.cdxj import CdxLine
from pinakes.index.inflated import GZIP, inflated
from pinakes.profile import Stores

from .events import OnProblem

_TOGETHER = 5000
_MOST_LINE_BYTES = 1 << 20
# After a gzip member that does not end with a line end, as the blocks of some ZipNum indexes do.
_MEMBER_END = b"\0\x1e\0\n"


def import_lines(
    stores: Stores, lines: IndexFileLines, collection: str, *, act_time_ms: int, dry_run: bool
) -> int:
    """Take the lines of a file into a collection; how many."""
    taken, parsed = 0, lines.parsed()
    while batch := list(islice(parsed, _TOGETHER)):
        taken += len(batch)
        if not dry_run:
            put_lines(stores.rows, batch, collection, act_time_ms=act_time_ms)
    return taken


class IndexFileLines:
    """The lines of one file; `bad` counts those that are none, and `is_whole` is False of a file
    that cannot be read to its end."""

    def __init__(self, name: str, on_problem: OnProblem) -> None:
        self.bad = 0
        self.is_whole = True
        self._name = name
        self._on_problem = on_problem

    def parsed(self) -> Iterator[CdxLine]:
        """Lazily; where the file cannot be read on, that is said, and they end."""
        try:
            with _opened(self._name) as file:
                yield from self._parsed(file)
        except InputRefused as refusal:
            self.is_whole = False
            self._on_problem(refusal)

    def _parsed(self, file: BufferedIOBase) -> Iterator[CdxLine]:
        reader = LineReader(takes_manifests=True)
        for number, raw in enumerate(_whole(reader, _read_lines(file, self._name)), 1):
            try:
                line = _read(reader, raw, number)
            except MalformedRecord as problem:
                self.bad += 1
                problem.file, problem.kind = self._name, "not a line of an index"
                self._on_problem(problem)
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
