"""Finds what refers to records of a crawl: by rows that lead back, or by what a file says itself.

revisits by `dedupe`   pinned original ─▶ rows of its digest ─▶ marks that name its key
revisits by crawlers   full record ─▶ rows of what names its urlkey, or its id
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from pinakes.errors import DigestMismatch
from pinakes.hbase_schema.capture_cells import DigestEntry, Pin
from pinakes.hbase_schema.capture_keys import encode_urlkey
from pinakes.hbase_schema.digest_keys import (
    REFERS_TO_ID,
    REFERS_TO_URLKEY,
    decode_digest_key,
    digests_of,
    references_to,
)
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.index.urlkey import urlkey
from pinakes.row_store.cells import require_cell
from pinakes.row_store.port import Row, RowStore

from .captures import TABLE, CaptureRow, get_captures
from .file_rows import read_entries
from .lookup import TABLE as DIGESTS
from .many_ranges import rows_in
from .payloads import have_one_body
from .revisit_targets import RevisitTargets, captures_named, is_foreign_revisit
from .sidecar import SidecarRow

BY_DEDUPE, BY_CRAWLER = "dedupe", "crawler"
_BATCH_ROWS = 500


class CrossCrawlReference(NamedTuple):
    """A capture of another crawl that is a revisit of a capture of this one, and who wrote it."""

    capture: str
    archive_file: str
    original: str
    original_file: str
    written_by: str


class _Found(NamedTuple):
    """A capture that may refer to the crawl, and captures of that under the names it goes by."""

    capture: CaptureRow
    beside: tuple[CaptureRow, ...] = ()


class CrawlRecordNames:
    """What a crawl's full records may be named by, as hashes: some 400 bytes for each."""

    def __init__(self) -> None:
        self._keys: dict[int, str] = {}
        self._urlkeys: set[int] = set()
        self._ids: dict[int, bytes] = {}

    def add(self, row: SidecarRow, archive_file: str) -> None:
        self._keys[hash(row.row_key)] = archive_file
        self._urlkeys.update(map(hash, _urlkeys_of(row)))
        if row.record_id and row.row_key:
            self._ids[hash(row.record_id)] = row.row_key

    def file_of(self, key: bytes | None) -> str | None:
        """The archive file of the record with this row key."""
        return self._keys.get(hash(key))

    def with_id(self, row: SidecarRow) -> bytes | None:
        """The row key of what a revisit names by nothing but its id."""
        return None if row.refers_uri else self._ids.get(hash(row.refers_id))

    def may_be_meant(self, row: SidecarRow) -> bool:
        """Whether a record may refer to one of them."""
        if row.is_replaced:
            return hash(row.original_key) in self._keys
        if row.type != "revisit":
            return False
        key = encode_urlkey(urlkey(row.refers_uri or row.target_uri or ""))
        return hash(key) in self._urlkeys or self.with_id(row) is not None


def _urlkeys_of(row: SidecarRow) -> set[bytes]:
    """The urlkeys, as in keys, that references to it may name: they know nothing of a POST."""
    own = (row.row_key or b"").rpartition(b" ")[0].rpartition(b" ")[0]
    if row.method in (None, "GET"):
        return {own}
    return {own, encode_urlkey(urlkey(row.target_uri or ""))}


class ReferenceFinder:
    """Finds what refers to captures of a crawl; reports each capture once."""

    def __init__(self, store: RowStore, crawl: str, collection: str) -> None:
        self._store = store
        self._crawl = crawl
        self._collection = collection
        self._contents: set[tuple[bytes, int]] = set()
        self._seen: set[bytes] = set()
        self._is_stored: dict[str, bool] = {}
        self._kinds = [
            kind
            for kind in (REFERS_TO_URLKEY, REFERS_TO_ID)
            if any(store.scan(DIGESTS, references_to(collection, kind), limit_rows=1))
        ]

    def references_to(self, batch: Sequence[SidecarRow]) -> Iterator[CrossCrawlReference]:
        """What refers to these records of the crawl, by rows."""
        yield from self._judged(map(_Found, self._copies(batch)))
        if self._kinds:
            yield from self._judged(self._naming(batch))

    def references_of(
        self,
        batch: Sequence[SidecarRow],
        names: CrawlRecordNames,
        archive_file: str,
        *,
        is_proven: bool,
    ) -> Iterator[CrossCrawlReference]:
        """Which of these records of a file of another crawl refer to the crawl, by its sidecar.

        The mark of a capture may be ahead of its file, or lost: it is not asked.  `is_proven`: nor
        is a row believed that says other things of a crawler's revisit than its file.
        """
        for row in batch:
            original_file = names.file_of(row.original_key) if row.is_replaced else None
            if row.row_key is None or row.original_key is None or original_file is None:
                continue
            if row.row_key not in self._seen:
                self._seen.add(row.row_key)
                yield CrossCrawlReference(
                    row.row_key.decode("ascii"),
                    archive_file,
                    row.original_key.decode("ascii"),
                    original_file,
                    BY_DEDUPE,
                )
        others = {row.row_key: row for row in batch if not row.is_replaced and row.row_key}
        with_id = {key: names.with_id(row) for key, row in others.items()}
        by_id = self._own(key for key in with_id.values() if key)
        found = get_captures(self._store, list(others))
        for key, row in others.items() if is_proven else ():
            _require_row(row, found.get(key), archive_file)
        yield from self._judged(
            _Found(capture, tuple(by_id[one] for one in [with_id[key]] if one in by_id))
            for key, capture in sorted(found.items())
        )

    # --- by dedupe

    def _copies(self, batch: Sequence[SidecarRow]) -> Iterator[CaptureRow]:
        """The captures of other crawls with the content of those of these that are pinned."""
        keys = {row.row_key: row for row in batch if row.row_key is not None}
        pins = self._store.get_rows(TABLE, list(keys), columns=[Pin.COLUMN])
        contents: dict[tuple[bytes, int], None] = {}
        for key, found in pins.items():
            row = keys[key]
            if row.sha256 is None or row.payload_size is None:
                continue
            if require_cell(Pin, TABLE, found).pinned:
                contents[row.sha256, row.payload_size] = None
        ranges = [
            digests_of(self._collection, "sha256", sha256.hex(), size)
            for sha256, size in contents
            if (sha256, size) not in self._contents
        ]
        self._contents.update(contents)
        return self._captures_in(row for _, row in rows_in(self._store, DIGESTS, ranges))

    def _captures_in(self, rows: Iterable[Row]) -> Iterator[CaptureRow]:
        """The captures of other crawls that these rows of digests are of."""
        named = (
            require_cell(DigestEntry, DIGESTS, row).capture_key
            for row in rows
            if crawl_of(decode_digest_key(row.key).archive_file) != self._crawl
        )
        while keys := list(islice(named, _BATCH_ROWS)):
            found = get_captures(self._store, [key.encode("ascii") for key in dict.fromkeys(keys)])
            yield from found.values()

    # --- by crawlers

    def _naming(self, batch: Sequence[SidecarRow]) -> Iterator[_Found]:
        """The revisits of other crawls that name one of these records."""
        named: dict[tuple[str, bytes], list[SidecarRow]] = defaultdict(list)
        for row in batch:
            if REFERS_TO_URLKEY in self._kinds:
                for key in _urlkeys_of(row):
                    named[REFERS_TO_URLKEY, key].append(row)
            if REFERS_TO_ID in self._kinds and row.record_id:
                record_id = row.record_id.encode("utf-8", "surrogateescape")
                named[REFERS_TO_ID, record_id].append(row)
        ranges = [references_to(self._collection, *one) for one in named]
        meant = list(named.values())
        found: dict[bytes, list[SidecarRow]] = defaultdict(list)
        for number, naming in rows_in(self._store, DIGESTS, ranges):
            if crawl_of(decode_digest_key(naming.key).archive_file) != self._crawl:
                entry = require_cell(DigestEntry, DIGESTS, naming)
                found[entry.capture_key.encode("ascii")] += meant[number]
        originals = get_captures(
            self._store, sorted({r.row_key for rows in found.values() for r in rows if r.row_key})
        )
        for key, capture in sorted(get_captures(self._store, sorted(found)).items()):
            keys = dict.fromkeys(row.row_key for row in found[key] if row.row_key)
            beside = tuple(originals[key] for key in keys if key in originals)
            yield _Found(capture, beside)

    # --- what is found

    def _judged(self, found: Iterable[_Found]) -> Iterator[CrossCrawlReference]:
        found = iter(found)
        while batch := list(islice(found, _BATCH_ROWS)):
            marks = {
                one.capture.key: one.capture.dedupe.refers_to_key.encode("ascii")
                for one in batch
                if one.capture.dedupe is not None
                and one.capture.dedupe.refers_to_key is not None
                and one.capture.withdrawal is None  # its record refers to nothing any more
            }
            originals = self._own(marks.values())
            self._read_states(one.capture.facts.archive_file for one in batch)
            foreign = [one.capture for one in batch if is_foreign_revisit(one.capture)]
            targets = RevisitTargets(self._store, captures_named(self._store, foreign))
            for capture, beside in batch:
                if capture.key in self._seen or not self._is_stored[capture.facts.archive_file]:
                    continue
                original = originals.get(marks.get(capture.key, b""))
                writer = BY_DEDUPE
                if original is None and is_foreign_revisit(capture):
                    original = self._only_here(targets.of(capture, beside))
                    writer = BY_CRAWLER
                if original is not None:
                    self._seen.add(capture.key)
                    yield _reference(capture, original, writer)

    def _read_states(self, files: Iterable[str]) -> None:
        """Which of these files are of other crawls, and stored or landing."""
        new = sorted({name for name in files if name not in self._is_stored})
        for name, entry in read_entries(self._store, new).items():
            is_there = entry.state is FileState.STORED or (entry.state or FileState.LEFT).is_landing
            self._is_stored[name] = is_there and crawl_of(name) != self._crawl

    def _own(self, keys: Iterable[bytes]) -> dict[bytes, CaptureRow]:
        """Those of these captures that are the crawl's."""
        found = get_captures(self._store, sorted(set(keys))).items()
        return {key: one for key, one in found if self._is_own(one)}

    def _is_own(self, capture: CaptureRow) -> bool:
        return crawl_of(capture.facts.archive_file) == self._crawl

    def _only_here(self, found: Sequence[CaptureRow]) -> CaptureRow | None:
        """The record of the crawl that a crawler's revisit means, if no other crawl has one.

        Of several that may be meant, and have unequal bodies, it is not known which one is.
        """
        own = self._with_body([one for one in found if self._is_own(one)])
        is_elsewhere = any(not one.is_duplicate for one in found if not self._is_own(one))
        if not own or (is_elsewhere and have_one_body(found)):
            return None
        return next((one for one in own if not one.is_duplicate), own[0])

    def _with_body(self, captures: list[CaptureRow]) -> list[CaptureRow]:
        """Without revisits of ours that were left without their original."""
        keys = {
            capture.key: capture.dedupe.refers_to_key.encode("ascii")
            for capture in captures
            if capture.dedupe is not None and capture.dedupe.refers_to_key is not None
        }
        there = get_captures(self._store, sorted(set(keys.values()))) if keys else {}
        return [one for one in captures if one.key not in keys or keys[one.key] in there]


def _require_row(row: SidecarRow, capture: CaptureRow | None, archive_file: str) -> None:
    """Raise DigestMismatch unless the catalogue says of a crawler's revisit what its file says."""
    facts = capture.facts if capture is not None else None
    if facts is None or (
        (facts.type, facts.refers_to_target_uri, facts.refers_to_date, facts.refers_to_id)
        != (row.type, row.refers_uri, row.refers_date, row.refers_id)
    ):
        raise DigestMismatch(
            "the catalogue does not have this revisit as its file has it, so that it is not known "
            "what it refers to, and nothing is deleted: `pinakes fsck --full --repair` mends that",
            file=archive_file,
            offset=row.offset,
        )


def _reference(capture: CaptureRow, original: CaptureRow, written_by: str) -> CrossCrawlReference:
    return CrossCrawlReference(
        capture.key.decode("ascii"),
        capture.facts.archive_file,
        original.key.decode("ascii"),
        original.facts.archive_file,
        written_by,
    )
