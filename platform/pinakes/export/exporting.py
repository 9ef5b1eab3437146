"""Exporting a crawl: members one after the other, aside; it has its name once all is checked.

Killed anywhere there is no file of that name.  Memory: the names of the files, what `space` says
for sorting, and of a file whose revisits are made full those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import BinaryIO, cast

from pinakes.archive_store.local.whole_files import written_aside
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.required_files import scan_required
from pinakes.catalog.unknown_files import iter_unknown_files
from pinakes.errors import (
    Conflict,
    DigestMismatch,
    InputRefused,
    MalformedRecord,
    UnresolvedReference,
)
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace
from pinakes.rewrite.replace import copy_file_with_replacements
from pinakes.row_store.port import RowStore
from pinakes.warc.file_progress import Advance, no_advance
from pinakes.warc.source import Source

from .contents import CrawlContents, ExportedFile, read_contents, require_unchanged
from .dependencies import Dependencies, read_dependencies, requires_of
from .members import ARCHIVE, count_lines, write_index, write_pages
from .signatures import OnProblem, scan_signed, write_signed
from .standalone import filled_file
from .wacz_file import Member, WaczWriter, hash_written, write_description

_PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """Which crawl, and whether the WACZ file is to need no other crawl."""

    crawl: str
    standalone: bool = False


@dataclass(slots=True, kw_only=True)
class ExportReport:
    """What was, or would be, written.

    `requires` is what `datapackage.json` names; `restored` and `unresolved` count revisits,
    `signed` what was kept for verifying.  `captures` are those of the index; before it is written,
    those that stand alone in a member now.  `archive_bytes` is the size of the archive files in it;
    before it is written, of those in the store.  `size` and `sha256` are those of the WACZ file,
    None before it is written.
    """

    crawl: str
    files: int
    captures: int
    archive_bytes: int
    requires: list[dict[str, object]] = field(default_factory=list)
    restored: int = 0
    unresolved: int = 0
    signed: int = 0
    size: int | None = None
    sha256: str | None = None


class WaczExporter:
    """Writes WACZ files of crawls; reads the store and changes nothing in it."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        *,
        software: str,
        space: SortSpace = DEFAULT_SPACE,
        on_problem: OnProblem = lambda problem: None,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`on_problem` gets what is left out of the index, and signatures that do not hold.  `at`
        is called after each step: tests end the process there."""
        self._rows = rows
        self._archive = archive
        self._software = software
        self._space = space
        self._on_problem = on_problem
        self._at = at

    def plan(self, request: ExportRequest) -> ExportReport:
        """What would be written.  Raises as `export`, but for what only reading files shows."""
        contents, report = self._survey(request)
        with self._unless_changed(contents):
            report.captures = count_lines(self._archive, contents.files)
        return report

    def export(
        self,
        request: ExportRequest,
        target: Path,
        advance: Advance = no_advance,
        on_total: Advance = no_advance,
    ) -> ExportReport:
        """Write the WACZ file of a crawl; `advance` is called with bytes of archive files,
        `on_total` with how many there are.

        Raises:
            ConfigError: there is no such crawl.
            Conflict: it is landing, leaving, or changed during the export; or another process
                writes the file.
            UnresolvedReference: it cannot stand alone.
            DigestMismatch: an archive file is not what the catalogue says.
            InputRefused: the crawl is empty, or the file exists.
            StoreUnavailable: the disk is full, or a store not reachable.
        """
        contents, report = self._survey(request)
        on_total(report.archive_bytes)
        with written_aside(target) as file:
            moment = datetime.fromtimestamp(contents.written_ms / 1000, timezone.utc)
            out = WaczWriter(file, moment, self._space.folder)
            try:
                with self._unless_changed(contents):
                    self._write(out, contents, request, report, moment, advance)
                out.close()
            except BaseException:
                out.give_up()
                raise
            self._at("written")
            report.size, report.sha256 = hash_written(file)
            require_unchanged(self._rows, contents)
            self._at("checked")
        self._at("published")
        return report

    def _survey(self, request: ExportRequest) -> tuple[CrawlContents, ExportReport]:
        contents = read_contents(self._rows, request.crawl)
        for name in iter_unknown_files(self._rows, self._archive, request.crawl):
            raise Conflict(
                "the catalogue does not know this file of the crawl: nothing was exported; "
                "see `pinakes fsck`",
                file=name,
            )
        with self._unless_changed(contents):
            return contents, self._report(contents, request)

    def _report(self, contents: CrawlContents, request: ExportRequest) -> ExportReport:
        found = read_dependencies(self._rows, self._archive, contents.entries)
        if request.standalone and found.unresolved:
            raise _cannot_stand_alone(found)
        report = ExportReport(
            crawl=request.crawl,
            files=len(contents.files),
            captures=0,
            archive_bytes=contents.size_bytes,
            restored=found.restored if request.standalone else 0,
            unresolved=found.unresolved,
        )
        if not request.standalone:
            collection = contents.crawl.facts.collection
            kept = scan_required(self._rows, self._archive, request.crawl, collection)
            missing = [one.required for one in kept if not one.found]
            report.requires = requires_of(self._rows, collection, found.needs, missing)
        self._at("surveyed")
        return report

    @contextmanager
    def _unless_changed(self, contents: CrawlContents) -> Iterator[None]:
        """What cannot be read or written because the crawl changed is a Conflict that says so."""
        try:
            yield
        except (InputRefused, MalformedRecord, DigestMismatch, UnresolvedReference):
            require_unchanged(self._rows, contents)
            raise

    # --- members

    def _write(
        self,
        out: WaczWriter,
        contents: CrawlContents,
        request: ExportRequest,
        report: ExportReport,
        moment: datetime,
        advance: Advance,
    ) -> None:
        filled: dict[str, Member] = {}
        report.archive_bytes = 0
        for file in contents.files:
            if request.standalone and self._write_filled(out, file):
                filled[file.name] = out.last
            else:
                self._write_file(out, file)
            report.archive_bytes += out.last.size
            advance(file.size)
            self._at("archive")
        report.captures = write_index(
            out, self._archive, contents.files, filled, self._space, self._on_problem
        )
        self._at("index")
        write_pages(out, self._archive, contents.entries, self._space)
        self._at("pages")
        signed = scan_signed(self._archive, contents.entries, self._on_problem)
        write_signed(out, self._archive, signed)
        report.signed = len(signed)
        self._at("signed")
        self._describe(out, contents, report, moment)
        self._at("described")

    def _write_file(self, out: WaczWriter, file: ExportedFile) -> None:
        """The bytes as they are; Raises DigestMismatch if they are not those that were written."""
        with (
            self._archive.open(file.stored_name) as stored,
            out.member(f"{ARCHIVE}{file.name}", file.size) as member,
        ):
            while piece := stored.read(_PIECE_BYTES):
                member.write(piece)
        if (out.last.size, out.last.sha256) != (file.size, file.sha256):
            raise _not_what_was_written(file.stored_name)

    def _write_filled(self, out: WaczWriter, file: ExportedFile) -> bool:
        """The file with its revisits of others full; False, and nothing, where it has none."""
        name = file.stored_name
        with filled_file(self._rows, self._archive, file.entry) as filled:
            if not filled:
                return False
            if self._archive.checksum(name) != file.sha256:
                raise _not_what_was_written(name)
            with (
                _all_or_nothing(name),
                self._archive.open(name) as read,
                self._archive.open(name) as copied,
            ):
                source = Source(read, name=name)
                with out.member(f"{ARCHIVE}{file.name}") as member:
                    copy_file_with_replacements(
                        copied, cast("BinaryIO", member), source.size, filled.replacements(source)
                    )
                filled.check(source, out.read(out.last))
            return True

    def _describe(
        self, out: WaczWriter, contents: CrawlContents, report: ExportReport, moment: datetime
    ) -> None:
        more: dict[str, object] = {"title": contents.crawl.crawl}
        if contents.crawl.facts.description:
            more["description"] = contents.crawl.facts.description
        if report.requires:
            more["relation"] = {"requires": report.requires}
        write_description(out, more, moment=moment, software=self._software)


@contextmanager
def _all_or_nothing(name: str) -> Iterator[None]:
    """One revisit that cannot be made full is the end of an export that is to stand alone."""
    try:
        yield
    except (UnresolvedReference, DigestMismatch, MalformedRecord) as error:
        why = f"a revisit cannot be made full, so nothing was written ({error.message}): "
        why += "leave --standalone out"
        raise type(error)(why, file=error.file or name, offset=error.offset) from error


def _not_what_was_written(name: str) -> DigestMismatch:
    why = "is not what was written: nothing was exported; see `pinakes fsck --full`"
    return DigestMismatch(why, file=name)


def _cannot_stand_alone(found: Dependencies) -> UnresolvedReference:
    places = ", ".join(f"{one.file}:{one.offset}" for one in found.examples)
    more = " …" if found.unresolved > len(found.examples) else ""
    return UnresolvedReference(
        f"{found.unresolved} revisits refer to nothing that is in the store, so it cannot stand "
        f"alone: {places}{more}"
    )
