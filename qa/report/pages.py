"""The pairs of a run as static pages: nothing archived runs in them, and nothing is fetched.

    DIR/index.html, page-2.html, …      so many pairs each, the gravest first
    DIR/report.css

Images are those of the run, beside the pages, and loaded when somebody scrolls there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import jinja2

from pinakes.qa.results.pair_line import JudgedPair
from pinakes.qa.results.pair_result import Verdict

PAIRS_A_PAGE = 50
STYLE = "report.css"
_NAMED_MISSES = 10


def write_report(folder: Path, pairs: Sequence[JudgedPair], *, title: str) -> list[str]:
    """Write the pages beside the run's images; their names.  Pages of an earlier report go."""
    template = _template()
    for old in folder.glob("page-*.html"):
        old.unlink()
    count = max(1, -(-len(pairs) // PAIRS_A_PAGE))
    names = [_name(number) for number in range(count)]
    for number, name in enumerate(names):
        first = number * PAIRS_A_PAGE
        page = template.render(
            title=title,
            names=names,
            number=number,
            first=first,
            shown=pairs[first : first + PAIRS_A_PAGE],
            total=len(pairs),
            summary=list(summary(pairs)),
            named_misses=_NAMED_MISSES,
        )
        # A lone surrogate of a URL is no UTF-8: it is shown as what it is not.
        (folder / name).write_text(page, encoding="utf-8", errors="replace")
    (folder / STYLE).write_bytes(files(__package__).joinpath(STYLE).read_bytes())
    return names


def summary(pairs: Sequence[JudgedPair]) -> Iterator[tuple[Verdict, int, float]]:
    """Of each verdict how many pages were looked at, and how many of the crawl they stand for."""
    counts: Counter[Verdict] = Counter()
    weights: dict[Verdict, float] = {}
    for pair in pairs:
        verdict = pair.result.verdict
        counts[verdict] += 1
        weights[verdict] = weights.get(verdict, 0.0) + pair.weight
    for verdict in (Verdict.DISSIMILAR, Verdict.UNCERTAIN, Verdict.SIMILAR):
        yield verdict, counts[verdict], weights.get(verdict, 0.0)


def _name(number: int) -> str:
    return "index.html" if number == 0 else f"page-{number + 1}.html"


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    text = files(__package__).joinpath("report.html").read_text("utf-8")
    return environment.from_string(text)
