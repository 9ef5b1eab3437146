"""Crawlers that report what they capture, and what is left of that in a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from landed_stores import sha1_of

from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.catalog.reported import Report, open_scope, put_reports
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.hbase_schema.seen_cells import SeenCapture
from pinakes.row_store.port import RowStore
from pinakes.warc.digest import parse_digest


def report_of(body: bytes, url: str, date: str) -> Report:
    digest = parse_digest(sha1_of(body))
    assert digest is not None
    return Report(digest=digest, seen=SeenCapture(url=url, date=date, size=len(body)))


def report(
    rows: RowStore, crawl: str, reports: Iterable[Report], *, collection: str = "default"
) -> None:
    """As the server does it: an unknown crawl begins."""
    actor = Actor()
    ensure_crawl(
        rows,
        crawl,
        CrawlFacts(collection=collection, source="reports"),
        act=actor.new_act("report"),
        act_time_ms=actor.now_ms(),
        reopens=False,
    )
    put_reports(rows, open_scope(rows, crawl), list(reports))


def traces(rows: RowStore) -> Iterator[tuple[bytes, set[bytes]]]:
    """Every row of `crawls` but those of leases: which columns it has."""
    for row in rows.scan("crawls"):
        columns = set(row.cells) - {b"l:lease"}
        if columns:
            yield row.key, columns
