"""One row of `ccindex` out of one row of a sidecar; pure.

A record that `dedupe` has made a revisit is described as it landed.  Only its offset and length
are those of today.  The columns about a URL's host are those of Common Crawl's columnar
index.  Suffixes are those of the Public Suffix List as the library `tldextract` carries it:
nothing is fetched.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

from pinakes.catalog.sidecar import SidecarRow
from pinakes.extras import missing_extra
from pinakes.hbase_schema.capture_keys import decode_capture_key
from pinakes.hbase_schema.text import printable_urlkey
from pinakes.index.eligibility import TRUNCATED
from pinakes.index.scan import CAPTURE_TYPES
from pinakes.index.urlkey import urlkey
from pinakes.mr_jobs.study.index_columns import COLUMNS
from pinakes.warc.dates import parse_date
from pinakes.warc.digest import parse_digest

_ADDRESS = re.compile(r"[\d.]+\Z|.*:")
_KEPT_HOSTS = 1 << 14
_PARTS = 5


class Host(NamedTuple):
    """A host's name, its parts from the last, its suffixes, and the domains below those.

    All but the name are None for an address, and where a part is missing.
    """

    name: str | None
    parts: tuple[str | None, ...]
    registry_suffix: str | None
    registered_domain: str | None
    private_suffix: str | None
    private_domain: str | None
    reversed: str | None


class Url(NamedTuple):
    """What a URL consists of; a port is None where none is written."""

    protocol: str | None
    host: str | None
    port: int | None
    path: str
    query: str | None


def split_url(url: str) -> Url:
    """The parts of a URL; all in `path` where it cannot be read as one."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return Url(None, None, None, url, None)
    name = host.rstrip(".") or None if host is not None else None
    return Url(parts.scheme or None, name, port, parts.path, parts.query or None)


@lru_cache(maxsize=_KEPT_HOSTS)
def describe_host(name: str | None) -> Host:
    """What a host's name says of it."""
    if name is None or _ADDRESS.match(name):
        return Host(name, (None,) * _PARTS, None, None, None, None, None)
    parts = name.split(".")[::-1]
    padded: tuple[str | None, ...] = (*parts, *(None,) * _PARTS)
    registry = _below(name, private=False)
    private = _below(name, private=True)
    return Host(name, padded[:_PARTS], *registry, *private, ".".join(parts))


def _below(name: str, *, private: bool) -> tuple[str | None, str | None]:
    """The suffix that a host is below, and the domain just below that."""
    _, domain, suffix = _extractor(private)(name)
    if not suffix:
        return None, None
    return suffix, f"{domain}.{suffix}" if domain else None


@lru_cache(maxsize=2)
def _extractor(private: bool) -> Callable[[str], tuple[str, str, str]]:
    try:
        from tldextract import TLDExtract  # takes a tenth of a second
    except ImportError as error:
        what = f"study --sql and --parquet need {error.name}"
        raise missing_extra(what, "study") from error

    extract = TLDExtract(cache_dir=None, suffix_list_urls=(), include_psl_private_domains=private)

    def split(name: str) -> tuple[str, str, str]:
        found = extract.extract_str(name)
        return found.subdomain, found.domain, found.suffix

    return split


_TASK_CAPTURES = 500_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedFile:
    """An archive file: its identity, where it belongs, and what it is stored as now."""

    archive_file: str
    crawl: str
    collection: str
    stored: str
    captures: int


def pack_captures(
    files: Sequence[IndexedFile], *, processes: int, task_captures: int = _TASK_CAPTURES
) -> Iterator[list[IndexedFile]]:
    """Files in packs of about so many captures, or of fewer where processes would idle."""
    room = min(task_captures, sum(file.captures for file in files) // max(processes, 1) + 1)
    pack: list[IndexedFile] = []
    held = 0
    for file in files:
        if pack and held + file.captures > room:
            yield pack
            pack, held = [], 0
        pack.append(file)
        held += file.captures
    if pack:
        yield pack


class _Capture(NamedTuple):
    """What the cells of one row are made from."""

    file: IndexedFile
    row: SidecarRow
    url: Url

    @property
    def host(self) -> Host:
        return describe_host(self.url.host)

    @property
    def skip(self) -> str | None:
        """Why it can be no duplicate; a revisit of others is left alone by its type."""
        return self.row.skip if self.row.type != "revisit" else None

    @property
    def takes_part(self) -> bool:
        """Whether it can be a duplicate: a response as it landed that `eligibility` lets pass."""
        return self.row.type == "response" and not self.row.skip and self.row.sha256 is not None


Cell = Callable[[_Capture], object]


def index_rows(
    rows: Iterable[SidecarRow], file: IndexedFile, columns: Sequence[str]
) -> Iterator[tuple[object, ...]]:
    """The cells of these columns, a tuple for each capture among the records of a file.

    A record that was replaced has the type and the `skip` of its landing in its row, and a
    capture stands here as in `dedupe.run.survey.landed_line`, but for digests as text.
    """
    cells = [_CELLS[name] for name in columns]
    for row in rows:
        if row.type in CAPTURE_TYPES:
            capture = _Capture(file, row, split_url(row.target_uri or ""))
            yield tuple([cell(capture) for cell in cells])


def text(value: str | None) -> str | None:
    """Text that any table holds: a byte that is no UTF-8 as `%XX`, as URIs have it."""
    if value is None or value.isascii():
        return value
    return "".join(f"%{ord(c) - 0xDC00:02X}" if 0xDC80 <= ord(c) <= 0xDCFF else c for c in value)


def _surtkey(capture: _Capture) -> str:
    if capture.row.row_key is not None:
        return decode_capture_key(capture.row.row_key).urlkey
    return printable_urlkey(urlkey(capture.row.target_uri or "")).decode("ascii")


def _media_type(capture: _Capture) -> str | None:
    return "warc/revisit" if capture.row.type == "revisit" else text(capture.row.media_type)


def _digest(capture: _Capture) -> str | None:
    """SHA-1 in Base32, without a label: of the stored body, or as a revisit declares it."""
    digest = capture.row.sha1
    if digest is None and capture.row.declared is not None:
        declared = parse_digest(capture.row.declared)
        digest = declared.value if declared and declared.algorithm == "sha1" else None
    return base64.b32encode(digest).decode("ascii") if digest is not None else None


def _record_uuid(capture: _Capture) -> bytes | None:
    try:
        return UUID((capture.row.record_id or "").strip("<>")).bytes
    except ValueError:
        return None


def _subset(capture: _Capture) -> str:
    if capture.url.path == "/robots.txt":
        return "robotstxt"
    is_whole = capture.row.type != "revisit" and capture.row.status in (None, 200)
    return "warc" if is_whole else "crawldiagnostics"


def _nothing(capture: _Capture) -> None:
    """We have not been given a value yet."""


_CELLS: MappingProxyType[str, Cell] = MappingProxyType(
    {
        "url_surtkey": _surtkey,
        "url": lambda c: text(c.row.target_uri or ""),
        "url_host_name": lambda c: text(c.url.host),
        "url_host_tld": lambda c: text(c.host.parts[0]),
        "url_host_2nd_last_part": lambda c: text(c.host.parts[1]),
        "url_host_3rd_last_part": lambda c: text(c.host.parts[2]),
        "url_host_4th_last_part": lambda c: text(c.host.parts[3]),
        "url_host_5th_last_part": lambda c: text(c.host.parts[4]),
        "url_host_registry_suffix": lambda c: text(c.host.registry_suffix),
        "url_host_registered_domain": lambda c: text(c.host.registered_domain),
        "url_host_private_suffix": lambda c: text(c.host.private_suffix),
        "url_host_private_domain": lambda c: text(c.host.private_domain),
        "url_host_name_reversed": lambda c: text(c.host.reversed),
        "url_protocol": lambda c: text(c.url.protocol),
        "url_port": lambda c: c.url.port,
        "url_path": lambda c: text(c.url.path),
        "url_query": lambda c: text(c.url.query),
        "fetch_time": lambda c: parse_date(c.row.date or ""),
        "fetch_status": lambda c: c.row.status,
        "fetch_redirect": _nothing,
        "content_digest": _digest,
        "content_mime_type": _media_type,
        "content_mime_detected": _nothing,
        "content_charset": _nothing,
        "content_languages": _nothing,
        "content_truncated": lambda c: "unspecified" if c.skip == TRUNCATED else None,
        "warc_record_id": _record_uuid,
        "warc_filename": lambda c: text(c.file.stored),
        "warc_record_offset": lambda c: c.row.offset,
        "warc_record_length": lambda c: c.row.length,
        "warc_segment": _nothing,
        "crawl": lambda c: c.file.crawl,
        "subset": _subset,
        "collection": lambda c: c.file.collection,
        "archive_file": lambda c: text(c.file.archive_file),
        "record_ordinal": lambda c: c.row.ordinal,
        "record_type": lambda c: c.row.type,
        "payload_size": lambda c: c.row.payload_size,
        "content_sha256": lambda c: c.row.sha256.hex() if c.row.sha256 is not None else None,
        "content_dechunked_sha256": lambda c: (
            c.row.dechunked_sha256.hex() if c.row.dechunked_sha256 is not None else None
        ),
        "skip": lambda c: c.skip,
        "is_replaced": lambda c: c.row.is_replaced,
        "takes_part": lambda c: c.takes_part,
    }
)
assert set(_CELLS) == set(COLUMNS)
