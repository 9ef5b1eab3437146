"""Browsertrix's keys in a Redis, and the values at them.

Source: browsertrix-crawler 1.14.1 (2f9a57d), docs/docs/develop/dedupe.md, "Deduplication
Architecture" (`documented`), and src/util/state.ts, `RedisDedupeIndex` (`code`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from pinakes.errors import MalformedRecord
from pinakes.warc.dates import parse_digits_date
from pinakes.warc.digest import Digest, parse_digest

COMMITTED_CRAWLS, OPEN_CRAWLS = b"allcrawls", b"uncommittedcrawls"
CANCELED = b"canceledcrawls"
ALL_COUNTS, DONE_WACZS, LAST_UPDATE = b"allcounts", b"src:d", b"last_update_ts"
CODE, DOCUMENTED = "code", "documented"
MERGED = {CODE: b"alldupes", DOCUMENTED: b"allhashes"}
"""By spelling, the merged index: digest to crawl."""
SUMMED = ("totalCrawlSize", "totalUrls", "dupeUrls", "conservedSize")
"""What is counted for each crawl, and summed in `allcounts`."""
_ENTRY = re.compile(r"([0-9]{1,9}) ([!-~]{4,30}) ([^ \x00-\x1f\x7f]+) ([0-9]{1,15})\Z", re.ASCII)
_MOST_VALUE_BYTES = 1 << 16


class CrawlKeys(NamedTuple):
    """The keys of one crawl: digest to entry, its WACZ files, what it counts."""

    hashes: bytes
    waczs: bytes
    counts: bytes


class DigestEntry(NamedTuple):
    """The capture that has a digest: the number of its WACZ file in the crawl's list, its time (14
    digits, 17 with milliseconds), its URL, the bytes of its record."""

    wacz: int
    time: str
    url: str
    size: int


class ListedFile(NamedTuple):
    """A WACZ file in a crawl's list; `sha256` (bare hex) and `size` are None until it is there."""

    name: str
    sha256: str | None = None
    size: int | None = None


def keys_of(crawl: str) -> CrawlKeys:
    """The keys of a crawl."""
    name = crawl.encode("utf-8", "surrogateescape")
    return CrawlKeys(b"h:%b" % name, b"c:%b:wacz" % name, b"h:%b:counts" % name)


def digest_field(text: str, spelling: str) -> str:
    """A digest as a field: with its label, or as the code asks, without."""
    return text if spelling == DOCUMENTED else text.rpartition(":")[2]


def parse_field(field: bytes) -> Digest:
    """The digest of a field, in either spelling; Raises MalformedRecord."""
    digest = parse_digest(field.decode("ascii", "replace"))
    if digest is None or digest.algorithm not in ("sha1", "sha256"):
        raise MalformedRecord(f"no digest of SHA-1 or SHA-256: {field[:100]!r}")
    return digest


def format_entry(entry: DigestEntry) -> bytes | None:
    """The value of a digest; None if its URL cannot stand there: blanks part the fields, and
    clients read UTF-8."""
    text = f"{entry.wacz} {entry.time} {entry.url} {entry.size}"
    try:
        return text.encode("utf-8") if _ENTRY.match(text) else None
    except UnicodeEncodeError:
        return None


def parse_entry(value: bytes) -> DigestEntry:
    """The entry of a value; Raises MalformedRecord.

    The documentation does not say how a date is written: the code writes its digits, and an ISO
    8601 date is taken, too.
    """
    match = None
    if len(value) <= _MOST_VALUE_BYTES:
        try:
            match = _ENTRY.match(value.decode("utf-8"))
        except UnicodeDecodeError:
            match = None
    if match is None:
        raise MalformedRecord(f"not `number date URL size`: {value[:100]!r}")
    number, date, url, size = match.groups()
    time = re.sub(r"[-:TZ.]", "", date)
    if not (14 <= len(time) <= 23 and parse_digits_date(time[:17]) is not None):
        raise MalformedRecord(f"not a date: {date!r}")
    return DigestEntry(int(number), time[:17], url, int(size))


def format_listed(file: ListedFile) -> bytes:
    """A member of the list of WACZ files, without what is not known, as the code writes it."""
    fields = {"filename": file.name, "hash": file.sha256, "size": file.size}
    known = {name: value for name, value in fields.items() if value is not None}
    return json.dumps(known, separators=(",", ":"), ensure_ascii=False).encode(
        "utf-8", "surrogateescape"
    )


def parse_listed(value: bytes) -> ListedFile:
    """A WACZ file of the list; Raises MalformedRecord if it has no name, or a false size."""
    try:
        given = json.loads(value.decode("utf-8"))
        name, size = given["filename"], given.get("size")
        is_text = isinstance(name, str) and 0 < len(name) <= _MOST_VALUE_BYTES
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        is_text, size = False, None
    if not is_text or not (size is None or (type(size) is int and size >= 0)):
        raise MalformedRecord(f"no WACZ file: {value[:100]!r}")
    digest = parse_digest(str(given.get("hash") or ""))
    is_sha256 = digest is not None and digest.algorithm == "sha256"
    return ListedFile(name, digest.hex if digest is not None and is_sha256 else None, size)


def parse_counts(fields: Mapping[bytes, bytes]) -> dict[str, int]:
    """The counts of a crawl; Raises MalformedRecord if one is no number."""
    try:
        named = {name: fields[name.encode()] for name in SUMMED if name.encode() in fields}
        return {name: int(value) for name, value in named.items()}
    except ValueError as error:
        raise MalformedRecord(f"a count is no number: {error}") from error
