"""`pinakes refs`: archive files anew, their duplicates as revisits."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pinakes.archive_store.local_files import sha256_of
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import add_dry_run, add_inputs, configuration_of, input_names
from pinakes.cli.frame.output import Console, printable
from pinakes.cli.frame.progress import Progress
from pinakes.dedupe.archive_files import SUPERSEDED, ArchiveFiles, read_locations
from pinakes.dedupe.write.duplicates import Duplicates
from pinakes.dedupe.write.in_place import InPlaceRewriting
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.dedupe.write.refs import RefsCount, RevisitWriter
from pinakes.dedupe.write.rewriting import Replacements, refuse_equal_names, rewrite_or_copy
from pinakes.errors import (
    ConfigError,
    Conflict,
    DigestMismatch,
    InputRefused,
    MalformedRecord,
)
from pinakes.warc.source import open_source

_TO_COUNT = "min_saving_bytes"


def configure(parser: argparse.ArgumentParser) -> None:
    """WARC files, the manifest that says what to do, and where to write."""
    add_inputs(parser, "WARC", "the files to write anew")
    parser.add_argument(
        "--manifest", metavar="FILE", required=True, help="what `pinakes process` decided"
    )
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("-o", "--output", metavar="DIR", help="write the new files there")
    target.add_argument(
        "--in-place",
        action="store_true",
        help="put them in the old ones' place, and those in superseded/",
    )
    parser.add_argument(
        "--min-saving",
        metavar="BYTES",
        dest=_TO_COUNT,
        help="leave a record full that would save less, or none (default: 64)",
    )
    add_locations(parser)
    parser.add_argument(
        "--run", metavar="ID", help="name this run in the revisits (default: from the manifest)"
    )
    add_dry_run(parser)


def add_locations(parser: argparse.ArgumentParser) -> None:
    """Where files are that a manifest names otherwise."""
    parser.add_argument("--dir", metavar="DIR", help="look for the manifest's files there, too")
    parser.add_argument(
        "--locations", metavar="FILE", help="a table of names and paths, one pair a line"
    )


def open_files(arguments: argparse.Namespace, *, superseded: bool = False) -> ArchiveFiles:
    """The archive files that these arguments describe."""
    folder = Path(arguments.dir) if arguments.dir else None
    locations = read_locations(Path(arguments.locations)) if arguments.locations else None
    return ArchiveFiles(folder=folder, locations=locations, superseded=superseded)


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """A line per file: what was replaced, what stayed full and why."""
    names = list(input_names(arguments))
    refuse_equal_names(names)
    manifest = Path(arguments.manifest)
    run_id = arguments.run or run_id_of(manifest)
    if not run_id.isascii() or not run_id.replace("-", "").replace("_", "").isalnum():
        raise ConfigError("--run is letters, digits, - and _")
    with open_files(arguments, superseded=arguments.in_place) as files:
        duplicates = _read_duplicates(manifest, files)
        if not duplicates.places:
            console.say(f"{manifest}: marks no duplicate; `pinakes resolve --process` would")
        writer = RevisitWriter(
            OriginalReader(files, duplicates.places).find,
            run=run_id,
            min_saving_bytes=configuration_of(arguments).min_saving_bytes,
        )
        batch = _Batch(arguments, console, duplicates, writer)
        with console.progress("refs", total=_size(names)) as progress:
            if arguments.in_place and not arguments.dry_run:
                batch.rewrite_in_place(names, files, progress)
            else:
                batch.rewrite(names, progress)
    console.say(_sentence("all files", batch.total))
    return Exit.SOME_FAILED if batch.failed else Exit.DONE


class _Batch:
    """The files of one call; what went wrong with one of them does not end it."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        console: Console,
        duplicates: Duplicates,
        writer: RevisitWriter,
    ) -> None:
        self.total = RefsCount()
        self.failed = False
        self._arguments = arguments
        self._console = console
        self._duplicates = duplicates
        self._writer = writer

    def rewrite(self, names: list[str], progress: Progress) -> None:
        """Each file into the output folder; or nowhere, in a dry run."""
        for name in names:
            with self._counted(name, progress) as (replace, count):
                if self._arguments.dry_run:
                    with open_source(name) as source:
                        for _ in replace(source):
                            pass
                else:
                    folder = Path(self._arguments.output)
                    folder.mkdir(parents=True, exist_ok=True)
                    rewrite_or_copy(Path(name), folder / Path(name).name, replace, count)

    def rewrite_in_place(self, names: list[str], files: ArchiveFiles, progress: Progress) -> None:
        """Each file aside; then, where all references prove right, into their places."""
        with InPlaceRewriting(files) as rewriting:
            for name in names:
                with self._counted(name, progress) as (replace, _):
                    if rewriting.stage(Path(name), replace):
                        rewriting.add_originals(self._duplicates.lines_of(Path(name)))
            for path in rewriting.swap():
                self._console.say(f"{path}: the old one is in {SUPERSEDED}/")

    @contextmanager
    def _counted(self, name: str, progress: Progress) -> Iterator[tuple[Replacements, RefsCount]]:
        count = RefsCount()
        path = Path(name)
        if not self._duplicates.names_of(path):
            self._console.warn(f"{name}: the manifest does not name this file: copied as it is")
        try:
            lines = self._duplicates.lines_of(path)
            yield partial(self._writer.replacements, lines=lines, count=count), count
        except (InputRefused, DigestMismatch, Conflict) as problem:
            self._console.warn(problem)
            self.failed = True
            return
        for unreadable in count.problems:
            self._console.warn(unreadable)
        self.failed = self.failed or bool(count.problems)
        self.total.add(count)
        self._console.result(
            {"file": name, **count.as_json()}, text=_sentence(printable(name), count)
        )
        progress.advance(path.stat().st_size)


def _read_duplicates(manifest: Path, files: ArchiveFiles) -> Duplicates:
    try:
        return Duplicates.read(manifest, files)
    except MalformedRecord as problem:
        problem.file = str(manifest)
        raise


def run_id_of(manifest: Path) -> str:
    """A name for the run that is the same whenever the manifest is."""
    return f"refs-{sha256_of(manifest)[:12]}"


def _size(names: list[str]) -> int:
    return sum(path.stat().st_size for path in map(Path, names) if path.is_file())


def _sentence(name: str, count: RefsCount) -> str:
    left = ", ".join(f"{number} {reason}" for reason, number in sorted(count.left_full.items()))
    return f"{name}: {count.records:,} revisits, {count.saved_bytes:,} bytes saved" + (
        f"; left full: {left}" if left else ""
    )
