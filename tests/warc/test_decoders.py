"""Whether a body is coded as its header says."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib

import brotli
import pytest

from pinakes.warc.http.decoders import FIRST_BYTES, is_coded

PAGE = b"<html>" + bytes(range(256)) * 100
DEFLATE = zlib.compressobj(9, zlib.DEFLATED, -15)
CODED = {
    "gzip": gzip.compress(PAGE, mtime=0),
    "x-gzip": gzip.compress(PAGE, mtime=0),
    " GZIP ": gzip.compress(PAGE, mtime=0),
    "deflate": zlib.compress(PAGE),
    "Deflate": DEFLATE.compress(PAGE) + DEFLATE.flush(),
    "zstd": b"\x28\xb5\x2f\xfd\x00",
    "ZSTD": b"\x50\x2a\x4d\x18\x00",
    "br, gzip": gzip.compress(PAGE, mtime=0),
}


@pytest.mark.parametrize("coding", CODED)
def test_a_coded_body_is_known(coding: str) -> None:
    assert is_coded(coding, CODED[coding][:FIRST_BYTES])


@pytest.mark.parametrize("coding", [*CODED, "br"])
@pytest.mark.parametrize("body", [PAGE, b"", b"{}"], ids=["html", "empty", "json"])
def test_a_decoded_body_is_known(coding: str, body: bytes) -> None:
    assert not is_coded(coding, body[:FIRST_BYTES])


def test_brotli() -> None:
    assert is_coded("br", brotli.compress(PAGE)[:100])


BOMB = """
import pathlib, resource, brotli
from pinakes.warc.http.decoders import FIRST_BYTES, is_coded
compressor = brotli.Compressor(quality=5)
coded = b"".join(compressor.process(bytes(1 << 24)) for _ in range(16)) + compressor.finish()
assert len(coded) < FIRST_BYTES
pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + (64 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
assert is_coded("br", coded)
"""


def test_a_few_bytes_that_stand_for_256_mib_cost_little() -> None:
    """In a process of its own, which gets 64 MiB more."""
    done = subprocess.run([sys.executable, "-c", BOMB], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


ENDLESS = """
import pathlib, resource, sys, zlib, brotli, zstandard
from pinakes.warc.http.decoders import DECODERS
coding = sys.argv[1]
if coding == "br":
    compressor = brotli.Compressor(quality=5)
    feed, end = compressor.process, compressor.finish
elif coding == "zstd":
    compressor = zstandard.ZstdCompressor().compressobj()
    feed, end = compressor.compress, compressor.flush
else:
    compressor = zlib.compressobj(wbits={"gzip": 31, "deflate": 15}[coding])
    feed, end = compressor.compress, compressor.flush
coded = b"".join(feed(bytes(1 << 24)) for _ in range(4)) + end()
del compressor, feed, end
pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
most = pages * resource.getpagesize() + (40 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
sizes = [len(piece) for piece in DECODERS[coding](iter([coded]))]
assert sum(sizes) == 1 << 26 and max(sizes) <= 1 << 22, (sum(sizes), max(sizes))
"""


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_64_mib_come_out_in_small_pieces(coding: str) -> None:
    """In a process of its own, which gets 40 MiB more."""
    call = [sys.executable, "-c", ENDLESS, coding]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("coding", ["identity", "none", "", "x-none-we-know"])
def test_what_is_unknown_is_believed(coding: str) -> None:
    assert is_coded(coding, PAGE)
