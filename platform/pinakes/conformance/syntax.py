"""The grammar of field values: each function returns what is wrong, or None.

Sources: ISO 28500:2017 §4 and §5 (grammar), RFC 2616 §2.2 (token, quoted-string),
RFC 3986 appendix A (URI), W3C-DTF.
"""

from __future__ import annotations

import ipaddress
import re

from pinakes.warc.dates import parse_warc_date
from pinakes.warc.digest import SIZES_BYTES, parse_digest

SHOWN_CHARACTERS = 80
TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_TOKEN = re.compile(TOKEN + r"\Z")
_QUOTED = r'"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[^\x00-\x1f\x7f])*"'
# Blanks around ";" are not in the grammar, but in the standard's examples (erratum 38).
_MEDIA_TYPE = re.compile(rf"{TOKEN}/{TOKEN}(?:[ \t]*;[ \t]*{TOKEN}=(?:{TOKEN}|{_QUOTED}))*\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")

_PCT = "%[0-9A-Fa-f]{2}"
_PLAIN = r"A-Za-z0-9\-._~!$&'()*+,;="
_PATH = rf"(?:[{_PLAIN}:@/]|{_PCT})*"
_AUTHORITY = (
    rf"(?:(?:[{_PLAIN}:]|{_PCT})*@)?(?:\[[0-9A-Fa-f:.]+\]|\[v[{_PLAIN}:]+\]|(?:[{_PLAIN}]|{_PCT})*)"
    r"(?::[0-9]*)?"
)
_URI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.\-]*:(?://{_AUTHORITY}(?:/{_PATH})?|(?!//){_PATH})"
    rf"(?:\?(?:[{_PLAIN}:@/?]|{_PCT})*)?(?:#(?:[{_PLAIN}:@/?]|{_PCT})*)?\Z"
)
_FOREIGN = re.compile(rf"[^{_PLAIN}:@/?#\[\]%]|%(?![0-9A-Fa-f]{{2}})")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)

_DATE_1_0 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z", re.ASCII)
_DATE_1_1 = re.compile(
    r"\d{4}(?:-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d))?)?)?\Z", re.ASCII
)


def shown(value: str) -> str:
    """A value from a file, quoted, its length limited."""
    if len(value) > SHOWN_CHARACTERS:
        value = value[:SHOWN_CHARACTERS] + "..."
    return f"'{value}'"


def token(value: str) -> str | None:
    """At least one of <any ASCII character except controls and separators>."""
    return None if _TOKEN.match(value) else f"{shown(value)} is not a token"


def text(value: str) -> str | None:
    """TEXT or quoted-string: at least one character, no controls."""
    if not value:
        return "it is empty"
    control = _CONTROL.search(value)
    return f"it has the control character 0x{ord(control[0]):02x}" if control else None


def digits(value: str) -> str | None:
    """One or more digits."""
    return None if value.isascii() and value.isdigit() else f"{shown(value)} is not a number"


def media_type(value: str) -> str | None:
    """A type "/" subtype *( ";" parameter )."""
    return None if _MEDIA_TYPE.match(value) else f"{shown(value)} is not a media type"


def uri(value: str) -> str | None:
    """A URI of RFC 3986, with its scheme."""
    if _URI.match(value):
        return None
    foreign = _FOREIGN.search(value)
    if not value:
        return "it is empty"
    if foreign:
        what = "white space" if foreign[0].isspace() else f"{foreign[0]!r} unescaped"
        return f"{shown(value)} has {what} (character {foreign.start() + 1})"
    if not _SCHEME.match(value):
        return f"{shown(value)} has no scheme"
    return f"{shown(value)} is not a URI"


def bracketed_uri(value: str) -> str | None:
    """A URI in < and >; a urn:uuid must hold a UUID."""
    if not (value.startswith("<") and value.endswith(">")):
        return f"{shown(value)} is not in < and >"
    inside = value[1:-1]
    if inside[:9].lower() == "urn:uuid:" and not _UUID.match(inside[9:]):
        return f"{shown(value)} is not a UUID (RFC 4122)"
    return uri(inside)


def bare_uri(value: str) -> str | None:
    """A URI without brackets (WARC/1.1)."""
    if value.startswith("<") and value.endswith(">"):
        return f"{shown(value)} is in < and >"
    return uri(value)


def either_uri(value: str) -> str | None:
    """WARC/1.0: the grammar says "<" URI ">", the examples have it bare; both are taken."""
    return uri(value[1:-1] if value.startswith("<") and value.endswith(">") else value)


def date_1_0(value: str) -> str | None:
    """YYYY-MM-DDThh:mm:ssZ, and a date that exists."""
    if _DATE_1_0.match(value):
        return None if parse_warc_date(value) else f"{shown(value)} does not exist"
    if date_1_1(value) is None:
        return f"{shown(value)} is not YYYY-MM-DDThh:mm:ssZ (other precisions need WARC/1.1)"
    return f"{shown(value)} is not YYYY-MM-DDThh:mm:ssZ"


def date_1_1(value: str) -> str | None:
    """W3C-DTF in UTC, from the year to nanoseconds, and a date that exists."""
    match = _DATE_1_1.match(value)
    if match is None:
        return f"{shown(value)} is not a W3C-DTF date"
    fraction = value.partition(".")[2].rstrip("Z")
    if fraction and match[1] == "Z" and len(fraction) > 9:
        return f"{shown(value)} has more than 9 digits of a second"
    if match[1] not in (None, "Z", "+00:00", "-00:00"):
        return f"{shown(value)} is not in UTC"
    return None if parse_warc_date(value) else f"{shown(value)} does not exist"


def labelled_digest(value: str) -> str | None:
    """An algorithm ":" digest-value, two tokens; a known algorithm's value has its length.

    `=` padding is not a token character; it has a rule of its own.
    """
    algorithm, colon, encoded = value.partition(":")
    if not colon:
        return f"{shown(value)} has no algorithm"
    wrong = token(algorithm) or token(encoded.rstrip("="))
    if wrong:
        return wrong
    if is_known_algorithm(algorithm) and parse_digest(value) is None:
        return f"{shown(value)} is not a {algorithm} value in Base32 or hex"
    return None


def is_known_algorithm(label: str) -> bool:
    """Whether digests with this label can be verified here."""
    return label.lower().replace("-", "").replace("_", "") in SIZES_BYTES


def ip_address(value: str) -> str | None:
    """A dotted quad, or IPv6 as in RFC 4291 §2.2, without brackets, zone or port."""
    try:
        address = ipaddress.ip_address(value)
    except ValueError:
        return f"{shown(value)} is not an IP address"
    return f"{shown(value)} has a zone" if getattr(address, "scope_id", None) else None
