"""Values at Browsertrix's keys: written as its code reads them, read as anybody may write them."""

from __future__ import annotations

import pytest

from pinakes.errors import MalformedRecord
from pinakes.shared_index.keys import (
    CODE,
    DOCUMENTED,
    DigestEntry,
    ListedFile,
    digest_field,
    format_entry,
    format_listed,
    parse_counts,
    parse_entry,
    parse_field,
    parse_listed,
)

ENTRY = DigestEntry(3, "20260102030405", "http://example.org/?a=b&c=%20", 1041)


def test_an_entry_is_four_fields() -> None:
    value = b"3 20260102030405 http://example.org/?a=b&c=%20 1041"
    assert format_entry(ENTRY) == value
    assert parse_entry(value) == ENTRY


@pytest.mark.parametrize("url", ["http://a/b c", "http://a/\n", "http://a/\udcff", ""])
def test_a_url_that_would_not_come_back_is_not_written(url: str) -> None:
    assert format_entry(ENTRY._replace(url=url)) is None


@pytest.mark.parametrize(
    ("date", "time"),
    [
        ("20260102030405", "20260102030405"),
        ("20260102030405678", "20260102030405678"),
        ("2026-01-02T03:04:05Z", "20260102030405"),
        ("2026-01-02T03:04:05.678Z", "20260102030405678"),
        ("2026-01-02T03:04:05.678901Z", "20260102030405678"),
    ],
)
def test_dates(date: str, time: str) -> None:
    assert parse_entry(b"0 %b http://a/ 1" % date.encode()).time == time


@pytest.mark.parametrize(
    "date",
    ["2026", "20261302030405", "today", "2026010203040x", "２０２６０１０２０３０４０５"],
)
def test_no_dates(date: str) -> None:
    with pytest.raises(MalformedRecord):
        parse_entry(b"0 %b http://a/ 1" % date.encode())


@pytest.mark.parametrize(
    ("digest", "field"),
    [
        ("sha256:" + "a" * 64, "a" * 64),
        ("sha1:VQEUJD4CVQEUJD4CVQEUJD4CVQEUJD4C", "VQEUJD4CVQEUJD4CVQEUJD4CVQEUJD4C"),
        ("a" * 64, "a" * 64),
    ],
)
def test_the_code_asks_without_label(digest: str, field: str) -> None:
    assert digest_field(digest, CODE) == field
    assert digest_field(digest, DOCUMENTED) == digest
    assert parse_field(field.encode()) == parse_field(digest.encode())


@pytest.mark.parametrize(
    ("file", "value"),
    [
        (ListedFile("a.wacz"), b'{"filename":"a.wacz"}'),
        (
            ListedFile("ä b.wacz", "0" * 64, 12),
            '{"filename":"ä b.wacz","hash":"%s","size":12}'.encode() % (b"0" * 64,),
        ),
    ],
)
def test_listed_files(file: ListedFile, value: bytes) -> None:
    assert format_listed(file) == value
    assert parse_listed(value) == file


def test_a_hash_may_have_a_label_and_be_none() -> None:
    labelled = b'{"filename":"a","hash":"sha256:%b","size":1}' % (b"0" * 64)
    assert parse_listed(labelled).sha256 == "0" * 64
    assert parse_listed(b'{"filename":"a","hash":"md5:0","more":[]}') == ListedFile("a")


def test_counts_are_whole_numbers() -> None:
    assert parse_counts({b"totalUrls": b"12", b"updateProgress": b"0.5"}) == {"totalUrls": 12}
    with pytest.raises(MalformedRecord):
        parse_counts({b"totalUrls": b"many"})
