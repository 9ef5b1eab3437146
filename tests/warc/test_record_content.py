"""A record's content: the body without chunks and content-codings, as bytes and as text."""

from __future__ import annotations

import gzip
import zlib
from datetime import datetime, timezone
from random import Random

import brotli
import pytest
import zstandard
from archive_builders import arc_file, gzip_file, member, records_of, skippable, source_of, warc

from pinakes.errors import InputRefused, MalformedRecord
from pinakes.warc.digest import Digest
from pinakes.warc.http.charsets import decode_text
from pinakes.warc.http.message import HttpHead
from pinakes.warc.record import Record
from pinakes.warc.source import IN_MEMORY_BYTES

PAGE = b"<p>hello, world</p>" * 50


def response(body: bytes, *fields: str, record_type: str = "response") -> Record:
    head = "".join(f"{field}\r\n" for field in ("HTTP/1.1 200 OK", *fields)).encode()
    [record] = records_of(member(warc(head + b"\r\n" + body, record_type=record_type)))
    return record


def chunked(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


def chunked_by(size: int, body: bytes) -> bytes:
    pieces = (body[at : at + size] for at in range(0, len(body), size))
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


def zstd(body: bytes, **options: bool) -> bytes:
    return zstandard.ZstdCompressor(**options).compress(body)


def zstd_of_window(log: int) -> bytes:
    """A frame of one empty raw block, which asks for that window (RFC 8878 §3.1.1.1.2)."""
    return b"\x28\xb5\x2f\xfd\0" + bytes([(log - 10) << 3]) + b"\1\0\0"


def raw_deflate(body: bytes) -> bytes:
    coder = zlib.compressobj(wbits=-15)
    return coder.compress(body) + coder.flush()


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        pytest.param(PAGE, (), id="plain"),
        pytest.param(gzip.compress(PAGE), ("Content-Encoding: gzip",), id="gzip"),
        pytest.param(zlib.compress(PAGE), ("Content-Encoding: deflate",), id="deflate"),
        pytest.param(raw_deflate(PAGE), ("Content-Encoding: deflate",), id="raw deflate"),
        pytest.param(brotli.compress(PAGE), ("Content-Encoding: br",), id="br"),
        pytest.param(chunked(PAGE), ("Transfer-Encoding: chunked",), id="chunked"),
        pytest.param(PAGE, ("Transfer-Encoding: chunked",), id="chunks removed by the writer"),
        pytest.param(
            chunked(gzip.compress(brotli.compress(PAGE))),
            ("Transfer-Encoding: chunked", "Content-Encoding: br, gzip"),
            id="three codings",
        ),
        pytest.param(zstd(PAGE), ("Content-Encoding: zstd",), id="zstd"),
        pytest.param(zstd(PAGE), ("content-encoding:ZSTD",), id="zstd in capitals"),
        pytest.param(
            zstd(PAGE, write_content_size=False, write_checksum=True),
            ("Content-Encoding: zstd",),
            id="zstd of unsaid size, with a checksum",
        ),
        pytest.param(
            skippable(b"x" * 9) + zstd(PAGE[:9]) + skippable(b"") + zstd(PAGE[9:]),
            ("Content-Encoding: zstd",),
            id="zstd in two frames, and skippable ones",
        ),
        pytest.param(
            chunked_by(3, zstd(PAGE[:9]) + skippable(b"y") + zstd(PAGE[9:])),
            ("Transfer-Encoding: chunked", "Content-Encoding: zstd"),
            id="zstd frames cut by chunks",
        ),
        pytest.param(zstd(PAGE) + b"\r\n", ("Content-Encoding: zstd",), id="zstd, then CRLF"),
        pytest.param(
            zstd_of_window(26) + zstd(PAGE), ("Content-Encoding: zstd",), id="zstd, 64 MiB window"
        ),
        pytest.param(
            chunked_by(1, zlib.compress(PAGE)),
            ("Transfer-Encoding: chunked", "Content-Encoding: deflate"),
            id="deflate byte by byte",
        ),
        pytest.param(
            chunked_by(1, gzip.compress(PAGE[:9]) + gzip.compress(PAGE[9:])),
            ("Transfer-Encoding: chunked", "Content-Encoding: x-gzip"),
            id="gzip members byte by byte",
        ),
        pytest.param(
            gzip.compress(zstd(PAGE)),
            ("Content-Encoding: zstd", "X: y", "content-encoding: gzip"),
            id="two lines",
        ),
        pytest.param(zstd(PAGE), ("Content-Encoding: none, zstd,, identity",), id="empty and none"),
        pytest.param(PAGE, ("Content-Encoding: none",), id="none"),
        pytest.param(PAGE, ("Content-Encoding:", "Transfer-Encoding: identity"), id="no value"),
        pytest.param(
            chunked(gzip.compress(PAGE)), ("Transfer-Encoding: gzip, chunked",), id="transfer gzip"
        ),
        pytest.param(
            chunked(gzip.compress(zstd(PAGE))),
            ("Transfer-Encoding: GZIP;q=1", "Transfer-Encoding: Chunked", "Content-Encoding: zstd"),
            id="transfer gzip, content zstd",
        ),
        pytest.param(
            PAGE, ("Transfer-Encoding: gzip, chunked",), id="transfer gzip removed by the writer"
        ),
        pytest.param(PAGE, ("Transfer-Encoding: binary",), id="no transfer coding"),
    ],
)
def test_the_codings_are_undone(body: bytes, fields: tuple[str, ...]) -> None:
    record = response(body, *fields)
    assert record.content() == PAGE
    assert b"".join(record.content_pieces()) == PAGE
    assert b"".join(record.payload()) == body


def test_a_block_too_large_for_memory() -> None:
    page = bytes(IN_MEMORY_BYTES + 1)
    assert response(gzip.compress(page), "Content-Encoding: gzip").content() == page
    assert response(page).content() == page


def test_a_record_without_http_has_its_block_as_content() -> None:
    [record] = records_of(
        warc(b"via: x\r\n", record_type="metadata", content_type="application/warc-fields")
    )
    assert (record.content(), record.text()) == (b"via: x\r\n", "via: x\r\n")


def test_a_revisit_has_none() -> None:
    assert response(b"", "Content-Type: text/html", record_type="revisit").content() == b""


@pytest.mark.parametrize(
    ("coding", "body", "message"),
    [
        ("gzip", b"not gzip", "the body is not gzip"),
        ("gzip", gzip.compress(PAGE)[:-9], "the body is not gzip.*incomplete"),
        ("br", b"\xff" * 99, "the body is not br"),
        ("zstd", PAGE, "the body is not zstd"),
        ("zstd", zstd(PAGE)[:-3], "the body is not zstd.*incomplete"),
        ("zstd", zstd(PAGE, write_checksum=True)[:-1] + b"\0", "the body is not zstd.*checksum"),
        ("zstd", zstd_of_window(28), "not decoded from zstd.*memory"),
        ("zstd, gzip", gzip.compress(PAGE), "the body is not zstd"),
        ("zebra", PAGE, "zebra is an unknown content-coding"),
        ("compress", b"\x1f\x9d\x90", "compress is an unknown content-coding"),
    ],
    ids=[
        *("not-gzip", "cut-off", "not-br", "not-zstd", "zstd-cut-off", "zstd-checksum", "window"),
        *("inner", "unknown", "compress"),
    ],
)
def test_what_is_not_in_its_coding_is_malformed(coding: str, body: bytes, message: str) -> None:
    record = response(body, f"Content-Encoding: {coding}")
    with pytest.raises(MalformedRecord, match=message) as caught:
        record.content()
    assert caught.value.offset == record.offset
    assert "payload()" in caught.value.message


def test_content_is_bounded() -> None:
    record = response(gzip.compress(bytes(1 << 22)), "Content-Encoding: gzip")
    assert len(record.content(limit_bytes=1 << 22)) == 1 << 22
    assert len(record.content(limit_bytes=None)) == 1 << 22
    for limit in (0, 1000, (1 << 22) - 1):
        with pytest.raises(InputRefused, match=r"longer than"):
            record.content(limit_bytes=limit)


@pytest.mark.parametrize(
    ("data", "content_type", "text"),
    [
        pytest.param("é".encode(), "text/html; charset=utf-8", "é", id="Content-Type"),
        pytest.param(b"\xe9", 'text/html; a=b;Charset="ISO-8859-1"', "é", id="quoted"),
        pytest.param(b"\x93", "text/html; charset=latin1", "\u201c", id="latin-1 as in browsers"),
        pytest.param("ж".encode("koi8-r"), "text/html;charset=KOI8-R", "ж", id="koi8-r"),
        pytest.param(b"\xef\xbb\xbfe", "text/html; charset=koi8-r", "e", id="mark comes first"),
        pytest.param("é".encode("utf-16"), None, "é", id="utf-16 with its mark"),
        pytest.param(b"<meta charset=koi8-r>\xd6", None, "<meta charset=koi8-r>ж", id="meta"),
        pytest.param(
            b'<meta http-equiv=x content="text/html; charset=koi8-r">\xd6',
            "text/html",
            '<meta http-equiv=x content="text/html; charset=koi8-r">ж',
            id="meta http-equiv",
        ),
        pytest.param(
            b"<?xml version='1.0' encoding='koi8-r'?>\xd6",
            None,
            "<?xml version='1.0' encoding='koi8-r'?>ж",
            id="xml",
        ),
        pytest.param(b"<meta charset=utf-16>e", None, "<meta charset=utf-16>e", id="no utf-16"),
        pytest.param("é".encode(), None, "é", id="utf-8 by its bytes"),
        pytest.param(b"\xe9", None, "é", id="else windows-1252"),
        pytest.param(b"\xff", "text/html; charset=utf-8", "\ufffd", id="replaced"),
        pytest.param(b"e", "text/html; charset=nonsense", "e", id="unknown charset"),
        pytest.param(b"e", "text/html; charset=zlib", "e", id="a codec of bytes"),
        pytest.param(b"\\x41", "text/html; charset=unicode_escape", "\\x41", id="not of the web"),
        pytest.param(b"a-", "text/html; charset=punycode", "a-", id="of host names"),
    ],
)
def test_charsets(data: bytes, content_type: str | None, text: str) -> None:
    assert decode_text(data, content_type) == text


def test_text_of_a_page() -> None:
    body = gzip.compress("<p>é".encode("cp1252"))
    fields = ("Content-Type: text/html; charset=latin-1", "Content-Encoding: gzip")
    assert response(body, *fields).text() == "<p>é"


@pytest.mark.parametrize(
    "body",
    [
        chunked(PAGE)[:-5],
        chunked(PAGE)[:-100],
        chunked(PAGE)[: len(PAGE) // 2],
        b"3\r\nabc\r\nno size\r\nabc\r\n0\r\n\r\n",
    ],
    ids=["last-chunk", "cut-off", "in-the-first", "size"],
)
def test_a_body_cut_off_in_its_chunks_is_malformed(body: bytes) -> None:
    """Its first part, or the sizes of chunks in it, would pass for the page."""
    record = response(body, "Transfer-Encoding: chunked")
    with pytest.raises(MalformedRecord, match="cut off or damaged in its chunks"):
        record.content()


@pytest.mark.parametrize("cut", [1, 10, 100])
def test_brotli_that_is_cut_off_is_malformed(cut: int) -> None:
    body = brotli.compress(Random(1).randbytes(5000))[:-cut]
    with pytest.raises(MalformedRecord, match="the body is not br"):
        response(body, "Content-Encoding: br").content()


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "br, gzip"])
def test_an_empty_body_is_in_any_coding(coding: str) -> None:
    assert response(b"", f"Content-Encoding: {coding}").content() == b""
    empty = response(b"0\r\n\r\n", f"Content-Encoding: {coding}", "Transfer-Encoding: chunked")
    assert empty.text() == ""


def test_very_many_codings_are_malformed() -> None:
    record = response(PAGE, f"Content-Encoding: {', '.join(['deflate'] * 5000)}")
    with pytest.raises(MalformedRecord, match="5000 content-codings"):
        record.content()


def test_endless_layers_of_nothing_end() -> None:
    """What comes out is empty, so that no limit of it would end this: 400 MB of empty members."""
    empty = gzip.compress(b"", mtime=0)
    layer = zlib.compressobj(wbits=31)
    body = b"".join([*(layer.compress(empty * 20_000) for _ in range(20)), layer.flush()])
    record = response(gzip.compress(body * 1000), "Content-Encoding: gzip, gzip, gzip")
    with pytest.raises(MalformedRecord, match="decodes to more than 16777216 bytes"):
        record.content()


# --- A record's date: a moment in UTC, and as its writer wrote it


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=timezone.utc)  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        pytest.param("2020-01-02T03:04:05Z", utc(2020, 1, 2, 3, 4, 5), id="seconds"),
        pytest.param(
            "2020-01-02T03:04:05.123456789Z",
            utc(2020, 1, 2, 3, 4, 5, 123456),
            id="nanoseconds are cut",
        ),
        pytest.param("2020-01", utc(2020, 1, 1), id="month: its first moment"),
        pytest.param("2020-01-02T03:04:05+02:00", utc(2020, 1, 2, 1, 4, 5), id="zone"),
        pytest.param("20200102030405", utc(2020, 1, 2, 3, 4, 5), id="14 digits"),
        pytest.param("yesterday", None, id="no date"),
    ],
)
def test_a_date_is_a_moment_and_its_text_stays(text: str, moment: datetime | None) -> None:
    [record] = records_of(warc().replace(b"2020-01-02T03:04:05Z", text.encode()))
    assert (record.date, record.date_text) == (moment, text)
    assert moment is None or record.date.tzinfo is timezone.utc  # type: ignore[union-attr]


def test_no_date() -> None:
    [record] = records_of(warc().replace(b"WARC-Date: 2020-01-02T03:04:05Z\r\n", b""))
    assert (record.date, record.date_text) == (None, None)


def test_14_digits_of_arc() -> None:
    record = records_of(arc_file())[1]
    assert record.date_text is not None
    assert len(record.date_text) == 14
    assert record.date is not None
    assert record.date.strftime("%Y%m%d%H%M%S") == record.date_text


# --- What a notebook shows of what the reader gives: one line that says what it is


def test_a_record_and_its_parts() -> None:
    record = records_of(gzip_file())[1]
    assert repr(record) == (
        f"<Record 1 at {record.offset}: response http://example.org/1 2020-01-02T03:04:05Z>"
    )
    assert repr(record.header) == "<Header WARC/1.1 response, 6 fields>"
    assert repr(record.http) == "<HttpHead HTTP/1.1 200 OK, text/html>"
    assert repr(record.payload_digest()) == f"<Digest {record.payload_digest()}>"


def test_a_source() -> None:
    data = gzip_file()
    assert repr(source_of(data, "a.warc.gz")) == f"<Source a.warc.gz: {len(data)} bytes>"


def test_an_arc_record() -> None:
    record = records_of(arc_file())[1]
    assert repr(record).startswith("<Record 1 at ")
    assert record.date_text is not None
    assert record.date_text in repr(record)
    assert repr(record.header).startswith("<Header ARC/1")


@pytest.mark.parametrize("digest", [Digest("sha256", bytes(32)), Digest("sha1", b"")])
def test_a_digest(digest: Digest) -> None:
    assert repr(digest) == f"<Digest {digest}>"


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(warc().replace(b"WARC-Target-URI: ", b"WARC-Target-URI: \x1b[2J"), id="uri"),
        pytest.param(warc().replace(b"2020-01-02T", b"2020\r\n \xff\x07"), id="date"),
        pytest.param(warc(record_type="\x1b]0;x\x07"), id="type"),
        pytest.param(warc(b"HTTP/1.1 200 \x1b[2J\xff" + b"x" * 999 + b"\n\n"), id="status line"),
    ],
)
def test_nothing_of_a_file_moves_the_cursor(record: bytes) -> None:
    [found] = records_of(member(record))
    assert isinstance(found, Record)
    for text in (repr(found), repr(found.header), repr(found.http), repr(HttpHead(b""))):
        assert text.isprintable()
        assert len(text) < 200
