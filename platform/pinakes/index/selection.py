"""What is shown of a record, and which are wanted.  Pure.

By type, status, media type, URL, host, date, size, digest.

Every condition that is given has to hold; of the values of one condition, any.  Fields of a
record are asked for by name: its headers, those of HTTP, its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from pinakes.errors import ConfigError
from pinakes.warc.dates import format_14, parse_date
from pinakes.warc.digest import Digest, parse_digest
from pinakes.warc.field_names import CONTENT_TYPE_KEY, WARC_TARGET_URI_KEY
from pinakes.warc.http.message import bare_media_type
from pinakes.warc.record import Record

from .scan import declared_digest
from .urlkey import urlkey


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


ComputeDigest = Callable[[str], Digest | None]
_STATUS = re.compile(r"[1-9](?:\d\d|xx)\Z", re.IGNORECASE)
_DIGITS = re.compile(r"\d{4,14}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Conditions; an empty one holds for every record.

    `since` (included) and `until` (not) are the first
    digits of a time.  Sizes are those of bodies, in bytes, included.
    """

    types: frozenset[str] = frozenset()
    statuses: tuple[re.Pattern[str], ...] = ()
    media_types: tuple[re.Pattern[str], ...] = ()
    urls: tuple[re.Pattern[str], ...] = ()
    urlkeys: frozenset[str] = frozenset()
    hosts: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    digests: frozenset[Digest] = frozenset()
    min_size: int | None = None
    max_size: int | None = None
    invert: bool = False

    def selects(self, entry: Entry, compute: ComputeDigest) -> bool:
        """Whether this record is wanted; `compute` gives its body's digest by an algorithm.

        A revisit's digest is the one that it declares.
        """
        return self._holds(entry, compute) is not self.invert

    def _holds(self, entry: Entry, compute: ComputeDigest) -> bool:
        return (
            (not self.types or entry.type in self.types)
            and (not self.statuses or _matches(str(entry.status), self.statuses))
            and (not self.media_types or _matches(entry.media_type, self.media_types))
            and (not (self.urls or self.urlkeys) or self._has_url(entry.target_uri))
            and (not self.hosts or _is_below(entry.host, self.hosts))
            and (self.since is self.until is None or self._is_dated(entry.date))
            and (self.min_size is None or entry.size >= self.min_size)
            and (self.max_size is None or entry.size <= self.max_size)
            and (not self.digests or self._has_digest(entry, compute))
        )

    def _has_url(self, uri: str | None) -> bool:
        if uri is None:
            return False
        return _matches(uri, self.urls) or (bool(self.urlkeys) and urlkey(uri) in self.urlkeys)

    def _is_dated(self, date: str | None) -> bool:
        moment = parse_date(date) if date else None
        if moment is None:
            return False
        time = format_14(moment)
        return time >= (self.since or "") and (self.until is None or time < self.until)

    def _has_digest(self, entry: Entry, compute: ComputeDigest) -> bool:
        if entry.type == "revisit":
            return parse_digest(entry.digest or "") in self.digests
        algorithms = {digest.algorithm for digest in self.digests}
        return any(compute(algorithm) in self.digests for algorithm in algorithms)


def pattern_of(text: str) -> re.Pattern[str]:
    """A pattern in which `*` stands for any characters, in any case."""
    parts = (re.escape(part) for part in text.split("*"))
    return re.compile(".*".join(parts) + r"\Z", re.IGNORECASE | re.DOTALL)


def status_of(text: str) -> re.Pattern[str]:
    """A status such as 200, or 4xx.  Raises ConfigError for anything else."""
    if _STATUS.match(text) is None:
        raise ConfigError(f"--status is {text!r}, and should be a number such as 200, or 4xx")
    return re.compile(text.lower().replace("x", r"\d") + r"\Z")


def digest_of(text: str) -> Digest:
    """A digest with its label.  Raises ConfigError for what is none."""
    digest = parse_digest(text)
    if digest is None:
        raise ConfigError(f"--digest is {text!r}, and should be one such as sha1:3I42H3S6…")
    return digest


def time_of(text: str) -> str:
    """The first digits of a time, of 2024, 20240229, 2024-02-29 or 2024-02-29T10:00:00Z.

    Raises:
        ConfigError: for what is no time.
    """
    digits = re.sub(r"[-:TZ]", "", text)
    if _DIGITS.match(digits) is None:
        raise ConfigError(f"{text!r} is not a time: give one such as 2024 or 2024-02-29T10:00:00Z")
    return digits


def _matches(text: str | None, patterns: Iterable[re.Pattern[str]]) -> bool:
    return text is not None and any(pattern.match(text) for pattern in patterns)


def _is_below(host: str | None, wanted: Iterable[str]) -> bool:
    """Whether it is one of these hosts, or below one."""
    return host is not None and any(host == one or host.endswith(f".{one}") for one in wanted)


Value = str | int | None
_HTTP = "http:"
_PLACES: dict[str, Callable[[Record, str], Value]] = {
    "offset": lambda record, _: record.offset,
    "length": lambda record, _: record.length,
    "filename": lambda _, filename: filename,
    "http:status": lambda record, _: record.http.status if record.http is not None else None,
    WARC_TARGET_URI_KEY: lambda record, _: record.target_uri,
}


@dataclass(frozen=True, slots=True)
class RecordField:
    """One field; `name` as it was asked for."""

    name: str

    def of(self, record: Record, filename: str) -> Value:
        """Its value as written, the first of that name; None where the record has none."""
        name = self.name.lower()
        place = _PLACES.get(name)
        if place is not None:
            return place(record, filename)
        if not name.startswith(_HTTP):
            return record.header.field(name)
        return record.http.get(name[len(_HTTP) :]) if record.http is not None else None


def fields_of(text: str) -> tuple[RecordField, ...]:
    """The fields in a list with commas.  Raises ConfigError for what is the name of none."""
    names = [name.strip() for name in text.split(",")]
    for name in names:
        bare = name[len(_HTTP) :] if name.lower().startswith(_HTTP) else name
        if not bare or any(char.isspace() or char == ":" for char in bare):
            raise ConfigError(
                f"--fields has {name!r}, and should have names such as offset, warc-date, "
                "http:status, http:content-type"
            )
    return tuple(map(RecordField, names))
