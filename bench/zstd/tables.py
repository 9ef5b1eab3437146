"""What was measured, as Markdown.  Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.results import laid_out, written

from .levels import GIGABYTE, LevelFigures
from .reading import ReadingFigures

LIMITS = {8: 0.74, 19: 0.56}
"""Of gzip, with the dictionary counted over 1 GB (issue 23)."""
INFLATED = "a record inflated, offset and length known; records"
READ = "a record read by its offset; records"
WHOLE = "a whole file read; MB"
READING_LIMITS = {INFLATED: 1.5, WHOLE: 1.0}
_LEVEL_HEAD = (
    *("level", "records", "gzip MB", "without", "MB/s", "× gzip -9", "with"),
    *("over the collection", "over 1 GB", "MB/s", "× gzip -9", "limit", ""),
)
_KIND_HEAD = ("kind", "records", "gzip MB", "without", "with")
_READING_HEAD = ("what; of it", "gzip/s", "Zstandard/s", "× gzip", "limit", "")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay rows out as one Markdown table."""
    lines = [tuple(head), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rule = tuple("-" * width for width in widths)
    return "\n".join(laid_out(line, widths) for line in (lines[0], rule, *lines[1:]))


def verdict(figure: float, limit: float | None, *, at_least: bool = False) -> str:
    """Whether a limit is kept; empty where there is none."""
    if limit is None:
        return ""
    return "kept" if (figure >= limit if at_least else figure <= limit) else "MISSED"


def level_table(
    pairs: Iterable[tuple[LevelFigures, LevelFigures]],
    gzip_speeds: Iterable[float],
    *,
    collection_bytes: int,
    files: int,
) -> str:
    """A line for each level: without a dictionary, and with one; how fast gzip was beside it, in
    MB/s of CPU."""
    rows = []
    for (without, with_it), gzip_speed in zip(pairs, gzip_speeds, strict=True):
        limit = LIMITS.get(with_it.level)
        over_a_gigabyte = with_it.ratio(of_bytes=GIGABYTE)
        rows.append(
            (
                str(with_it.level),
                f"{with_it.records:,}",
                f"{with_it.gzip_bytes / 1e6:.1f}",
                f"{without.records_ratio:.3f}",
                f"{without.mb_per_s:.1f}",
                _times(without.mb_per_s, gzip_speed),
                f"{with_it.records_ratio:.3f}",
                f"{with_it.ratio(of_bytes=collection_bytes, files=files):.3f}",
                f"{over_a_gigabyte:.3f}",
                f"{with_it.mb_per_s:.1f}",
                _times(with_it.mb_per_s, gzip_speed),
                "" if limit is None else f"≤ {limit}",
                verdict(over_a_gigabyte, limit),
            )
        )
    return table(_LEVEL_HEAD, rows)


def _times(speed: float, peer: float) -> str:
    return f"{speed / peer:.2f}" if peer else ""


def kind_table(kinds: Iterable[tuple[str, LevelFigures, LevelFigures]]) -> str:
    """A line for each media type, or type of record."""
    return table(
        _KIND_HEAD,
        (
            (
                kind,
                f"{with_it.records:,}",
                f"{with_it.gzip_bytes / 1e6:.2f}",
                f"{without.records_ratio:.3f}",
                f"{with_it.records_ratio:.3f}",
            )
            for kind, without, with_it in kinds
        ),
    )


def reading_table(figures: Iterable[tuple[str, ReadingFigures]]) -> str:
    """A line for each way to read."""
    rows = []
    for name, found in figures:
        limit = READING_LIMITS.get(name)
        rows.append(
            (
                name,
                f"{found.gzip_per_s.middle:,.0f}",
                f"{found.zstd_per_s.middle:,.0f}",
                written(found.times_gzip),
                "" if limit is None else f"≥ {limit:g}",
                verdict(found.times_gzip.middle, limit, at_least=True),
            )
        )
    return table(_READING_HEAD, rows)
