"""One record as the checks see it: its fields by name, its version, its URI's scheme."""

from __future__ import annotations

from dataclasses import dataclass

from pinakes.warc.field_names import CONTENT_TYPE_KEY, WARC_SEGMENT_NUMBER_KEY
from pinakes.warc.header import HeaderLine, strip_brackets
from pinakes.warc.record import Record

from .rules import RECORD_TYPES, VERSIONS

INCOMPLETE = frozenset({"truncated", "damaged"})


@dataclass(frozen=True, slots=True)
class Subject:
    """A record, and its fields; `version` is "1.0", "1.1", or None for any other."""

    record: Record
    version: str | None
    lines: list[HeaderLine]
    fields: dict[str, list[str]]

    @classmethod
    def of(cls, record: Record) -> Subject:
        """Parse the header of a record."""
        family, _, number = record.version.upper().partition("/")
        arc = family == "ARC"
        lines = [] if arc else record.header.lines()
        fields: dict[str, list[str]] = {}
        for line in lines:
            if line.name:
                fields.setdefault(line.name.lower(), []).append(line.value)
        return cls(record, number if not arc and number in VERSIONS else None, lines, fields)

    @property
    def is_arc(self) -> bool:
        return self.record.version.startswith("ARC")

    @property
    def type(self) -> str:
        return self.record.type

    @property
    def known_type(self) -> bool:
        return self.record.type in RECORD_TYPES

    def first(self, name: str) -> str | None:
        """The first value of a field, by its name in lower case."""
        values = self.fields.get(name)
        return values[0] if values else None

    def uri(self, name: str) -> str | None:
        """The first value of a field that is a URI, without brackets."""
        return strip_brackets(self.first(name))

    @property
    def scheme(self) -> str:
        """The scheme of WARC-Target-URI, lower case; "" where there is none."""
        return (self.record.target_uri or "").partition(":")[0].lower()

    @property
    def is_http(self) -> bool:
        return self.scheme in ("http", "https")

    @property
    def is_http_message(self) -> bool:
        """Whether the standard expects an HTTP message in the block (§6.3.2, §6.5.2)."""
        return self.is_http and self.type in ("response", "request")

    @property
    def media_type(self) -> str:
        """The Content-Type of the block without parameters, lower case."""
        return (self.first(CONTENT_TYPE_KEY) or "").partition(";")[0].strip().lower()

    @property
    def is_segment(self) -> bool:
        return self.type == "continuation" or WARC_SEGMENT_NUMBER_KEY in self.fields

    @property
    def is_whole(self) -> bool:
        """Whether the block is complete, as far as the reader knows."""
        return not any(finding.code in INCOMPLETE for finding in self.record.findings)
