"""A study as people read it, on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timezone

from pinakes.cli.frame.output import printable
from pinakes.mr_jobs.study.figures import DEDUPE_SCOPE, CrawlFigures, Share, Study, percent

_FIRST = 5
_TITLES = {"host": "host", "media_type": "media type", "size": "size of the body", "time": "month"}


def format_study(study: Study) -> str:
    """The paper's table, scopes, and the first lines of the others."""
    parts = [_crawls(study.crawls), _shares("what is one content", study.scopes), _gains(study)]
    for name, rows in study.tables.items():
        few = rows if name == "size" else rows[-_FIRST:] if name == "time" else rows[:_FIRST]
        if rows:
            parts.append(_shares(_TITLES[name], few))
    if study.left_out:
        reasons = sorted(study.left_out.items(), key=lambda item: (-item[1], item[0]))
        lines = ["take no part, by reason", *(f"{n:>14,}  {printable(why)}" for why, n in reasons)]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _crawls(crawls: Sequence[CrawlFigures]) -> str:
    header = ("crawl", "collection", "mean date", "captures", "URLs")
    shares = ("% duplicates", "% of last crawl", "% URLs persistent")
    lines = [
        (
            printable(crawl.crawl),
            printable(crawl.collection),
            _date(crawl.mean_time),
            f"{crawl.captures:,}",
            f"{crawl.urls:,}",
            *(_percent(share) for share in crawl.shares.values()),
        )
        for crawl in crawls
    ]
    return _columns([(*header, *shares), *lines], left=3)


def _shares(title: str, shares: Iterable[Share]) -> str:
    header = (title, "captures", "duplicates", "%", "bytes of bodies", "of duplicates", "%")
    lines = [
        (
            printable(share.name),
            f"{share.captures:,}",
            f"{share.duplicates:,}",
            _percent(percent(share.duplicates, share.captures)),
            f"{share.body_bytes:,}",
            f"{share.duplicate_bytes:,}",
            _percent(percent(share.duplicate_bytes, share.body_bytes)),
        )
        for share in shares
    ]
    return _columns([header, *lines], left=1)


def _gains(study: Study) -> str:
    """What scopes would add to that of dedupe, or take from it."""
    lines = []
    for scope in study.scopes:
        more, more_bytes = study.gain(scope).values()
        if scope.name != DEDUPE_SCOPE:
            lines.append((scope.name, f"{more:+,}", f"{more_bytes:+,}"))
    return _columns([(f"against {DEDUPE_SCOPE}", "duplicates", "bytes"), *lines], left=1)


def _columns(rows: Sequence[Sequence[str]], *, left: int) -> str:
    """Rows with their cells below each other; the first `left` columns begin alike."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _date(moment: int | None) -> str:
    return "–" if moment is None else f"{datetime.fromtimestamp(moment, timezone.utc):%Y-%m-%d}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.1f}"
