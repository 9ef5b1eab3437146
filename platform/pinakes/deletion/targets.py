"""What a take-down is asked for, as captures of the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.captures import COLUMNS, TABLE, CaptureRow, decode_capture, get_captures
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.file_rows import read_entries, scan_entries
from pinakes.catalog.lookup import INDEXED, scan_digest, scan_scopes
from pinakes.catalog.sidecar import SidecarRow
from pinakes.catalog.unknown_files import unknown_file
from pinakes.catalog.withdrawals import is_tombstone_row
from pinakes.counts import count_of
from pinakes.errors import (
    ConfigError,
    Conflict,
    DigestMismatch,
    InputRefused,
    MalformedRecord,
    PinakesError,
)
from pinakes.hbase_schema.capture_keys import captures_of, decode_capture_key
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.ranges import KeyRange
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import Digest, parse_digest, resembles_digest

_BATCH_ROWS = 500
_SIDECAR_ERRORS = (InputRefused, MalformedRecord)


class WithdrawalTarget(NamedTuple):
    """A capture to withdraw, and as what it was asked for; `by_digest`: with all its content."""

    capture: CaptureRow
    asked: str
    by_digest: bool


class WithdrawalTargets(NamedTuple):
    """By collection, and row key in it; `problems`: what is landing or leaving now."""

    by_collection: dict[str, dict[bytes, WithdrawalTarget]]
    problems: list[PinakesError]


def find_targets(rows: RowStore, queries: Iterable[str]) -> WithdrawalTargets:
    """The captures that were asked for, in all collections; those withdrawn before as well.

    Raises:
        ConfigError: a malformed digest, or one that captures are not known by.
        InputRefused: nothing is known by one of them.
    """
    by_collection: dict[str, dict[bytes, WithdrawalTarget]] = defaultdict(dict)
    problems: list[PinakesError] = []
    for query in queries:
        found = iter(_targets_of(rows, query))
        known = False
        while batch := list(islice(found, _BATCH_ROWS)):
            known = True
            entries = read_entries(rows, sorted({t.capture.facts.archive_file for t in batch}))
            for target in batch:
                name = target.capture.facts.archive_file
                entry = entries[name]
                if entry.state is FileState.STORED and entry.facts is not None:
                    of_collection = by_collection[entry.facts.collection]
                    of_collection.setdefault(target.capture.key, target)
                elif entry.is_in_flight:
                    problems.append(Conflict("is landing or being removed: run again", file=name))
                elif entry.state in (None, FileState.STORED):
                    problems.append(unknown_file(name))
        if not known:
            raise InputRefused(f"{query}: no such capture is in the store")
    return WithdrawalTargets(by_collection, problems)


def require_all_found(
    rows: RowStore,
    archive: ArchiveReader,
    queries: Sequence[str],
    found: WithdrawalTargets,
) -> Iterator[PinakesError]:
    """Ask all stored files for records that were asked for, and that rows did not lead to.

    By their sidecars, which of collections with targets are held against the files afterwards.  Of
    others a problem is given where one cannot be read.

    Raises:
        DigestMismatch: the rows of such a record are lost.
    """
    asked = _Asked(queries)
    for entry in scan_entries(rows):
        if entry.state is not FileState.STORED or entry.facts is None:
            continue
        name, known = entry.stored_name, found.by_collection.get(entry.facts.collection)
        try:
            of_file = iter_sidecar(archive, name)
            lost = {row.row_key for row in of_file if asked.means(row)} - set(known or ())
        except _SIDECAR_ERRORS as problem:
            if known is None:
                yield problem
            continue
        if lost:
            _require_known_now(rows, queries, name, lost)


def _require_known_now(
    rows: RowStore, queries: Sequence[str], name: str, keys: set[bytes | None]
) -> None:
    """Raise DigestMismatch unless rows lead to these by now."""
    again = find_targets(rows, queries)
    missing = keys.difference(*again.by_collection.values())
    if missing:
        raise DigestMismatch(
            f"it holds {count_of(len(missing), 'capture')} that you ask for, of which rows are "
            "lost, and nothing is withdrawn: `pinakes fsck --full --repair` writes them again",
            file=name,
        )


class _Asked:
    """What was asked for, as a sidecar has it."""

    def __init__(self, queries: Iterable[str]) -> None:
        self._keys: set[bytes] = set()
        self._of_urls: list[KeyRange] = []
        self._digests: set[bytes] = set()
        for query in queries:
            digest = parse_digest(query) if resembles_digest(query) else None
            if digest is not None:
                self._digests.add(digest.value)
            elif _is_capture(query):
                self._keys.add(query.encode("ascii"))
            else:
                self._of_urls.append(captures_of(urlkey(query)))

    def means(self, row: SidecarRow) -> bool:
        """Whether a record was asked for, and is not withdrawn."""
        key = row.row_key
        if key is None or is_tombstone_row(row):
            return False
        if key in self._keys or any(key in of_url for of_url in self._of_urls):
            return True
        digests = (row.sha1, row.sha256, row.dechunked_sha1, row.dechunked_sha256)
        has_body = row.type != "revisit" and bool(row.payload_size)
        return has_body and not self._digests.isdisjoint(digests)


def _targets_of(rows: RowStore, query: str) -> Iterator[WithdrawalTarget]:
    if resembles_digest(query):
        digest = parse_digest(query)
        if digest is None or digest.algorithm not in INDEXED:
            raise ConfigError(f"{query}: give a whole digest by sha1 or sha256")
        for capture in _captures_with(rows, digest):
            yield WithdrawalTarget(capture, query, by_digest=True)
        return
    for capture in _captures_named(rows, query):
        yield WithdrawalTarget(capture, query, by_digest=False)


def _captures_named(rows: RowStore, query: str) -> Iterator[CaptureRow]:
    """The capture that this is, else those of the URL, also hidden ones."""
    if _is_capture(query):
        yield from get_captures(rows, [query.encode("ascii")]).values()
        return
    for row in rows.scan(TABLE, captures_of(urlkey(query)), columns=COLUMNS):
        capture = decode_capture(row)
        if capture is not None:
            yield capture


def _is_capture(query: str) -> bool:
    try:
        decode_capture_key(query.encode("ascii"))
    except (MalformedRecord, UnicodeEncodeError):
        return False
    return True


def _captures_with(rows: RowStore, digest: Digest) -> Iterator[CaptureRow]:
    for scope in list(scan_scopes(rows)):
        found = scan_digest(rows, scope, digest)
        while batch := list(islice(found, _BATCH_ROWS)):
            keys = {row.entry.capture_key.encode("ascii") for row in batch}
            yield from get_captures(rows, sorted(keys)).values()
