"""Checks of files, of their compression and of the bounds of records.

Most of them turn the findings of the reader into rules of the standard.
"""

from __future__ import annotations

from collections.abc import Iterator

from pinakes.warc.compression.members import compression_of
from pinakes.warc.compression.zstd_faults import FrameFault, iter_frame_faults, iter_start_faults
from pinakes.warc.field_names import CONTENT_LENGTH_KEY
from pinakes.warc.file_names import base_name
from pinakes.warc.record import DamagedStretch
from pinakes.warc.source import Source

from .rules import Hit
from .subject import Subject

SIZE_LIMIT_BYTES = 10**9
_CODES = {
    "truncated": "record-truncated",
    "content-length": "content-length-wrong",
    "block-length": "content-length-wrong",
    "record-end": "record-end",
}
_GZIP_CODES = {"crc": "gzip-crc", "damaged": "gzip-damaged", "member": "gzip-member"}
_ZSTD_CODES = {"crc": "zstd-crc", "damaged": "zstd-damaged", "member": "zstd-record"}
_FRAME_CODES = {"frame": "zstd-frame", "dictionary": "zstd-dictionary", "start": "zstd-start"}
_ZSTD = "zstd"


def check_file(source: Source) -> Iterator[Hit]:
    """Name, size and compression of a file."""
    if not source.size:
        yield Hit("file-empty", "the file is empty", 0)
        return
    compression = compression_of(source)
    name = base_name(source.name)
    if compression == "gzip" and not name.endswith(".warc.gz"):
        yield Hit("file-name", "compressed with gzip, but not named .warc.gz", 0)
    if compression == _ZSTD:
        if not name.endswith(".warc.zst"):
            yield Hit("file-name", "compressed with Zstandard, but not named .warc.zst", 0)
        yield from map(_frame_hit, iter_start_faults(source))
    if compression is None and not name.endswith(".warc"):
        yield Hit("file-name", "not compressed, but not named .warc", 0)
    if compression == "bzip2":
        yield Hit("file-compression", "compressed with bzip2", 0)
    if source.size > SIZE_LIMIT_BYTES:
        yield Hit("file-size", f"the file has {source.size} bytes", 0)


def check_frames(source: Source, offset: int, end: int) -> Iterator[Hit]:
    """What Zstandard frames should have."""
    return map(_frame_hit, iter_frame_faults(source, offset, end))


def _frame_hit(fault: FrameFault) -> Hit:
    return Hit(_FRAME_CODES[fault.code], fault.message, fault.offset)


def check_reader_findings(subject: Subject, compression: str | None) -> Iterator[Hit]:
    """The reader's findings.  Missing or malformed lengths have rules of their own."""
    codes = _CODES | (_ZSTD_CODES if compression == _ZSTD else _GZIP_CODES)
    promised = subject.first(CONTENT_LENGTH_KEY) or ""
    for finding in subject.record.findings:
        code = codes.get(finding.code)
        if code is None or (finding.code == "content-length" and not promised.isdigit()):
            continue
        if finding.code == "record-end" and not subject.is_whole:
            continue
        yield Hit(code, finding.message, finding.offset)


def check_first(subject: Subject) -> Iterator[Hit]:
    """The first record of a file."""
    if subject.type != "warcinfo":
        yield Hit(
            "warcinfo-first", f"the file starts with a record of type {subject.type or '(none)'}"
        )


def check_damaged_stretch(stretch: DamagedStretch) -> Hit:
    """Bytes that are not a record."""
    count = stretch.end - stretch.offset
    return Hit("not-a-record", f"{count} bytes are not a record: {stretch.reason}", stretch.offset)


class Gaps:
    """Finds bytes between records: the reader skips line ends and does not report them.

    Empty Zstandard frames may be there, and skippable ones (warc-zstd 1.0 §4.1, §4.3).
    """

    def __init__(self, source: Source) -> None:
        compression = compression_of(source)
        self._members = compression is not None
        # A second window: one that went back for the headers of frames would be read again.
        self._frames = source.again() if compression == _ZSTD else None
        self._end = 0
        self._expected = 0

    def before(self, offset: int) -> Iterator[Hit]:
        """Surplus bytes between the item before and one at `offset` (or the end of the file)."""
        surplus = offset - self._end - self._expected
        if surplus > 0 and self._frames is not None:
            yield from check_frames(self._frames, self._end, offset)
        elif surplus > 0:
            what = "an empty gzip member" if self._members else "line ends"
            yield Hit("between-records", f"{surplus} bytes too many: {what}", self._end)

    def within(self, subject: Subject) -> Iterator[Hit]:
        """What the frames of a record should have; nothing of other members."""
        record = subject.record
        if self._frames is None:
            return iter(())
        return check_frames(self._frames, record.offset, record.offset + record.length)

    def after_record(self, subject: Subject) -> None:
        """Continue after a record."""
        record = subject.record
        self._end = record.offset + record.length
        line_ends = 2 * len(record.header.line_end)
        self._expected = 0 if self._members else line_ends

    def after_stretch(self, stretch: DamagedStretch) -> None:
        """Continue after bytes that are not a record."""
        self._end, self._expected = stretch.end, 0
