"""The WARC fields for those of an ARC record, and extension fields that keep the originals.

    Pinakes-ARC-Header    the header line with its line end
    Pinakes-ARC-After     the line ends between this record and the next
    Pinakes-ARC-Findings  the findings of the reader, as codes of `warc.record.FINDINGS`
    Pinakes-ARC-Stretch   for bytes that are not a record: their place (see `format_stretch`)
    Pinakes-ARC-Reason    for the same: why they are not a record

The first two are percent-encoded bytes.  Pure functions, no IO.  See docs/convert.md.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import unquote_to_bytes

from pinakes.conformance import syntax
from pinakes.warc.dates import parse_digits_date

HEADER = "Pinakes-ARC-Header"
AFTER = "Pinakes-ARC-After"
FINDINGS = "Pinakes-ARC-Findings"
STRETCH = "Pinakes-ARC-Stretch"
REASON = "Pinakes-ARC-Reason"

UNREADABLE_DATE = "1970-01-01T00:00:00Z"
"""For an unreadable date: before the web, so that dedupe never uses it."""

_ESCAPED = re.compile(rb"[^\x20-\x24\x26-\x7e]|\A |(?<!\A) \Z")
# RFC 3986 §2: neither reserved nor unreserved, or a `%` that encodes nothing.
_NOT_IN_A_URI = re.compile(rb'[^\x21-\x7e]|["<>\\^`{|}]|%(?![0-9A-Fa-f]{2})')
# RFC 3986 appendix B, with a scheme.
_URI_PARTS = re.compile(r"([^:/?#]+:)(//[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?\Z", re.DOTALL)


def encode_bytes(data: bytes) -> str:
    """Bytes as a header value: printable ASCII is kept, `%` and the rest become `%XX`."""
    return _ESCAPED.sub(_percent, data).decode("ascii")


def decode_bytes(text: str) -> bytes:
    """The bytes that were given to `encode_bytes`."""
    return unquote_to_bytes(text)


def _percent(match: re.Match[bytes]) -> bytes:
    return b"%%%02X" % match[0][0]


def format_target_uri(written: str) -> str:
    """The URI with characters that no URI may contain (spaces, controls, `|`, non-ASCII) as `%XX`.

    Also delimiters that delimit nothing: `[` in a path, a second `#`, a port that is not a
    number.  Existing escapes are kept; `Pinakes-ARC-Header` has the original.
    """
    data = written.encode("utf-8", "surrogateescape")
    text = _NOT_IN_A_URI.sub(_percent, data).decode("ascii")
    return text if syntax.uri(text) is None else _URI_PARTS.sub(_encode_delimiters, text)


def _encode_delimiters(parts: re.Match[str]) -> str:
    scheme, authority, path, query, fragment = (part or "" for part in parts.groups())
    if authority and syntax.uri(f"{scheme}{authority}") is not None:
        authority = "//" + re.sub(r"[][:@]", _percent_letter, authority[2:])
    rest = (re.sub(r"[][]", _percent_letter, part) for part in (path, query))
    return "".join(
        (scheme, authority, *rest, fragment[:1], re.sub(r"[][#]", _percent_letter, fragment[1:]))
    )


def _percent_letter(match: re.Match[str]) -> str:
    return f"%{ord(match[0]):02X}"


def format_date(written: str | None) -> str | None:
    """WARC-Date for 12 to 18 digits; None if they are not a date.

    Digits after the seconds are a fraction, and all of them are kept.  Missing seconds are
    00: few readers of WARC/1.1 accept `2004-09-25T00:10Z`.
    """
    if written is None:
        return None
    moment = parse_digits_date(written)
    if moment is None:
        return None
    fraction = written.strip()[14:]
    seconds = moment.replace(tzinfo=None, microsecond=0).isoformat()
    return f"{seconds}.{fraction}Z" if fraction else f"{seconds}Z"


def format_ip_address(written: str | None) -> str | None:
    """The address without its zone; None for 0.0.0.0 (unknown) and if it is not an address."""
    try:
        address = ipaddress.ip_address((written or "").partition("%")[0])
    except ValueError:
        return None
    return None if address.is_unspecified else str(address)


def format_media_type(uri: str, written: str | None) -> str:
    """Content-Type of a resource: that of the ARC, without parameters that are malformed.

    Never `application/http`: a record with a readable status line is a response.
    """
    if uri[:4].lower() == "dns:":
        return "text/dns"
    whole = written or ""
    for media_type in (whole, whole.partition(";")[0].strip(" \t")):
        if syntax.media_type(media_type) is None and media_type[:16].lower() != "application/http":
            return media_type
    return "application/octet-stream"


def format_stretch(*, raw: bool, offset: int, inner: int) -> str:
    """The place of a stretch in the ARC file and, if compressed, in the content of its member.

    `content` is the content of a member (or of an uncompressed file), `file` the raw bytes
    of the file, from the start of a damaged member.
    """
    return f"{'file' if raw else 'content'} offset={offset} inner={inner}"
