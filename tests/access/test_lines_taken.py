"""Which lines of other archives are taken, and with which values: by POST and `import-cdx`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pinakes.access.cdx.external import LineReader, parse_lines
from pinakes.errors import InputRefused, MalformedRecord
from pinakes.index.cdxj import CdxLine

URL = "http://example.org/"
ROW = f"x 20200101000000 {URL} text/html 200 - - - 777 100 f.warc.gz"
SWAPPED = "N b a m s k r M V S g"  # offset before length
MANIFEST = f"f.warc.gz 100 777 {URL} 2020-01-01T00:00:00Z -"


def taken(text: str) -> tuple[list[CdxLine], list[int]]:
    """The lines that `import-cdx` takes of a text, and the numbers of those that are bad."""
    reader, found, bad = LineReader(takes_manifests=True), [], []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            parsed = reader.read(line, number)
        except MalformedRecord as error:
            bad.append(int(error.message.split()[1]))
            continue
        if parsed is not None:
            found.append(parsed)
    return found, bad


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(f" CDX {SWAPPED}", id="as it should be"),
        pytest.param(f"\ufeff CDX {SWAPPED}", id="byte order mark"),
        pytest.param(f"CDX {SWAPPED}", id="no blank"),
        pytest.param(f"  CDX  {SWAPPED}", id="two blanks"),
        pytest.param(f" cdx {SWAPPED}", id="lower case"),
        pytest.param("\tCDX\t" + SWAPPED.replace(" ", "\t"), id="tabs"),
        pytest.param(f"\n CDX {SWAPPED}", id="behind a blank line"),
    ],
)
def test_a_first_line_names_the_columns(header: str) -> None:
    text = f"{header}\n{ROW}\n"
    [line], bad = taken(text)
    assert (line.offset, line.length, bad) == (777, 100, [])
    assert parse_lines(text) == [line]
    assert parse_lines(text.replace("\n", "\r\n")) == [line]


@pytest.mark.parametrize(
    ("columns", "row"),
    [
        pytest.param("a b V g", f"{URL} 20200101000000 100 f.warc.gz", id="no urlkey"),
        pytest.param(
            "g V b a N m s k r M S", f"f.warc.gz 100 20200101000000 {URL} - - - - - - 777",
            id="first as of a manifest",
        ),
        pytest.param(
            "A b e a m s c k r V v D d g M n",
            f"x 20200101000000 1.2.3.4 {URL} - - - - - 100 5 6 7 f.warc.gz - 9", id="of ARC files",
        ),
        pytest.param("N b g V a", f"x 20200101000000 f.warc.gz 100 {URL}", id="URL last"),
        pytest.param("V b a g", f"100 20200101000000 {URL} f{{}}", id="ends as JSON"),
    ],
)  # fmt: skip
def test_columns_may_come_in_any_order(columns: str, row: str) -> None:
    text = f" CDX {columns}\n{row}\n"
    [line], bad = taken(text)
    assert (line.url, line.timestamp, line.offset, bad) == (URL, "20200101000000", 100, [])
    assert parse_lines(text) == [line]


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(" CDX N b a", id="no place"),
        pytest.param(" CDX N b m s k r M S V g", id="no URL"),
        pytest.param(" CDX N b a m s k r M S V g V", id="offset twice"),
        pytest.param(" CDX N b a m s k r M SV g x", id="two letters"),
        pytest.param(" CDX", id="no letters"),
        pytest.param("\ufeffcdx N", id="with a mark"),
    ],
)
def test_under_a_first_line_that_cannot_be_used_nothing_is_guessed(header: str) -> None:
    text = f"{header}\n{ROW}\n{MANIFEST}\n CDX {SWAPPED}\n{ROW}\n"
    [line], bad = taken(text)
    assert (line.offset, bad) == (777, [1, 2, 3])
    with pytest.raises(InputRefused, match="line 1 does not name the columns"):
        parse_lines(text)
    assert parse_lines(text, skips_bad=True) == [line]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param("cdx 20200101000000 http://cdx/ - - - - - 7 100 f.warc.gz", id="CDX"),
        pytest.param('cdx 2020 {"url":"http://cdx/","offset":"100","filename":"f"}', id="CDXJ"),
        pytest.param("cdx 100 7 http://cdx/ 2020-01-01T00:00:00Z -", id="manifest"),
    ],
)
def test_a_host_named_cdx_is_no_first_line(row: str) -> None:
    [line], bad = taken(row)
    assert (line.url, line.offset, bad) == ("http://cdx/", 100, [])


def test_a_byte_order_mark_is_no_part_of_a_name() -> None:
    assert [line.filename for line in taken(f"\ufeff{MANIFEST}\n")[0]] == ["f.warc.gz"]
    plain = ROW.replace("x ", f"{URL} ", 1)
    assert parse_lines(f"\ufeff{plain}\n") == parse_lines(plain)


def test_lines_of_manifests_stand_under_no_first_line() -> None:
    assert taken(f"{ROW}\n{MANIFEST}\n CDX {SWAPPED}\n{MANIFEST}\n")[1] == [4]


def test_the_index_of_another_project(shared_data: Path) -> None:
    """Its first line has no blank before it, and blank lines stand between the others."""
    folder = shared_data / "expected-cdx" / "files" / "richardlehane_webarchive" / "examples"
    text = (folder / "hello-world.cdx").read_text()
    found, bad = taken(text)
    assert (len(found), bad) == (len([row for row in text.splitlines() if row.strip()]) - 1, [])
    assert (found[0].offset, found[0].filename) == (17130110, "DE_crawl6.20010424210458")
    assert parse_lines(text) == found


GOOD = {"url": URL, "offset": "100", "filename": "f"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": [URL]},
        {"url": 5},
        {"filename": ["f", 1]},
        {"filename": None},
        {"offset": None},
        {"offset": 1.5},
        {"offset": True},
        {"offset": ["1"]},
        {"offset": "1_0"},
        {"offset": "١٢"},
        {"offset": " 1"},
        {"length": {}},
        {"status": [200]},
        {"status": False},
        {"digest": {"a": 1}},
        {"mime": 7},
        {"redirect": []},
        {"method": ["POST"]},
        {"method": "POST", "requestBody": {"a": 1}},
    ],
    ids=json.dumps,
)
def test_values_that_are_no_text_are_bad(wrong: dict[str, object]) -> None:
    text = f"x 2020 {json.dumps({**GOOD, **wrong})}"
    assert taken(text) == ([], [1])
    with pytest.raises(InputRefused, match="line 1 "):
        parse_lines(text)


def test_numbers_may_be_text_and_null_is_nothing() -> None:
    texts = {**GOOD, "status": "200", "length": "7"}
    numbers = {**GOOD, "status": 200, "length": 7, "offset": 100}
    nulls = dict.fromkeys(("mime", "digest", "redirect", "method", "requestBody", "more"))
    lines = [f"x 2020 {json.dumps({**one, **nulls})}\n" for one in (texts, numbers)]
    first, second = parse_lines("".join(lines))
    assert first == second == CdxLine(
        "x", "20200101000000", URL, None, "200", None, 7, 100, "f"
    )  # fmt: skip
