r"""A result as an XML document; its schema is docs/qa/pair.xsd.

XML 1.0 cannot represent most control characters and surrogates, and turns a carriage return into
a line feed; archived URLs and titles may contain all of these.  They are written as `\uXXXX`, and
a backslash as two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, tostring

from pinakes.access.display import escaped

from .pair_result import PairResult, View

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


def _add_view(root: Element, name: str, view: View) -> None:
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
