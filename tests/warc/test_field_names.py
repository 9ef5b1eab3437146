"""Names of record fields stand in one module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from pinakes.conformance.fields import FIELDS
from pinakes.warc import field_names


def constants() -> dict[str, str | bytes]:
    return {name: value for name, value in vars(field_names).items() if name.isupper()}


def literals(source: str) -> Iterator[str]:
    """Texts and bytes in the code of a module, in lower case."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
            value = node.value
            yield (value.decode("latin-1") if isinstance(value, bytes) else value).lower()


@pytest.mark.parametrize(
    "code", ['"WARC-Date"', 'b"warc-date"', "f\"{get('WARC-DATE')}\""], ids=["str", "bytes", "f"]
)
def test_a_literal_is_found(code: str) -> None:
    assert "warc-date" in literals(code)


@pytest.mark.slow
def test_no_other_module_spells_a_name(repository: Path) -> None:
    # Content-Type and Content-Length are names of HTTP, too.
    names = {name for name in FIELDS if name.startswith("warc-")}
    folders = ("platform", "hbase_schema", "mr_jobs", "qa")
    found = [
        str(path.relative_to(repository))
        for folder in folders
        for path in (repository / folder).rglob("*.py")
        if not names.isdisjoint(literals(path.read_text("utf-8")))
    ]
    assert set(found) == {"platform/pinakes/warc/field_names.py"}


def test_each_constant_is_the_name_that_it_says() -> None:
    for constant, value in constants().items():
        words = constant.replace("_", "-").lower()
        if constant.endswith("_RAW"):
            assert value == words.removesuffix("-raw").encode()
        elif constant.endswith("_KEY"):
            assert value == words.removesuffix("-key")
        else:
            assert isinstance(value, str)
            assert value in {field.name for field in FIELDS.values()}
            assert value.lower() == words
