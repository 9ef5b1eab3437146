"""Text in gzip is given to the byte that zlib refuses, whatever is wrong behind it."""

from __future__ import annotations

import gzip
import zlib
from io import BytesIO

import pytest

from pinakes.index.inflated import inflated

TEXT = b"".join(b"line %d of %d\n" % (n, n * 7919 % 10007) for n in range(20_000))


def read(packed: bytes) -> tuple[bytes, type[Exception] | None]:
    """What is read, line by line, and what it ends by."""
    file, lines = inflated(BytesIO(packed)), []
    try:
        while line := file.readline(1 << 20):
            lines.append(line)
    except (zlib.error, EOFError) as error:
        return b"".join(lines), type(error)
    return b"".join(lines), None


def whole_lines(text: bytes) -> bytes:
    return text[: text.rfind(b"\n") + 1]


@pytest.mark.parametrize("text", [b"", b"a", TEXT, b"x" * (3 << 20)], ids=len)
@pytest.mark.parametrize("padding", [0, 1, 40_000])
def test_members_and_zeros(text: bytes, padding: int) -> None:
    member = gzip.compress(text) + b"\0" * padding
    assert read(member) == (text, None)
    assert read(member * 2) == (text * 2, None)


@pytest.mark.parametrize("at", [1, 9, 10, 11, 500, 16_384, 16_385, -9, -8, -1])
def test_a_cut(at: int) -> None:
    packed = gzip.compress(TEXT)[:at]
    inflater = zlib.decompressobj(31)
    before = inflater.decompress(packed) + inflater.flush()
    assert read(packed) == (whole_lines(before), EOFError)
    member = gzip.compress(b"first\n")
    assert read(member + packed) == (b"first\n" + whole_lines(before), EOFError)


@pytest.mark.parametrize("count", [0, 1, 500, 5000, 100_000])
def test_damage(count: int) -> None:
    """A block of a type that there is none of (RFC 1951 section 3.2.3), at a flush."""
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(TEXT[:count]) + packer.flush(zlib.Z_FULL_FLUSH)
    assert read(packed + b"\x07" * 5000) == (whole_lines(TEXT[:count]), zlib.error)


@pytest.mark.parametrize("size", [40, 20_000])
def test_what_follows_or_is_wrong_at_the_end(size: int) -> None:
    member = gzip.compress(TEXT[:size])
    assert read(member + b"garbage" * size) == (whole_lines(TEXT[:size]), zlib.error)
    flipped = bytearray(member)
    flipped[-6] ^= 1
    assert read(bytes(flipped)) == (whole_lines(TEXT[:size]), zlib.error)
