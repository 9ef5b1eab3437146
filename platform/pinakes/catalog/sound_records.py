"""Whether a record that is given out has the bytes that it had: the one place that decides it.

The judges, in this order: the checksum of its compression; the SHA-256 of its body, which we
computed when it landed; and where neither covers its bytes, the digests that it declares.  A
declared digest may have been wrong from the beginning: where a file's SHA-256 is on record, that
decides whether a digest that does not fit shows rot.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.hbase_schema.capture_keys import UNREADABLE_TIME, encode_urlkey
from pinakes.hbase_schema.generation_names import generation_of
from pinakes.hbase_schema.ranges import prefix_range
from pinakes.index.scan import CAPTURE_TYPES
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore
from pinakes.warc.compression.members import has_checksums
from pinakes.warc.dates import format_17
from pinakes.warc.digest import parse_digest
from pinakes.warc.field_names import WARC_BLOCK_DIGEST_KEY
from pinakes.warc.record import Record
from pinakes.warc.revisit import is_ours
from pinakes.warc.source import Source

from .captures import COLUMNS, TABLE, CaptureRow, decode_capture, get_captures
from .declared import verified_over
from .file_records import sidecar_rows_at
from .stored_generations import find_generation
from .withdrawals import withdrawn_at

DIGESTS = ("sha1", "sha256")
"""Which to compute while a large record is read: those that it is compared with."""

_LENGTHS = frozenset({"content-length", "block-length"})


def require_sound(
    source: Source,
    record: Record,
    *,
    landed: CaptureFacts | None = None,
    is_file_as_written: Callable[[], bool] = lambda: False,
) -> None:
    """Raise DigestMismatch for a record that has other bytes than it had.

    `landed` is what its row says, where it is a capture of a store: a record that was damaged
    when it landed, and is as it was, passes.  `is_file_as_written` compares the whole file with
    its SHA-256 on record; it is called only where nothing but a declared digest is wrong.
    Reads the block once or twice; of a large record again from the file.
    """
    why = _why_unsound(source, record, landed)
    if why is None and not _is_covered(source, record):
        why = _why_not_as_declared(record, landed)
        if why is not None and is_file_as_written():
            why = None
    if why is not None:
        raise DigestMismatch(f"damaged: {why}", file=source.name, offset=record.offset)


def _why_unsound(source: Source, record: Record, landed: CaptureFacts | None) -> str | None:
    known = landed.findings if landed is not None else ()
    for finding in record.damage:
        if finding.code not in known:
            return finding.message
    if landed is None:
        return None
    uri, date, record_id = record.header.outline()
    if (uri or "", date or "", record_id) != (landed.target_uri, landed.date, landed.record_id):
        return "URI, date or record id is not that of the record that landed here"
    return _why_other_body(record, landed)


def _why_other_body(record: Record, landed: CaptureFacts) -> str | None:
    """Nothing where none was hashed when it landed."""
    if record.type == "revisit" or landed.payload_sha256 is None:
        return None
    found = record.payload_digest("sha256")
    if found == parse_digest(landed.payload_sha256):
        return None
    return f"its body has the digest {found}, and had {landed.payload_sha256} when it landed"


def require_body_of(original: Record, revisit: CaptureFacts, *, file: str) -> None:
    """Raise DigestMismatch where an original has not the body with which its revisit landed.

    Of chunked bodies the content is compared, too: the chunks may be others.  Nothing is known of
    what landed as a revisit.
    """
    had = {parse_digest(t) for t in (revisit.payload_sha256, revisit.dechunked_sha256) if t}
    if had and not had & {original.payload_digest("sha256"), original.dechunked_digest("sha256")}:
        raise DigestMismatch(
            f"the original has not the body with which it landed, {revisit.payload_sha256}",
            file=file,
        )


def _is_covered(source: Source, record: Record) -> bool:
    """Whether all of its bytes are under a checksum of its compression."""
    return has_checksums(source, record.offset, record.offset + record.length)


def _why_not_as_declared(record: Record, landed: CaptureFacts | None) -> str | None:
    """Why a record is not what it declares; nothing where it is, or declares nothing."""
    wrong = [one.message for one in record.findings if one.code in _LENGTHS]
    if landed is not None and wrong and _LENGTHS.isdisjoint(landed.findings):
        return wrong[0]  # also where digests fit: its head promised another length
    block = parse_digest(record.header.field(WARC_BLOCK_DIGEST_KEY) or "")
    if block is not None:
        found = record.block_digest(block.algorithm)
        if found == block:
            return None
        return f"{block} is declared, and {found} is the digest of its block"
    if landed is not None and landed.payload_sha256 is not None:
        return None
    over = verified_over(record) if record.type in ("response", "resource") else None
    if over == "none":
        return f"its body has not the digest that it declares, {record.header.payload_digest}"
    if over not in (None, "unreadable"):
        return None
    why = "and no digest shows that it is whole"
    return f"{wrong[0]}, {why}" if wrong else None


class StoredJudge:
    """Knows what a store has of the records of one of its files.  Safe for several threads."""

    def __init__(self, rows: RowStore, archive: ArchiveReader, name: str) -> None:
        """`name` is that of the stored file."""
        self._rows = rows
        self._archive = archive
        self.name = name
        self._as_written: bool | None = None
        self._hashing = threading.Lock()

    def require_sound(self, source: Source, record: Record) -> None:
        """As `require_sound`, for a record at a given place.

        One round trip; the sidecar is read where the URL and date of the record do not lead to
        its row, as of the answer to a POST.
        """
        capture = None
        if record.type in CAPTURE_TYPES and record.target_uri:
            capture = self._by_row(record) or self._by_sidecar(record)
            if capture is None and not self.is_as_written():
                why = "damaged: no such capture landed here, and the file is not as it was written"
                raise DigestMismatch(why, file=self.name, offset=record.offset)
        landed = capture.facts if capture is not None else None
        require_sound(source, record, landed=landed, is_file_as_written=self.is_as_written)
        if capture is not None:
            self.require_refers_as_noted(record, capture)

    def require_as_written(self, source: Source, record: Record) -> None:
        """Raise DigestMismatch unless all bytes of a record are those that were written, its header
        too: for what gives them out.

        What no checksum of its compression covers is as sure as the whole file.
        """
        if not _is_covered(source, record) and not self.is_as_written():
            why = (
                "its file has not the SHA-256 that is on record, and nothing else covers its header"
            )
            raise DigestMismatch(f"damaged: {why}", file=self.name, offset=record.offset)

    def require_refers_as_noted(self, record: Record, capture: CaptureRow) -> None:
        """Raise DigestMismatch for a revisit that we wrote, and that does not refer to what its
        row says.

        It may be one of an older generation: then the whole file decides.
        """
        mark = capture.dedupe
        if record.type != "revisit" or mark is None or not is_ours(record.header):
            return
        noted = (mark.refers_to_target_uri, mark.refers_to_date, mark.refers_to_id)
        if record.header.refers_to() != noted and not self.is_as_written():
            why = "damaged: it does not refer to the original that it was written with"
            raise DigestMismatch(why, file=self.name, offset=record.offset)

    def is_as_written(self) -> bool:
        """Whether the file has the SHA-256 that the catalogue has of it.

        Reads all of it, once for each judge.
        """
        with self._hashing:
            if self._as_written is None:
                generation = find_generation(self._rows, self.name)
                with self._archive.open(self.name) as file:
                    found = Source(file, name=self.name).sha256()
                self._as_written = generation is not None and found == generation.sha256
            return self._as_written

    def _by_row(self, record: Record) -> CaptureRow | None:
        file = generation_of(self.name)
        uri, date = record.target_uri or "", record.date
        time = format_17(date) if date is not None else UNREADABLE_TIME
        within = prefix_range(b"%b %b " % (encode_urlkey(urlkey(uri)), time.encode("ascii")))
        for row in self._rows.scan(TABLE, within, columns=COLUMNS):
            capture = decode_capture(row)
            if capture is None or capture.facts.archive_file != file.archive_file:
                continue
            place = capture.locations.get(file.number)
            if place is not None and is_at_place(record, place.offset, place.inner_offset):
                if capture.withdrawal is not None:
                    raise withdrawn_at(self.name, record.offset)
                return capture
        return None

    def _by_sidecar(self, record: Record) -> CaptureRow | None:
        try:
            rows = sidecar_rows_at(self._archive, self.name, record.offset)
        except (InputRefused, MalformedRecord):
            return None
        keys = [
            row.row_key
            for row in rows
            if row.row_key is not None and is_at_place(record, row.offset, row.inner_offset)
        ]
        # Of a sidecar that was put next to another file, too.
        file = generation_of(self.name).archive_file
        captures = get_captures(self._rows, keys).values()
        return next((one for one in captures if one.facts.archive_file == file), None)


def is_at_place(record: Record, offset: int, inner_offset: int) -> bool:
    """Whether a record begins there."""
    return (record.offset, record.inner_offset) == (offset, inner_offset)
