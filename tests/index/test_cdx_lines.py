"""CDX and CDXJ: our lines read back, other tools' lines read, and theirs written the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import MalformedRecord
from pinakes.hbase_schema.capture_cells import cdx_digest
from pinakes.index.cdxj import (
    CDX_9,
    CDX_11,
    CdxLine,
    format_cdx,
    format_cdx_header,
    format_cdxj,
    parse_cdx,
    parse_cdxj,
)
from pinakes.index.urlkey import urlkey

LINE = CdxLine(
    "org,example)/", "20200102030405", "http://example.org/", "text/html", "200",
    "A" * 32, 512, 1024, "a.warc.gz",
)  # fmt: skip
words = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Z")), min_size=1, max_size=9)
words = words.filter(lambda text: text != "-")


@st.composite
def cdxj_lines(draw: st.DrawFn) -> CdxLine:
    maybe_text, maybe_word = st.none() | st.text(), st.none() | words
    extra = st.dictionaries(st.sampled_from(["method", "recordDigest"]), words, min_size=1)
    return CdxLine(
        urlkey=draw(words),
        timestamp="20200102030405",
        url=draw(maybe_text),
        mime=draw(maybe_word),
        status=draw(st.none() | st.just("200")),
        digest=draw(maybe_word),
        length=draw(st.none() | st.integers(0, 1 << 40)),
        offset=draw(st.none() | st.integers(0, 1 << 40)),
        filename=draw(maybe_text),
        redirect=draw(maybe_text),
        extra=draw(st.none() | extra),
    )


@st.composite
def cdx_lines(draw: st.DrawFn) -> CdxLine:
    texts = [draw(words) for _ in range(6)]
    key, url, mime, status, digest, filename = texts
    at = draw(st.integers(0, 1 << 40))
    return CdxLine(key, "20200102030405", url, mime, status, digest, 7, at, filename, None, None)


@given(cdxj_lines())
def test_cdxj_reads_back(line: CdxLine) -> None:
    text = format_cdxj(line)
    assert len(text.splitlines()) == 1
    assert parse_cdxj(text) == line


@pytest.mark.parametrize("columns", [CDX_11, CDX_9, "a b k g"])
@given(cdx_lines())
def test_cdx_reads_back(columns: str, line: CdxLine) -> None:
    texts = [format_cdx_header(columns), format_cdx(line, columns)]
    (read,) = parse_cdx(texts)
    if columns == "a b k g":
        assert read == CdxLine(
            urlkey(line.url or ""), line.timestamp, line.url,
            digest=line.digest, filename=line.filename,
        )  # fmt: skip
        return
    assert read == (line if columns == CDX_11 else line._replace(length=None))


def test_blanks_in_a_url_do_not_shift_columns() -> None:
    text = format_cdx(LINE._replace(url="http://example.org/a b\n"))
    assert text.split(" ")[2] == "http://example.org/a%20b%0A"
    assert len(text.split(" ")) == 11


@pytest.mark.parametrize(
    "text",
    [
        "",
        "key",
        "key 2020",
        "key 2020 [1]",
        "key x {}",
        'key 2020 {"offset": "many"}',
        "key 2020 {",
    ],
)
def test_what_is_no_cdxj_is_named(text: str) -> None:
    with pytest.raises(MalformedRecord, match="line 4 is not a CDXJ"):
        parse_cdxj(text, number=4)


def test_what_is_no_cdx_is_named() -> None:
    with pytest.raises(MalformedRecord, match="line 2 is not a CDX"):
        list(parse_cdx([format_cdx_header(), "this is not one"]))
    with pytest.raises(MalformedRecord, match="line 1 is not a CDX"):
        list(parse_cdx(["CDX is the format of this file"]))


def test_without_a_first_line_the_number_of_columns_decides() -> None:
    nine, eleven = format_cdx(LINE, CDX_9), format_cdx(LINE)
    assert [line.offset for line in parse_cdx([nine, eleven])] == [1024, 1024]
    assert [line.length for line in parse_cdx([nine, eleven])] == [None, 512]


def test_digests_lose_the_label_of_sha1_in_base32_only() -> None:
    assert cdx_digest("sha1:" + "A" * 32) == "A" * 32
    assert cdx_digest("sha256:" + "0" * 64) == "sha256:" + "0" * 64
    assert cdx_digest("sha1:x") == "sha1:x"


def test_lines_of_cdxj_indexer_are_written_as_it_writes_them(shared_data: Path) -> None:
    same = 0
    for file in sorted(
        (shared_data / "archives" / "_oracle" / "cdxj-indexer-1.5.0").rglob("*.cdxj")
    ):
        for text in file.read_text("utf-8").splitlines():
            line = parse_cdxj(text)
            assert json.loads(format_cdxj(line).split(" ", 2)[2]) == json.loads(
                text.split(" ", 2)[2]
            )
            same += format_cdxj(line) == text
            if line.url and line.urlkey == urlkey(line.url):
                assert line.extra is None or "method" not in line.extra
    assert same > 1000


def test_cdx_files_of_other_projects_are_read(shared_data: Path) -> None:
    read = 0
    refused = []
    for file in sorted((shared_data / "expected-cdx" / "files").rglob("*.cdx")):
        texts = file.read_text("utf-8", "surrogateescape").splitlines()
        if "CDX" in texts[0]:
            try:
                lines = list(parse_cdx(texts))
            except MalformedRecord:
                refused.append(file.name)
                continue
            read += len(lines)
            assert all(line.timestamp.isdecimal() for line in lines)
    assert read > 100
    # Ten columns in its first line, eleven in others.
    assert refused == ["records-cdx9-jwat-sorted.cdx"]
