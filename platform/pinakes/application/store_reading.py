"""What a store holds, from Python: captures, bodies, manifest lines, crawls, files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone

from pinakes.catalog.captures import Placed, place_captures, scan_captures_of
from pinakes.catalog.crawl_rows import require_crawl
from pinakes.catalog.crawl_stats import CrawlStats, count_crawl
from pinakes.catalog.lookup import DEFAULT_LIMIT, answer_all
from pinakes.catalog.payloads import open_body, read_body
from pinakes.catalog.requirements import Requirements, read_requirements
from pinakes.dedupe.run.collection import Collection
from pinakes.errors import ConfigError, InputRefused
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.index.manifest import ManifestLine
from pinakes.index.urlkey import urlkey
from pinakes.profile import Stores
from pinakes.warc.dates import format_17, parse_date
from pinakes.warc.digest import Digest, parse_digest, resembles_digest
from pinakes.warc.header import shown
from pinakes.warc.record import CONTENT_LIMIT_BYTES, Record

from .crawls import CrawlSummary, StoredFile, list_crawls, list_files, list_lost
from .records import read_placed


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Capture:
    """One URL at one time, and where its record is now; None is unknown.

    `key` names it in the store, for `pinakes show` too.  `type`, `size` and `digest` (of the
    stored body, SHA-1 where it was computed) are as landed; `is_revisit` says whether the record
    is a revisit by now, a crawler's or one by `pinakes dedupe`, and `refers_to_…` to what.
    `date_text` is the date as written.
    """

    key: str
    url: str
    date: datetime | None
    date_text: str
    type: str
    status: int | None
    media_type: str | None
    size: int | None
    digest: str | None
    file: str
    offset: int
    length: int
    inner_offset: int
    crawl: str
    collection: str | None
    landed: datetime
    is_revisit: bool
    refers_to_url: str | None
    refers_to_date: datetime | None

    def __repr__(self) -> str:
        what = (self.date_text, self.status, self.media_type, self.digest)
        text = " ".join(str(part) for part in what if part is not None)
        return shown(f"<Capture {self.url} {text}{', a revisit' if self.is_revisit else ''}>")


@dataclass(frozen=True, slots=True, kw_only=True)
class LookupAnswer:
    """The first captures with a digest or URL, and whether there are more.

    Those of a URL are in order of time, those of a digest by collection, then by age.
    """

    query: str
    captures: tuple[Capture, ...]
    more: bool

    @property
    def known(self) -> bool:
        return bool(self.captures)

    @property
    def since(self) -> datetime | None:
        """When the first of these captures landed."""
        return min((capture.landed for capture in self.captures), default=None)


def digits_of(time: str | datetime) -> str:
    """The digits of a time as rows have them.  Raises ConfigError for what is no time."""
    if not isinstance(time, datetime):
        digits = re.sub("[-:TZ]", "", str(time))
        if not re.fullmatch("[0-9]{0,17}", digits):
            raise ConfigError(f"{time!r} is not a time: give a datetime, or one such as 2024-02-29")
        return digits
    return format_17(time if time.tzinfo is not None else time.replace(tzinfo=timezone.utc))


def flat(captures: Iterable[Placed]) -> Iterator[Capture]:
    """Each as Python users see it."""
    for placed in captures:
        capture, place = placed.capture, placed.location
        facts, mark = capture.facts, capture.dedupe
        to = mark if mark is not None and capture.is_duplicate else facts
        yield Capture(
            key=capture.key.decode("ascii"),
            url=facts.target_uri,
            date=parse_date(facts.date),
            date_text=facts.date,
            type=facts.type,
            status=facts.status,
            media_type=facts.media_type,
            size=facts.payload_size,
            digest=facts.payload_sha1 or facts.declared_digest,
            file=placed.file,
            offset=place.offset,
            length=place.length,
            inner_offset=place.inner_offset,
            crawl=crawl_of(facts.archive_file),
            collection=placed.collection,
            landed=datetime.fromtimestamp(capture.landed_ms / 1000, timezone.utc),
            is_revisit=facts.type == "revisit" or capture.is_duplicate,
            refers_to_url=to.refers_to_target_uri,
            refers_to_date=parse_date(to.refers_to_date or ""),
        )


class StoreReading:
    """What can be read of an open store; `pinakes.Store` is one that is also acted on."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def __repr__(self) -> str:
        return shown(f"<Store {self._stores.runs_folder.parent}>")

    def captures(
        self, url: str, *, start: str | datetime = "", stop: str | datetime = ""
    ) -> Iterator[Capture]:
        """The captures of a URL, in order of time; lazy.

        `url` is any spelling that has the same urlkey; `start` and `stop` (exclusive) are
        datetimes, or the beginning of a time, such as `2024` or `2024-02-29`.
        """
        rows = self._stores.rows
        found = scan_captures_of(
            rows, urlkey(url), start_time=digits_of(start), stop_time=digits_of(stop)
        )
        return flat(place_captures(rows, found))

    def lookup(self, query: str | Digest, *, limit: int = DEFAULT_LIMIT) -> LookupAnswer:
        """Whether a digest (SHA-1 or SHA-256, in any spelling) or a URL is known, where, and since.

        In all collections; at most `limit` captures.

        Raises:
            ConfigError: it was meant as a digest, and is none.
            InputRefused: a digest by another algorithm.
        """
        text = str(query)
        if resembles_digest(text) and parse_digest(text) is None:
            raise ConfigError(f"{text}: malformed digest: give sha1 or sha256, in Base32 or hex")
        [answer] = answer_all(self._stores.rows, [text], limit=limit)
        if isinstance(answer, InputRefused):
            raise answer
        captures = tuple(flat(match.placed for match in answer.matches))
        return LookupAnswer(query=text, captures=captures, more=answer.more)

    @contextmanager
    def record(self, capture: Capture) -> Iterator[Record]:
        """The record with the body of a capture: its own, or of a revisit its original's.

        Read it within the `with`.

        Raises:
            UnresolvedReference: the original of a revisit is not in the store.
        """
        with open_body(self._stores.rows, self._stores.archive, self._placed(capture)) as record:
            yield record

    def payload(self, capture: Capture) -> Iterator[bytes]:
        """The stored body of a capture, in pieces; `Raises` as `record`."""
        return read_body(self._stores.rows, self._stores.archive, self._placed(capture))

    def content(self, capture: Capture, *, limit_bytes: int | None = CONTENT_LIMIT_BYTES) -> bytes:
        """The body without chunks and content-codings; `Raises` as `record` and its `content`."""
        with self.record(capture) as record:
            return record.content(limit_bytes=limit_bytes)

    def text(self, capture: Capture, *, limit_bytes: int | None = CONTENT_LIMIT_BYTES) -> str:
        """The content as characters; `Raises` as `content`."""
        with self.record(capture) as record:
            return record.text(limit_bytes=limit_bytes)

    def manifest(self, collection: str) -> Iterator[ManifestLine]:
        """A manifest line per capture of a collection, from the sidecars."""
        return Collection(self._stores.rows, self._stores.archive, collection).lines()

    def crawls(self, *, counts: bool = False) -> Iterator[CrawlSummary]:
        """All crawls, by name; `counts` are those of Browsertrix, and cost reading sidecars.

        Raises:
            DigestMismatch: after the last, where the catalogue has lost crawls whose files it has.
        """
        yield from list_crawls(self._stores, counts=counts)
        for problem in list_lost(self._stores):
            raise problem

    def files(self, crawl: str) -> Iterator[StoredFile]:
        """The archive files of a crawl, by name; `Raises` ConfigError for an unknown crawl."""
        require_crawl(self._stores.rows, crawl)
        return list_files(self._stores, crawl)

    def stats(self, crawl: str) -> CrawlStats:
        """Counts of the records of a crawl by type, status and media type; reads its sidecars.

        `Raises` ConfigError for an unknown crawl.
        """
        require_crawl(self._stores.rows, crawl)
        return count_crawl(self._stores.rows, self._stores.archive, crawl)

    def requirements(self, crawl: str) -> Requirements:
        """What a crawl needs of others, and they of it, by file; `Raises` as `stats`."""
        collection = require_crawl(self._stores.rows, crawl).facts.collection
        return read_requirements(self._stores.rows, self._stores.archive, crawl, collection)

    def _placed(self, capture: Capture) -> Placed:
        """Where it is now: the file may have been rewritten since it was found."""
        return read_placed(self._stores, capture.key.encode("ascii"))
