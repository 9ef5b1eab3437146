"""A form gives what `build_revisit` gives, byte for byte, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.warc.header import Header
from pinakes.warc.revisit import OriginalReference, Unwritable, build_revisit, digest_of_block
from pinakes.warc.revisit_forms import RevisitBuilder, form_of
from pinakes.warc.shapes import ShapeBook, ShapedHeader

RUN = "refs-0"
DIGEST = "sha1:GURAMZIJ6I2PDN5DF3V3RMXG4RFWINHD"
HTTP_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"

# Values that mean something to a form: blanks, percent signs, line numbers, format codes.
odd = st.sampled_from(
    ["", " ", "%b", "%%", "{3}", "{0}", "a b", "ü", "\udcff", "x\r", "; 2=y", "41"]
)
values = st.one_of(odd, st.text(st.characters(codec="ascii", categories=["L", "N", "P"])))
# The digest and the length of the new block may stand in the old header by chance, or by mistake.
OF_HEAD = digest_of_block(b"", HTTP_HEAD).decode()
lengths = st.sampled_from([len(HTTP_HEAD), 0, 5120, 12])
digests = st.one_of(
    st.sampled_from([DIGEST, OF_HEAD]), st.sampled_from(["sha256:00", "md5:x y", "sha1:%"]), values
)
COMMON = ["WARC-Target-URI", "WARC-Block-Digest", "WARC-Payload-Digest", "Content-Type"]
RARE = ["WARC-Date", "WARC-Record-ID", "WARC-Block-Digest", "Pinakes-Replaced", "X", "x"]
some = st.lists(st.sampled_from([*COMMON, *RARE]), max_size=8)
names = st.one_of(some, st.permutations(COMMON), st.permutations([*COMMON, *RARE[-3:]]))
originals = st.builds(
    OriginalReference,
    values,
    values,
    st.one_of(st.none(), values),
    st.one_of(st.just(DIGEST), digests),
)


@st.composite
def headers(draw: st.DrawFn, names: list[str]) -> bytes:
    """A header with those names, and the two that each has; the values differ."""
    content_type = draw(st.sampled_from(["application/http;msgtype=response", "text/{2}", "%s"]))
    lines = ["WARC/1.1", "WARC-Type: response", f"Content-Length: {draw(lengths)}"]
    for name in names:
        kind = values
        if "digest" in name.lower():
            kind = digests
        value = content_type if name == "Content-Type" else draw(kind)
        lines.append(f"{name}: {value}".replace("\n", " "))
    return "\r\n".join((*lines, "", "")).encode("utf-8", "surrogateescape")


def outcome(build: object, *arguments: object, **named: object) -> object:
    """What a call returns, or why it does not."""
    try:
        return build(*arguments, **named)  # type: ignore[operator]
    except Unwritable as reason:
        return reason.reason


@given(st.data())
def test_each_header_of_a_writer_becomes_what_it_becomes_alone(data: st.DataObject) -> None:
    of_one_writer = data.draw(names)
    builder, book = RevisitBuilder(RUN), ShapeBook()
    for _ in range(4):
        raw = data.draw(headers(of_one_writer))
        original, head = data.draw(originals), data.draw(st.sampled_from([HTTP_HEAD, b"", b"41"]))
        shaped = book.read(raw)
        if shaped is None:
            book.learn(raw)
        alone = outcome(build_revisit, Header(raw), head, original, run=RUN, crc32=7)
        assert outcome(builder.build, shaped or Header(raw), head, original, crc32=7) == alone


def header_of(length: int, block_digest: str, payload_digest: str = DIGEST) -> ShapedHeader:
    raw = (
        "WARC/1.0\r\nWARC-Type: response\r\n"
        f"WARC-Record-ID: <urn:uuid:{length}>\r\nWARC-Block-Digest: {block_digest}\r\n"
        f"WARC-Payload-Digest: {payload_digest}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()
    book = ShapeBook()
    book.learn(raw)
    header = book.read(raw)
    assert header is not None
    return header


@pytest.mark.parametrize(
    ("next_header", "fits"),
    [
        (header_of(30000, "sha1:B"), True),
        (header_of(30000, "sha256:00"), True),
        (header_of(30000, "odd; 2=%"), False),
        (header_of(30000, OF_HEAD), False),
        (header_of(len(HTTP_HEAD), "sha1:B"), False),
        (header_of(30000, "sha1:B", "sha1:C"), False),
    ],
)
def test_a_form_is_filled_in_only_where_it_holds(next_header: ShapedHeader, fits: bool) -> None:
    form = form_of(header_of(1000, "sha1:A"), run=RUN)
    assert form is not None
    original = OriginalReference(
        "http://example.org/", "2020-01-01T00:00:00Z", "urn:uuid:1", DIGEST
    )
    expected = build_revisit(Header(next_header.raw), HTTP_HEAD, original, run=RUN, crc32=7)
    assert form.fill(next_header, HTTP_HEAD, original, 7) == (expected if fits else None)
    assert form.fill(next_header, HTTP_HEAD, original._replace(record_id=None), 7) is None
