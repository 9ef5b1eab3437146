from __future__ import annotations

import doctest
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.hbase_schema.act_times import next_act_time
from pinakes.hbase_schema.columns import CELLS
from pinakes.hbase_schema.tables import (
    FoundFamily,
    FoundSchema,
    Schema,
    declared_schema,
    schema_drift,
)


def as_found(schema: Schema) -> FoundSchema:
    return FoundSchema(
        version=schema.version,
        tables={
            table.name: tuple(
                FoundFamily(name=family.name, versions=family.versions) for family in table.families
            )
            for table in schema.tables
        },
    )


def test_facts_keep_the_versions_of_the_policy_and_the_present_keeps_one() -> None:
    families = [f for table in declared_schema(3).tables for f in table.families]
    assert {family.versions for family in families if family.act_time} == {3}
    assert {family.versions for family in families if not family.act_time} == {1}
    assert {family.name for family in families if not family.act_time} == {"l"}
    assert declared_schema().tables[0].families[0].versions == 10


def test_tables_and_families_are_found_by_name() -> None:
    captures = declared_schema().table("captures")
    assert captures is not None
    assert captures.family("m") is not None
    assert captures.family("z") is None
    assert declared_schema().table("z") is None


def test_declared_schema_has_no_drift() -> None:
    assert schema_drift(declared_schema(), as_found(declared_schema())) == []


def test_each_drift_is_a_line() -> None:
    found = as_found(declared_schema(3))
    tables = dict(found.tables)
    del tables["runs"]
    tables["strange"] = (FoundFamily(name="x"),)
    tables["digests"] = (FoundFamily(name="z"), FoundFamily(name="r", bloom_filter="ROW"))
    tables["crawls"] = tables["crawls"][:1]
    assert schema_drift(declared_schema(3), replace(found, version=None, tables=tables)) == [
        "schema version is None, declared 1",
        "digests:r: bloom_filter is ROW, declared ROWPREFIX_FIXED_LENGTH",
        "digests:z: family is not declared",
        "crawls:l: family is missing",
        "runs: table is missing",
        "strange: table is not declared",
    ]


def test_another_policy_is_a_drift() -> None:
    drift = schema_drift(declared_schema(10), as_found(declared_schema(3)))
    assert "captures:m: versions is 3, declared 10" in drift
    assert not any(":l:" in line for line in drift)


@given(st.integers(), st.lists(st.integers(), max_size=3))
def test_an_act_is_later_than_every_act_before_it(now_ms: int, last: list[int]) -> None:
    time = next_act_time(now_ms, *last)
    assert time >= now_ms
    assert all(time > before for before in last)
    # … and no later than it must be.
    assert time == now_ms or time - 1 in last


# --- docs/storage.md says what the code does


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
