"""A WACZ file of archive files that are in no store: each as it is, an index, pages.

    file ─▶ member ─▶ read back: its records ─▶ lines of the index, pages ─▶ `datapackage.json`

Killed anywhere there is no file of that name.  Memory: one record, and what `space` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from pinakes.archive_store.local.whole_files import written_aside
from pinakes.archive_store.located import open_place, size_at
from pinakes.catalog.cdx_lines import iter_row_lines
from pinakes.catalog.pages import PageCapture, first_captures, page_of
from pinakes.catalog.requests import iter_rows
from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.write.rewriting import refuse_equal_names
from pinakes.errors import InputRefused, MalformedRecord, PinakesError
from pinakes.hbase_schema.name_keys import archive_file
from pinakes.index.cdxj import CdxLine
from pinakes.index.external_sort import DEFAULT_SPACE, SortSpace, Spool
from pinakes.index.not_whole import iter_naming
from pinakes.warc.file_names import base_name
from pinakes.warc.file_progress import Advance, no_advance
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.source import Source

from .contents import plain_name
from .members import ARCHIVE, write_lines, write_made_pages
from .wacz_file import Described, WaczWriter, hash_written, write_description

_CRAWL = "files"
_PIECE_BYTES = 1 << 20


class FilesExporter:
    """Writes one WACZ file of archive files; changes none of them."""

    def __init__(
        self,
        *,
        software: str,
        moment: datetime,
        space: SortSpace = DEFAULT_SPACE,
        on_problem: Callable[[PinakesError], None] = lambda problem: None,
    ) -> None:
        """`moment`, in UTC, is the time of all members.  `on_problem` gets what is damaged in an
        archive file, and what is left out of the index."""
        self._software = software
        self._moment = moment
        self._space = space
        self._on_problem = on_problem
        self._pages: Spool[PageCapture] = Spool(space=space)

    def export(
        self, places: Sequence[str], target: Path, advance: Advance = no_advance
    ) -> Described:
        """Write the files at these paths or URLs; `advance` is called with bytes of them.

        Raises:
            ConfigError: two of them have one name.
            InputRefused: there is none, one cannot be read or changes, or the target exists.
            StoreUnavailable: the disk is full.
        """
        if not places:
            raise InputRefused("no archive files: nothing to write", file=str(target))
        refuse_equal_names(places)
        with written_aside(target) as file:
            out = WaczWriter(file, self._moment, self._space.folder)
            try:
                described = self._write(out, places, target, advance)
                out.close()
            except BaseException:
                out.give_up()
                raise
            size, sha256 = hash_written(file)
            return described._replace(size=size, sha256=sha256)

    def _write(
        self, out: WaczWriter, places: Sequence[str], target: Path, advance: Advance
    ) -> Described:
        total = 0
        lines: Spool[CdxLine] = Spool(space=self._space)
        for place in places:
            name = plain_name(base_name(place))
            self._copy(out, place, name)
            total += out.last.size
            for line in self._lines(out.read(out.last), name):
                lines.append(line)
            advance(out.last.size)
        captures = write_lines(out, iter(lines), self._space)
        write_made_pages(out, first_captures(self._pages, space=self._space))
        write_description(out, {"title": target.stem}, moment=self._moment, software=self._software)
        return Described(len(places), captures, total)

    def _copy(self, out: WaczWriter, place: str, name: str) -> None:
        with (
            open_place(place) as source,
            out.member(f"{ARCHIVE}{name}", size_at(place)) as member,
        ):
            for piece in source.pieces(0, source.size):
                member.write(piece)
            source.check_unchanged()

    def _lines(self, source: Source, name: str) -> Iterator[CdxLine]:
        def on_unplaced(file: str, offset: int, why: str) -> None:
            self._on_problem(
                MalformedRecord(f"{why}: left out of the index", file=file, offset=offset)
            )

        rows = self._rows(source, name)
        return iter_row_lines(rows, name, on_unplaced=on_unplaced)

    def _rows(self, source: Source, name: str) -> Iterator[SidecarRow]:
        records = self._records(source)
        of_file = archive_file(_CRAWL, name)
        for row in iter_rows(records, archive_file=of_file, landed=self._moment):
            page = page_of(row)
            if page is not None:
                self._pages.append(page)
            yield row

    def _records(self, source: Source) -> Iterator[Record]:
        items = iter_records(source, digests=("sha1", "sha256"))
        for item in iter_naming(items, source.name, self._on_problem):
            if isinstance(item, DamagedStretch):
                what = f"{item.reason}: {item.end - item.offset} bytes are in no record"
                self._on_problem(MalformedRecord(what, file=source.name, offset=item.offset))
            else:
                yield item
