"""What a take-down is asked for, as captures of the store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from pinakes.catalog.captures import COLUMNS, TABLE, Capture, decode_capture, get_captures
from pinakes.catalog.file_rows import read_entries
from pinakes.catalog.lookup import INDEXED, scan_digest, scan_scopes
from pinakes.catalog.unknown_files import unknown_file
from pinakes.errors import ConfigError, Conflict, InputRefused, MalformedRecord, PinakesError
from pinakes.hbase_schema.capture_keys import captures_of, decode_capture_key
from pinakes.hbase_schema.file_states import FileState
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import Digest, parse_digest, resembles_digest

_BATCH_ROWS = 500


class Target(NamedTuple):
    """A capture to withdraw, and as what it was asked for; `by_digest`: with all its content."""

    capture: Capture
    asked: str
    by_digest: bool


class Targets(NamedTuple):
    """By collection, and row key in it; `problems`: what is landing or leaving now."""

    by_collection: dict[str, dict[bytes, Target]]
    problems: list[PinakesError]


def find_targets(rows: RowStore, queries: Iterable[str]) -> Targets:
    """The captures that were asked for, in all collections; those withdrawn before as well.

    Raises:
        ConfigError: a malformed digest, or one that captures are not known by.
        InputRefused: nothing is known by one of them.
    """
    by_collection: dict[str, dict[bytes, Target]] = defaultdict(dict)
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
    return Targets(by_collection, problems)


def _targets_of(rows: RowStore, query: str) -> Iterator[Target]:
    if resembles_digest(query):
        digest = parse_digest(query)
        if digest is None or digest.algorithm not in INDEXED:
            raise ConfigError(f"{query}: give a whole digest by sha1 or sha256")
        for capture in _captures_with(rows, digest):
            yield Target(capture, query, by_digest=True)
        return
    for capture in _captures_named(rows, query):
        yield Target(capture, query, by_digest=False)


def _captures_named(rows: RowStore, query: str) -> Iterator[Capture]:
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


def _captures_with(rows: RowStore, digest: Digest) -> Iterator[Capture]:
    for scope in list(scan_scopes(rows)):
        found = scan_digest(rows, scope, digest)
        while batch := list(islice(found, _BATCH_ROWS)):
            keys = {row.entry.capture_key.encode("ascii") for row in batch}
            yield from get_captures(rows, sorted(keys)).values()
