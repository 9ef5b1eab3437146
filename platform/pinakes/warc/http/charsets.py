"""The characters of a body: which charset it is in.  Pure.

In this order: a byte order mark; `charset` of Content-Type; what a `meta` element or an XML
declaration among the first bytes says; UTF-8 where the bytes fit; windows-1252.
Source: WHATWG Encoding Standard §4.2 (latin-1 and ASCII are windows-1252 on the web), HTML
Standard §13.2.3.2 (the order; a charset that is declared in ASCII letters is not UTF-16).
"""

from __future__ import annotations

import codecs
import re

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_PARAMETER = re.compile(r""";\s*charset\s*=\s*["']?([\w.:-]{1,40})""", re.IGNORECASE)
_DECLARED = re.compile(
    rb"""<(?:meta\s|\?xml\s)[^>]{0,512}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]{1,40})""",
    re.IGNORECASE,
)
_DECLARED_WITHIN_BYTES = 1024
_AS_BROWSERS = {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030", "shift_jis": "cp932"}
# Codecs of Python's own, for program text, host names and mail: no page is in them.
_NOT_OF_THE_WEB = re.compile(r"idna|punycode|.*unicode.escape|undefined|utf-7|mbcs|oem")


def decode_text(data: bytes, content_type: str | None) -> str:
    """The characters; a replacement character for each byte that is not of the charset."""
    for charset in (_marked(data), _labelled(content_type), _declared(data)):
        if charset is not None:
            return data.decode(charset, "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _marked(data: bytes) -> str | None:
    return next((name for mark, name in _MARKS.items() if data.startswith(mark)), None)


def _labelled(content_type: str | None) -> str | None:
    match = _PARAMETER.search(content_type or "")
    return _known(match[1]) if match else None


def _declared(data: bytes) -> str | None:
    match = _DECLARED.search(data, 0, _DECLARED_WITHIN_BYTES)
    charset = _known(match[1].decode("ascii")) if match else None
    return "utf-8" if charset is not None and charset.startswith(("utf-16", "utf-32")) else charset


def _known(label: str) -> str | None:
    """Python's name of a charset; None for one that it does not know."""
    try:
        name = codecs.lookup(label).name
        b"e".decode(name, "replace")  # LookupError for a codec of bytes, such as zlib
    except (LookupError, ValueError):
        return None
    return None if _NOT_OF_THE_WEB.match(name) else _AS_BROWSERS.get(name, name)
