"""How long a store takes to answer: a capture, the timeline of a URL, a list of digests."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from itertools import islice

from bench.corpus import say
from pinakes.catalog.captures import (
    COLUMNS,
    decode_capture,
    get_captures,
    iter_visible,
    place_captures,
    scan_captures_of,
)
from pinakes.catalog.lookup import answer_all
from pinakes.catalog.sidecar import SidecarRow
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_cells import InFlight
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import Delete, Put, RowStore

CALLS = 500
DIGEST_CALLS = 20
DIGESTS = 1000
PAGES = 100
PAGE_CAPTURES = 500
IN_FLIGHT = 1000


def quantiles_ms(calls: Sequence[Callable[[], object]]) -> str:
    """The median and the 99th of 100, in ms."""
    times = []
    for call in calls:
        begin = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - begin))
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return f"p50 {cuts[49]:.1f} ms, p99 {cuts[98]:.1f} ms ({len(times)} calls)"


def say_answers(rows: RowStore, known: Sequence[SidecarRow]) -> None:
    """Ask for some captures that are there, which should be spread over all of them."""
    some = known[:: max(1, len(known) // CALLS)][:CALLS]

    def capture(row: SidecarRow) -> None:
        if not get_captures(rows, [row.row_key or b""]):
            raise ValueError(f"{row.row_key!r} is not there")

    def timeline(row: SidecarRow) -> None:
        found = scan_captures_of(rows, urlkey(row.target_uri or ""))
        if not list(place_captures(rows, found)):
            raise ValueError(f"{row.target_uri} is not there")

    say("  capture by key: " + quantiles_ms([lambda row=row: capture(row) for row in some]))  # type: ignore[misc]
    say("  timeline: " + quantiles_ms([lambda row=row: timeline(row) for row in some]))  # type: ignore[misc]
    digests = [f"sha1:{row.sha1.hex()}" for row in known if row.sha1]
    calls = [digests[at::DIGEST_CALLS][:DIGESTS] for at in range(DIGEST_CALLS)]
    say(
        f"  lookup of {len(calls[0]):,} digests: "
        + quantiles_ms([lambda call=call: list(answer_all(rows, call)) for call in calls])  # type: ignore[misc]
    )


def say_pages(rows: RowStore, files: Sequence[str]) -> None:
    """Page through captures, with nothing in flight and with so many files, some of them these."""
    _page(rows, "nothing in flight")
    hidden = [*files[: IN_FLIGHT // 2]]
    hidden += [f"landing/{number:05d}.warc.gz" for number in range(IN_FLIGHT - len(hidden))]
    keys = [encode_file_key(name) for name in hidden]
    cells = {InFlight.COLUMN: encode_cell(InFlight(act="bench"))}
    rows.mutate("inflight", [Put(key, cells, None) for key in keys])
    _page(rows, f"{IN_FLIGHT:,} files in flight, {min(len(files), IN_FLIGHT // 2):,} of them here")
    rows.mutate("inflight", [Delete(key, None) for key in keys])


def _page(rows: RowStore, words: str) -> None:
    scanned = (decode_capture(row) for row in rows.scan("captures", columns=COLUMNS))
    found = (capture for capture in scanned if capture is not None)
    seen = iter_visible(rows, found, lambda capture: capture.facts.archive_file)

    def page() -> None:
        if len(list(islice(seen, PAGE_CAPTURES))) != PAGE_CAPTURES:
            raise ValueError("too few captures for so many pages")

    say(f"  pages of {PAGE_CAPTURES} captures, {words}: " + quantiles_ms([page] * PAGES))
