"""Whether a body has the coding that its Content-Encoding names, by its first bytes.

Pure.  Some writers store the decoded body and keep the header field: a browser that trusts the
field shows nothing.
"""

from __future__ import annotations

import zlib
from importlib.util import find_spec

FIRST_BYTES = 1 << 12
# A few kilobytes may decode to a gigabyte; the beginning shows the coding.
_MOST_DECODED_BYTES = 1 << 16
_MAGIC = {"gzip": b"\x1f\x8b", "x-gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}


def is_coded(content_encoding: str, first: bytes) -> bool:
    """Whether a body that begins so can have the coding; True for an unknown coding.

    Of several codings the last is checked, which was applied last.
    """
    coding = content_encoding.rpartition(",")[2].strip().lower()
    if coding in ("", "identity"):
        return True
    if coding in _MAGIC:
        return first.startswith(_MAGIC[coding])
    if coding == "deflate":
        # With the zlib header, as the standard says, or without, as some servers send it.
        # The first bytes of a short text may be valid without the header.
        return _inflates(first, 15) or (not first.isascii() and _inflates(first, -15))
    if coding == "br":
        return _is_brotli(first)
    return True


def _inflates(first: bytes, window_bits: int) -> bool:
    inflater = zlib.decompressobj(window_bits)
    try:
        return bool(inflater.decompress(first, _MOST_DECODED_BYTES)) or inflater.eof
    except zlib.error:
        return False


def _is_brotli(first: bytes) -> bool:
    if not first or find_spec("brotli") is None:
        return bool(first)
    import brotli

    try:
        brotli.Decompressor().process(first, output_buffer_limit=_MOST_DECODED_BYTES)
    except brotli.error:
        return False
    return True
