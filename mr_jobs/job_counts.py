"""The counters of a job, as the reports of the verbs."""

from __future__ import annotations

from collections import Counter

from pinakes.dedupe.decide.counting import ProcessCount, ResolveCount
from pinakes.mr_jobs.driver.running import JobReport


def add_resolved(count: ResolveCount, report: JobReport) -> None:
    """By resolve_collisions."""
    counts = report.counts
    count.records += counts["records"]
    count.clusters += counts["clusters"]
    count.contents += counts["contents"]
    count.compared_bytes += counts["bytes compared"]
    count.believed += counts["believed"]
    count.second_digests_unread += counts["second digests unread"]
    count.skipped += _named(counts, "skipped")
    count.collisions += report.collisions
    count.problems += report.findings


def add_processed(count: ProcessCount, report: JobReport) -> None:
    """By flag_duplicates."""
    counts = report.counts
    count.originals += counts["originals"]
    count.duplicates += counts["duplicates"]
    count.duplicate_bytes += counts["duplicate bytes"]
    count.revisits += counts["revisits"]
    count.repeated += counts["repeated"]
    count.full += _named(counts, "full")
    count.skipped += _named(counts, "skipped")


def _named(counts: Counter[str], kind: str) -> Counter[str]:
    head = f"{kind}: "
    return Counter(
        {name.removeprefix(head): n for name, n in counts.items() if name.startswith(head)}
    )
