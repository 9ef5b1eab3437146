"""Plots of a study, as PNG; each in a light and in a dark palette.

Drawn without a display, and without matplotlib's global state.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pinakes.extras import missing_extra
from pinakes.mr_jobs.study.figures import CrawlFigures, Share, Study, percent

try:
    from matplotlib.figure import Figure
except ImportError as error:
    raise missing_extra(f"study -o needs {error.name}", "study") from error

_BARS = 15
_NAME_CHARACTERS = 40
_WIDTH_INCHES = 8.0
_DOTS_PER_INCH = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """Colours of one plot: of its ground, its words and lines, and its three kinds of bars."""

    ground: str
    text: str
    grid: str
    bars: tuple[str, str, str]


LIGHT = Palette(
    ground="#ffffff", text="#1d1c1a", grid="#ddd8ce", bars=("#14509e", "#c96a10", "#1e7d48")
)
DARK = Palette(
    ground="#201f1c", text="#ece9e2", grid="#3a372f", bars=("#8ab8f5", "#f0a35e", "#86d79b")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One plot: `name` is its file's, `table` the table that it shows, `words` say what of it."""

    name: str
    table: str
    words: str


PLOTS = (
    Plot(
        name="crawls",
        table="crawls",
        words="Of each crawl, in percent: captures that repeat a content of the same crawl, "
        "captures whose content the last crawl had, URLs that the last crawl had",
    ),
    Plot(
        name="scopes",
        table="scopes",
        words="Bytes of bodies that repeat, by what is taken for one content",
    ),
    Plot(name="by_host", table="host", words="Bytes of bodies that repeat, by host"),
    Plot(name="by_media_type", table="media_type", words="The same, by media type"),
    Plot(name="by_size", table="size", words="Captures by size of their bodies"),
    Plot(name="by_time", table="time", words="Captures by month"),
)


def draw(study: Study, plot: Plot, palette: Palette) -> bytes | None:
    """The plot as a PNG; None where there is nothing to show."""
    if plot.table == "crawls":
        return _crawls(study.crawls, palette) if study.crawls else None
    if plot.table == "scopes":
        return _bytes(study.scopes, palette) if study.scopes else None
    rows = study.tables.get(plot.table, ())
    if not rows:
        return None
    if plot.table in ("host", "media_type"):
        return _bytes(rows[:_BARS], palette)
    return _captures(rows, palette, upright=plot.table == "time")


def _crawls(crawls: Sequence[CrawlFigures], palette: Palette) -> bytes:
    with _Sheet(palette, rows=3 * len(crawls)) as sheet:
        titles = ("repeat within the crawl", "captures of the last crawl's", "URLs persistent")
        for number, (key, title) in enumerate(zip(crawls[0].shares, titles, strict=True)):
            places = [at + (number - 1) * 0.27 for at in range(len(crawls))]
            values = [crawl.shares[key] for crawl in crawls]
            sheet.bars(places, [v or 0.0 for v in values], number, title, height=0.25)
            for place, value in zip(places, values, strict=True):
                sheet.note(place, value or 0.0, "–" if value is None else f"{value:.1f}")
        sheet.names([crawl.crawl for crawl in crawls])
        sheet.axis("percent", largest=100.0)
    return sheet.png


def _bytes(shares: Sequence[Share], palette: Palette) -> bytes:
    largest = max(share.duplicate_bytes for share in shares)
    unit, factor = _unit(largest)
    with _Sheet(palette, rows=2 * len(shares)) as sheet:
        values = [share.duplicate_bytes / factor for share in shares]
        sheet.bars(range(len(shares)), values, 0, None, height=0.7)
        for at, share in enumerate(shares):
            part = percent(share.duplicate_bytes, share.body_bytes)
            sheet.note(at, values[at], f"{values[at]:,.1f}" + (f"  ({part:.0f}%)" if part else ""))
        sheet.names([share.name for share in shares])
        sheet.axis(f"{unit} that repeat (and their part of all)", largest=largest / factor)
    return sheet.png


def _captures(shares: Sequence[Share], palette: Palette, *, upright: bool) -> bytes:
    largest = max(share.captures for share in shares)
    with _Sheet(palette, rows=12 if upright else 2 * len(shares), upright=upright) as sheet:
        first = [share.captures - share.duplicates for share in shares]
        again = [share.duplicates for share in shares]
        sheet.bars(range(len(shares)), first, 0, "first of their content", height=0.7)
        sheet.bars(range(len(shares)), again, 1, "repeat", height=0.7, behind=first)
        if not upright:
            for at, share in enumerate(shares):
                part = percent(share.duplicates, share.captures)
                sheet.note(at, share.captures, f"{part:.0f}%" if part is not None else "")
        sheet.names([share.name for share in shares])
        sheet.axis("captures" + ("" if upright else " (and what part repeats)"), largest=largest)
    return sheet.png


def _unit(largest: int) -> tuple[str, int]:
    for unit, factor in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if largest >= factor:
            return unit, factor
    return "bytes", 1


class _Sheet:
    """Bars below each other, from the first at the top, or upright from the left; a context
    manager."""

    def __init__(self, palette: Palette, *, rows: int, upright: bool = False) -> None:
        self.png = b""
        self._upright = upright
        self._palette = palette
        height = min(max(1.6 + 0.17 * rows, 2.2), 40.0)
        self._figure = Figure(
            figsize=(_WIDTH_INCHES, height), facecolor=palette.ground, layout="constrained"
        )
        self._axes: Any = self._figure.add_subplot(facecolor=palette.ground)

    def __enter__(self) -> _Sheet:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            out = io.BytesIO()
            with warnings.catch_warnings():
                # A script that its font lacks is drawn as boxes; tables have the names.
                warnings.filterwarnings("ignore", "Glyph")
                self._figure.savefig(
                    out, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None}
                )
            self.png = out.getvalue()

    def bars(
        self,
        places: Sequence[float],
        values: Sequence[float],
        colour: int,
        title: str | None,
        *,
        height: float,
        behind: Sequence[float] | None = None,
    ) -> None:
        style = {"color": self._palette.bars[colour], "label": title, "zorder": 2}
        if self._upright:
            self._axes.bar(places, values, width=height, bottom=behind, **style)
        else:
            self._axes.barh(places, values, height=height, left=behind, **style)

    def note(self, place: float, value: float, words: str) -> None:
        self._axes.annotate(
            words,
            (value, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            color=self._palette.text,
        )

    def names(self, names: Sequence[str]) -> None:
        """The labels next to the bars; where there is no room for all, every n-th one."""
        step = -(-len(names) // (12 if self._upright else 100))
        shown = [_shortened(name) for name in names[::step]]
        ticks = range(0, len(names), step)
        # A $ begins mathematics in matplotlib.
        if self._upright:
            self._axes.set_xticks(ticks, shown, parse_math=False)
            self._axes.set_xlim(-0.7, max(len(names), 6) - 0.3)
        else:
            self._axes.set_yticks(ticks, shown, parse_math=False)
            self._axes.set_ylim(len(names) - 0.5, -0.5)

    def axis(self, title: str, *, largest: float) -> None:
        """The axis of the bars' lengths."""
        axes, palette = self._axes, self._palette
        if self._upright:
            axes.set_ylim(0, largest * 1.05 or 1)
            axes.set_ylabel(title, color=palette.text, fontsize=9)
        else:
            axes.set_xlim(0, largest * 1.15 or 1)
            axes.set_xlabel(title, color=palette.text, fontsize=9)
        lengths = axes.yaxis if self._upright else axes.xaxis
        lengths.set_major_formatter("{x:,.10g}")
        axes.tick_params(colors=palette.text, labelsize=9, length=0)
        lengths.grid(visible=True, color=palette.grid, linewidth=0.8, zorder=0)
        for side in axes.spines.values():
            side.set_visible(False)
        if axes.get_legend_handles_labels()[1]:
            self._figure.legend(
                loc="outside upper center",
                ncols=3,
                fontsize=9,
                frameon=False,
                labelcolor=palette.text,
            )


def _shortened(name: str) -> str:
    """A name that leaves room for its bar, without what cannot be drawn."""
    plain = "".join(c if c.isprintable() else "?" for c in name)
    return plain if len(plain) <= _NAME_CHARACTERS else plain[: _NAME_CHARACTERS - 1] + "…"


def drawn(study: Study, palette: Palette) -> Iterator[tuple[Plot, bytes]]:
    """Every plot that has something to show."""
    for plot in PLOTS:
        png = draw(study, plot, palette)
        if png is not None:
            yield plot, png
