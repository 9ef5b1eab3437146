"""What a package holds besides archive files, as records: pages, `datapackage.json`, logs.

Each is a resource record, uncompressed: what deflates best differs between computers, and the
same package is to give the same bytes.
"""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import IO, BinaryIO
from urllib.parse import quote

from pinakes.warc.field_names import (
    CONTENT_LENGTH,
    CONTENT_TYPE,
    WARC_BLOCK_DIGEST,
    WARC_DATE,
    WARC_RECORD_ID,
    WARC_TARGET_URI,
    WARC_TYPE,
)
from pinakes.warc.write import format_header, name_record, record_pieces

_PIECE_BYTES = 1 << 20
_MEDIA_TYPES = {".json": "application/json", ".jsonl": "application/jsonl"}


def write_document(out: IO[bytes], place: str, date: str, file: BinaryIO) -> None:
    """Write the record `urn:wacz:PLACE`, with the bytes of the file."""
    sha1 = hashlib.sha1(usedforsecurity=False)
    size = 0
    for piece in _pieces(file):
        sha1.update(piece)
        size += len(piece)
    digest = f"sha1:{b32encode(sha1.digest()).decode()}"
    suffix = PurePosixPath(place).suffix.lower()
    header = format_header(
        (
            (WARC_TYPE, "resource"),
            (WARC_RECORD_ID, name_record(place, date, digest)),
            (WARC_TARGET_URI, f"urn:wacz:{quote(place)}"),
            (WARC_DATE, date),
            (WARC_BLOCK_DIGEST, digest),
            (CONTENT_TYPE, _MEDIA_TYPES.get(suffix, "application/octet-stream")),
            (CONTENT_LENGTH, str(size)),
        )
    )
    for written in record_pieces(header, _pieces(file)):
        out.write(written)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    file.seek(0)
    while piece := file.read(_PIECE_BYTES):
        yield piece
