"""The tables of docs/reading.md: what readers make of the shared data, and what we do.

`python tests/support/reading_page.py` writes them, and odd_files.md, file by file; a test holds
both against the data.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from debatable import CASES, by_fastwarc, by_warcio, ours
from evidence import EXEMPTIONS, READERS, Line, differences, exempted, is_agreed, manifest_lines

from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import FINDINGS, DamagedStretch, Record

ODD_FILES = Path(__file__).parent / "odd_files.md"


class Odd(NamedTuple):
    """What we make of a file that the readers do not agree on."""

    line: Line
    records: int
    stretches: tuple[DamagedStretch, ...]
    codes: frozenset[str]


def read_odd(shared: Path, line: Line) -> Odd:
    with open_source(shared / "archives" / line["file"]) as source:
        items = list(iter_records(source))
    records = [item for item in items if isinstance(item, Record)]
    return Odd(
        line,
        len(records),
        tuple(item for item in items if isinstance(item, DamagedStretch)),
        frozenset(finding.code for record in records for finding in record.findings),
    )


class Answer(NamedTuple):
    """A kind of odd file; the first of `ANSWERS` that fits a file is its own."""

    title: str
    fits: Callable[[Odd], bool]
    text: str


ANSWERS = (
    Answer(
        "Other compression",
        lambda odd: odd.line["container"] == "lz4",
        "Only FastWARC reads LZ4. Here the file is one stretch, whose reason names the container.",
    ),
    Answer(
        "No record",
        lambda odd: not odd.records,
        "An empty file has no records and no damage. Fields without a version line are not a "
        "record (ISO 28500 §4): the whole file is one stretch.",
    ),
    Answer(
        "Several records in one gzip member",
        lambda odd: "member" in odd.codes,
        "All are read, with one `offset` and `length` (the member's) and an `inner_offset` each, "
        "and the finding `member`. warcio stops after the first; a reader that seeks to the offset "
        "gets the first. Rewriting splits such members.",
    ),
    Answer(
        "Header lines end with LF",
        lambda odd: "line-end" in odd.codes,
        "Read, with the finding `line-end`. The header ends with the first blank line; line ends "
        "are never rewritten.",
    ),
    Answer(
        "Garbage between or after records",
        lambda odd: bool(odd.stretches),
        "The records before and after it are read; the garbage is a damaged stretch.",
    ),
    Answer(
        "Content-Length missing or wrong",
        lambda odd: bool(odd.codes & {"content-length", "block-length"}),
        "The block ends at the next record, or at the end of the file, with the finding "
        "`content-length` (missing, or not a number) or `block-length`. Such a record is copied "
        "and not used otherwise.",
    ),
    Answer(
        "Truncated",
        lambda odd: "truncated" in odd.codes,
        "The bytes that are there are read, with the finding `truncated`; warcio and FastWARC "
        "return such a record as a complete one.",
    ),
    Answer(
        "Not closed by two line ends",
        lambda odd: "record-end" in odd.codes,
        "Read, with the finding `record-end`. warcio stops where line ends are missing.",
    ),
    Answer(
        "ARC",
        lambda odd: odd.line["kind"] == "arc",
        "FastWARC does not read ARC; jwarc stops at URIs with spaces, at some fields, and at some "
        "first lines. Here a line is matched from its right end, so URIs may contain spaces.",
    ),
    Answer(
        "Fields that some readers refuse",
        lambda odd: True,
        "Folded lines, names in any case, repeated fields, UTF-8 in values, unreadable dates: "
        "read, and kept as written; `pinakes check` reports what is against the standard.",
    ),
)


def answer_to(odd: Odd) -> Answer:
    return next(answer for answer in ANSWERS if answer.fits(odd))


def _count(line: Line, reader: str) -> str:
    result = (line["readers"] or {}).get(reader)
    if result is None:
        return "–"
    count = result.get("records", result.get("validate_records"))
    error = result.get("error") or ""
    if error.startswith("FastWARC does not"):
        return "–"
    # `jwarc validate` fails on what is against the standard, and goes on.
    stopped = bool(error) and not error.startswith("Failed to validate")
    return f"{count}{' †' if stopped else ''}"


def odd_by_answer(shared: Path) -> dict[Answer, list[Odd]]:
    """The files that the readers do not agree on, by the kind of each."""
    found = [
        read_odd(shared, line)
        for line in manifest_lines(shared)
        if line["readers_agree"] is not True
    ]
    sorted_out = {a: [odd for odd in found if answer_to(odd) is a] for a in ANSWERS}
    return {answer: rows for answer, rows in sorted_out.items() if rows}


def odd_table(shared: Path) -> str:
    rows = ["| | files | what Pinakes does |", "|---|---|---|"]
    rows += [f"| {a.title} | {len(odd)} | {a.text} |" for a, odd in odd_by_answer(shared).items()]
    return "\n".join(rows)


def odd_files(shared: Path) -> str:
    """The text of odd_files.md: what each reader makes of each file."""
    blocks = [
        "# Files that readers do not agree on",
        "",
        (
            "The number of records that each reader returns. †: it stopped with an error; –: it "
            "does not read such files. Made by reading_page.py."
        ),
        "",
    ]
    for answer, rows in odd_by_answer(shared).items():
        blocks += [f"## {answer.title}", "", *_rows(rows), ""]
    return "\n".join(blocks).rstrip() + "\n"


def _rows(rows: list[Odd]) -> list[str]:
    head = [
        "| file | warcio | FastWARC | jwarc | Pinakes | findings |",
        "|---|---|---|---|---|---|",
    ]
    return head + [_row(odd) for odd in rows]


def _row(odd: Odd) -> str:
    stretches = len(odd.stretches)
    ours = f"{odd.records}" + (f" + {stretches} stretch{'es' * (stretches > 1)}" * bool(stretches))
    name = "/".join((odd.line["repo"], odd.line["file"].rsplit("/", 1)[-1]))
    if odd.line["in_head"] is False:
        name += f" at {odd.line['commit'][:8]}"
    counts = " | ".join(_count(odd.line, reader) for reader in READERS)
    return f"| {name} | {counts} | {ours} | {' '.join(sorted(odd.codes)) or 'none'} |"


def exemption_table(shared: Path) -> str:
    counts: Counter[str] = Counter()
    for line in filter(is_agreed, manifest_lines(shared)):
        for name in {exempted(difference) for difference in differences(shared, line)}:
            counts[name] += 1
    rows = ["| | files | why |", "|---|---|---|"]
    rows += [f"| {e.name} | {counts[e.name]} | {e.reason} |" for e in EXEMPTIONS]
    return "\n".join(rows)


def findings_table() -> str:
    rows = ["| code | what it says |", "|---|---|"]
    return "\n".join(rows + [f"| `{code}` | {text} |" for code, text in FINDINGS.items()])


def debatable_table() -> str:
    rows = ["| record | warcio | FastWARC | jwarc | Pinakes | why |", "|---|---|---|---|---|---|"]
    for case in CASES:
        stored, bare = ours(case)
        mine = _show(stored) + (f"; without chunks {_show(bare)}" if bare is not None else "")
        others = " | ".join(map(_show, (by_warcio(case), by_fastwarc(case), case.jwarc)))
        rows.append(f"| {case.name} | {others} | {mine} | {case.why} |")
    return "\n".join(rows)


def _show(payload: bytes) -> str:
    if not payload:
        return "nothing"
    text = payload.decode("ascii").encode("unicode_escape").decode("ascii")
    return f"`{text if len(text) < 40 else text[:30] + '…'}`"


def tables(shared: Path) -> dict[str, str]:
    """The generated parts of docs/reading.md, by the name in their markers."""
    return {
        "findings": findings_table(),
        "debatable": debatable_table(),
        "exemptions": exemption_table(shared),
        "odd": odd_table(shared),
    }


def marked(name: str) -> tuple[str, str]:
    begin = f"<!-- begin {name}: tests/support/reading_page.py writes this -->"
    return begin, f"<!-- end {name} -->"


def part_of(page: str, name: str) -> str:
    begin, end = marked(name)
    return page.split(begin)[1].split(end, 1)[0].strip()


def main() -> None:
    repository = Path(__file__).resolve().parents[2]
    page = repository / "docs" / "reading.md"
    text = page.read_text(encoding="utf-8")
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else repository.parent / "shared" / "data"
    for name, table in tables(shared).items():
        begin, end = marked(name)
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}"
    page.write_text(text, encoding="utf-8")
    ODD_FILES.write_text(odd_files(shared), encoding="utf-8")


if __name__ == "__main__":
    main()
