r"""Archived text made safe to display: bounded, without deceptive characters.

Control characters, direction marks, invisible characters and lone surrogates are written as
`\uXXXX`; long text is cut, with a note of how much.  And the style of pages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files

URL_CHARACTERS = 2000
LINE_CHARACTERS = 500
LINES = 50

# C0, DEL, C1, direction marks and isolates, line separators, characters without width, lone
# surrogates, tags.  Unicode Technical Report 36, "Unicode Security Considerations".
_DECEIVING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def escaped(match: re.Match[str]) -> str:
    r"""The one character of a match: `\uXXXX`, or `\UXXXXXXXX` beyond the first plane."""
    code = ord(match[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def display_text(text: str, limit: int = LINE_CHARACTERS) -> str:
    """One line of at most `limit` characters, with a note of how many were cut."""
    cut = text[:limit]
    rest = f" … and {len(text) - limit:,} more characters" if len(text) > limit else ""
    return _DECEIVING.sub(escaped, cut) + rest


def display_lines(lines: Sequence[str], limit: int = LINES) -> list[str]:
    """The first `limit` lines, with a note of how many were left out."""
    more = [f"… and {len(lines) - limit:,} more"] if len(lines) > limit else []
    return [*map(display_text, lines[:limit]), *more]


def stylesheet(package: str, name: str) -> str:
    """The style that all pages have and, after it, a sheet of a package.

    One sheet for each page, so that a page needs one request, and a report one file.
    """
    shared = files("pinakes.access").joinpath("shared.css")
    own = files(package).joinpath(name)
    return shared.read_text("utf-8") + own.read_text("utf-8")
