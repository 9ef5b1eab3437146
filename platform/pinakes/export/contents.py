"""What of a crawl is exported: its archive files as they are now, and what they are named."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pinakes.catalog.crawl_rows import GONE, LEAVING, CrawlEntry, leaving_refusal, require_crawl
from pinakes.catalog.file_rows import TABLE, FileEntry, scan_entries, scan_inflight
from pinakes.errors import Conflict, InputRefused
from pinakes.hbase_schema.columns import numbered_column
from pinakes.hbase_schema.file_cells import GenerationFacts
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.cells import decode_stored
from pinakes.row_store.port import RowStore, get_row
from pinakes.warc.file_names import PACKAGE, base_name, is_archive_name

_LONGEST_NAME = 200
"""Of what is made of a path; a mark goes before it where it is another's."""
_NOT_PLAIN = frozenset(map(chr, (*range(0x20), 0x5C, 0x7F, *range(0xDC80, 0xDD00))))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """An archive file of the crawl in its current generation, and its name below `archive/`.

    `written_ms` is the time of the act that wrote the generation.  Who claims the file, and what
    was decided about it, makes no difference.
    """

    entry: FileEntry = field(compare=False)
    name: str
    size: int
    sha256: str
    written_ms: int

    @property
    def stored_name(self) -> str:
        """The stored file."""
        return self.entry.stored_name


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlContents:
    """A crawl at one moment: its files, sorted."""

    crawl: CrawlEntry
    files: tuple[ExportedFile, ...]

    @property
    def entries(self) -> list[FileEntry]:
        """As the catalogue has them."""
        return [file.entry for file in self.files]

    @property
    def written_ms(self) -> int:
        """When its newest generation was written."""
        return max(file.written_ms for file in self.files)

    @property
    def size_bytes(self) -> int:
        """Of its files."""
        return sum(file.size for file in self.files)


def read_contents(store: RowStore, crawl: str) -> CrawlContents:
    """What the crawl has now.  Round trips: one for each file.

    Raises:
        ConfigError: there is no such crawl.
        Conflict: it is taken out, or files of it are landing, leaving, or hold withdrawn records.
        InputRefused: it has no files.
    """
    entry = require_crawl(store, crawl)
    if entry.state in LEAVING:
        raise leaving_refusal(crawl, entry.state)
    if entry.state in GONE:
        raise Conflict(f"the crawl {crawl} is {entry.state}: there is nothing to export")
    stored = list(_stored(store, crawl))
    if not stored:
        raise InputRefused(f"the crawl {crawl} has no archive files")
    names = member_names(
        {file.archive_file: _missing_end(file) for file in stored},
        {file.archive_file: file.current.outside_name for file in stored},
    )
    files = tuple(_exported(store, file, names[file.archive_file]) for file in stored)
    return CrawlContents(crawl=entry, files=files)


def member_names(
    ends: Mapping[str, str], outside: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What each file is named, without folders: `a.warc.gz`; no two alike in any case.

    `ends` has what is put after each name: `.warc.gz` of `a.txt`, else nothing.  Files of one base
    name get their folders before it, `item-archive-a.warc.gz`; where that is long, or another's, a
    mark.  The same files give the same names.  `outside` has what they are called as they are now.
    """
    outside = outside or {name: name for name in ends}
    bases = {name: base_name(outside[name]) + end for name, end in ends.items()}
    counts = Counter(base.casefold() for base in bases.values())
    taken: set[str] = set()
    names = {}

    def order(name: str) -> tuple[bool, bool, str]:
        """What is alone keeps its name, even if others change theirs; then what has its end."""
        return counts[bases[name].casefold()] > 1, bool(ends[name]), name

    for name in sorted(ends, key=order):
        named = plain_name(bases[name])
        if counts[bases[name].casefold()] > 1:
            named = flat_name(outside[name].partition("/")[2] + ends[name])
        if named.casefold() in taken:
            mark = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
            named = f"{mark}-{plain_name(bases[name])}"
        taken.add(named.casefold())
        names[name] = named
    return names


def _missing_end(file: FileEntry) -> str:
    """What a name lacks by which readers of WACZ files take the file for an archive file."""
    if is_archive_name(base_name(file.archive_file)) or file.facts is None:
        return ""
    return f".{file.facts.format}{'.gz' if file.facts.compression == 'gzip' else ''}"


def flat_name(path: str) -> str:
    """A path as one name: `item-archive-a.warc.gz` of `item.wacz/archive/a.warc.gz`."""
    parts = [part.removesuffix(PACKAGE) for part in path.split("/")]
    return plain_name("-".join(parts))


def plain_name(name: str) -> str:
    """A name that members of ZIP files may have: without backslashes, control characters, and
    bytes that are not UTF-8, which are percent-encoded; the end of a long one."""
    plain = "".join(
        "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))
        if character in _NOT_PLAIN
        else character
        for character in name
    )
    return plain[-_LONGEST_NAME:]


def require_unchanged(store: RowStore, contents: CrawlContents) -> None:
    """Raise Conflict if the crawl is not what it was; InputRefused if it has no files left."""
    if read_contents(store, contents.crawl.crawl).files != contents.files:
        raise Conflict(
            f"the crawl {contents.crawl.crawl} changed while it was exported: nothing was "
            "written; run it again"
        )


def _stored(store: RowStore, crawl: str) -> Iterator[FileEntry]:
    hidden = scan_inflight(store)
    for file in scan_entries(store, crawl):
        state = file.state
        if state is None or state.is_gone or state is FileState.REFUSED:
            continue
        if state is not FileState.STORED or file.archive_file in hidden:
            what = "leaving" if state.is_leaving else "landing"
            raise Conflict(f"is {what}: run it again when that has ended", file=file.archive_file)
        if file.withdrawing:
            raise Conflict(
                "holds records that are withdrawn: complete that with `pinakes withdraw`, and see "
                "`pinakes fsck`",
                file=file.archive_file,
            )
        yield file


def _exported(store: RowStore, entry: FileEntry, name: str) -> ExportedFile:
    facts, written_ms = facts_now(store, entry)
    return ExportedFile(
        entry=entry, name=name, size=facts.size, sha256=facts.sha256, written_ms=written_ms
    )


def facts_now(store: RowStore, entry: FileEntry) -> tuple[GenerationFacts, int]:
    """The facts of a file's current generation, and the time of the act that wrote it.

    Raises Conflict: they are not there.
    """
    column = numbered_column(GenerationFacts, entry.generation)
    row = get_row(store, TABLE, encode_file_key(entry.archive_file), columns=[column])
    cell = row.cells.get(column) if row is not None else None
    if cell is None:
        raise Conflict("its rows are not complete: run fsck", file=entry.archive_file)
    key = encode_file_key(entry.archive_file)
    return decode_stored(GenerationFacts, TABLE, key, column, cell.value), cell.timestamp_ms
