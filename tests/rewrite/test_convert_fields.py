"""What ARC fields become, as tables."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pinakes.conformance import syntax
from pinakes.rewrite.arc_fields import (
    decode_bytes,
    encode_bytes,
    format_date,
    format_ip_address,
    format_media_type,
    format_stretch,
    format_target_uri,
)
from pinakes.warc.header import Header


@given(st.binary(max_size=200))
def test_any_bytes_go_through_a_header_and_back(data: bytes) -> None:
    header = Header(f"WARC/1.1\r\nX: {encode_bytes(data)}\r\n\r\n".encode())
    assert decode_bytes(header.get("X") or "") == data


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"http://a/ 1.2.3.4 x 5\n", "http://a/ 1.2.3.4 x 5%0A"),
        (b"a%20b\r\n", "a%2520b%0D%0A"),
        (b" a ", "%20a%20"),
        (b" ", "%20"),
        (b"", ""),
        (b"\xc3\xa9\x00", "%C3%A9%00"),
    ],
)
def test_encoding_leaves_what_can_be_left(data: bytes, text: str) -> None:
    assert encode_bytes(data) == text


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("20200102030405", "2020-01-02T03:04:05Z"),
        ("202001020304", "2020-01-02T03:04:00Z"),
        ("202001020304056", "2020-01-02T03:04:05.6Z"),
        ("20200102030405678", "2020-01-02T03:04:05.678Z"),
        ("202001020304056789", "2020-01-02T03:04:05.6789Z"),
        ("20200102", "2020-01-02T00:00:00Z"),
        ("2020010203040", None),
        ("20201302030405", None),
        ("20200230030405", None),
        ("blue_monday", None),
        ("", None),
        (None, None),
    ],
)
def test_dates(written: str | None, date: str | None) -> None:
    assert format_date(written) == date


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:DB8::1", "2001:db8::1"),
        ("0.0.0.0", None),
        ("::", None),
        ("0", None),
        ("a.b.c.d", None),
        ("192.0.2.256", None),
        ("-", None),
        ("", None),
        (None, None),
    ],
)
def test_addresses(written: str | None, address: str | None) -> None:
    assert format_ip_address(written) == address


@pytest.mark.parametrize(
    ("uri", "written", "media_type"),
    [
        ("dns:example.org", "text/dns", "text/dns"),
        ("dns:example.org", "no-type", "text/dns"),
        ("http://a/", "text/html", "text/html"),
        ("http://a/", "text/html; charset=x", "text/html; charset=x"),
        ("http://a/", "text/html;", "text/html"),
        ("http://a/", "text/html ; charset", "text/html"),
        ("http://a/", "html", "application/octet-stream"),
        ("http://a/", "application/http; msgtype=response", "application/octet-stream"),
        ("http://a/", "no-type", "application/octet-stream"),
        ("http://a/", "text/html\x00", "application/octet-stream"),
        ("http://a/", "", "application/octet-stream"),
        ("http://a/", None, "application/octet-stream"),
    ],
)
def test_media_types(uri: str, written: str | None, media_type: str) -> None:
    assert format_media_type(uri, written) == media_type


@pytest.mark.parametrize(
    ("written", "uri"),
    [
        ("http://a/b c", "http://a/b%20c"),
        ("http://a/%41", "http://a/%41"),
        ("http://a/é", "http://a/%C3%A9"),
        ("http://a/\udcff", "http://a/%FF"),
        ("http://a/\x00\t", "http://a/%00%09"),
        ("http://a/100%", "http://a/100%25"),
        ("http://a/%zz", "http://a/%25zz"),
        ("http://a/?q={x}&r=[y]#z", "http://a/?q=%7Bx%7D&r=%5By%5D#z"),
        ("http://a/[b]#c#d", "http://a/%5Bb%5D#c%23d"),
        ("http://[::1]:80/", "http://[::1]:80/"),
        ("http://a[b/", "http://a%5Bb/"),
        ("http://a:80x/:@", "http://a%3A80x/:@"),
        ("http://u@v@a:b:c/", "http://u%40v%40a%3Ab%3Ac/"),
        ("dns:a.org", "dns:a.org"),
        ("filedesc://horsy|\\\\hello", "filedesc://horsy%7C%5C%5Chello"),
    ],
)
def test_uris(written: str, uri: str) -> None:
    assert format_target_uri(written) == uri


@given(st.from_regex(r"[a-z]+:", fullmatch=True), st.text())
@example("http:", "//[")
@example("http:", "//a:b@[::1]:80:80//[?[#[#")
def test_written_uris_are_valid(scheme: str, rest: str) -> None:
    assert syntax.uri(format_target_uri(scheme + rest)) is None


@given(st.text(max_size=30), st.text(alphabet='a/;= "0.:%\t', max_size=12))
def test_written_media_types_and_addresses_are_valid(text: str, odd: str) -> None:
    for written in (text, odd, f"a/b{odd}", f"a/b;{odd}", f"::1%{odd}", f"1.2.3.4{odd}"):
        assert syntax.media_type(format_media_type("http://a/", written)) is None
        address = format_ip_address(written)
        assert address is None or syntax.ip_address(address) is None


def test_where_a_stretch_lay() -> None:
    assert format_stretch(raw=False, offset=0, inner=9) == "content offset=0 inner=9"
    assert format_stretch(raw=True, offset=7, inner=0) == "file offset=7 inner=0"
