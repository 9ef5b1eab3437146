"""Whether a body is coded as its header says."""

from __future__ import annotations

import gzip
import zlib

import pytest

from pinakes.qa.replay.codings import FIRST_BYTES, is_coded

PAGE = b"<html>" + bytes(range(256)) * 100
DEFLATE = zlib.compressobj(9, zlib.DEFLATED, -15)
CODED = {
    "gzip": gzip.compress(PAGE, mtime=0),
    "x-gzip": gzip.compress(PAGE, mtime=0),
    " GZIP ": gzip.compress(PAGE, mtime=0),
    "deflate": zlib.compress(PAGE),
    "Deflate": DEFLATE.compress(PAGE) + DEFLATE.flush(),
    "zstd": b"\x28\xb5\x2f\xfd\x00",
    "br, gzip": gzip.compress(PAGE, mtime=0),
}


@pytest.mark.parametrize("coding", CODED)
def test_a_coded_body_is_known(coding: str) -> None:
    assert is_coded(coding, CODED[coding][:FIRST_BYTES])


@pytest.mark.parametrize("coding", [*CODED, "br"])
@pytest.mark.parametrize("body", [PAGE, b"", b"{}"], ids=["html", "empty", "json"])
def test_a_decoded_body_is_known(coding: str, body: bytes) -> None:
    pytest.importorskip("brotli")
    assert not is_coded(coding, body[:FIRST_BYTES])


def test_brotli() -> None:
    brotli = pytest.importorskip("brotli")
    assert is_coded("br", brotli.compress(PAGE)[:100])


@pytest.mark.parametrize("coding", ["identity", "", "x-none-we-know"])
def test_what_is_unknown_is_believed(coding: str) -> None:
    assert is_coded(coding, PAGE)
