"""A header read by its shape answers as a parsed one does, or is not read so at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.warc.header import Header
from pinakes.warc.shapes import ShapeBook, shape_of

START = b"WARC/1.0\r\nWARC-Type: response\r\n"
TYPED = START + b"Content-Type: application/http; msgtype=response\r\n"
NAMES = ("WARC-Type", "WARC-Date", "content-length", "WARC-Target-URI", "X", "Content-Type")


def header(*lines: bytes, start: bytes = START) -> bytes:
    return start + b"".join(line + b"\r\n" for line in (*lines, b"Content-Length: 12", b""))


def assert_same_answers(raw: bytes, taught: bytes) -> bool:
    """Whether `raw` fits the shape of `taught`; if so, it must answer like a parse."""
    book = ShapeBook()
    book.learn(taught)
    shaped = book.read(raw)
    if shaped is None or shaped.raw != raw:
        return False
    parsed = Header(raw)
    names = {name.lower() for name, _ in parsed.fields()} | {name.lower() for name in NAMES}
    assert {n: shaped.get(n) for n in names} == {n: parsed.get(n) for n in names}
    assert {n: shaped.field(n) for n in names} == {n: parsed.field(n) for n in names}
    assert all(shaped.has_any(frozenset({n})) == parsed.has_any(frozenset({n})) for n in names)
    assert shaped.outline() == parsed.outline()
    assert shaped.payload_digest == parsed.payload_digest
    assert shaped.lines() == parsed.lines()
    assert shaped.declares_http == parsed.declares_http
    assert (shaped.shape.version, shaped.shape.record_type) == (
        parsed.version,
        (parsed.get("warc-type") or "").lower(),
    )
    assert str(shaped.content_length) == (parsed.get("content-length") or "").lstrip("0")
    return True


FITS = {
    "the same again": (header(b"WARC-Date: 1"), header(b"WARC-Date: 1")),
    "other values": (header(b"WARC-Date: 1"), header(b"WARC-Date: 2: 3")),
    "an empty value": (header(b"X: y"), header(b"X: ")),
    "blanks around a value": (header(b"X: y"), header(b"X:  \t z \t")),
    "a CR in a value": (header(b"X: y"), header(b"X: z\rWARC-Date: 1\r")),
    "no UTF-8": (header(b"X: y"), header(b"X: \xff\xc3")),
    "a name twice": (header(b"X: 1", b"X: 2"), header(b"X: 3", b"X: 4")),
    "a name in two spellings": (header(b"X: 1", b"x: 2"), header(b"X: 3", b"x: 4")),
    "in brackets": (
        header(b"WARC-Target-URI: x", b"WARC-Date: 1", b"WARC-Record-ID: y"),
        header(b"WARC-Target-URI: <x>", b"WARC-Date: 2 ", b"WARC-Record-ID: <y> "),
    ),
    "a payload digest": (header(b"WARC-Payload-Digest: x"), header(b"WARC-Payload-Digest:  y ")),
    "two payload digests": (
        header(b"WARC-Payload-Digest: 1", b"warc-payload-digest: 2"),
        header(b"WARC-Payload-Digest: 3", b"warc-payload-digest: 4"),
    ),
    "HTTP by its type": (header(start=TYPED), header(start=TYPED)),
    "HTTP where another was": (
        header(b"Content-Type: text/plain"),
        header(b"Content-Type: Application/HTTP"),
    ),
}


@pytest.mark.parametrize(("taught", "raw"), FITS.values(), ids=FITS)
def test_fits_and_answers_like_a_parse(taught: bytes, raw: bytes) -> None:
    assert assert_same_answers(raw, taught)


MISSES = {
    "a line more": header(b"X: y", b"Y: z"),
    "a line fewer": header(),
    "a name in another case": header(b"x: y"),
    "a folded line": header(b"X: y", b" z"),
    "a line without a colon": header(b"X: y", b"z"),
    "no blank behind the colon": header(b"X:y"),
    "another type": header(b"X: y").replace(b"response", b"revisit"),
    "another version": header(b"X: y").replace(b"1.0", b"1.1"),
    "a length that is no number": header(b"X: y").replace(b"12", b"1e2"),
    "a length too long": header(b"X: y").replace(b"12", b"1" * 19),
    "LF for CRLF": header(b"X: y").replace(b"\r\n", b"\n"),
}


@pytest.mark.parametrize("raw", MISSES.values(), ids=MISSES)
def test_fits_no_shape(raw: bytes) -> None:
    assert not assert_same_answers(raw, header(b"X: y"))


SHAPELESS = {
    "no version": header(b"X: y")[10:],
    "a folded line": header(b"X: y", b" z"),
    "a line without a colon": header(b"z"),
    "two lengths": header(b"content-length: 3"),
    "no type": b"WARC/1.0\r\nContent-Length: 12\r\n\r\n",
    "two types": header(b"WARC-TYPE: request"),
    "no length": START + b"\r\n",
    "fifty lines": header(*(b"X: y" for _ in range(50))),
    "not closed": header(b"X: y")[:-2],
}


@pytest.mark.parametrize("raw", SHAPELESS.values(), ids=SHAPELESS)
def test_no_shape_is_learnt(raw: bytes) -> None:
    assert shape_of(raw) is None


def test_a_header_ends_before_its_block() -> None:
    book = ShapeBook()
    book.learn(header(b"X: y"))
    shaped = book.read(header(b"X: z") + b"WARC/1.0\r\n\r\n")
    assert shaped is not None
    assert shaped.raw == header(b"X: z")


def test_few_lessons_are_given() -> None:
    book = ShapeBook()
    for number in range(100):
        book.learn(header(b"X-%d: y" % number))
    assert book.read(header(b"X-31: z")) is not None
    assert book.read(header(b"X-99: z")) is None


PIECES = st.sampled_from(
    [b"X", b"WARC-Date", b"Content-Length", b": ", b":", b" ", b"\t", b"\r", b"\n", b"\r\n", b"7"]
)


@given(st.lists(PIECES, max_size=8).map(b"".join), st.lists(PIECES, max_size=8).map(b"".join))
def test_any_header_is_read_as_parsed_or_not_at_all(first: bytes, second: bytes) -> None:
    taught, raw = header(b"X: " + first), header(b"X: " + second)
    book = ShapeBook()
    book.learn(taught)
    shaped = book.read(raw + b"\r\nblock\n\r\n")
    if shaped is not None:
        assert shaped.raw == raw[: raw.find(b"\n\r\n") + 3]
        assert_same_answers(shaped.raw, taught)
