"""A store from Python: captures, payloads, manifest lines; and its duplicates.

Layer: above `profile`; exported as `pinakes.open_store`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from pinakes import SOFTWARE
from pinakes.acts.actor import Actor
from pinakes.application.deleting import purge_crawl, remove_crawl, withdraw_captures
from pinakes.catalog.captures import Placed, get_captures, place_captures, scan_captures_of
from pinakes.catalog.crawl_rows import CANCELLED, CANCELLING, OPEN, require_crawl
from pinakes.catalog.lookup import DEFAULT_LIMIT, answer_all
from pinakes.catalog.payloads import open_body, read_body
from pinakes.config import load_configuration
from pinakes.dedupe.run.collection import Collection
from pinakes.dedupe.run.collection_runs import COMPARE, CollectionRuns, OldGenerations
from pinakes.dedupe.run.old_generations import Dropped
from pinakes.dedupe.run.run_report import DedupeReport, DedupeRequest
from pinakes.dedupe.write.refs import DEFAULT_MIN_SAVING_BYTES
from pinakes.deletion.requests import (
    CANCEL,
    FORCE,
    PROMOTE,
    REFUSE,
    REMOVE,
    WITHDRAW,
    DeletionReport,
    PurgeRequest,
    WithdrawalReport,
    WithdrawalRequest,
)
from pinakes.errors import ConfigError, InputRefused, PinakesError
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.index.manifest import ManifestLine
from pinakes.index.urlkey import urlkey
from pinakes.profile import Stores, open_stores
from pinakes.warc.dates import format_17, parse_date
from pinakes.warc.digest import Digest, parse_digest, resembles_digest
from pinakes.warc.header import shown
from pinakes.warc.record import CONTENT_LIMIT_BYTES, Record


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


@dataclass(frozen=True, slots=True, kw_only=True)
class DedupeRun:
    """What one run of `Store.dedupe` did.

    `left_full` counts duplicates that stayed full, by reason; `dropped` are the old generations
    that were deleted; `problems` are files, bodies and records that took no part, or stayed as they
    are, and that somebody must look at.
    """

    run: str
    files: int
    revisits: int
    saved_bytes: int
    left_full: Mapping[str, int]
    dropped: tuple[str, ...]
    problems: tuple[PinakesError, ...]


class Store:
    """An open store; get one from `open_store`."""

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
            rows, urlkey(url), start_time=_digits(start), stop_time=_digits(stop)
        )
        return _flat(place_captures(rows, found))

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
        captures = tuple(_flat(match.placed for match in answer.matches))
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

    def dedupe(
        self,
        crawl: str | None = None,
        *,
        collection: str = "default",
        compare: str = "bytes",
        sample_bytes: float = 0.001,
        seed: str = "",
        min_saving_bytes: int | None = DEFAULT_MIN_SAVING_BYTES,
        min_file_saving: float = 0.01,
        drop_old: timedelta | None = None,
    ) -> list[DedupeRun]:
        """Write duplicates as revisits, as `pinakes dedupe` does: of a crawl, against all before
        it, or of all crawls of a collection.

        The options are those of the verb.  With `drop_old` the generations that were replaced so
        long ago are deleted, once what they hold was read elsewhere.  Killed anywhere, the next
        call completes what was begun: then there are two runs.

        Raises:
            ConfigError: an unknown crawl or way to compare.
            Conflict: another act works on the collection, or did not finish.
            DigestMismatch: all crawls are asked for, and the catalogue has lost some.
            StoreUnavailable: the disk is full, or a file cannot be read.
        """
        _require_one_of("compare", compare, COMPARE)
        rows, archive, actor = self._stores.rows, self._stores.archive, Actor()
        if crawl is not None:
            collection = require_crawl(rows, crawl).facts.collection
        dropped: list[Dropped] = []
        old = None
        if drop_old is not None:
            old = OldGenerations(
                rows=rows,
                archive=archive,
                actor=actor,
                grace_ms=drop_old // timedelta(milliseconds=1),
                on_dropped=dropped.append,
            )
        runs = CollectionRuns(
            rows=rows,
            archive=archive,
            runs_folder=self._stores.runs_folder,
            actor=actor,
            software=SOFTWARE,
            old=old,
        )
        request = DedupeRequest(
            collection=collection,
            crawl=crawl,
            compare=compare != "none",
            sample_bytes=sample_bytes if compare == "sha256" else None,
            seed=seed,
            min_saving_bytes=min_saving_bytes,
            min_file_saving=min_file_saving,
        )
        done = []
        for report in runs.dedupe(request):
            done.append(_run_of(report, dropped))
            dropped.clear()
        return done

    def remove(self, crawl: str, *, plan: bool = False) -> DeletionReport:
        """Delete a crawl that no other refers to: an open one as `pinakes crawl cancel` does, a
        committed one as `pinakes crawl remove`.

        With `plan` nothing is changed, and the report says what would be.  Where `references`
        prevent it, nothing is.  Killed anywhere, the same call completes it.

        Raises:
            ConfigError: the crawl does not exist, or is going otherwise.
            Conflict: another act works on its collection, or did not finish.
        """
        entry = require_crawl(self._stores.rows, crawl)
        how = CANCEL if entry.state in (OPEN, CANCELLING, CANCELLED) else REMOVE
        return remove_crawl(self._stores, crawl, how, plan=plan)

    def purge(
        self, crawl: str, *, references: str = "refuse", plan: bool = False
    ) -> DeletionReport:
        """Delete a crawl, and see to what refers to it, as `pinakes crawl purge` does.

        `references`, `plan`: `refuse`, `promote` or `force`, as for the verb; as for `remove`.
        Raises as `remove`.
        """
        _require_one_of("references", references, (REFUSE, PROMOTE, FORCE))
        request = PurgeRequest(crawl=crawl, references=references)
        return purge_crawl(self._stores, request, plan=plan)

    def withdraw(
        self,
        targets: Iterable[str],
        *,
        reason: str,
        by: str,
        references: str = "promote",
        plan: bool = False,
    ) -> list[WithdrawalReport]:
        """Take captures down, as `pinakes withdraw` does: a report for each collection.

        `targets` are keys of captures, digests of bodies, or URLs; `reason` and `by` (who asks)
        are kept in the store.  `references`: `promote` or `withdraw`, as for the verb.  With `plan`
        nothing is changed.  Killed anywhere, the same call completes it.

        Raises:
            ConfigError: no reason is given, or a digest is malformed.
            InputRefused: nothing is known by one of the targets.
            Conflict: another act works on a collection, or a backup holds files of the store.
        """
        _require_one_of("references", references, (PROMOTE, WITHDRAW))
        if not (plan or (reason.strip() and by.strip())):
            raise ConfigError("say why, and who asks for it: both are kept in the store")
        request = WithdrawalRequest(
            targets=tuple(targets), reason=reason, by=by, references=references
        )
        return list(withdraw_captures(self._stores, request, plan=plan))

    def _placed(self, capture: Capture) -> Placed:
        """Where it is now: the file may have been rewritten since it was found."""
        rows = self._stores.rows
        found = get_captures(rows, [capture.key.encode("ascii")])
        placed = next(place_captures(rows, found.values()), None)
        if placed is None:
            raise InputRefused("no such capture", file=capture.key)
        return placed


@contextmanager
def open_store(folder: str | Path) -> Iterator[Store]:
    """Open the embedded store in a folder; `Raises` ConfigError if there is none."""
    configuration = load_configuration(
        options={"profile": "embedded", "store": str(folder)}, environment={}, folder=Path("/")
    )
    with open_stores(configuration) as stores:
        yield Store(stores)


def _require_one_of(name: str, value: str, values: Iterable[str]) -> None:
    if value not in values:
        raise ConfigError(f"{name} is {value!r}, and should be one of {', '.join(values)}")


def _run_of(report: DedupeReport, dropped: Iterable[Dropped]) -> DedupeRun:
    return DedupeRun(
        run=report.run,
        files=report.files,
        revisits=report.refs.records,
        saved_bytes=report.refs.saved_bytes,
        left_full=dict(report.refs.left_full),
        dropped=tuple(one.name for one in dropped),
        problems=tuple(report.amiss),
    )


def _digits(time: str | datetime) -> str:
    if not isinstance(time, datetime):
        digits = re.sub("[-:TZ]", "", str(time))
        if not re.fullmatch("[0-9]{0,17}", digits):
            raise ConfigError(f"{time!r} is not a time: give a datetime, or one such as 2024-02-29")
        return digits
    return format_17(time if time.tzinfo is not None else time.replace(tzinfo=timezone.utc))


def _flat(captures: Iterable[Placed]) -> Iterator[Capture]:
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
