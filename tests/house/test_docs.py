"""Links in the documents lead somewhere, tables are whole, and nothing stands there twice."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)(?: \"[^\"]*\")?\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def prose(text: str) -> str:
    """A document without its code, where brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


def headings(text: str) -> list[str]:
    return re.findall(r"^#{1,6} +(.+?) *#*$", FENCE.sub("", text), re.MULTILINE)


def anchors(text: str) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings(text)}


def broken_links(repository: Path, file: Path) -> list[str]:
    text = (repository / file).read_text("utf-8")
    broken = []
    for match in LINK.finditer(prose(text)):
        target = match[1] or match[2]
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (repository / file).parent / unquote(path) if path else repository / file
        if not there.exists():
            broken.append(f"{file}: {target}")
        elif anchor and there.suffix == ".md" and anchor not in anchors(there.read_text("utf-8")):
            broken.append(f"{file}: {target} (no such heading)")
    return broken


def test_relative_links_resolve(repository: Path, tree: list[Path]) -> None:
    documents = [file for file in tree if file.suffix == ".md"]
    assert Path("README.md") in documents
    assert [link for file in documents for link in broken_links(repository, file)] == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# One `thing`\n[x](b.md) [y](#one-thing) [z](#two) `[c](d)`\n")
    assert broken_links(tmp_path, Path("a.md")) == ["a.md: b.md", "a.md: #two (no such heading)"]


def torn_rows(text: str) -> list[str]:
    """The rows of a document's tables that have more or fewer cells than the table's head."""
    torn = []
    for table in re.findall(r"(?:^\|.*\n)+", FENCE.sub("", text), re.MULTILINE):
        rows = table.splitlines()
        # GitHub divides a row at each bar that is not escaped, in code too.
        cells = [len(re.findall(r"(?<!\\)\|", row)) for row in rows]
        rule = len(rows) > 1 and re.fullmatch(r"[|\-: ]+", rows[1])
        torn += [row for row, count in zip(rows, cells, strict=True) if count != cells[0]]
        torn += [] if rule else rows[:1]
    return torn


def test_tables_are_whole(repository: Path, tree: list[Path]) -> None:
    documents = [file for file in tree if file.suffix == ".md"]
    found = [(file, torn_rows((repository / file).read_text("utf-8"))) for file in documents]
    assert [(str(file), rows) for file, rows in found if rows] == []


def test_a_torn_table_is_found() -> None:
    assert torn_rows("| a | b |\n|---|---|\n| `c|d` | e |\n| f \\| g | h |\n") == ["| `c|d` | e |"]
    assert torn_rows("| a |\n| b |\n") == ["| a |"]


def repeated_headings(text: str) -> list[str]:
    return [heading for heading, count in Counter(headings(text)).items() if count > 1]


def test_no_heading_stands_twice(repository: Path, tree: list[Path]) -> None:
    """An edit that doubles a part of a page leaves its links and tables whole."""
    documents = [file for file in tree if file.suffix == ".md" and file.name != "CHANGELOG.md"]
    found = [
        (file, repeated_headings((repository / file).read_text("utf-8"))) for file in documents
    ]
    assert [(str(file), twice) for file, twice in found if twice] == []


def test_a_doubled_part_is_found() -> None:
    assert repeated_headings("# A\n## B\n```\n# A\n```\ntext\n## B\n") == ["B"]
