"""How long a store takes to answer: a capture, the timeline of a URL, a list of digests."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

from bench.corpus import say
from pinakes.catalog.captures import get_captures, place_captures, scan_captures_of
from pinakes.catalog.lookup import answer_all
from pinakes.catalog.sidecar import SidecarRow
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import RowStore

CALLS = 500
DIGEST_CALLS = 20
DIGESTS = 1000


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
