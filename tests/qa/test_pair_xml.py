"""A result as XML: by its schema, whatever the page's URL and title hold."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import which
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as some
from pair_results import RESULT, VIEW

from pinakes.qa.export import NAMESPACE, pair_xml
from pinakes.qa.results import Verdict
from pinakes.qa.snapshot import Outcome

IN = {"": NAMESPACE}
Check = Callable[[bytes], str]


@pytest.fixture(scope="module")
def check(repository: Path) -> Check:
    """What xmllint finds wrong with a document by the schema; nothing where it is right."""
    if which("xmllint") is None:
        pytest.skip("there is no xmllint: apt-get install libxml2-utils")

    def run(document: bytes) -> str:
        command = ["xmllint", "--noout", "--schema", str(repository / "docs/qa/pair.xsd"), "-"]
        done = subprocess.run(command, input=document, capture_output=True, check=False)
        return repr(done.stderr) if done.returncode else ""

    return run


def test_a_result_is_by_the_schema(check: Check) -> None:
    document = pair_xml(RESULT)
    assert check(document) == ""
    root = fromstring(document)
    assert root.findtext("url", namespaces=IN) == RESULT.url
    assert [reason.text for reason in root.findall("reason", IN)] == list(RESULT.reasons)
    views = [root.find(name, IN) for name in ("reference", "other")]
    assert [view.get("image") for view in views if view is not None] == ["0123.png"] * 2
    [missed] = root.findall("other/missed", IN)
    assert missed.text == "http://example.org/a.png"
    found = {one.get("name"): one.get("value") for one in root.iterfind("features/feature", IN)}
    assert found == {"image_similarity": "1.0", "text_gone": "0.25"}


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("outcome", Outcome)
def test_each_verdict_and_outcome_is_in_the_schema(
    check: Check, verdict: Verdict, outcome: Outcome
) -> None:
    other = replace(VIEW, outcome=outcome, image=None, reasons=("it hung",))
    assert check(pair_xml(replace(RESULT, verdict=verdict, other=other))) == ""


@pytest.mark.parametrize(
    "change",
    [
        {"confidence": 1.5},
        {"confidence": float("nan")},
        {"capture_key": "no hex"},
        {"milliseconds": -1},
    ],
)
def test_the_schema_refuses_what_is_no_result(check: Check, change: dict[str, object]) -> None:
    assert check(pair_xml(replace(RESULT, **change))) != ""  # type: ignore[arg-type]


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(some.text(some.characters(codec=None), max_size=40))
def test_any_text_can_be_written(check: Check, text: str) -> None:
    document = pair_xml(replace(RESULT, url=text, reasons=(text,), features={text: 1.0}))
    assert check(document) == ""


def unescaped(text: str) -> str:
    return re.sub(r"\\(?:\\|u([0-9a-f]{4}))", lambda match: chr(int(match[1] or "5c", 16)), text)


@given(some.text(some.characters(codec=None), max_size=40))
@example("a\rb\r\nc\td\n\\u000d\U0001f600")
def test_any_text_reads_back_as_it_was(text: str) -> None:
    root = fromstring(pair_xml(replace(RESULT, run=text, url=text, reasons=(text,))))
    texts = [root.get("run"), root.findtext("url", namespaces=IN), root.findtext("reason", "", IN)]
    assert [unescaped(one or "") for one in texts] == [text] * 3


def test_two_texts_are_never_written_as_one() -> None:
    texts = ["\\u0000", "\x00", "\\\\u0000", "\ud800", "\\ud800", "\ufffe"]
    assert len({pair_xml(replace(RESULT, url=text)) for text in texts}) == len(texts)
