"""Whether a body is coded as its Content-Encoding says.

Pure.  Some writers store the decoded body and leave the header: a browser that believes it
shows nothing.  The first bytes tell.
"""

from __future__ import annotations

import zlib
from importlib.util import find_spec

FIRST_BYTES = 1 << 12
# Some kilobytes can stand for a gigabyte; to know the coding, its beginning is enough.
_MOST_DECODED_BYTES = 1 << 16
_MAGIC = {"gzip": b"\x1f\x8b", "x-gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}


def is_coded(content_encoding: str, first: bytes) -> bool:
    """Whether a body that begins so can have the coding; an unknown one is believed.

    Of several codings the last is looked at, which was applied last.
    """
    coding = content_encoding.rpartition(",")[2].strip().lower()
    if coding in ("", "identity"):
        return True
    if coding in _MAGIC:
        return first.startswith(_MAGIC[coding])
    if coding == "deflate":
        # With the header of zlib, as the standard says, or without, as some servers have it.
        # The first bytes of a short text may break no rule of the latter.
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
