r"""Escapes a character that cannot be written, or must not, as `\uXXXX`.  Pure."""

from __future__ import annotations

import re


def escaped(match: re.Match[str]) -> str:
    r"""The one character of a match: `\uXXXX`, or `\UXXXXXXXX` beyond the first plane."""
    code = ord(match[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
