"""What is shown of a record, selected by, and written into an index of replay tools."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from pinakes.warc.field_names import CONTENT_TYPE_KEY
from pinakes.warc.http.message import bare_media_type
from pinakes.warc.record import Record

from .scan import declared_digest


class Entry(NamedTuple):
    """One record of any type; None is unknown.  A tuple: there is one for each record.

    `file` is as it was given, or the name in the store.  `size` is that of the stored body in
    bytes, of the whole block where that is no HTTP message.  `digest` is the payload's: as
    declared in a file, SHA-1 as computed in a store.
    """

    file: str
    offset: int
    length: int
    inner_offset: int
    type: str
    date: str | None
    target_uri: str | None
    status: int | None
    media_type: str | None
    size: int
    digest: str | None
    record_id: str | None
    findings: tuple[str, ...]

    @property
    def place(self) -> str:
        """FILE:OFFSET, and +INNER-OFFSET where several records share a member."""
        inner = f"+{self.inner_offset}" if self.inner_offset else ""
        return f"{self.file}:{self.offset}{inner}"

    @property
    def host(self) -> str | None:
        """The host of the target URI, lower case; None where it has none."""
        return host_of(self.target_uri) if self.target_uri else None


def entry_of(record: Record, file: str) -> Entry:
    """What is shown of a record; reads no body that the reader has not read."""
    http = record.http
    if http is None:
        media_type = bare_media_type(record.header.field(CONTENT_TYPE_KEY))
    else:
        media_type = http.media_type
    uri, date, record_id = record.header.outline()
    return Entry(
        file,
        record.offset,
        record.length,
        record.inner_offset,
        record.type,
        date,
        uri,
        http.status if http is not None else None,
        media_type,
        record.payload_size,
        declared_digest(record),
        record_id,
        tuple(finding.code for finding in record.findings),
    )


# Up to where the host ends (RFC 3986, section 3.2).  A file has few of these and many URIs; what
# is longer is not kept.
_TO_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,30}://[^/?#]{0,255}(?=[/?#]|\Z)")


def host_of(uri: str) -> str | None:
    """The host of a URI, lower case; None where it has none, or is no URI."""
    start = _TO_HOST.match(uri)
    return _cached_host(start[0]) if start else _split_host(uri)


def _split_host(uri: str) -> str | None:
    try:
        return urlsplit(uri).hostname
    except ValueError:
        return None


_cached_host = lru_cache(maxsize=1024)(_split_host)
