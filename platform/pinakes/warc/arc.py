"""ARC record headers: one line of fields, read as if it were a WARC header.

    version 1:  URL IP date media-type length
    version 2:  URL IP date media-type status checksum location offset file length

URLs with spaces and dates of 8 to 18 digits occur; the line is therefore matched
from its right end.  Source: Burner and Kahle, "Arc File Format", 1996.
"""

from __future__ import annotations

import re

from .header import Header

_V2 = re.compile(
    rb"(?P<uri>[^\r\n]*) (?P<ip>\S*) (?P<date>\d{8,18}) (?P<mime>[^\r\n]*?) (?P<status>\d{3}|-)"
    rb" (?P<checksum>\S+) (?P<location>\S+) (?P<offset>\d+|-) (?P<file>\S+) (?P<length>\d{1,18})"
    rb"[ \t]*\r?\n"
)
_V1 = re.compile(
    rb"(?P<uri>[^\r\n]*) (?P<ip>\S*) (?P<date>\d{8,18}) (?P<mime>[^\r\n]*?)"
    rb" (?P<length>\d{1,18})[ \t]*\r?\n"
)
_FILEDESC = re.compile(rb"(?P<uri>filedesc:\S*)[^\r\n]*\r?\n")
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]*:")
LINE_LIMIT_BYTES = 1 << 16


class ArcHeader(Header):
    """The header line of an ARC record; `get` answers to the WARC names of its fields."""

    __slots__ = ("_match",)

    def __init__(self, match: re.Match[bytes]) -> None:
        super().__init__(match[0])
        self._match = match

    def fields(self) -> list[tuple[str, str]]:
        names = {
            "uri": "WARC-Target-URI",
            "ip": "WARC-IP-Address",
            "date": "WARC-Date",
            "mime": "Content-Type",
            "length": "Content-Length",
            "checksum": "ARC-Checksum",
        }
        found = self._match.groupdict()
        return [
            (name, found[key].decode("utf-8", "surrogateescape"))
            for key, name in names.items()
            if found.get(key)
        ]

    def _first_values(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.fields()}

    @property
    def version(self) -> str:
        return "ARC/2.0" if "status" in self._match.groupdict() else "ARC/1.0"


def match_arc_header(data: bytes) -> ArcHeader | None:
    """The ARC header line that `data` begins with; None where it begins with none."""
    if not _SCHEME.match(data):
        return None
    match = _V2.match(data) or _V1.match(data) or _FILEDESC.match(data)
    return ArcHeader(match) if match else None
