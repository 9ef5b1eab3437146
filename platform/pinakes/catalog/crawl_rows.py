"""Crawls in the catalogue: their collection and their state.

Acts on a crawl are counted in the rows of its files (`file_counts`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

from pinakes.errors import (
    ConfigError,
    Conflict,
    DigestMismatch,
    MalformedRecord,
    PinakesError,
    SchemaError,
)
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import ALL_CRAWLS, crawl_of, encode_crawl_key
from pinakes.hbase_schema.run_cells import CrawlFacts, CrawlState, UnnamedCrawl
from pinakes.hbase_schema.seen_cells import CommitFindings
from pinakes.row_store.cells import read_cell
from pinakes.row_store.port import Delete, Put, Row, RowStore, get_row

from .file_rows import FileEntry, scan_entries

TABLE = "crawls"
OPEN = "open"
COMMITTED = "committed"
CANCELLING, CANCELLED = "cancelling", "cancelled"
REMOVING, REMOVED = "removing", "removed"
PURGING, PURGED = "purging", "purged"
COMPLETED_BY = {CANCELLING: "cancel", REMOVING: "remove", PURGING: "purge"}
"""The actions of `pinakes crawl` that complete what has begun."""
LEAVING = tuple(COMPLETED_BY)
GONE = (CANCELLED, REMOVED, PURGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlEntry:
    """A crawl as the catalogue knows it; `changed_ms` is when its state was last written, by the
    act `act`.

    `findings` are those of its last commit: of its present state only if `is_settled`.
    `unnamed_bytes` is the size of its WACZ files, where the manifests that were last imported no
    longer name it.
    """

    crawl: str
    facts: CrawlFacts
    state: str
    changed_ms: int
    act: str = ""
    findings: CommitFindings | None = None
    unnamed_bytes: int | None = None

    @property
    def is_settled(self) -> bool:
        """Whether it is committed, and its commit has noted what it found."""
        return self.findings is not None and self.findings.act == self.act


def read_crawl(store: RowStore, crawl: str) -> CrawlEntry | None:
    """A crawl as the catalogue knows it; None if unknown.  One round trip."""
    row = get_row(store, TABLE, encode_crawl_key(crawl))
    return _entry(row) if row is not None else None


def require_crawl(store: RowStore, crawl: str) -> CrawlEntry:
    """A crawl as the catalogue knows it.  One round trip.

    Raises:
        ConfigError: it is unknown.
        DigestMismatch: files have landed in it, and its row is lost.
    """
    entry = read_crawl(store, crawl)
    if entry is None:
        require_crawls_there(store, crawl=crawl)
        raise ConfigError(f"there is no crawl {crawl}: see `pinakes crawl list`")
    return entry


def read_crawl_states(store: RowStore, crawls: Collection[str]) -> dict[str, str]:
    """The states of those of these crawls that are known.  One round trip."""
    keys = [encode_crawl_key(crawl) for crawl in sorted(crawls)]
    rows = store.get_rows(TABLE, keys) if keys else {}
    return {entry.crawl: entry.state for row in rows.values() if (entry := _entry(row))}


def scan_crawls(
    store: RowStore,
    *,
    leave_out: Container[str] = (),
    on_problem: Callable[[PinakesError], None] | None = None,
) -> Iterator[CrawlEntry]:
    """All crawls, by name; but for those to be left out.

    One whose row cannot be decoded is left out, too, where `on_problem` is there to be called.
    """
    for row in store.scan(TABLE, ALL_CRAWLS):
        try:
            entry = _entry(row) if row.key.decode("ascii") not in leave_out else None
        except (MalformedRecord, SchemaError) as problem:
            if on_problem is None:
                raise
            on_problem(problem)
            continue
        if entry is not None:
            yield entry


def scan_lost_crawls(store: RowStore, crawl: str | None = None) -> Iterator[FileEntry]:
    """Yield a landed file of each crawl, or of this one, whose row is lost.

    Reads the rows of files; a round trip for each crawl.
    """
    landed = (
        entry
        for entry in scan_entries(store, crawl)
        if entry.state is FileState.STORED and entry.facts is not None
    )
    for name, files in groupby(landed, key=lambda entry: crawl_of(entry.archive_file)):
        first = next(files)
        # After the scan: a crawl that begins has its row before its first file has landed.
        if read_crawl(store, name) is None:
            yield first


def lost_crawl(entry: FileEntry, more: str = "") -> DigestMismatch:
    """Says what to do where the row of this file's crawl is lost."""
    return DigestMismatch(
        "the catalogue does not have the crawl of this file: `pinakes fsck --repair` "
        f"rebuilds it{more}",
        file=entry.archive_file,
    )


def require_crawls_there(
    store: RowStore, *, crawl: str | None = None, collection: str | None = None
) -> None:
    """Raise DigestMismatch where files of this crawl, or collection, are of a crawl whose row is
    lost."""
    for entry in scan_lost_crawls(store, crawl):
        if collection is None or (entry.facts and entry.facts.collection == collection):
            raise lost_crawl(entry, "; nothing was changed")


def crawls_named(store: RowStore, name: str) -> list[CrawlEntry]:
    """The crawl of this name, or those of the collection of this name; none if there is neither.

    `+NAME` is a collection and `NAME/` a crawl, as in names of what the archive keeps of them.

    Raises:
        ConfigError: `name` is that of a crawl, and of a collection with others.
        DigestMismatch: it may be that of a crawl whose row is lost, or of a collection with one.
    """
    found = _crawls_there(store, name)
    crawl, collection = name.removesuffix("/"), name.removeprefix("+")
    if all(one.facts.collection == collection for one in found):
        for lost in scan_lost_crawls(store):
            of_collection = lost.facts is not None and lost.facts.collection == collection
            if of_collection or (not found and crawl_of(lost.archive_file) == crawl):
                raise lost_crawl(lost)
    return found


def crawls_to_read(store: RowStore, name: str) -> list[CrawlEntry]:
    """The same, for a verb that reads their files.

    Raises ConfigError also if there is no such crawl or collection, or if all of it was removed.
    """
    found = crawls_named(store, name)
    if not found:
        raise ConfigError(f"{name}: file not found, and no crawl or collection of this name")
    if all(one.state in GONE for one in found):
        raise ConfigError(f"{name}: is {found[0].state}, and has no files any more")
    return found


def _crawls_there(store: RowStore, name: str) -> list[CrawlEntry]:
    there = list(scan_crawls(store))
    crawl = [one for one in there if one.crawl == name.removesuffix("/")]
    collection = [one for one in there if one.facts.collection == name.removeprefix("+")]
    if name.endswith("/"):
        return crawl
    if name.startswith("+"):
        return collection
    of_crawl, of_collection = _not_gone(crawl), _not_gone(collection)
    if of_crawl and of_collection and of_crawl != of_collection:
        raise ConfigError(
            f"{name} is a crawl, and a collection with other crawls: give {name}/ for the crawl, "
            f"or +{name} for the collection"
        )
    return crawl if of_crawl else collection or crawl


def _not_gone(crawls: Iterable[CrawlEntry]) -> set[str]:
    return {one.crawl for one in crawls if one.state not in GONE}


def _entry(row: Row) -> CrawlEntry | None:
    facts = read_cell(CrawlFacts, TABLE, row)
    if facts is None:
        return None
    known = read_cell(CrawlState, TABLE, row)
    state = row.cells.get(CrawlState.COLUMN)
    unnamed = read_cell(UnnamedCrawl, TABLE, row)
    return CrawlEntry(
        crawl=row.key.decode("ascii"),
        facts=facts,
        state=known.state if known is not None else OPEN,
        changed_ms=state.timestamp_ms if state is not None else 0,
        act=known.act if known is not None else "",
        findings=read_cell(CommitFindings, TABLE, row),
        unnamed_bytes=unnamed.size if unnamed is not None else None,
    )


def note_unnamed(store: RowStore, collection: str, sizes: Mapping[str, int], *, act: str) -> None:
    """Note which crawls of a collection manifests no longer name, by the size of their WACZ files
    in bytes, and that all others are named.  One scan of `crawls`."""
    for entry in scan_crawls(store):
        size = sizes.get(entry.crawl)
        if entry.facts.collection != collection or size == entry.unnamed_bytes:
            continue
        key = encode_crawl_key(entry.crawl)
        if size is None:
            store.mutate(TABLE, [Delete(key, None, columns=(UnnamedCrawl.COLUMN,))])
        else:
            cell = {UnnamedCrawl.COLUMN: encode_cell(UnnamedCrawl(act=act, size=size))}
            store.mutate(TABLE, [Put(key, cell, None)])


def ensure_crawl(
    store: RowStore,
    crawl: str,
    facts: CrawlFacts,
    *,
    act: str,
    act_time_ms: int,
    reopens: bool = True,
) -> None:
    """Add the crawl to the catalogue if unknown; reopen it if it was taken out, and `reopens`.

    Raises:
        Conflict: it is being taken out; or, unless `reopens`, it was.
        ConfigError: it belongs to another collection; a crawl's captures share a dedupe scope.
    """
    entry = read_crawl(store, crawl)
    if entry is None:
        key, state = encode_crawl_key(crawl), encode_cell(CrawlState(state=OPEN, act=act))
        # Of several that begin it at once one opens it; a crawl without facts is unknown.
        if not store.check_and_put(TABLE, key, CrawlState.COLUMN, expected=None, value=state):
            require_open(store, crawl)
            entry = read_crawl(store, crawl)
    if entry is None:
        cells = {CrawlFacts.COLUMN: encode_cell(facts)}
        store.mutate(TABLE, [Put(encode_crawl_key(crawl), cells, act_time_ms)])
        return
    if entry.facts.collection != facts.collection:
        raise ConfigError(
            f"the crawl {crawl} belongs to the collection {entry.facts.collection}, "
            f"not {facts.collection}"
        )
    if entry.state in LEAVING or (entry.state in GONE and not reopens):
        raise _refusal(crawl, entry.state)
    if entry.state in GONE:
        change_crawl_state(store, crawl, (entry.state,), OPEN, act=act)


def require_open(store: RowStore, crawl: str) -> None:
    """Raise Conflict unless files may land in the crawl.  One round trip.

    Landing calls this after taking its claim, and removal looks for claims after changing the
    state: so one of the two sees the other.
    """
    _, now = _read_state(store, encode_crawl_key(crawl))
    if now.state != OPEN:
        raise _refusal(crawl, now.state)


def _refusal(crawl: str, state: str) -> Conflict:
    if state in LEAVING:
        return leaving_refusal(crawl, state)
    return Conflict(f"the crawl {crawl} is {state}: land new files in another crawl")


def leaving_refusal(crawl: str, state: str) -> Conflict:
    """Says which command completes what is taking the crawl out; `state` is one of LEAVING."""
    return Conflict(
        f"the crawl {crawl} is being taken out ({state}): complete it with "
        f"`pinakes crawl remove {crawl}`"
    )


def change_crawl_state(
    store: RowStore, crawl: str, expected: Collection[str], state: str, *, act: str
) -> str:
    """Move the crawl from one of the expected states to another; gives the act that moved it there:
    of another process, if that was first.

    Raises:
        Conflict: it is in none of them, or another process moves it elsewhere.
    """
    key = encode_crawl_key(crawl)
    value, now = _read_state(store, key)
    if now.state in expected and now.state != state:
        cell = encode_cell(CrawlState(state=state, act=act))
        if store.check_and_put(TABLE, key, CrawlState.COLUMN, expected=value, value=cell):
            return act
        _, now = _read_state(store, key)
    if now.state != state:
        raise Conflict(f"the crawl {crawl} is {now.state} and cannot become {state}")
    return now.act


def _read_state(store: RowStore, key: bytes) -> tuple[bytes | None, CrawlState]:
    """The cell of a crawl's state, and what it says."""
    row = get_row(store, TABLE, key, columns=[CrawlState.COLUMN])
    value = row.value(CrawlState.COLUMN) if row is not None else None
    return value, read_cell(CrawlState, TABLE, row) or CrawlState(state=OPEN, act="")
