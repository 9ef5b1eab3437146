"""CDX of archive files and crawls, written here or by several processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from pinakes.catalog.cdx_lines import CDX_WITH_IDS, format_cdx_with_id, iter_stored_cdx_lines
from pinakes.catalog.crawl_rows import require_crawls_there, scan_crawls
from pinakes.config import Configuration
from pinakes.errors import ConfigError, MalformedRecord
from pinakes.index.cdx_lines import iter_cdx_lines
from pinakes.index.cdxj import CdxLine, format_cdx, format_cdx_header, format_cdxj
from pinakes.index.external_sort import SortSpace, sort_outside_memory
from pinakes.profile import Stores
from pinakes.warc.file_progress import Advance
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .events import Begin, OnProblem
from .parts import iter_parts
from .record_inputs import InputFile, RecordInputs, read_records, size_of


def iter_cdx(
    inputs: RecordInputs,
    files: Sequence[InputFile],
    columns: str | None,
    *,
    jobs: int,
    space: SortSpace,
    begin: Begin,
) -> Iterator[bytes]:
    """A line for each capture of files and crawls, sorted; those without URL or date are reported.

    `columns` are those of a CDX, whose header comes first; None: CDXJ.  Raises as `iter_parts`.
    """
    if columns is not None:
        yield format_cdx_header(columns).encode()
    lines = _unsorted_cdx(inputs, files, columns, jobs, space.folder, begin)
    yield from sort_outside_memory(lines, space=space)


def _unsorted_cdx(
    inputs: RecordInputs,
    files: Sequence[InputFile],
    columns: str | None,
    jobs: int,
    folder: Path | None,
    begin: Begin,
) -> Iterator[bytes]:
    paths = [file for file in files if isinstance(file, str)]
    if jobs > 1 and len(paths) > 1 and not inputs.is_piped:
        write = partial(_write_part_of_cdx, inputs.inside, columns)
        for part, problems in iter_parts(paths, write, processes=jobs, folder=folder, begin=begin):
            for problem in problems:
                inputs.on_event(problem)
            with part.open("rb") as written:
                for line in written:
                    yield line.rstrip(b"\n")
    else:
        for path in paths:
            records = inputs.records(path, begin())
            yield from _cdx_of(path, inputs.inside[path], columns, records, inputs.on_event)
    for file in files:
        if not isinstance(file, str):
            inputs.left_out(file)  # reports them
            stored = iter_stored_cdx_lines(
                inputs.stores.archive, file, on_unplaced=partial(report_unplaced, inputs.on_event)
            )
            yield from _formatted(inputs.guarded(stored), columns)
            begin()(size_of(file))


def _cdx_of(
    path: str,
    name: str,
    columns: str | None,
    records: Iterator[tuple[Source, Record]],
    on_event: OnProblem,
) -> Iterator[bytes]:
    unplaced = partial(report_unplaced, on_event, path)
    lines = iter_cdx_lines((record for _, record in records), name, on_unplaced=unplaced)
    return _formatted(lines, columns)


def _formatted(lines: Iterable[CdxLine], columns: str | None) -> Iterator[bytes]:
    for line in lines:
        text = format_cdxj(line) if columns is None else format_cdx(line, columns)
        yield text.encode("utf-8", "surrogateescape")


def _write_part_of_cdx(
    names: Mapping[str, str],
    columns: str | None,
    path: str,
    out: BinaryIO,
    on_event: OnProblem,
    advance: Advance,
) -> None:
    lines = _cdx_of(path, names[path], columns, read_records(path, on_event, advance), on_event)
    out.writelines(line + b"\n" for line in lines)


def report_unplaced(on_event: OnProblem, file: str, offset: int, why: str) -> None:
    """Tell of a capture that no index can have."""
    on_event(MalformedRecord(f"{why}: left out", file=file, offset=offset))


def iter_cdx_for_wget(
    configuration: Configuration, stores: Stores, collections: Sequence[str], on_event: OnProblem
) -> Iterator[bytes]:
    """The originals of collections, as `serve` gives them, for wget's `--warc-dedup`.

    By rows, since that takes knowing what else has the digest, and is at the address.  Each is
    read; what is damaged is left out, and `on_event` is called with it.

    Raises:
        ConfigError: there is no such collection.
        DigestMismatch: the catalogue has lost crawls of one.
    """
    known = {crawl.facts.collection for crawl in scan_crawls(stores.rows)}
    for name in collections:
        require_crawls_there(stores.rows, collection=name)
        if name not in known:
            raise ConfigError(
                f"{name}: no collection of this name, and --format wget takes no other"
            )
    return _cdx_for_wget(configuration, stores, collections, on_event)


def _cdx_for_wget(
    configuration: Configuration, stores: Stores, collections: Sequence[str], on_event: OnProblem
) -> Iterator[bytes]:
    from pinakes.access.cdx.answer import CdxIndex  # what answers queries takes long to import
    from pinakes.access.rules import parse_rules
    from pinakes.catalog.originals import OriginalFinder

    from .site import proof_of_originals

    yield format_cdx_header(CDX_WITH_IDS).encode()
    rules = parse_rules(configuration.access)
    lines = CdxIndex(stores.rows, stores.archive, rules=rules).lines
    is_sound = proof_of_originals(configuration, stores, on_event)
    for name in collections:
        finder = OriginalFinder(
            stores.rows,
            lines.files,
            collection=name,
            crawl=None,
            admits=lines.admits,
            gives=lines.gives,
            is_sound=is_sound,
        )
        for original in chain.from_iterable(finder.iter_originals()):
            yield format_cdx_with_id(original).encode("utf-8", "surrogateescape")
