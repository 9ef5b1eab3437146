"""WACZ files in the catalogue: the queue of an import, the content of each, the list of a crawl.

    +news:queue:HEX            to be imported; deleted when that is done
    +news:wacz:SHA256          which crawl has it: one crawl of a collection, under any name
    +news:crawl:spring:NAME    the crawl's list

A queued WACZ file is `pending` while a process holds its claim, `failed` where it has a failure,
else `queued`.  It is done when its row is gone, and the crawl's list has it, complete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pinakes.errors import Busy, Conflict, InputRefused
from pinakes.hbase_schema.cells import C, encode_cell
from pinakes.hbase_schema.file_cells import Claim
from pinakes.hbase_schema.name_keys import (
    decode_wacz_file_name,
    encode_queued_key,
    encode_wacz_file_key,
    encode_wacz_key,
    queue_of,
    wacz_files_of,
)
from pinakes.hbase_schema.wacz_cells import QueuedWacz, WaczFailure, WaczFile, WaczPlace
from pinakes.row_store.cells import read_cell, require_cell
from pinakes.row_store.port import Delete, Put, Row, RowStore, get_row

from .claims import Claimant, ClaimedCell
from .crawl_rows import TABLE

LEASE_MS = 600_000
QUEUED, PENDING, FAILED = "queued", "pending", "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """A WACZ file to be imported."""

    key: bytes
    wacz: QueuedWacz
    claim: Claim | None
    failure: WaczFailure | None

    def state(self, now_ms: int, is_gone: Callable[[str], bool]) -> str:
        """`queued`, `pending` or `failed`."""
        if is_held(self.claim, now_ms, is_gone):
            return PENDING
        return FAILED if self.failure is not None else QUEUED


def is_held(claim: Claim | None, now_ms: int, is_gone: Callable[[str], bool]) -> bool:
    """Whether a process that is alive holds the claim."""
    return claim is not None and claim.expires_ms > now_ms and not is_gone(claim.owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldWacz:
    """A queued WACZ file whose claim is ours."""

    entry: QueueEntry
    claim: Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedWacz:
    """A WACZ file of a crawl: its path within that, and its facts."""

    name: str
    wacz: WaczFile


def add_to_queue(
    store: RowStore, collection: str, waczs: Sequence[QueuedWacz]
) -> list[QueueEntry | WaczPlace | None]:
    """Queue WACZ files; for each, what there was already, None if it is new.

    That is the crawl that has its declared SHA-256, or its row in the queue, which stays as it
    is.  Of two with one place and hash, the second finds the first.  Three round trips.
    """
    keys = [encode_queued_key(collection, wacz.place, wacz.sha256) for wacz in waczs]
    entries = {
        key: _entry(row)
        for key, row in store.get_rows(TABLE, list(dict.fromkeys(keys)), columns=[b"l"]).items()
    }
    contents = wacz_places(store, collection, {wacz.sha256 for wacz in waczs if wacz.sha256})
    found: list[QueueEntry | WaczPlace | None] = []
    puts = []
    for key, wacz in zip(keys, waczs, strict=True):
        place = contents.get(wacz.sha256 or "")
        if place is not None and place.queued is None:
            found.append(place)
            continue
        found.append(entries.get(key))
        if key not in entries:
            puts.append(Put(key, {QueuedWacz.COLUMN: encode_cell(wacz)}, None))
            entries[key] = QueueEntry(key=key, wacz=wacz, claim=None, failure=None)
    store.mutate(TABLE, puts)
    return found


def wacz_places(store: RowStore, collection: str, sha256s: set[str]) -> dict[str, WaczPlace]:
    """By SHA-256, the crawls that have, or get, WACZ files of these.  One round trip."""
    keys = {encode_wacz_key(collection, sha256): sha256 for sha256 in sorted(sha256s)}
    rows = store.get_rows(TABLE, list(keys), columns=[WaczPlace.COLUMN])
    return {keys[key]: place for key, row in rows.items() if (place := _read(row, WaczPlace))}


def scan_queue(store: RowStore, collection: str) -> Iterator[QueueEntry]:
    """The WACZ files to be imported into a collection, in no order that means anything."""
    for row in store.scan(TABLE, queue_of(collection), columns=[b"l"]):
        # What is left of one that was imported in the meantime may be a claim alone.
        if QueuedWacz.COLUMN in row.cells:
            yield _entry(row)


def _entry(row: Row) -> QueueEntry:
    return QueueEntry(
        key=row.key,
        wacz=require_cell(QueuedWacz, TABLE, row),
        claim=_read(row, Claim),
        failure=_read(row, WaczFailure),
    )


def _read(row: Row | None, cls: type[C]) -> C | None:
    return read_cell(cls, TABLE, row)


def take_queued(
    store: RowStore,
    entry: QueueEntry,
    by: Claimant,
    *,
    act: str,
) -> HeldWacz | None:
    """Claim a queued WACZ file; None if it is no longer in the queue.

    Raises:
        Busy: another process is importing it.
    """
    claim, _ = _cell_of(entry).take(
        store,
        by,
        act=act,
        goes_on=lambda last: False,
    )
    row = get_row(store, TABLE, entry.key, columns=[b"l"])
    if row is None or QueuedWacz.COLUMN not in row.cells:
        # Another process may be queueing it again: of the row only our claim goes.
        store.mutate(TABLE, [Delete(entry.key, None, columns=(Claim.COLUMN,))])
        return None
    return HeldWacz(entry=_entry(row), claim=claim)


def _cell_of(entry: QueueEntry) -> ClaimedCell:
    return ClaimedCell(
        table=TABLE,
        key=entry.key,
        cell=Claim,
        holds_ms=LEASE_MS,
        what="it",
        file=entry.wacz.place,
    )


def renew_queued(store: RowStore, held: HeldWacz, now_ms: int) -> HeldWacz:
    """Extend the claim; Raises Busy if it is no longer ours."""
    cell = _cell_of(held.entry)
    return replace(held, claim=cell.renew(store, held.claim, expires_ms=now_ms + LEASE_MS))


def leave_queued(store: RowStore, held: HeldWacz) -> None:
    """Release the claim; the WACZ file stays in the queue."""
    _cell_of(held.entry).renew(store, held.claim, expires_ms=0)


def fail_queued(store: RowStore, held: HeldWacz, why: str) -> None:
    """Note a failure, and release the claim."""
    before = held.entry.failure
    attempts = 1 if before is None else before.attempts + 1
    failure = WaczFailure(act=held.claim.act, why=why, attempts=attempts)
    cells = {WaczFailure.COLUMN: encode_cell(failure)}
    store.mutate(TABLE, [Put(held.entry.key, cells, None)])
    leave_queued(store, held)


def forget_queued(store: RowStore, held: HeldWacz) -> None:
    """Take a WACZ file out of the queue."""
    store.mutate(TABLE, [Delete(held.entry.key, None)])


def take_content(
    store: RowStore,
    collection: str,
    sha256: str,
    held: HeldWacz,
    *,
    now_ms: int,
    is_gone: Callable[[str], bool],
) -> WaczPlace:
    """Note that this content is imported by a queued WACZ file; or where it is already.

    Where an earlier attempt of the same one has begun, its crawl and name are returned.

    Raises:
        Busy: another one of the queue has the same content, and is not done.
    """
    key = encode_wacz_key(collection, sha256)
    queued = held.entry.key.hex()
    wacz = held.entry.wacz
    ours = WaczPlace(crawl=wacz.crawl, name=wacz.name, act=held.claim.act, queued=queued)
    row = get_row(store, TABLE, key, columns=[WaczPlace.COLUMN])
    there = _read(row, WaczPlace)
    if there is not None:
        if there.queued in (None, queued):
            return there
        _require_failed(store, bytes.fromhex(there.queued or ""), wacz.place, now_ms, is_gone)
    expected = row.value(WaczPlace.COLUMN) if row is not None else None
    value = encode_cell(ours)
    if not store.check_and_put(TABLE, key, WaczPlace.COLUMN, expected=expected, value=value):
        raise Busy("another process is just importing the same WACZ file", file=wacz.place)
    return ours


def _require_failed(
    store: RowStore, key: bytes, place: str, now_ms: int, is_gone: Callable[[str], bool]
) -> None:
    row = get_row(store, TABLE, key, columns=[b"l"])
    if row is None or QueuedWacz.COLUMN not in row.cells:
        return
    other = _entry(row)
    if other.state(now_ms, is_gone) != FAILED:
        raise Busy(f"{other.wacz.place} is imported first", file=place)


def finish_content(store: RowStore, collection: str, sha256: str, place: WaczPlace) -> None:
    """Note that a crawl has this content; repeatable.

    Raises:
        Conflict: it is no longer ours.
    """
    key = encode_wacz_key(collection, sha256)
    value = encode_cell(replace(place, queued=None))
    if store.check_and_put(TABLE, key, WaczPlace.COLUMN, expected=encode_cell(place), value=value):
        return
    row = get_row(store, TABLE, key, columns=[WaczPlace.COLUMN])
    if row is None or row.value(WaczPlace.COLUMN) != value:
        raise Conflict("another process has taken over its content", file=place.name)


def forget_content(store: RowStore, collection: str, sha256: str) -> None:
    """Forget a content whose import has failed, or whose crawl is gone."""
    store.mutate(TABLE, [Delete(encode_wacz_key(collection, sha256), None)])


def read_wacz_file(store: RowStore, collection: str, crawl: str, name: str) -> WaczFile | None:
    """A WACZ file of a crawl, complete or not; None if there is none of this name."""
    key = encode_wacz_file_key(collection, crawl, name)
    return _read(get_row(store, TABLE, key, columns=[WaczFile.COLUMN]), WaczFile)


def put_wacz_file(
    store: RowStore, collection: str, crawl: str, name: str, wacz: WaczFile | None
) -> None:
    """Write a WACZ file of a crawl into its list; None takes it out."""
    key = encode_wacz_file_key(collection, crawl, name)
    if wacz is None:
        store.mutate(TABLE, [Delete(key, None)])
    else:
        store.mutate(TABLE, [Put(key, {WaczFile.COLUMN: encode_cell(wacz)}, None)])


def take_wacz_file(
    store: RowStore,
    collection: str,
    place: WaczPlace,
    wacz: WaczFile,
    *,
    now_ms: int,
    is_gone: Callable[[str], bool],
) -> None:
    """Write the WACZ file that is imported to a place into the crawl's list, still incomplete.

    Raises:
        InputRefused: the crawl has another one of this name.
        Busy: another one of this name is imported.
    """
    key = encode_wacz_file_key(collection, place.crawl, place.name)
    row = get_row(store, TABLE, key, columns=[WaczFile.COLUMN])
    there = _read(row, WaczFile)
    if there is not None and there.captures is not None:
        if there.sha256 == wacz.sha256:
            return
        raise InputRefused(
            f"the crawl {place.crawl} has another WACZ file of this name: give it another name, "
            "or a crawl of its own, in a manifest",
            file=wacz.source,
        )
    if there is not None and there.sha256 != wacz.sha256:
        other = wacz_places(store, collection, {there.sha256}).get(there.sha256)
        if other is not None and other.queued not in (None, place.queued):
            _require_failed(store, bytes.fromhex(other.queued or ""), wacz.source, now_ms, is_gone)
    expected = row.value(WaczFile.COLUMN) if row is not None else None
    value = encode_cell(wacz)
    if not store.check_and_put(TABLE, key, WaczFile.COLUMN, expected=expected, value=value):
        raise Busy("another process is just importing a WACZ file of this name", file=wacz.source)


def scan_wacz_files(
    store: RowStore, collection: str, crawl: str, *, incomplete: bool = False
) -> Iterator[ListedWacz]:
    """The WACZ files that a crawl has, sorted by name; `incomplete`: and those it gets."""
    key_range = wacz_files_of(collection, crawl)
    for row in store.scan(TABLE, key_range, columns=[WaczFile.COLUMN]):
        wacz = require_cell(WaczFile, TABLE, row)
        if incomplete or wacz.captures is not None:
            yield ListedWacz(name=decode_wacz_file_name(row.key), wacz=wacz)


def forget_waczs(store: RowStore, collection: str, crawl: str) -> None:
    """Forget the WACZ files of a crawl that is gone, those in the queue, too; repeatable.

    They can be imported again.
    """
    for listed in scan_wacz_files(store, collection, crawl, incomplete=True):
        key = encode_wacz_key(collection, listed.wacz.sha256)
        place = _read(get_row(store, TABLE, key, columns=[WaczPlace.COLUMN]), WaczPlace)
        if place is not None and place.crawl == crawl:
            store.mutate(TABLE, [Delete(key, None)])
        put_wacz_file(store, collection, crawl, listed.name, None)
    for entry in scan_queue(store, collection):
        if entry.wacz.crawl == crawl:
            store.mutate(TABLE, [Delete(entry.key, None)])
