"""Text from outside as printable ASCII, for row keys.

Names and URIs come from archives and may hold any byte.  Bytes that are not UTF-8 are
lone surrogates U+DC80–U+DCFF in a `str` here (PEP 383), as `os.fsdecode` makes them.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pinakes.errors import ConfigError, InputRefused

_ESCAPED = re.compile(rb"[^\x21-\x7e]")
_ESCAPED_NAME = re.compile(rb"[^\x21-\x24\x26-\x7e]")  # … and the % itself
_PLAIN_NAME = re.compile(r"[\x21-\x24\x26-\x7e]*\Z")
_QUOTED = re.compile(rb"%([0-9A-F]{2})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\Z")


def _percent(match: re.Match[bytes]) -> bytes:
    return b"%%%02X" % match[0][0]


def name_bytes(name: str) -> bytes:
    """The bytes of a name.

    Raises InputRefused if it has none (a lone surrogate outside PEP 383): no file system can
    have such a name.
    """
    try:
        return name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InputRefused("the name is not text in any encoding", file=name) from error


@lru_cache(maxsize=256)  # two keys of each capture contain the name of its file
def escape_name(name: str) -> bytes:
    """A name in printable ASCII without spaces, reversibly: `%` itself becomes `%25`.

    Raises InputRefused as `name_bytes` does.
    """
    if _PLAIN_NAME.match(name):
        return name.encode("ascii")
    return _ESCAPED_NAME.sub(_percent, name_bytes(name))


def unescape_name(escaped: bytes) -> str:
    """The name that `escape_name` was given."""
    raw = _QUOTED.sub(lambda match: bytes.fromhex(match[1].decode("ascii")), escaped)
    return raw.decode("utf-8", "surrogateescape")


def printable_urlkey(urlkey: str) -> bytes:
    """A urlkey in printable ASCII without spaces; one that is that already is unchanged.

    `%` stays, so that keys sort and read as in a CDXJ file.  A raw byte and its percent
    encoding then give one key, since they name one resource.  The URI as written is in the
    cell.
    """
    if urlkey.isascii() and urlkey.isprintable() and " " not in urlkey:
        return urlkey.encode("ascii")
    try:
        raw = urlkey.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = urlkey.encode("utf-8", "surrogatepass")
    return _ESCAPED.sub(_percent, raw)


def check_name(name: str, what: str) -> bytes:
    """The name of a crawl, collection, run, scope, algorithm or view, as bytes.

    Raises ConfigError unless it is 1 to 100 letters, digits, `.`, `_`, `-`, beginning with a
    letter or digit: none of these separates the parts of a key.
    """
    if not _NAME.match(name):
        raise ConfigError(
            f"{name!r} cannot name {what}: use 1 to 100 letters, digits, '.', '_', '-'"
        )
    return name.encode("ascii")
