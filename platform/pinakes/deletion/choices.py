"""Which references to an original that goes become full records, and what the others refer to.

Each reference, in order of age, refers to the earliest full copy before it that can be
addressed and has another urlkey or second; where there is none, it becomes one itself.  So the
same references and copies give the same result, also when some have become full already.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from datetime import datetime, timezone
from typing import NamedTuple

from pinakes.catalog.captures import CaptureRow, get_captures, placed_by, scan_captures_of
from pinakes.catalog.lookup import scan_digest
from pinakes.catalog.sidecar import SidecarRow
from pinakes.dedupe.run.collection import Collection
from pinakes.hbase_schema.capture_keys import decode_capture_key
from pinakes.index.eligibility import RecordFacts, skip_reason
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import Digest, format_digest

from .references import Referrer


class ContentCopy(NamedTuple):
    """A capture of the content: sorted by its fields, oldest first."""

    second: str
    archive_file: str
    ordinal: int
    key: bytes

    @property
    def address(self) -> tuple[bytes, str]:
        """What a replay tool looks it up by: urlkey and second."""
        return self.key.rpartition(b" ")[0].rpartition(b" ")[0], self.second


class Choice(NamedTuple):
    """References that become full, and those that refer to another original: by row key."""

    promoted: list[ContentCopy]
    repointed: dict[bytes, bytes]


def choose_originals(
    references: Iterable[ContentCopy], full: Iterable[ContentCopy], unfit: frozenset[bytes]
) -> Choice:
    """Provide for all references to one content.  Pure.

    `unfit` are the row keys of copies that nothing may refer to: other bodies have their urlkey
    and second, too, or they have no date, answer a POST, and the like.
    """
    originals = sorted(copy for copy in full if copy.key not in unfit)
    promoted: list[ContentCopy] = []
    repointed: dict[bytes, bytes] = {}
    for reference in sorted(references):
        for original in originals:
            if original < reference and original.address != reference.address:
                repointed[reference.key] = original.key
                break
        else:
            promoted.append(reference)
            if reference.key not in unfit:
                originals = sorted([*originals, reference])
    return Choice(promoted, repointed)


def choose(
    rows: RowStore,
    collection: Collection,
    references: Sequence[Referrer],
    goes: Callable[[CaptureRow], bool],
) -> Choice:
    """What becomes of these references; `goes` says what is no copy any more.

    Their rows say what their records hold, or would.
    """
    by_content: dict[tuple[object, ...], list[Referrer]] = defaultdict(list)
    for reference in references:
        row = reference.row
        kind = (row.type, row.status, row.media_type if row.type == "resource" else None)
        by_content[(row.sha256, row.payload_size, row.hash_extension, kind)].append(reference)
    referring = {reference.row.row_key for reference in references}
    promoted: list[ContentCopy] = []
    repointed: dict[bytes, bytes] = {}
    for some in by_content.values():
        row = some[0].row
        full = [
            _copy(capture.key, capture.facts.archive_file, capture.facts.ordinal)
            for capture in _full_copies(rows, collection, row)
            if not goes(capture) and capture.key not in referring
        ]
        copies = [_copy(r.row.row_key or b"", r.archive_file, r.row.ordinal) for r in some]
        both = (*full, *copies)
        same = {copy.key for copy in both}
        unfit = {copy.key for copy in both if _is_ambiguous(rows, copy, row, same, goes)}
        unfit |= {r.row.row_key or b"" for r in some if _is_unfit(r.row)}
        choice = choose_originals(copies, full, frozenset(unfit))
        promoted += choice.promoted
        repointed |= choice.repointed
    return Choice(sorted(promoted), repointed)


def _copy(key: bytes, archive_file: str, ordinal: int) -> ContentCopy:
    return ContentCopy(decode_capture_key(key).time[:14], archive_file, ordinal, key)


def _full_copies(rows: RowStore, collection: Collection, row: SidecarRow) -> Iterator[CaptureRow]:
    """Full records of the same content in the collection that an index has a line for."""
    if row.sha256 is None:
        return
    keys = {
        copy.entry.capture_key.encode("ascii")
        for copy in scan_digest(rows, collection.name, Digest("sha256", row.sha256))
        if copy.entry.body == "stored" and copy.key.length == row.payload_size
    }
    for capture in get_captures(rows, sorted(keys)).values():
        facts = capture.facts
        if (
            (facts.type, facts.status, facts.skip) == (row.type, row.status, None)
            and (facts.type == "response" or facts.media_type == row.media_type)
            and not capture.is_duplicate
            and capture.withdrawal is None
            and facts.archive_file in collection.entries
            and not _is_behind_another(capture, collection)
        ):
            yield capture


def _is_behind_another(capture: CaptureRow, collection: Collection) -> bool:
    """Whether it is not the first record of its member now: no index has a line for it."""
    placed = placed_by(capture, collection.entries[capture.facts.archive_file])
    return placed is not None and placed.location.inner_offset > 0


def _is_unfit(row: SidecarRow) -> bool:
    """Whether a record is none that `dedupe` would let others refer to, but for its address: a
    crawler's revisit may have no date, or answer a POST."""
    facts = RecordFacts(
        type=row.type,
        target_uri=row.target_uri or "",
        date=row.date or "",
        size=row.payload_size or 0,
        status=row.status,
        method=row.method or "GET",
    )
    return skip_reason(facts, landed=datetime.now(timezone.utc)) is not None


def _is_ambiguous(
    rows: RowStore,
    copy: ContentCopy,
    row: SidecarRow,
    same: Container[bytes],
    goes: Callable[[CaptureRow], bool],
) -> bool:
    """Whether another body has the urlkey and second of this copy, or may have.

    `same` are the captures that are known to have its body; the row of a crawler's revisit does
    not say so.
    """
    body = format_digest("sha256", row.sha256 or b"")
    urlkey = decode_capture_key(copy.key).urlkey
    following = f"{int(copy.second) + 1:014d}"
    return any(
        other.key not in same
        and not goes(other)
        and other.withdrawal is None
        and other.facts.payload_sha256 != body
        for other in scan_captures_of(rows, urlkey, start_time=copy.second, stop_time=following)
    )
