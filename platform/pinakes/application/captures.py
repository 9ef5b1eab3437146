"""Captures as Python users see them: flat values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone

from pinakes.catalog.captures import Placed
from pinakes.errors import ConfigError
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.warc.dates import format_17, parse_date
from pinakes.warc.header import shown


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
