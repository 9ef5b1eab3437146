"""Pairs as lines: CSV, JSON, and the list that Pagelyzer is trained on.  Pure.

Pagelyzer's list (openpreserve/pagelyzer, `ScapeTrain`) has a label and two images in a line,
separated by tabs: 1 similar, 0 dissimilar, 2 ignored.  What people settled takes precedence over
the machine's verdict.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import NamedTuple

from pinakes.access.display import escaped
from pinakes.qa.results.pair_line import JudgedPair
from pinakes.qa.results.pair_result import PairResult, Verdict, View
from pinakes.qa.review.judgement import Label
from pinakes.qa.review.settled import Settled

_LABELS = {
    Verdict.SIMILAR: 1,
    Verdict.DISSIMILAR: 0,
    Verdict.UNCERTAIN: 2,
    Verdict.BY_BROWSER: 2,
}
_VIEW = ("kind", "browser", "browser_version", "outcome", "milliseconds", "image")
_COLUMNS = (
    "url",
    "date",
    "capture_key",
    "verdict",
    "confidence",
    "model",
    "weight",
    "people",
    "settled_by",
    "faults",
    "reasons",
    *(f"reference_{name}" for name in _VIEW),
    *(f"other_{name}" for name in _VIEW),
    "missed",
)
# Spreadsheets take a cell that begins with one of these for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# Scripts of a page can write them; UTF-8 cannot encode them.
_LONE_SURROGATES = re.compile("[\ud800-\udc7f\udd00-\udfff]")


class ExportedPair(NamedTuple):
    """A pair, and what people settled, if anything."""

    judged: JudgedPair
    settled: Settled | None = None


def csv_lines(pairs: Iterable[ExportedPair]) -> Iterator[str]:
    """RFC 4180 with a header line: a fixed order of columns, then the features by name.

    Items of lists are separated by line breaks.  An apostrophe is put before a cell that a
    spreadsheet would take for a formula.
    """
    pairs = list(pairs)
    features = sorted({name for pair in pairs for name in pair.judged.result.features})
    yield csv_line([*_COLUMNS, *features])
    for pair in pairs:
        numbers = pair.judged.result.features
        yield csv_line([*_cells(pair), *(numbers.get(name, "") for name in features)])


def as_object(pair: ExportedPair) -> dict[str, object]:
    """All that is known of a pair, as JSON values."""
    people = None
    if pair.settled is not None:
        people = {
            "label": pair.settled.label.value,
            "by": pair.settled.by.value,
            "faults": pair.settled.faults,
        }
    return {**asdict(pair.judged.result), "weight": pair.judged.weight, "people": people}


def pagelyzer_lines(pairs: Iterable[ExportedPair]) -> Iterator[str]:
    """A line for each pair with two images."""
    for pair in pairs:
        result = pair.judged.result
        if result.reference.image is not None and result.other.image is not None:
            yield f"{_label(pair)}\t{result.reference.image}\t{result.other.image}\r\n"


def _label(pair: ExportedPair) -> int:
    if pair.settled is None:
        return _LABELS[pair.judged.result.verdict]
    return 1 if pair.settled.label is Label.ACCEPT else 0


def missing_urls(results: Iterable[PairResult]) -> list[tuple[str, int]]:
    """URLs that replayed pages requested and the archive lacks, with the number of pages.

    The most requested first, then by URL: seeds for a patch crawl.
    """
    pages: dict[str, set[str]] = {}
    for result in results:
        for url in _missed(result):
            pages.setdefault(url, set()).add(result.capture_key)
    counted = [(url, len(asking)) for url, asking in pages.items()]
    return sorted(counted, key=lambda entry: (-entry[1], entry[0]))


def _missed(result: PairResult) -> list[str]:
    """URLs of a pair that our replay of the archive missed, each once."""
    views = (view for view in (result.reference, result.other) if view.kind.startswith("replay:"))
    return list(dict.fromkeys(url for view in views for url in view.missed))


def _cells(pair: ExportedPair) -> list[object]:
    result, settled = pair.judged.result, pair.settled
    return [
        result.url,
        result.date,
        result.capture_key,
        result.verdict.value,
        result.confidence,
        result.model,
        pair.judged.weight,
        settled.label.value if settled else "",
        settled.by.value if settled else "",
        "\n".join(settled.faults) if settled else "",
        "\n".join(result.reasons),
        *_view_cells(result.reference),
        *_view_cells(result.other),
        "\n".join(_missed(result)),
    ]


def _view_cells(view: View) -> Iterator[object]:
    values: Mapping[str, object] = {**asdict(view), "outcome": view.outcome.value}
    return (values[name] if values[name] is not None else "" for name in _VIEW)


def csv_line(cells: Iterable[object]) -> str:
    """One line of CSV, with its end."""
    line = io.StringIO()
    csv.writer(line).writerow([_harmless(cell) for cell in cells])
    return line.getvalue()


def _harmless(cell: object) -> object:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def encode_line(line: str) -> bytes:
    r"""UTF-8; the bytes of a URL that was none as they were, other surrogates as `\uXXXX`."""
    return _LONE_SURROGATES.sub(escaped, line).encode("utf-8", "surrogateescape")
