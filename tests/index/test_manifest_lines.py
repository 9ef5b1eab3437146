"""Manifest lines: text and value are each other's inverse; other tools' lines are read."""

from __future__ import annotations

import hashlib
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import MalformedRecord
from pinakes.index.manifest import (
    ManifestLine,
    _format_any,
    _format_common,
    format_line,
    parse_line,
    parse_lines,
)
from pinakes.index.manifest_file import RecordLine, format_record_line, iter_record_lines
from pinakes.warc.reader import iter_records
from pinakes.warc.source import Source

LINE = ManifestLine(
    "a.warc.gz", 0, 512, "http://example.org/", "2020-01-02T03:04:05Z", "sha1:" + "A" * 32
)

# Every character that a file name or a header can bring, undecodable bytes included.
decodable = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
undecodable = st.binary(max_size=8).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
names = decodable | undecodable
counts = st.integers(0, 1 << 40)
maybe_name, maybe_count = st.none() | names, st.none() | counts


@st.composite
def manifest_lines(draw: st.DrawFn) -> ManifestLine:
    copy = draw(st.none() | st.integers(1, 9))
    original = draw(names) if copy is not None and copy > 1 else None
    return ManifestLine(
        file=draw(names),
        offset=draw(counts),
        length=draw(counts),
        target_uri=draw(names),
        date=draw(names),
        digest=draw(names.filter(bool)),
        hash_extension=draw(maybe_count),
        copy_number=copy,
        original_uri=original,
        original_date=None if original is None else draw(names),
        size=draw(maybe_count),
        status=draw(maybe_count),
        skip=draw(maybe_name),
        type=draw(maybe_name),
        ctype=draw(maybe_name),
        inner_offset=draw(counts),
        record_id=draw(maybe_name),
        refers_uri=draw(maybe_name),
        refers_date=draw(maybe_name),
        refers_id=draw(maybe_name),
        original_file=draw(maybe_name),
        original_offset=draw(maybe_count),
        original_length=draw(maybe_count),
        original_inner_offset=draw(counts),
        full=draw(maybe_name),
        also=draw(maybe_name),
        marks=draw(maybe_name),
    )


@given(manifest_lines())
def test_parsing_undoes_formatting(line: ManifestLine) -> None:
    text = format_line(line)
    if (
        line.copy_number
        and line.copy_number > 1
        and not line.original_uri
        and not line.original_date
    ):
        # An original without URI and date reads `- -`, as WARCsum writes of no original.
        line = line._replace(original_uri=None, original_date=None)
    assert parse_line(text) == line


@given(manifest_lines())
def test_a_line_is_one_line_of_utf8_words(line: ManifestLine) -> None:
    text = format_line(line)
    assert len(text.encode("utf-8").decode("utf-8").splitlines()) == 1
    assert "" not in text.split(" ")
    assert text.isprintable() or all(c.isprintable() or ord(c) > 0xA0 for c in text)


@given(manifest_lines())
def test_the_plain_form_is_the_first_ten_columns(line: ManifestLine) -> None:
    parsed = parse_line(format_line(line, plain=True))
    assert parsed[:8] == line[:8]
    assert parsed[10:] == ManifestLine(*line[:6])[10:]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        pytest.param("f 1 2 u d sha1:X", {}, id="six columns"),
        pytest.param("f 1 2 u d sha1:X 0", {"hash_extension": 0}, id="seven: resolved"),
        pytest.param("f 1 2 u d sha1:X 3 1", {"hash_extension": 3, "copy_number": 1}, id="eight"),
        pytest.param(
            "f 1 2 u d sha1:X 0 1 - -",
            {"hash_extension": 0, "copy_number": 1},
            id="WARCsum's first copy",
        ),
        pytest.param(
            "f 1 2 u d sha1:X 0 2 http://o/?size=1 2020",
            {
                "hash_extension": 0,
                "copy_number": 2,
                "original_uri": "http://o/?size=1",
                "original_date": "2020",
            },
            id="ten columns, and a URI like a field",
        ),
        pytest.param(
            "f 1 2 u d sha1:X - 2 o e size=7",
            {"copy_number": 2, "original_uri": "o", "original_date": "e", "size": 7},
            id="no extension",
        ),
        pytest.param("  f  1 \t2 u   d sha1:X  \r\n", {}, id="more blanks"),
        pytest.param("f 1 2 u d sha1:X new=1 size=0", {"size": 0}, id="a later version's key"),
    ],
)  # fmt: skip
def test_lines_of_other_tools_and_versions(text: str, fields: dict[str, object]) -> None:
    assert parse_line(text) == ManifestLine("f", 1, 2, "u", "d", "sha1:X")._replace(**fields)


@pytest.mark.parametrize(
    "text",
    [
        "f 1 2 u d",
        "f x 2 u d s",
        "f 1 -2 u d s",
        "f 1 1_0 u d s",
        "f 1 2 u d s word",
        "f ١ 2 u d s",
        "",
    ],
)
def test_what_is_no_line_is_named_with_its_number(text: str) -> None:
    with pytest.raises(MalformedRecord, match="line 7 is not a manifest line"):
        parse_line(text, number=7)


def test_a_broken_line_is_found_among_blank_ones() -> None:
    texts = [format_line(LINE) + "\n", "\n", "broken\n"]
    lines = parse_lines(texts)
    assert next(lines) == LINE
    with pytest.raises(MalformedRecord, match="line 3 "):
        next(lines)


def test_worked_example_of_the_documentation() -> None:
    line = LINE._replace(
        file="a b.warc.gz", target_uri="http://example.org/50%", size=5, status=200
    )
    assert format_line(line) == (
        "a%20b.warc.gz 0 512 http://example.org/50%25 2020-01-02T03:04:05Z "
        "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA size=5 status=200"
    )


TEXT = st.text(st.sampled_from("ab%- \t\x00\x7f\xa0é\u2028/:<>"), max_size=4)


@given(
    st.builds(
        ManifestLine,
        *(TEXT, st.just(0), st.just(9), TEXT, TEXT, TEXT),
        size=st.none() | st.integers(0, 3),
        status=st.none() | st.just(200),
        record_id=st.none() | TEXT,
        skip=st.none() | TEXT,
        inner_offset=st.integers(0, 1),
        copy_number=st.none() | st.just(1),
        marks=st.none() | TEXT,
    ),
    st.booleans(),
)
def test_fast_formatting_equals_slow_formatting(line: ManifestLine, plain: bool) -> None:
    assert _format_common(line, plain) in (None, _format_any(line, plain))


# --- The `--records` manifest


ID = "<urn:uuid:00000000-0000-4000-8000-000000000001>"


def record(record_type: str, block: bytes) -> bytes:
    head = f"WARC/1.1\r\nWARC-Type: {record_type}\r\nWARC-Record-ID: {ID}\r\n"
    return (head + f"Content-Length: {len(block)}\r\n\r\n").encode() + block


def test_a_line_for_every_record_of_every_type() -> None:
    first, second = record("warcinfo", b"a: b\r\n"), record("strange", b"")
    data = first + b"\r\n\r\n" + second + b"\r\n\r\n"
    lines = list(iter_record_lines(iter_records(Source(io.BytesIO(data), name="f")), file="a b"))
    assert lines == [
        RecordLine("a b", 0, "warcinfo", ID[1:-1], hashlib.sha256(first).hexdigest()),
        RecordLine("a b", 1, "strange", ID[1:-1], hashlib.sha256(second).hexdigest()),
    ]
    assert [format_record_line(line).split(" ") for line in lines] == [
        ["a%20b", "0", "warcinfo", ID[1:-1], lines[0].sha256],
        ["a%20b", "1", "strange", ID[1:-1], lines[1].sha256],
    ]


def test_a_record_without_an_id() -> None:
    line = RecordLine("f", 3, "", None, "0" * 64)
    assert format_record_line(line) == f"f 3 - - {'0' * 64}"
