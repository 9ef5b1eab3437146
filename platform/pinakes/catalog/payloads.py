"""The record of a capture, from the store's archive files, and its body.

The body of a revisit is that of its original.  That is found by the row key that dedupe recorded,
else by the URI and date that the revisit names, else, for old revisits that name neither, among the
earlier records of its URI by id, or by digest the latest; else by digest at another URI, where the
bytes that are read prove it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord, UnresolvedReference
from pinakes.hbase_schema.capture_cells import CaptureFacts, Location
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.digest import Digest, parse_digest
from pinakes.warc.reader import read_record
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .captures import (
    CaptureRow,
    Placed,
    get_captures,
    place_captures,
    require_visible,
    scan_captures_of,
)
from .declared import has_declared_digest, may_stand_for
from .file_rows import read_entry
from .lookup import INDEXED, scan_digest
from .sound_records import DIGESTS, StoredJudge, require_body_of, require_sound

UNSOUND = (DigestMismatch, InputRefused, MalformedRecord)
"""What reading a record raises that is not there, or not what it was."""
_WINDOW_BYTES = 1 << 16
_MOST_OF_A_DIGEST = 256
_FRACTION = re.compile(r"[.]([0-9]+)")


@contextmanager
def open_record(
    archive: ArchiveReader,
    file: str,
    location: Location,
    *,
    landed: CaptureFacts | None = None,
    rows: RowStore | None = None,
    raw: bool = False,
    head: bool = False,
) -> Iterator[Record]:
    """The record at a location in a stored file, to give it out; read it within the `with`.

    Its bytes are compared with what is known of them before any is given (`sound_records`): with
    the facts of the capture, `landed` or those that `rows` have of this place.  Not at all if
    `raw`.  `head`: its header and HTTP head are given out, too; then all of a file that is not
    compressed is read.

    Raises:
        InputRefused: the file does not exist.
        MalformedRecord: no record begins there.
        DigestMismatch: it has other bytes than it had.
    """
    with archive.open(file) as opened:
        source = Source(opened, name=file, window_bytes=_WINDOW_BYTES)
        place = (location.offset, location.inner_offset)
        record = read_record(source, place[0], inner_offset=place[1], digests=DIGESTS)
        if not isinstance(record, Record) or record.offset != location.offset:
            raise MalformedRecord("no record begins here", file=file, offset=location.offset)
        if not raw:
            _require_sound(source, record, archive, rows, landed)
            if head and rows is not None:
                StoredJudge(rows, archive, file).require_as_written(source, record)
        yield record


def _require_sound(
    source: Source,
    record: Record,
    archive: ArchiveReader,
    rows: RowStore | None,
    landed: CaptureFacts | None,
) -> None:
    if rows is None:
        require_sound(source, record, landed=landed)
        return
    judge = StoredJudge(rows, archive, source.name)
    if landed is None:
        judge.require_sound(source, record)
    else:
        require_sound(source, record, landed=landed, is_file_as_written=judge.is_as_written)


@contextmanager
def open_placed(
    rows: RowStore,
    archive: ArchiveReader,
    placed: Placed,
    *,
    raw: bool = False,
    head: bool = False,
) -> Iterator[Record]:
    """The record of a capture, also if its file moved to another generation in the meantime.

    `head`, and what it raises, as `open_record`.
    """
    require_visible(rows, placed.entry.archive_file)
    if archive.size(placed.file) is None:
        placed = next(place_captures(rows, [placed.capture]), placed)
    facts = placed.capture.facts
    with open_record(
        archive, placed.file, placed.location, landed=facts, rows=rows, raw=raw, head=head
    ) as record:
        if not raw:
            judge = StoredJudge(rows, archive, placed.file)
            judge.require_refers_as_noted(record, placed.capture)
        yield record


def read_body(
    rows: RowStore, archive: ArchiveReader, placed: Placed, *, raw: bool = False
) -> Iterator[bytes]:
    """The stored body of a capture, in pieces; a revisit's is that of its original.

    Raises as `open_body`.
    """
    with open_body(rows, archive, placed, raw=raw) as record:
        yield from map(bytes, record.payload())


@contextmanager
def open_body(
    rows: RowStore, archive: ArchiveReader, placed: Placed, *, raw: bool = False
) -> Iterator[Record]:
    """The record with the body of a capture: its own, or of a revisit its original's.

    The original of a record that dedupe has made a revisit has the body with which that landed.

    Raises:
        UnresolvedReference: the original is not in the store, or nothing proves that it has the
            digest that the revisit declares.
        DigestMismatch: one of the two has other bytes than it had.
    """
    with open_placed(rows, archive, placed, raw=raw) as record:
        if record.type != "revisit":
            yield record
            return
        declared = record.header.payload_digest
        original = resolve(rows, placed.capture, record)
    with open_placed(rows, archive, original, raw=raw) as record:
        if record.type == "revisit":
            raise UnresolvedReference(
                "it refers to a revisit, which has no body either", file=_where(placed.capture)
            )
        if not _is_proven(placed.capture, declared, original.capture, record):
            raise UnresolvedReference(
                f"nothing proves that its original has the digest {declared}",
                file=_where(placed.capture),
            )
        if not raw:
            require_body_of(record, placed.capture.facts, file=_where(placed.capture))
        yield record


def _is_proven(
    revisit: CaptureRow, declared: str | None, original: CaptureRow, record: Record
) -> bool:
    """Whether a revisit has the body of this record: that of another URI than it names is read."""
    if record.damage:
        return False
    named = revisit.facts.refers_to_target_uri or revisit.facts.target_uri
    is_by_dedupe = revisit.dedupe is not None and revisit.dedupe.refers_to_key is not None
    if not is_by_dedupe and original.facts.target_uri != named:
        return has_declared_digest(declared, record)
    is_known = declared is None or has_digest(original.facts, declared)
    return is_known or may_stand_for(declared, record)


def resolve(rows: RowStore, capture: CaptureRow, revisit: Record) -> Placed:
    """The capture that a revisit refers to; `revisit` is its stored record."""
    mark = capture.dedupe
    if mark is not None and mark.refers_to_key is not None:
        found = get_captures(rows, [mark.refers_to_key.encode("ascii")])
        for placed in place_captures(rows, found.values()):
            return placed
    header = revisit.header
    uri, written_date, wanted_id = header.refers_to()
    date = parse_date(written_date or "")
    declared = header.payload_digest
    if uri and date:
        second = format_14(date)
        candidates = [
            c
            for c in scan_captures_of(rows, urlkey(uri), start_time=second)
            if c.time.startswith(second) and _fits(c, uri, declared, may_have_digest)
        ]
        exact = at_moment(candidates, written_date)

        def unlikely(candidate: CaptureRow) -> tuple[bool, bool, bool]:
            return (
                candidate not in exact,
                candidate.facts.record_id != wanted_id,
                declared is not None and not has_digest(candidate.facts, declared),
            )

        candidates.sort(key=unlikely)
        likeliest = [one for one in candidates if unlikely(one) == unlikely(candidates[0])]
    elif (declared or wanted_id) and capture.facts.target_uri:
        uri = capture.facts.target_uri
        likeliest = candidates = _unplaced(rows, capture, declared, wanted_id)
    else:
        raise UnresolvedReference("the revisit names no original", file=_where(capture))
    # Where no row has the digest, the body itself decides.
    body_decides = declared is not None and not any(
        has_digest(c.facts, declared) for c in likeliest
    )
    if likeliest and not body_decides and not have_one_body(likeliest):
        raise UnresolvedReference(
            f"it may mean {len(likeliest)} records of unequal bodies: {uri} of "
            f"{written_date or 'before'}",
            file=_where(capture),
        )
    for placed in place_captures(rows, candidates):
        return placed
    raise UnresolvedReference(
        f"its original is not in the store, or has another digest: {uri} of "
        f"{written_date or 'before'}",
        file=_where(capture),
    )


def _unplaced(
    rows: RowStore, capture: CaptureRow, declared: str | None, wanted_id: str | None
) -> list[CaptureRow]:
    """What a revisit without URI and date means, the likeliest first: by id, else by digest, among
    the earlier records of its URI; else by both, or the digest alone, among those of other URIs."""
    uri = capture.facts.target_uri
    earlier = list(scan_captures_of(rows, urlkey(uri), stop_time=capture.time))
    full = [c for c in earlier if _fits(c, uri, declared, may_have_digest)][::-1]
    with_id = [c for c in full if wanted_id is not None and c.facts.record_id == wanted_id]
    if with_id or declared is None:
        return with_id
    digest = parse_digest(declared)
    found = [c for c in full if has_digest(c.facts, declared)]
    if not found and digest is not None:
        # Where rows do not have the digest, the body decides when it is read.
        is_indexed = digest.algorithm in INDEXED
        found = list(full_with_digest(rows, capture, digest)) if is_indexed else full
    return sorted(found, key=lambda one: one.facts.record_id != wanted_id)


def full_with_digest(rows: RowStore, capture: CaptureRow, digest: Digest) -> Iterator[CaptureRow]:
    """The earlier full records of a revisit's collection whose bodies had this digest when they
    landed, of any URI: some 256 at most.  Three round trips."""
    facts = read_entry(rows, capture.facts.archive_file).facts
    if facts is None or digest.algorithm not in INDEXED:
        return
    found = islice(scan_digest(rows, facts.collection, digest), _MOST_OF_A_DIGEST)
    keys = {one.entry.capture_key.encode("ascii") for one in found}
    for one in get_captures(rows, sorted(keys)).values():
        if one.time < capture.time and _fits(one, one.facts.target_uri, str(digest), has_digest):
            yield one


def _fits(
    candidate: CaptureRow,
    uri: str,
    declared: str | None,
    has_it: Callable[[CaptureFacts, str], bool],
) -> bool:
    """Whether this is a full record of that URI, with that digest."""
    facts = candidate.facts
    if facts.type not in ("response", "resource") or facts.target_uri != uri:
        return False
    if candidate.is_duplicate:
        return False
    return declared is None or has_it(facts, declared)


def at_moment(captures: Sequence[CaptureRow], date: str | None) -> Sequence[CaptureRow]:
    """Of captures of one second those of the moment that a revisit names, where it names a fraction
    of a second (WARC/1.1, clause 5.4) and some are of that; else all."""
    fraction = _fraction(date or "")
    if parse_date(date or "") is None or not fraction:
        return captures
    return [one for one in captures if _fraction(one.facts.date) == fraction] or captures


def _fraction(date: str) -> str:
    """The digits of a second's fraction, nine at most by the standard: `parse_date` keeps six."""
    found = _FRACTION.search(date)
    return found[1].rstrip("0") if found else ""


def have_one_body(captures: Sequence[CaptureRow]) -> bool:
    """Whether it makes no difference which of these records a revisit means."""
    return len(captures) == 1 or len({one.facts.payload_sha256 or one.key for one in captures}) == 1


def has_digest(facts: CaptureFacts, declared: str) -> bool:
    """Whether a declared digest is that of this body, as computed or as its record declares."""
    if declared == facts.declared_digest:
        return True
    wanted = parse_digest(declared)
    known = (
        facts.payload_sha1,
        facts.payload_sha256,
        facts.dechunked_sha1,
        facts.dechunked_sha256,
        facts.declared_digest,
    )
    return wanted is not None and wanted in {parse_digest(text) for text in known if text}


def may_have_digest(facts: CaptureFacts, declared: str | None) -> bool:
    """Whether nothing says that its digest is another one."""
    if declared is None or has_digest(facts, declared):
        return True
    digest = parse_digest(declared)
    if digest is None or digest.algorithm not in INDEXED:
        known = parse_digest(facts.declared_digest or "")
        return known is None or digest is None or known.algorithm != digest.algorithm
    return facts.payload_sha256 is None


def _where(capture: CaptureRow) -> str:
    return capture.key.decode("ascii")
