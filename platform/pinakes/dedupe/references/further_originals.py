"""Full records that references may mean in files that are not compared.

Such files are read, wholly or in part, or an index (CDX or CDXJ) describes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from pinakes.dedupe.archive_files import ArchiveFiles
from pinakes.errors import InputRefused, MalformedRecord, PinakesError
from pinakes.hbase_schema.capture_cells import REVISIT_MIME
from pinakes.index.cdxj import CdxLine, parse_cdx, parse_cdxj
from pinakes.warc.digest import parse_digest
from pinakes.warc.reader import Item, iter_records, read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .originals import FullRecordPlace, Originals, Wanted
from .outcomes import INDEXED
from .resolution import Resolution
from .values import ALGORITHM, FULL_TYPES, FoundReferences, body_of, full_of, indexed_full

_BASE32_SHA1_CHARACTERS = 32


def read_index(path: Path) -> Iterator[CdxLine]:
    """The lines of a CDX or CDXJ file, whichever it is.

    Raises:
        InputRefused: where it cannot be read.
        MalformedRecord: for a line that is neither.
    """
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape") as lines:
            first = next((text for text in lines if text.strip()), "")
            texts = chain((first,), lines) if first else iter(())
            if first.rstrip().endswith("}"):
                numbered = enumerate(texts, 1)
                yield from (parse_cdxj(text, number=n) for n, text in numbered if text.strip())
            else:
                yield from parse_cdx(texts)
    except OSError as error:
        raise InputRefused(error.strerror or str(error), file=str(path)) from error


def note_indexed(path: Path, originals: Originals) -> None:
    """Note the wanted full records that an index knows; proven when they are read."""
    for line, wanted, place in _iter_full(path):
        originals.note_place(wanted, place)
        digest = parse_digest(_labelled(line.digest) or "")
        if digest is not None:
            originals.note_digest(str(digest), wanted, place)


def iter_indexed(path: Path) -> Iterator[tuple[Wanted, FullRecordPlace]]:
    """The full records of an index, and where they are said to be."""
    return ((wanted, place) for _, wanted, place in _iter_full(path))


def _iter_full(path: Path) -> Iterator[tuple[CdxLine, Wanted, FullRecordPlace]]:
    for line in read_index(path):
        if line.mime == REVISIT_MIME or None in (line.url, line.filename, line.offset):
            continue
        place = FullRecordPlace(line.filename or "", line.offset or 0, 0, None, None)
        yield line, Wanted(line.url or "", line.timestamp[:14]), place


def add_indexed(path: Path, resolution: Resolution) -> None:
    """Make the full records of an index known to a resolution."""
    for line in read_index(path):
        if line.mime != REVISIT_MIME and line.url is not None:
            second, digest = line.timestamp[:14], _labelled(line.digest)
            resolution.add_full(*indexed_full(line.url, second, digest, proof=INDEXED))


def _labelled(digest: str | None) -> str | None:
    bare = digest is not None and ":" not in digest and len(digest) == _BASE32_SHA1_CHARACTERS
    return f"sha1:{digest}" if bare else digest


def add_originals(
    source: Source, references: FoundReferences, at: Sequence[tuple[int, int]] | None = None
) -> None:
    """Make the full records of a file known; `at`: those at these offsets and inner offsets.

    Raises:
        MalformedRecord: where none is at such a place.
    """
    for item in _whole(source) if at is None else _some(source, at):
        if isinstance(item, Record) and item.type in FULL_TYPES:
            references.add_full(*full_of(item, body_of(item), stays=True))


def add_indexed_originals(
    index: Path,
    files: ArchiveFiles,
    resolution: Resolution,
    on_problem: Callable[[PinakesError], None],
) -> None:
    """Read what an index knows of the originals that are not among the files compared.

    Memory: the references to such originals.
    """
    wanted = {
        (found.target_uri, found.target_second)
        for found in resolution.outcomes()
        if found.outcome == "dangling"
    }
    for original, place in iter_indexed(index):
        if original in wanted:
            try:
                add_originals(files.source(place.file), resolution, [(place.offset, 0)])
            except (InputRefused, MalformedRecord) as problem:
                on_problem(problem)


def _whole(source: Source) -> Iterator[Item]:
    return iter_records(source, digests=(ALGORITHM,))


def _some(source: Source, places: Iterable[tuple[int, int]]) -> Iterator[Item]:
    for offset, inner in places:
        record = read_record(source, offset, inner_offset=inner, digests=(ALGORITHM,))
        if not isinstance(record, Record) or (record.offset, record.inner_offset) != (
            offset,
            inner,
        ):
            raise MalformedRecord("there is no record here", file=source.name, offset=offset)
        yield record
