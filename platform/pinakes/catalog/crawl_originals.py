"""What a crawl that runs may refer to: captures that landed, else those that it reported itself.

    digest ─▶ captures that landed (`originals`) ─▶ else reports of the asking crawl alone
              that answer stands                     of which nothing has landed yet,
                                                     at an address that nothing else has

A report is believed as far as it concerns the crawl that made it: what refers to a capture that
never lands is of that crawl, and named when it is committed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from pinakes.hbase_schema.capture_cells import CaptureFacts, ExternalLine
from pinakes.hbase_schema.capture_keys import encode_urlkey
from pinakes.hbase_schema.cells import decode_cell
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.hbase_schema.ranges import KeyRange, prefix_range
from pinakes.hbase_schema.seen_keys import SeenScope
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore

from .captures import TABLE as CAPTURES
from .copies import Traits
from .file_rows import hidden_among
from .originals import (
    ALL_OPEN,
    Asked,
    FoundOriginal,
    Original,
    OriginalFinder,
    Wants,
)
from .reported import (
    OwnReport,
    Report,
    find_open_scope,
    has_reports,
    landed_among,
    newest_reports_of,
    reports_at,
    reports_with,
)
from .visible_files import VisibleFile

_PIECE = 500
_MOST_COPIES = 32
"""With more captures of one digest, it is not checked which of them were reported."""
_MOST_OF_SECOND = 8
_NO_MARK = b"A" * 8


class CrawlFinder:
    """Finds originals for one crawler, as `OriginalFinder` does, which `landed` is.

    `crawl`, `collection`, `admits` and `wants` are what that was made with.
    """

    def __init__(
        self,
        store: RowStore,
        landed: OriginalFinder,
        *,
        collection: str | None,
        crawl: str | None,
        admits: Callable[[bytes, VisibleFile], bool],
        wants: Wants | None = None,
    ) -> None:
        self._store = store
        self._landed = landed
        self._collection = collection
        self._crawl = crawl if crawl != ALL_OPEN else None
        self._admits = admits
        self._wants = wants

    def iter_originals(self, keys: KeyRange | None = None) -> Iterator[list[Original]]:
        """Of those that landed alone: see `OriginalFinder.iter_originals`."""
        return self._landed.iter_originals(keys)

    def iter_found(self, asked: Iterable[Asked]) -> Iterator[FoundOriginal | None]:
        """A `FoundOriginal` for each, in order, and None wherever a piece of work is done; lazy.

        Beside the round trips of `OriginalFinder`: two where a crawl asks, and some five for a few
        hundred of its reports.
        """
        scope = self._scope()
        if scope is None:
            yield from self._landed.iter_found(asked)
            return
        iterator = iter(asked)
        while piece := list(islice(iterator, _PIECE)):
            found: list[FoundOriginal] = []
            for answer in self._landed.iter_found(piece):
                if answer is None:
                    yield None
                else:
                    found.append(answer)
            missing = [n for n, one in enumerate(found) if one == FoundOriginal()]
            reports = self._reports(scope, [piece[n] for n in missing])
            for n, report in zip(missing, reports, strict=True):
                found[n] = FoundOriginal(report=OwnReport(report, scope) if report else None)
            yield from found
            yield None

    def newest_reports(self, urlkey: bytes) -> list[Report]:
        """The last few reports of a urlkey by the crawl that asks, the latest first."""
        scope = self._scope()
        return newest_reports_of(self._store, scope, urlkey) if scope is not None else []

    def _scope(self) -> SeenScope | None:
        """Where the reports of the crawl that asks are; None if there are none for it."""
        scope = find_open_scope(self._store, self._crawl) if self._crawl is not None else None
        if scope is None or self._collection not in (None, scope.collection):
            return None
        return scope if has_reports(self._store, scope) else None

    def _reports(self, scope: SeenScope, asked: Sequence[Asked]) -> list[Report | None]:
        """For each a report that may be referred to: the earliest, at a URL the latest."""
        by_digest = reports_with(self._store, scope, {one.digest for one in asked if not one.url})
        candidates = [
            by_digest[one.digest] if one.url is None else self._at_url(scope, one) for one in asked
        ]
        admitted = [[r for r in some if self._may_see(scope, r)] for some in candidates]
        known = {report for some in admitted for report in some}
        # What has landed has its own answer, also that it is no original.
        landed = landed_among(self._store, scope, known, most_copies=_MOST_COPIES)
        fit = self._addressable(scope, known - landed)
        return [
            next((r for r in some if r in fit and self._is_wanted(r, one)), None)
            for one, some in zip(asked, admitted, strict=True)
        ]

    def _is_wanted(self, report: Report, one: Asked) -> bool:
        if self._wants is None:
            return True
        seen = report.seen
        # What it does not say is taken for wanted: nothing but this crawl refers to it.
        size = seen.size if seen.size is not None else 1 << 62
        traits = Traits(size, seen.mime, seen.status, report.second)
        return self._wants(traits, one.url is not None) is None

    def _at_url(self, scope: SeenScope, asked: Asked) -> list[Report]:
        newest = newest_reports_of(self._store, scope, encode_urlkey(urlkey(asked.url or "")))
        return [r for r in newest if (r.digest, r.seen.url) == (asked.digest, asked.url)]

    def _may_see(self, scope: SeenScope, report: Report) -> bool:
        key = b"%b %b %b" % (report.urlkey, report.second.encode() + b"000", _NO_MARK)
        place = VisibleFile(
            archive_file=scope.crawl, generation=1, collection=scope.collection, crawl=scope.crawl
        )
        return self._admits(key, place)

    def _addressable(self, scope: SeenScope, reports: Collection[Report]) -> set[Report]:
        """Those at whose URL and second nothing else is known: no other body may be meant."""
        addresses = list({(report.urlkey, report.second) for report in reports})
        reported = reports_at(self._store, scope, addresses)
        occupied = self._occupied(scope, addresses)
        return {
            report
            for report in reports
            if not occupied[at := (report.urlkey, report.second)]
            and len({other.digest for other in reported[at]}) == 1
        }

    def _occupied(
        self, scope: SeenScope, addresses: Sequence[tuple[bytes, str]]
    ) -> Mapping[tuple[bytes, str], bool]:
        """Whether anything is in the catalogue at each of these addresses, hidden by rules or not.

        What is just landing in this crawl is not: it may be the capture that was reported.
        """
        ranges = [prefix_range(b"%b %b" % (key, second.encode())) for key, second in addresses]
        columns = [CaptureFacts.COLUMN, ExternalLine.COLUMN]
        rows = self._store.first_rows(CAPTURES, ranges, limit_rows=_MOST_OF_SECOND, columns=columns)
        files = [[_file_of(row.value(CaptureFacts.COLUMN)) for row in some] for some in rows]
        own = {f for some in files for f in some if f is not None and crawl_of(f) == scope.crawl}
        landing = hidden_among(self._store, own)
        return {
            address: any(file is None or file not in landing for file in some)
            for address, some in zip(addresses, files, strict=True)
        }


def _file_of(facts: bytes | None) -> str | None:
    """The archive file of a capture; None of a line of an archive that is elsewhere."""
    return decode_cell(CaptureFacts, facts).archive_file if facts is not None else None
