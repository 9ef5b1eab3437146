"""Metrics in Prometheus' text format: the values of the views, and their age.

Source: Prometheus, "Exposition formats"; docs/operations.md explains each metric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from pinakes.catalog.file_counts import CrawlTotals
from pinakes.catalog.run_rows import RUNNING
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.ingest import tally

from .landing_view import Landing
from .recent import CachedState
from .views import StoreHealth

Labels = TypeVar("Labels", bound="tuple[str, ...]")
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class PrecomputedMetrics(Collector):
    """A collector of metrics computed beforehand."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = list(metrics)

    def collect(self) -> Iterator[Metric]:
        yield from self._metrics


def exposed(metrics: Iterable[Metric]) -> bytes:
    """The metrics as text for Prometheus."""
    registry = CollectorRegistry()
    registry.register(PrecomputedMetrics(metrics))
    return generate_latest(registry)


def gauge(name: str, words: str, samples: Mapping[Labels, float], *labels: str) -> Metric:
    """A gauge with a sample for each tuple of label values."""
    metric = GaugeMetricFamily(f"pinakes_{name}", words, labels=labels)
    for values, number in samples.items():
        metric.add_metric(list(values), number)
    return metric


def counter(name: str, words: str, samples: Mapping[Labels, float], *labels: str) -> Metric:
    """The same for a counter, to whose name `_total` is added."""
    metric = CounterMetricFamily(f"pinakes_{name}", words, labels=labels)
    for values, number in samples.items():
        metric.add_metric(list(values), number)
    return metric


def tally_metrics(
    prefix: str, tallies: Mapping[Labels, Mapping[str, int]], *labels: str
) -> Iterator[Metric]:
    """The values of tallies, with these labels: of runs, or of one job."""

    def count(name: str, words: str, names: Mapping[str, str], label: str) -> Metric:
        samples = {
            (*values, word): counts.get(key, 0)
            for values, counts in tallies.items()
            for key, word in names.items()
        }
        return counter(f"{prefix}_{name}", words, samples, *labels, label)

    def total(name: str, words: str, key: str) -> Metric:
        samples = {values: counts.get(key, 0) for values, counts in tallies.items()}
        return counter(f"{prefix}_{name}", words, samples, *labels)

    outcomes = {
        tally.FILES: "landed",
        tally.KNOWN: "known",
        tally.REFUSED: "refused",
        tally.FAILED: "failed",
    }
    yield count("files", "Files that an ingest is done with, by outcome.", outcomes, "outcome")
    yield total("records", "Records landed.", tally.RECORDS)
    yield total("bytes", "Bytes of archive files landed.", tally.BYTES)
    yield total("damaged", "Stretches of archive files that are no record.", tally.DAMAGED)
    yield total(
        "digest_mismatches", "Files whose stored copy was not what was read.", tally.MISMATCHES
    )
    yield retries(f"{prefix}_retries", tallies, *labels)


def retries(name: str, tallies: Mapping[Labels, Mapping[str, int]], *labels: str) -> Metric:
    """Number of repeated calls to stores."""
    stores = {tally.ROW_RETRIES: "rows", tally.ARCHIVE_RETRIES: "archive"}
    samples = {
        (*values, store): counts.get(key, 0)
        for values, counts in tallies.items()
        for key, store in stores.items()
    }
    return counter(name, "Calls to a store that were made again.", samples, *labels, "store")


def store_metrics(health: Iterable[StoreHealth]) -> Iterator[Metric]:
    """Health of the stores."""
    stores = list(health)
    yield gauge(
        "store_reachable",
        "Whether a store answers (1) or not (0).",
        {(store.store,): store.reachable for store in stores},
        "store",
    )
    yield gauge(
        "store_probe_seconds",
        "How long a store's last answer took.",
        {(store.store,): store.took_s for store in stores if store.took_s is not None},
        "store",
    )


def view_metrics(views: Mapping[str, CachedState[object]]) -> Iterator[Metric]:
    """Age of the other metrics: `landing` (in progress) and `totals` (landed)."""
    for name, words, samples in (
        (
            "view_age_seconds",
            "How old what is shown here is; absent until it has been read.",
            {(name,): look.age_s for name, look in views.items() if look.age_s is not None},
        ),
        (
            "view_read_seconds",
            "How long reading it from the stores took.",
            {(name,): look.took_s for name, look in views.items() if look.took_s is not None},
        ),
        (
            "view_failed",
            "Whether the last attempt to read it failed (1).",
            {(name,): float(look.error is not None) for name, look in views.items()},
        ),
    ):
        yield gauge(name, words, samples, "view")


def landing_metrics(landing: Landing) -> Iterator[Metric]:
    """Files in flight, and running ingests."""
    states = Counter((crawl_of(f.file), f.state) for f in landing.flights)
    yield gauge(
        "inflight_files",
        "Files that land or leave, by state; stalled: no process works on them.",
        states,
        "crawl",
        "state",
    )
    oldest: dict[tuple[str, str], float] = {}
    for flight in landing.flights:
        if flight.since_ms is not None:
            key = (crawl_of(flight.file), flight.state)
            oldest[key] = min(oldest.get(key, float("inf")), flight.since_ms / 1000)
    yield gauge(
        "inflight_oldest_timestamp_seconds",
        "Since when the oldest of them is in flight.",
        oldest,
        "crawl",
        "state",
    )
    yield gauge(
        "inflight_truncated",
        "Whether more files are in flight than were counted.",
        {(): landing.more},
    )
    runs = {(run.entry.run, run.crawl or ""): run for run in landing.runs}
    yield gauge(
        "ingest_running",
        "Whether an ingest runs (1), or has ended or is not heard of (0).",
        {key: run.state == RUNNING for key, run in runs.items()},
        "run",
        "crawl",
    )
    yield gauge(
        "ingest_last_report_timestamp_seconds",
        "When an ingest was last heard of.",
        {
            key: run.entry.progress.at_ms / 1000
            for key, run in runs.items()
            if run.entry.progress is not None
        },
        "run",
        "crawl",
    )
    yield from tally_metrics(
        "ingest", {key: run.counts for key, run in runs.items()}, "run", "crawl"
    )


def crawl_metrics(landing: Landing, totals: Mapping[str, CrawlTotals]) -> Iterator[Metric]:
    """Landed files and records, by crawl."""
    collections = {entry.crawl: entry.facts.collection for entry in landing.crawls}
    known = {
        (crawl, collections[crawl]): crawl_totals
        for crawl, crawl_totals in totals.items()
        if crawl in collections
    }
    yield gauge(
        "crawl_state",
        "The state of a crawl (1 for the one it is in).",
        {(e.crawl, e.facts.collection, e.state): 1 for e in landing.crawls},
        "crawl",
        "collection",
        "state",
    )
    for name, words in (
        ("files", "Files that are stored."),
        ("stored_bytes", "Bytes of stored archive files, of their current generations."),
        ("old_bytes", "Bytes of older generations that have not been dropped."),
    ):
        held = {key: getattr(t.holdings, name) for key, t in known.items()}
        yield gauge(f"crawl_{name}", words, held, "crawl", "collection")
    for name, words in (
        ("files", "Files that have landed, ever."),
        ("records", "Records that have landed, ever."),
        ("captures", "Captures that have landed, ever."),
        ("bytes", "Bytes of archive files that have landed, ever."),
        ("damaged", "Stretches of landed files that are no record."),
        ("removed_files", "Files that were taken out again."),
    ):
        samples = {key: t.counts.get(name, 0) for key, t in known.items()}
        prefix = "" if name.startswith("removed") else "landed_"
        yield counter(f"crawl_{prefix}{name}", words, samples, "crawl", "collection")
    yield gauge(
        "crawl_latest_landing_timestamp_seconds",
        "When the landing of the latest file that has landed began.",
        {key: t.latest_ms / 1000 for key, t in known.items() if t.latest_ms is not None},
        "crawl",
        "collection",
    )
