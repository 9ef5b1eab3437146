"""Header lines of ARC records, as the many writers of ARC wrote them."""

from __future__ import annotations

from pathlib import Path

import pytest
from archive_builders import arc_file, member, records_of, source_of, warc
from invariants import check_source

from pinakes.warc.arc import match_arc_header
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

ODD = b"http://a/ 1.2.3.4 x a/b 6\nblock\n\n"


@pytest.mark.parametrize(
    ("line", "uri", "date", "media_type", "length"),
    [
        (b"http://a/ 1.2.3.4 20010203040506 text/html 50\n", "http://a/", 14, "text/html", "50"),
        (b"http://a/ 1.2.3.4 20010203040506 text/html 50\r\n", "http://a/", 14, "text/html", "50"),
        (b"http://a/b c d 1.2.3.4 20010203040506 text/html 5\n", "http://a/b c d", 14, "", "5"),
        (b"http://a/ 1.2.3.4 20010203040506 text/html; charset=x 5\n", "http://a/", 14, "", "5"),
        (b"http://a/ 1.2.3.4 200102030405 text/html 5\n", "http://a/", 12, "text/html", "5"),
        (b"http://a/ 1.2.3.4 20010203040506789 text/html 5\n", "http://a/", 17, "text/html", "5"),
        (b"dns:a 1.2.3.4 20010203040506 text/dns 5\n", "dns:a", 14, "text/dns", "5"),
        (b"http://a/ 0.0.0.0 20010203040506 no-type 0\n", "http://a/", 14, "no-type", "0"),
        (b"http://a/\xff 1.2.3.4 20010203040506 a/b 5\n", "http://a/\udcff", 14, "a/b", "5"),
        (
            b"http://a/ 1.2.3.4 20010203040506 text/html 200 abc - 9 a.arc 5\n",
            "http://a/",
            14,
            "text/html",
            "5",
        ),
    ],
    ids=[
        "version-1",
        "crlf",
        "spaces-in-uri",
        "media-type-with-blanks",
        "date-of-12",
        "date-of-17",
        "dns",
        "no-type",
        "not-utf-8",
        "version-2",
    ],
)
def test_line(line: bytes, uri: str, date: int, media_type: str, length: str) -> None:
    header = match_arc_header(line + b"block")
    assert header is not None
    assert header.raw == line
    assert header.get("warc-target-uri") == uri
    assert len(header.get("WARC-Date") or "") == date
    assert (header.get("Content-Type") or "").startswith(media_type)
    assert header.field("content-length") == length


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"no scheme 1.2.3.4 20010203040506 text/html 50\n",
        b"http://a/ 1.2.3.4 2001 text/html 50\n",
        b"http://a/ 1.2.3.4 20010203040506 text/html many\n",
        b"http://a/ 1.2.3.4 20010203040506 text/html 50",
        b"http://a/ 1.2.3.4 20010203040506 text/html 9999999999999999999\n",
        b"WARC/1.0\r\n",
    ],
    ids=ascii,
)
def test_no_line(line: bytes) -> None:
    assert match_arc_header(line) is None


@pytest.mark.parametrize("version", [1, 2], ids=["version-1", "version-2"])
def test_file(version: int) -> None:
    records = records_of(arc_file(version=version))
    assert [record.type for record in records] == ["filedesc", "response", "resource"]
    assert [record.findings for record in records] == [(), (), ()]
    assert records[1].http is not None
    assert records[1].http.status == 200
    assert bytes(b"".join(records[1].payload())) == b"<p>old"
    assert records[0].version == f"ARC/{version}.0"


def test_version_2_keeps_its_checksum() -> None:
    assert records_of(arc_file(version=2))[1].header.get("ARC-Checksum") == "0123abcd"


def test_compressed_as_a_whole_or_by_record() -> None:
    whole = records_of(member(arc_file()))
    by_record = records_of(b"".join(member(r) for r in [arc_file()[:120], arc_file()[120:]]))
    assert [r.header.raw for r in whole] == [r.header.raw for r in by_record]


@pytest.mark.parametrize(
    ("fields", "ip", "date", "media_type"),
    [
        (b"None 20010203040506jpg a/b", "None", "20010203040506", "a/b"),
        (b"- 20010203040506GMT a/b", "-", "20010203040506", "a/b"),
        (b"none 20010203040506+0100 a/b; c=d", "none", "20010203040506", "a/b; c=d"),
        (b"1.2.3.4 20010203040506Z a/b", "1.2.3.4", "20010203040506", "a/b"),
        (b"2001:db8::1 20010203040506.5 a/b", "2001:db8::1", "20010203040506", "a/b"),
        (b"None 20010203040506 a/b", "None", "20010203040506", "a/b"),
        (b"20010203040506 1.2.3.4 a/b", "1.2.3.4", "20010203040506", "a/b"),
        (b"200102030405 1.2.3.4 a/b; c=d", "1.2.3.4", "200102030405", "a/b; c=d"),
        (b"200102030405060708 1.2.3.4 a/b", "1.2.3.4", "200102030405060708", "a/b"),
        (b"1.2.3.4 20010203040506 1.2.3.4", "1.2.3.4", "20010203040506", "1.2.3.4"),
    ],
    ids=["none-and-text", "hyphen-and-text", "zone-and-parameter", "z", "ipv6-and-fraction",
         "none", "date-first", "short-date-first", "long-date-first", "address-as-type"],
)  # fmt: skip
@pytest.mark.parametrize("rest", [b"5", b"200 abc - 9 a.arc 5"], ids=["version-1", "version-2"])
@pytest.mark.parametrize("uri", [b"http://a/", b"http://a/ b 12345678 c"], ids=["uri", "blanks"])
def test_lines_of_writers_that_differ(
    uri: bytes, fields: bytes, rest: bytes, ip: str, date: str, media_type: str
) -> None:
    """They are read anywhere, as those of the standard are."""
    header = match_arc_header(b" ".join((uri, fields, rest)) + b"\nblock")
    assert header is not None
    names = ("WARC-Target-URI", "WARC-IP-Address", "WARC-Date", "Content-Type", "Content-Length")
    values = [header.get(name) for name in names]
    assert values == [uri.decode(), ip, date, media_type, "5"]


@pytest.mark.parametrize(
    ("length", "said"), [(b"-1", "-1"), (b"9" * 19, "9" * 19), (b"many", "many"), (b"", None)]
)
def test_a_length_that_is_no_number_is_read_where_a_record_is_expected(
    length: bytes, said: str | None
) -> None:
    line = b"http://a/ 1.2.3.4 20010203040506 text/html " + length
    header = match_arc_header(line.rstrip() + b"\n", is_expected=True)
    assert header is not None
    assert header.get("Content-Length") == said
    assert header.get("Content-Type") == "text/html"
    assert match_arc_header(line.rstrip() + b"\n") is None


@pytest.mark.parametrize(
    ("line", "uri", "ip", "date"),
    [
        (b"http://a/ 1.2.3.4 41F2A3B0 a/b 5\n", "http://a/", "1.2.3.4", "41F2A3B0"),
        (b"http://a/ 1.2.3.4 a/b 20010203040506 5\n", *("http://a/", "1.2.3.4"), "20010203040506"),
        (b"http://a/ 1.2.3.4 20010203040506 5\n", *("http://a/", "1.2.3.4"), "20010203040506"),
        (b"http://a/ 200102030405 a/b 5\n", "http://a/", None, "200102030405"),
        (b"http://a/\rb 1.2.3.4 20010203040506 a/b 5\n", *("http://a/\rb", "1.2.3.4"),
         "20010203040506"),
        (b"http://a/ b 1.2.3.4 ? a/b 5\n", "http://a/ b", "1.2.3.4", "?"),
        (b"http://a/ 1.2.3.4 x a/b 200 abc - 9 a.arc 5\n", "http://a/", "1.2.3.4", "x"),
    ],
    ids=["hex-date", "date-and-type-swapped", "no-type", "no-address", "cr-in-uri", "space-in-uri",
         "version-2"],
)  # fmt: skip
def test_odd_lines_are_read_where_a_record_is_expected_and_nowhere_else(
    line: bytes, uri: str, ip: str | None, date: str
) -> None:
    header = match_arc_header(line + b"block", is_expected=True)
    assert header is not None
    assert header.raw == line
    names = ("WARC-Target-URI", "WARC-IP-Address", "WARC-Date", "Content-Length")
    assert [header.get(name) for name in names] == [uri, ip, date, "5"]
    assert match_arc_header(line) is None
    odd = line.replace(b" 5\n", b" 6\n") + b"block\n\n"
    # Where they are expected, behind a record, in members and outside.
    for data in (arc_file() + odd, member(arc_file()) + member(odd)):
        records = records_of(data)
        assert records[-1].header.raw == odd[: -len(b"block\n\n")]
        assert records[-1].body.size == 6


@pytest.mark.parametrize(
    "data",
    [
        warc(b"x") + arc_file() + ODD,
        b"rubbish" + member(arc_file()) + member(ODD),
        arc_file() + ODD + b"\x1f\x8b\x08" + bytes(20),
        arc_file() + ODD + member(arc_file()),
        arc_file() + arc_file().replace(b"20010203040506", b"3040506"),
        arc_file().replace(b"20010203040506", b"304\r"),
    ],
    ids=["behind-warc", "behind-rubbish", "before-rubbish", "before-a-member", "first-line-behind",
         "first-line"],
)  # fmt: skip
def test_what_is_read_alone_is_what_was_read_in_the_file(data: bytes) -> None:
    assert sum(isinstance(item, Record) for item in check_source(source_of(data))) >= 3


@pytest.mark.parametrize(
    "line",
    [
        b"http://a/ text 1.2.3.4 and a number 5\n",
        b"http://a/ 1.2.3.4 5\n",
        b"http://a/ a b c 5\n",
    ],
    ids=ascii,
)
def test_text_with_an_address_is_no_line(line: bytes) -> None:
    assert match_arc_header(line, is_expected=True) is None


@pytest.mark.parametrize(
    ("name", "offset", "date", "address", "digest"),
    [
        ("14_digit_plus_text_date.arc.gz", 659, "20160211000000", "None",
         "sha1:ZRNNAI6EJ7HCNZWNB4ZNHQSXBWTEXZQ7"),
        ("AR2-none-ip.arc.gz", 130, "20160211000000", "None",
         "sha1:SFWAGISZZFE5VIOKFCUTA42OIRTUQZN5"),
        ("transposed_header.arc.gz", 163, "20031219215023", "63.241.16.130",
         "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"),
    ],
    ids=["text-behind-the-date", "no-address", "date-before-address"],
)  # fmt: skip
def test_cases(
    shared_data: Path, name: str, offset: int, date: str, address: str, digest: str
) -> None:
    with open_source(shared_data / "cases" / name) as source:
        items = list(iter_records(source))
    assert len(items) == 2
    found = items[1]
    assert isinstance(found, Record)
    assert (found.offset, found.type, found.date_text) == (offset, "response", date)
    assert found.header.get("WARC-IP-Address") == address
    assert str(found.payload_digest()) == digest
    assert found.findings == ()
