"""ARC to WARC: every byte of the ARC file is kept, and the ARC can be rebuilt.

An ARC record becomes one WARC record; bytes that are not a record become the block of a
`metadata` record.  Header line + block + line ends of all records, joined in order, are the
readable bytes of the ARC (`arc_bytes`, `convert_file`).

    warcinfo                      what was converted, with checksums
    metadata    filedesc://…      the ARC's own first record
    response | resource | metadata ...

Source: docs/convert.md has the rules with their reasons.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pinakes.errors import InputRefused
from pinakes.warc.compression.members import compression_of
from pinakes.warc.digest import Digest
from pinakes.warc.field_names import (
    CONTENT_LENGTH,
    CONTENT_TYPE,
    CONTENT_TYPE_KEY,
    WARC_BLOCK_DIGEST,
    WARC_DATE,
    WARC_FILENAME,
    WARC_IP_ADDRESS,
    WARC_IP_ADDRESS_KEY,
    WARC_PAYLOAD_DIGEST,
    WARC_RECORD_ID,
    WARC_TARGET_URI,
    WARC_TRUNCATED,
    WARC_TYPE,
)
from pinakes.warc.file_names import base_name
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source
from pinakes.warc.write import format_header, name_record

from . import arc_fields
from .arc_bytes import (
    ArcRecord,
    NonRecordBytes,
    findings_of,
    iter_parts,
    readable_pieces,
    refuse_warc,
)

RULES = "1"
"""Changes when the same ARC gives other bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArcSurvey:
    """Facts about an ARC file, read once from start to end before it is converted."""

    name: str
    compressed: bool
    size_bytes: int
    sha256: str
    readable_bytes: int
    readable_sha256: str
    date: str
    """WARC-Date of its first record."""


class Converted(NamedTuple):
    """A WARC record to write: its header, where its block is read, what it came from."""

    header: bytes
    block: Iterable[bytes | memoryview]
    part: ArcRecord | NonRecordBytes | None


def survey_arc(source: Source) -> ArcSurvey:
    """Read an ARC file once, for its checksums.

    Raises:
        InputRefused: if it contains no ARC record, or a WARC record.
    """
    first = next((item for item in iter_records(source) if isinstance(item, Record)), None)
    if first is None:
        raise InputRefused("contains no ARC record: nothing to convert", file=source.name)
    refuse_warc(first, source)
    of_file = hashlib.sha256()
    for data in source.pieces(0, source.size):
        of_file.update(data)
    readable = hashlib.sha256()
    readable_bytes = 0
    for piece in readable_pieces(source):
        readable.update(piece.data)
        readable_bytes += len(piece.data)
    return ArcSurvey(
        name=base_name(source.name),
        compressed=compression_of(source) is not None,
        size_bytes=source.size,
        sha256=of_file.hexdigest(),
        readable_bytes=readable_bytes,
        readable_sha256=readable.hexdigest(),
        date=arc_fields.format_date(first.date_text) or arc_fields.UNREADABLE_DATE,
    )


def iter_converted(source: Source, survey: ArcSurvey) -> Iterator[Converted]:
    """The WARC records for an ARC file, the warcinfo first; lazily.

    A block may be read until the next record is taken.  At the end, the checksum of the
    survey proves that every readable byte was carried over.

    Raises:
        InputRefused: if not, because the file changed; or as `iter_parts`.
        MalformedRecord: as `iter_parts`.
    """
    yield _warcinfo(survey)
    carried = hashlib.sha256()
    for ordinal, part in enumerate(iter_parts(source)):
        identity = (survey.sha256, str(ordinal))
        if isinstance(part, NonRecordBytes):
            yield _convert_stretch(source, part, identity, survey.date, carried)
        else:
            yield _convert_record(part, identity, carried)
    if carried.hexdigest() != survey.readable_sha256:
        raise InputRefused(
            "not every byte was carried over: the file changed while it was converted",
            file=source.name,
        )


def _warcinfo(survey: ArcSurvey) -> Converted:
    block = "".join(
        f"{name}: {value}\r\n"
        for name, value in (
            ("software", f"Pinakes (pinakes convert, rules {RULES})"),
            ("format", "WARC File Format 1.1"),
            (
                "conformsTo",
                "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            ),
            ("description", "converted from an ARC file"),
            ("pinakes-arc-filename", _file_name(survey.name)),
            ("pinakes-arc-size", survey.size_bytes),
            ("pinakes-arc-sha256", survey.sha256),
            ("pinakes-arc-readable-size", survey.readable_bytes),
            ("pinakes-arc-readable-sha256", survey.readable_sha256),
        )
    ).encode("ascii")
    fields = [
        (WARC_TYPE, "warcinfo"),
        (WARC_RECORD_ID, name_record(survey.sha256, "warcinfo", _sha256(block))),
        (WARC_DATE, survey.date),
        (WARC_FILENAME, _file_name(warc_name(survey.name, compressed=survey.compressed))),
        (WARC_BLOCK_DIGEST, str(_sha1(block))),
        (CONTENT_TYPE, "application/warc-fields"),
        (CONTENT_LENGTH, str(len(block))),
    ]
    return Converted(format_header(fields), (block,), None)


def warc_name(arc_name: str, *, compressed: bool) -> str:
    """The name of the WARC file: `x.arc.gz` becomes `x.warc.gz`."""
    stem = arc_name
    for suffix in (".gz", ".zst", ".arc"):
        if stem.lower().endswith(suffix) and len(stem) > len(suffix):
            stem = stem[: -len(suffix)]
    return f"{stem}.warc.gz" if compressed else f"{stem}.warc"


def _file_name(name: str) -> str:
    return arc_fields.encode_bytes(name.encode("utf-8", "surrogateescape"))


def _convert_record(
    part: ArcRecord, identity: tuple[str, str], carried: hashlib._Hash
) -> Converted:
    record, after = part
    line = record.header.raw
    block_sha1, record_sha256 = hashlib.sha1(usedforsecurity=False), hashlib.sha256(line)
    carried.update(line)
    for piece in record.chunks():
        block_sha1.update(piece)
        record_sha256.update(piece)
        carried.update(piece)
    carried.update(after)
    uri = record.target_uri or ""
    fields = [
        (WARC_TYPE, "metadata" if record.type == "filedesc" else record.type),
        (WARC_RECORD_ID, name_record(*identity, record_sha256.hexdigest())),
        (WARC_DATE, arc_fields.format_date(record.date_text) or arc_fields.UNREADABLE_DATE),
        (WARC_TARGET_URI, arc_fields.format_target_uri(uri)),
    ]
    address = arc_fields.format_ip_address(record.header.field(WARC_IP_ADDRESS_KEY))
    if address is not None:
        fields.append((WARC_IP_ADDRESS, address))
    fields.append((WARC_BLOCK_DIGEST, str(Digest("sha1", block_sha1.digest()))))
    if record.type != "filedesc":
        fields.append((WARC_PAYLOAD_DIGEST, str(record.payload_digest("sha1"))))
    if _is_cut_off(record):
        fields.append((WARC_TRUNCATED, "unspecified"))
    fields += [
        (CONTENT_TYPE, _content_type(record, uri)),
        (CONTENT_LENGTH, str(record.block_size)),
        (arc_fields.HEADER, arc_fields.encode_bytes(line)),
    ]
    if after:
        fields.append((arc_fields.AFTER, arc_fields.encode_bytes(after)))
    if _codes(record):
        fields.append((arc_fields.FINDINGS, ", ".join(sorted(_codes(record)))))
    return Converted(format_header(fields), record.chunks(), part)


def _codes(record: Record) -> set[str]:
    return {finding.code for finding in findings_of(record)}


def _is_cut_off(record: Record) -> bool:
    """Whether the block may be incomplete; a length that is off by one does not count."""
    missing = record.content_length - record.block_size
    return missing > 1 or bool(record.damage)


def _content_type(record: Record, uri: str) -> str:
    if record.type == "response":
        return "application/http; msgtype=response"
    written = record.header.field(CONTENT_TYPE_KEY)
    if record.type == "filedesc" and not written:
        return "text/plain"
    return arc_fields.format_media_type(uri, written)


def _convert_stretch(
    source: Source,
    part: NonRecordBytes,
    identity: tuple[str, str],
    date: str,
    carried: hashlib._Hash,
) -> Converted:
    run = part.run
    sha1, sha256 = hashlib.sha1(usedforsecurity=False), hashlib.sha256()
    for piece in run.pieces(source):
        sha1.update(piece)
        sha256.update(piece)
        carried.update(piece)
    place = arc_fields.format_stretch(raw=run.raw, offset=run.offset, inner=run.inner)
    fields = [
        (WARC_TYPE, "metadata"),
        (WARC_RECORD_ID, name_record(*identity, sha256.hexdigest())),
        (WARC_DATE, date),
        (WARC_BLOCK_DIGEST, str(Digest("sha1", sha1.digest()))),
        (CONTENT_TYPE, "application/octet-stream"),
        (CONTENT_LENGTH, str(run.size)),
        (arc_fields.STRETCH, place),
        (arc_fields.REASON, arc_fields.encode_bytes(part.reason.encode())),
    ]
    return Converted(format_header(fields), run.pieces(source), part)


def _sha1(data: bytes) -> Digest:
    return Digest("sha1", hashlib.sha1(data, usedforsecurity=False).digest())


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
