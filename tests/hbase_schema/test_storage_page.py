"""docs/storage.md says what the code does."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from pinakes.hbase_schema.columns import CELLS
from pinakes.hbase_schema.tables import declared_schema


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "storage.md").read_text("utf-8")


def rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading, empty ones filled from above."""
    [table] = re.findall(
        rf"^## {heading}$.*?^\|---[^\n]*\n(.*?)\n\n", page, re.MULTILINE | re.DOTALL
    )[:1]
    filled: list[list[str]] = []
    for line in table.splitlines():
        cells = [cell.strip().strip("`") for cell in line[1:-1].split("|")]
        above = filled[-1] if filled else [""] * len(cells)
        filled.append([cell or up for cell, up in zip(cells, above, strict=True)])
    return filled


def test_the_examples_are_true(repository: Path) -> None:
    failed, tried = doctest.testfile(
        str(repository / "docs" / "storage.md"), module_relative=False, encoding="utf-8"
    )
    assert tried > 20
    assert failed == 0


def test_every_table_and_family_is_on_the_page(page: str) -> None:
    declared = [
        [table.name, table.row_key, family.name, family.holds, str(family.versions)]
        for table in declared_schema().tables
        for family in table.families
    ]
    assert rows(page, "Rows, families, cells") == declared


def test_every_cell_is_on_the_page(page: str) -> None:
    wanted = [
        (table, cell.COLUMN.decode(), cell.__name__) for table, cells in CELLS.items()
        for cell in cells
    ]  # fmt: skip
    found = [
        (table, re.sub(r"\.[A-Z]+$", ".", column), cell)
        for table, column, cell in rows(page, "Cells")
    ]
    assert found == wanted


def test_the_drawn_keys_are_keys(page: str) -> None:
    assert "org,example)/page?q=1 20240229123456789 7OCLLO7O\n└" in page
    assert max(ord(c) for c in "".join(re.findall(r"^b'.*'$", page, re.MULTILINE))) < 0x7F
