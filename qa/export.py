r"""Results and judgements of a run in formats of other tools: CSV, JSON, XML, Pagelyzer's list.

Pagelyzer's list (openpreserve/pagelyzer, `ScapeTrain`) has a label and two images in a line,
separated by tabs: 1 similar, 0 dissimilar, 2 ignored.  What people settled takes precedence over
the machine's verdict.

The schema of XML documents is docs/qa/pair.xsd.  XML 1.0 cannot represent most control characters
and surrogates, and turns a carriage return into a line feed; archived URLs and titles may contain
all of these.  They are written as `\uXXXX`, and a backslash as two.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import BinaryIO, NamedTuple
from xml.etree.ElementTree import Element, SubElement, tostring
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from pinakes.access.display import escaped
from pinakes.qa.results import JudgedPair, PageView, PairResult, Verdict
from pinakes.qa.review.judgement import Label, SettledLabel

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
    settled: SettledLabel | None = None


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


def _view_cells(view: PageView) -> Iterator[object]:
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


NAMESPACE = "urn:x-pinakes:qa:pair:1"
# https://www.w3.org/TR/xml/#charsets and #sec-line-ends, and the backslash of the escapes.
_UNWRITABLE = re.compile(r"[^\t\n\x20-\x5b\x5d-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def pair_xml(result: PairResult) -> bytes:
    """The document in UTF-8; equal results give equal bytes."""
    root = Element("pair", {"xmlns": NAMESPACE, "run": _text(result.run)})
    for name in ("url", "date", "capture_key"):
        _add(root, name, getattr(result, name))
    _add_view(root, "reference", result.reference)
    _add_view(root, "other", result.other)
    features = SubElement(root, "features", {"milliseconds": str(result.milliseconds)})
    for name, value in sorted(result.features.items()):
        SubElement(features, "feature", {"name": _text(name), "value": repr(float(value))})
    SubElement(
        root,
        "verdict",
        {
            "is": result.verdict.value,
            "confidence": repr(float(result.confidence)),
            "model": _text(result.model),
        },
    )
    _add_all(root, "reason", result.reasons)
    for change in result.changes:
        names = ("x", "y", "width", "height")
        SubElement(root, "change", dict(zip(names, map(str, change), strict=True)))
    encoded: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return encoded + b"\n"


def _add_view(root: Element, name: str, view: PageView) -> None:
    attributes = {
        "view": _text(view.kind),
        "browser": _text(view.browser),
        "browser_version": _text(view.browser_version),
        "outcome": view.outcome.value,
        "milliseconds": str(view.milliseconds),
    }
    if view.image is not None:
        attributes["image"] = _text(view.image)
    element = SubElement(root, name, attributes)
    _add_all(element, "reason", view.reasons)
    _add_all(element, "missed", view.missed)


def _add_all(root: Element, name: str, texts: Iterable[str]) -> None:
    for text in texts:
        _add(root, name, text)


def _add(root: Element, name: str, text: str) -> None:
    SubElement(root, name).text = _text(text)


def _text(text: str) -> str:
    return _UNWRITABLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return "\\\\" if match[0] == "\\" else escaped(match)


def write_xml_archive(results: Iterable[PairResult], out: BinaryIO) -> int:
    """Write `000001.xml`, `000002.xml`, …, by docs/qa/pair.xsd; how many.

    Equal results give equal bytes.
    """
    count = 0
    with ZipFile(out, "w", ZIP_DEFLATED) as archive:
        for result in results:
            count += 1
            archive.writestr(ZipInfo(f"{count:06d}.xml"), pair_xml(result), ZIP_DEFLATED)
    return count
