"""How right models are on makers and families of faults that they were never shown.

    makers in 4 parts × families in 4 parts: each model is fitted to the pairs of 3 × 3 of these,
    and judges the pairs of the part that has neither

So each pair is judged once, by a model that saw neither its maker nor its family.  Noise and
unaltered pages have makers alone, and count with the part of families that their number gives.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from typing import NamedTuple

from bench.qa_training.recorded import PackagedSite
from pinakes.qa.results import Verdict
from pinakes.qa.training.figures import JudgedPair
from pinakes.qa.training.fitting import fit, judge_all
from pinakes.qa.training.labelled import LabelledPair, PairOf

PARTS = 4
AREAS = ((0.002, "< 0.2%"), (0.01, "0.2-1%"), (0.05, "1-5%"), (2.0, "more"))
_Z = 1.96
_GENERATORS = (
    "sphinx", "doxygen", "docbook", "javadoc", "haddock", "gtk-doc", "texi2", "makeinfo", "rdoc",
    "yard", "qdoc", "asciidoc", "pandoc", "latex2html", "hevea", "docutils", "mkdocs", "hugo",
    "jekyll", "epydoc", "pdoc", "ocamldoc", "dita", "libreoffice",
    "microsoft", "hotdoc", "oxygen", "tth", "lyx",
)  # fmt: skip
"""Words by which a page names what made it."""
_READ = 60_000
_MAKERS = (
    (re.compile("flickity|isotope-layout"), "metafizzy"),
    (re.compile("paper-kit|now-ui|material-kit|argon"), "creative-tim"),
    (re.compile("startbootstrap"), "startbootstrap"),
)
"""Of those that do not say it."""


class Row(NamedTuple):
    """A labelled pair, and what it counts as."""

    pair: LabelledPair
    maker: str
    area: float
    """The harmed share of the image; 0 without a fault."""

    @property
    def family(self) -> str | None:
        """Of its fault; None without one."""
        return self.pair.kind.split("+")[0] if self.pair.label == "dissimilar" else None


def maker_of(site: PackagedSite) -> str:
    """What, or who, made a site's pages: by what they say, else the package itself."""
    for pattern, name in _MAKERS:
        if pattern.match(site.name):
            return name
    for url in site.pages[:2]:
        record = site.record(url)
        text = (record.body if record is not None else b"")[:_READ].lower().decode("latin-1")
        for word in _GENERATORS:
            if word in text:
                return word
    return site.name


def judge_held_out(
    rows: Sequence[Row], name: PairOf, *, seed: int, parts: int = PARTS
) -> Iterator[tuple[Row, JudgedPair]]:
    """Each pair of a kind, judged by a model that was shown neither its maker nor its family."""
    mine = [row for row in rows if row.pair.pair == name]
    makers = _parts({row.maker for row in mine}, parts)
    families = _parts({row.family for row in mine if row.family is not None}, parts)

    def family_part(number: int, row: Row) -> int:
        return families[row.family] if row.family is not None else number % parts

    places = [(makers[row.maker], family_part(n, row)) for n, row in enumerate(mine)]
    for maker_part in range(parts):
        for part in range(parts):
            shown = [
                row.pair
                for row, (maker, family) in zip(mine, places, strict=True)
                if maker != maker_part and (row.family is None or family != part)
            ]
            asked = [
                row for row, place in zip(mine, places, strict=True) if place == (maker_part, part)
            ]
            model, _ = fit(shown, name, version="held-out", seed=seed)
            judged = judge_all(model, [row.pair for row in asked])
            yield from zip(asked, judged, strict=True)


def _parts(names: set[str], parts: int) -> dict[str, int]:
    """Names in so many parts of nearly one size, by a hash."""
    order = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())
    return {name: number % parts for number, name in enumerate(order)}


def tables(judged: Sequence[tuple[Row, JudgedPair]]) -> Iterator[str]:
    """What is right, in lines."""
    faults = [one for one in judged if one[0].family is not None]
    others = [one for one in judged if one[0].family is None]
    yield from _table(
        "no fault: not called dissimilar", others, _is_quiet, lambda row: row.pair.kind
    )
    yield from _table("seen faults: called dissimilar", faults, _is_found, _area)
    yield from _table("by family", faults, _is_found, lambda row: row.family or "")
    yield from _table("by maker", faults, _is_found, lambda row: row.maker)
    yield "\nconfidence: right"
    for low, high in (
        (0.5, 0.6),
        (0.6, 0.7),
        (0.7, 0.8),
        (0.8, 0.9),
        (0.9, 0.95),
        (0.95, 0.98),
        (0.98, 1.01),
    ):
        told = [(row, one) for row, one in judged if low <= _confidence(one) < high]
        right = sum((one.likely > 0.5) == (one.label == "dissimilar") for _, one in told)
        yield _line(f"{low:.2f}-{min(high, 1):.2f}", right, len(told))


def _confidence(judged: JudgedPair) -> float:
    return max(judged.likely, 1 - judged.likely)


def _is_quiet(judged: JudgedPair) -> bool:
    return judged.verdict is not Verdict.DISSIMILAR


def _is_found(judged: JudgedPair) -> bool:
    return judged.verdict is Verdict.DISSIMILAR


def _area(row: Row) -> str:
    return next(name for most, name in AREAS if row.area < most)


def _table(
    title: str,
    judged: Sequence[tuple[Row, JudgedPair]],
    is_right: Callable[[JudgedPair], bool],
    group: Callable[[Row], str],
) -> Iterator[str]:
    by: dict[str, list[bool]] = defaultdict(list)
    for row, one in judged:
        by[group(row)].append(is_right(one))
    yield f"\n{title}"
    for name, right in [*sorted(by.items()), ("all", [is_right(one) for _, one in judged])]:
        yield _line(name, sum(right), len(right))


def _line(name: str, right: int, of: int) -> str:
    low, high = wilson(right, of)
    return f"  {name:34}{right:5} of {of:<5}{low:6.1%} - {high:6.1%}"


def wilson(count: int, of: int) -> tuple[float, float]:
    """The interval of a share by Wilson's score, 95%."""
    if not of:
        return 0.0, 1.0
    share, z2 = count / of, _Z**2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = _Z * sqrt(share * (1 - share) / of + z2 / (4 * of * of)) / (1 + z2 / of)
    return max(0.0, middle - half), min(1.0, middle + half)
