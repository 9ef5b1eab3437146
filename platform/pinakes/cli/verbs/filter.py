"""`pinakes filter`: some records of archive files, into a file of their own."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from pinakes.archive_store.local.whole_files import written_aside
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import (
    add_dry_run,
    add_inputs,
    add_settings,
    configuration_of,
)
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.progress import Progress
from pinakes.cli.frame.record_inputs import (
    InputFile,
    RecordInputs,
    named_later,
    record_inputs_of,
    size_of,
)
from pinakes.cli.frame.selection_options import add_selection, is_selected, selection_of
from pinakes.counts import count_of
from pinakes.dedupe.references.originals import Name, Wanted, WithDigest, names_of, sure_names
from pinakes.errors import ConfigError, DigestMismatch, MalformedRecord
from pinakes.index.selection import Selection
from pinakes.rewrite.taken import RecordTaker, require_whole
from pinakes.warc.record import Record
from pinakes.warc.source import Source

_STANDARD_OUTPUT = "-"


def configure(parser: argparse.ArgumentParser) -> None:
    """Archive files, folders or crawls; which of their records; where they go."""
    add_inputs(parser, "WARC|CRAWL", "archive files, folders, WACZ packages, crawls or collections")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        required=True,
        help="a new file, compressed unless it ends in .warc (-: standard output, compressed)",
    )
    parser.add_argument(
        "--originals",
        action="store_true",
        help="also take the records that selected revisits refer to; reads all files twice",
    )
    add_selection(parser)
    add_dry_run(parser)
    add_settings(parser, "store")


@dataclass(slots=True)
class Taken:
    """What was written, or would be."""

    records: int = 0
    left_out: int = 0
    """Selected, and damaged."""
    types: Counter[str] = field(default_factory=Counter)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """One file; what was selected and cannot be copied is named."""
    selection = selection_of(arguments) or Selection()
    output: str = arguments.output
    if output.lower().endswith(".zst"):
        raise ConfigError(f"-o {output}: Zstandard is not written: name it .warc.gz, or .warc")
    with record_inputs_of(arguments, configuration_of(arguments), console) as inputs:
        # Before the new file is there: it may be in a folder that is given.
        files = list(inputs.files())
        work = _Filter(inputs, selection, Taken())
        passes = 1 + arguments.originals
        total = passes * sum(map(size_of, files))
        with console.progress("filter", total=total) as progress:
            if arguments.originals:
                work.want_originals(files, progress)
            if arguments.dry_run:
                work.take(files, None, progress)
                written = 0
            else:
                written = _write(work, files, output, progress, console)
        for wanted in sorted(work.wanted, key=str):
            if work.found.isdisjoint(wanted):
                inputs.warn(
                    MalformedRecord(
                        f"the original {_named(wanted)} is not in these files",
                        kind="originals that are not in these files",
                    )
                )
    _tell(work.taken, output, written, console, dry_run=arguments.dry_run)
    return Exit.SOME_FAILED if inputs.failed else Exit.DONE


def _named(names: tuple[Name, ...]) -> str:
    """What a revisit calls its original."""
    if not names:
        return "of a revisit that names none"
    first = names[0]
    if isinstance(first, Wanted):
        return f"{first.target_uri} of {first.second}"
    if isinstance(first, WithDigest):
        return f"{first.target_uri} with {first.digest}"
    return f"<{first.record_id}>"


class _NothingTaken(Exception):
    """No record was: no file is to appear."""


def _write(
    work: _Filter, files: Sequence[InputFile], output: str, progress: Progress, console: Console
) -> int:
    """The bytes written; no file appears where there are none."""
    try:
        with _opened(output, console) as out:
            taker = RecordTaker(out, compressed=not output.endswith(".warc"))
            work.take(files, taker, progress)
            work.require_any()
            return taker.written
    except _NothingTaken:
        return 0


class _Filter:
    """Which records of some files are taken, and what became of them."""

    def __init__(self, inputs: RecordInputs, selection: Selection, taken: Taken) -> None:
        self._inputs = inputs
        self._selection = selection
        self.taken = taken
        self.wanted: set[tuple[Name, ...]] = set()
        """Originals of selected revisits, each by one of these.  Memory: some 300 bytes each."""
        self.found: set[Name] = set()
        self._names: set[Name] = set()

    def want_originals(self, files: Sequence[InputFile], progress: Progress) -> None:
        """Look at every revisit once, before anything is written."""
        for file in files:
            for source, record in self._inputs.records(
                file, progress.advance, on_fault=named_later
            ):
                if record.type == "revisit" and self._is_selected(source, record):
                    names = sure_names(record.header)
                    self.wanted.add(names)
                    self._names.update(names)

    def take(
        self, files: Sequence[InputFile], taker: RecordTaker | None, progress: Progress
    ) -> None:
        """Write what is selected, and before the first of a file its warcinfo."""
        for file in files:
            warcinfo: Record | None = None
            for source, record in self._inputs.records(
                file, progress.advance, on_fault=named_later
            ):
                if self._is_wanted(record) or self._is_selected(source, record):
                    if warcinfo is not None:
                        self._take_one(file, source, warcinfo, taker)
                    warcinfo = None
                    self._take_one(file, source, record, taker)
                elif record.type == "warcinfo":
                    warcinfo = record

    def require_any(self) -> None:
        """Raise where nothing was taken."""
        if not self.taken.records:
            raise _NothingTaken

    def _is_selected(self, source: Source, record: Record) -> bool:
        return is_selected(source, record, self._selection)

    def _is_wanted(self, record: Record) -> bool:
        if not self._names or record.type not in ("response", "resource"):
            return False
        found = self._names & names_of(record)
        self.found |= found
        return bool(found)

    def _take_one(
        self, file: InputFile, source: Source, record: Record, taker: RecordTaker | None
    ) -> None:
        try:
            require_whole(source, record)
            self._inputs.require_as_landed(file, source, record)
            if taker is not None:
                taker.take(source, record)
        except (MalformedRecord, DigestMismatch) as problem:
            self.taken.left_out += 1
            self._inputs.warn(problem)
            return
        self.taken.records += 1
        self.taken.types[record.type] += 1


@contextmanager
def _opened(name: str, console: Console) -> Iterator[BinaryIO]:
    """A new file that appears when it is whole, or standard output."""
    if name == _STANDARD_OUTPUT:
        yield console.binary_out
        console.binary_out.flush()
        return
    target = Path(name)
    if not target.parent.is_dir():
        raise ConfigError(f"-o {name}: there is no folder {target.parent}")
    with written_aside(target) as out:
        yield out


def _tell(taken: Taken, output: str, written: int, console: Console, *, dry_run: bool) -> None:
    counts = {
        "output": output,
        "records": taken.records,
        "types": dict(sorted(taken.types.items())),
        "left_out": taken.left_out,
        "bytes": written,
    }
    kinds = ", ".join(f"{count:,} {name}" for name, count in sorted(taken.types.items()))
    text = f"{printable(output)}: {count_of(taken.records, 'record')}"
    text += f" ({kinds})" if kinds else ""
    if dry_run or not taken.records:
        text += ", nothing written"
    else:
        text += f", {written:,} bytes"
    if output == _STANDARD_OUTPUT:
        console.say(text)
    else:
        console.result(counts, text=text)
