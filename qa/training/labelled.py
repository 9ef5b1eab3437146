"""Labelled pairs, to which a model is fitted, and the table in which they ship.

site,kind,pair,label,FEATURE,...        CSV, gzip, one line a pair
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pinakes.errors import MalformedRecord
from pinakes.index.selection import host_of
from pinakes.qa.judging.model import model_name
from pinakes.qa.results import PairResult

PairOf = Literal["same-browser", "across-browsers"]
LEADING = ("site", "kind", "pair", "label")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """A pair with the known answer whether the second view shows a fault."""

    site: str
    """Folds are split by it, so that no site is on both sides."""
    features: Mapping[str, float]
    """As `compare.pairs` gives them, by name."""
    label: Literal["similar", "dissimilar"]
    pair: PairOf
    kind: str = "person"
    """The source of the label: `person`, or the kind of injected change."""


def read_table(file: Path) -> list[LabelledPair]:
    """The pairs of a table.

    Raises:
        MalformedRecord: not such a table.
    """
    try:
        lines = csv.reader(io.StringIO(gzip.decompress(file.read_bytes()).decode()))
        head = next(lines)
        _require_ours(head)
        return [_pair(head, line) for line in lines]
    except (OSError, EOFError, ValueError, StopIteration) as error:
        raise MalformedRecord(f"not a table of pairs: {error}", file=str(file)) from error


def _require_ours(head: list[str]) -> None:
    if tuple(head[: len(LEADING)]) != LEADING:
        raise ValueError("unknown header line")


def _pair(head: list[str], line: list[str]) -> LabelledPair:
    site, kind, pair, label = line[: len(LEADING)]
    if pair not in ("same-browser", "across-browsers") or label not in ("similar", "dissimilar"):
        raise ValueError(f"a line of {site} has an unknown pair or label")
    numbers = map(float, line[len(LEADING) :])
    return LabelledPair(
        site=site,
        kind=kind,
        pair=pair,  # type: ignore[arg-type]
        label=label,  # type: ignore[arg-type]
        features=dict(zip(head[len(LEADING) :], numbers, strict=True)),
    )


def labelled_pair(result: PairResult, *, is_faulty: bool) -> LabelledPair:
    """A settled result as a labelled pair; its site is its host, without `www.`."""
    browsers = {view.browser for view in (result.reference, result.other) if view.browser}
    host = (host_of(result.url) or result.url).removeprefix("www.")
    return LabelledPair(
        site=host,
        features=dict(result.features),
        label="dissimilar" if is_faulty else "similar",
        pair=model_name(browsers),
    )
