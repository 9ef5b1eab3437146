"""The pairs of a run as static pages, which run nothing archived and fetch nothing.

    DIR/index.html, page-2.html, …      a number of pairs each, the worst first
    DIR/report.css
    DIR/report.js, pairs.js             filters, and numbers to filter by; no archived text

Images are the run's files next to the pages, loaded when scrolled to.  Without its script a page
shows all of its pairs.

Pairs are filtered by verdict, kind of pair, causes, and what people settled.  A cause is a reason
without what is particular to its page: what stands before its colon, numbers left out.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import jinja2

from pinakes.access.display import URL_CHARACTERS, display_text, stylesheet
from pinakes.counts import count_of
from pinakes.qa.results import JudgedPair, Verdict, is_image_name, kind_of_pair, side_names
from pinakes.qa.run.run_folder import Extent

PAIRS_A_PAGE = 50
STYLE = "report.css"
SCRIPT = "report.js"
PAIRS = "pairs.js"
_NAMED_MISSES = 10


def write_report(
    folder: Path,
    pairs: Sequence[JudgedPair],
    *,
    title: str,
    extent: Extent | None = None,
    labels: Mapping[int, str] | None = None,
) -> list[str]:
    """Write the pages next to the run's images; their names.  Removes pages of earlier reports.

    `extent` is None if the size of the sample is unknown.  `labels` are what people settled, by a
    pair's place in `pairs`; None if no one asked.
    """
    template = _template()
    for old in folder.glob("page-*.html"):
        old.unlink()
    count = max(1, -(-len(pairs) // PAIRS_A_PAGE))
    names = [_name(number) for number in range(count)]
    filters = filters_of(pairs, labels)
    for number, name in enumerate(names):
        first = number * PAIRS_A_PAGE
        page = template.render(
            title=title,
            names=names,
            number=number,
            first=first,
            shown=pairs[first : first + PAIRS_A_PAGE],
            total=len(pairs),
            size=PAIRS_A_PAGE,
            filters=filters,
            first_of=_first_of(filters),
            labels=labels,
            not_captured=extent.not_captured if extent is not None else None,
            summary=summary(pairs),
            named_misses=_NAMED_MISSES,
        )
        (folder / name).write_text(page, encoding="utf-8")
    (folder / STYLE).write_text(stylesheet("pinakes.qa.report", STYLE), encoding="utf-8")
    (folder / SCRIPT).write_bytes(files(__package__).joinpath(SCRIPT).read_bytes())
    numbers = json.dumps(filters.pairs, separators=(",", ":"))
    (folder / PAIRS).write_text(f"const PAIRS = {numbers};\n", encoding="ascii")
    return names


def _first_of(filters: Filters) -> dict[tuple[int, int], int]:
    """The first pair of each verdict and kind, where there is one."""
    first: dict[tuple[int, int], int] = {}
    for number, (verdict, kind, *_) in enumerate(filters.pairs):
        first.setdefault((verdict, kind), number)
    return first


def summary(pairs: Sequence[JudgedPair]) -> dict[str, list[tuple[Verdict, int, float]]]:
    """Pairs, and the pages they represent, by kind of pair and verdict."""
    found: dict[str, dict[Verdict, list[float]]] = {}
    for pair in pairs:
        weights = found.setdefault(kind_of_pair(pair.result), {})
        weights.setdefault(pair.result.verdict, []).append(pair.weight)
    return {
        kind: [(one, len(weights.get(one, ())), sum(weights.get(one, ()))) for one in VERDICTS]
        for kind, weights in sorted(found.items())
    }


def _plain(value: object) -> object:
    """Archived text, made safe to display."""
    is_text = isinstance(value, str) and not hasattr(value, "__html__")  # of a macro
    return display_text(str(value), URL_CHARACTERS) if is_text else value


def _name(number: int) -> str:
    return "index.html" if number == 0 else f"page-{number + 1}.html"


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["image_name"] = lambda name: name is not None and is_image_name(name)
    environment.globals["side_names"] = side_names
    environment.globals["count_of"] = count_of
    text = files(__package__).joinpath("report.html").read_text("utf-8")
    return environment.from_string(text)


VERDICTS = tuple(sorted(Verdict, key=lambda verdict: -verdict.gravity))
OPEN = "not settled"
_MOST_CAUSES = 40
_CAUSE_CHARACTERS = 60
_NUMBER = re.compile(r"\d[\d.,]*\s?%?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """The values of each filter, and of each pair its places among them.

    `causes` are those of most pairs first; a pair has any number of them.  `settled` is empty if
    nothing is known of a review.
    """

    verdicts: Sequence[str]
    kinds: Sequence[str]
    causes: Sequence[str]
    settled: Sequence[str]
    pairs: Sequence[tuple[int, int, tuple[int, ...], int]]


def filters_of(pairs: Sequence[JudgedPair], labels: Mapping[int, str] | None = None) -> Filters:
    """`labels` are what people settled, by a pair's number; None if that is unknown."""
    kinds = sorted({kind_of_pair(pair.result) for pair in pairs})
    found = [_causes(pair) for pair in pairs]
    counts = Counter(cause for causes in found for cause in causes)
    causes = [cause for cause, _ in counts.most_common(_MOST_CAUSES)]
    settled = [] if labels is None else [OPEN, *sorted(set(labels.values()))]
    verdicts = [verdict.value for verdict in VERDICTS]
    places = {name: number for number, name in enumerate(causes)}
    return Filters(
        verdicts=verdicts,
        kinds=kinds,
        causes=causes,
        settled=settled,
        pairs=[
            (
                verdicts.index(pair.result.verdict.value),
                kinds.index(kind_of_pair(pair.result)),
                tuple(sorted(places[cause] for cause in named if cause in places)),
                settled.index(labels.get(number, OPEN)) if labels is not None else 0,
            )
            for number, (pair, named) in enumerate(zip(pairs, found, strict=True))
        ],
    )


def _causes(pair: JudgedPair) -> set[str]:
    return {cause for reason in pair.result.reasons if (cause := cause_of(reason))}


def cause_of(reason: str) -> str:
    """What a reason has in common with those of other pages; empty if nothing."""
    words = _NUMBER.sub("", reason.partition(":")[0])
    return " ".join(words.split())[:_CAUSE_CHARACTERS].strip(" ,;()")
