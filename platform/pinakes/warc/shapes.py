"""Headers recognised by their shape: one regular expression instead of a parse.

A writer writes the same lines in the same order a million times.  A header that was
parsed once gives a pattern: its version line, the names of its lines, the value of
WARC-Type, and of a Content-Type that says HTTP.  Another header that matches the whole
pattern is read by that match, at a third of the cost of a parse, with the same result for
every name: each of its lines begins with a name and ends with CRLF, so no line is folded,
nameless, or missed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from .field_names import (
    CONTENT_LENGTH_KEY,
    CONTENT_LENGTH_RAW,
    CONTENT_TYPE_KEY,
    CONTENT_TYPE_RAW,
    WARC_DATE_KEY,
    WARC_PAYLOAD_DIGEST_KEY,
    WARC_RECORD_ID_KEY,
    WARC_TARGET_URI_KEY,
    WARC_TYPE_KEY,
    WARC_TYPE_RAW,
)
from .header import BLANK, Header, bare_uri, strip_brackets

_OUTLINE = (WARC_TARGET_URI_KEY, WARC_DATE_KEY, WARC_RECORD_ID_KEY)
_SHAPES_KEPT = 8
_LESSONS = 32
_LINES_LIMIT = 40
_LINE = re.compile(rb"([A-Za-z][A-Za-z0-9-]*): ([^\n]*)\r\n")
_VERSION = re.compile(rb"WARC/\d\.\d+\r\n")
_LENGTH = re.compile(rb"[0-9]{1,18}\Z")


class HeaderShape(NamedTuple):
    """A pattern, the group of each lower-case name in it, and what all matching headers share.

    `names` are the field names of the lines, lower-case and in order.
    """

    pattern: re.Pattern[bytes]
    names: tuple[bytes, ...]
    groups: dict[str, int]
    length_group: int
    digest_group: int | None
    outline_groups: tuple[int, int, int] | None
    version: str
    record_type: str
    declares_http: bool


class ShapedHeader(Header):
    """A header that matches a shape."""

    __slots__ = ("_digest", "_match", "_outline", "content_length", "shape")

    def __init__(self, shape: HeaderShape, match: re.Match[bytes], content_length: int) -> None:
        self.raw = match[0]
        self._index = None
        self.shape = shape
        self.content_length = content_length
        digest = shape.digest_group
        self._digest = match[digest] if digest is not None else None
        groups = shape.outline_groups
        self._outline: tuple[bytes, ...] | None = match.group(*groups) if groups else None
        # The match itself would keep the whole record in memory: `_matched` matches again.
        self._match: re.Match[bytes] | None = None

    def _matched(self) -> re.Match[bytes]:
        match = self._match
        if match is None:
            match = self._match = self.shape.pattern.match(self.raw)
            assert match is not None
        return match

    def values(self) -> tuple[bytes, ...]:
        """The value of each line as written, in order."""
        return self._matched().groups()

    def get(self, name: str) -> str | None:
        return self.field(name.lower())

    def field(self, lower_name: str) -> str | None:
        group = self.shape.groups.get(lower_name)
        if group is None:
            return None
        return self._matched()[group].decode("utf-8", "surrogateescape").strip(BLANK)

    def has_any(self, lower_names: frozenset[str]) -> bool:
        return not lower_names.isdisjoint(self.shape.groups)

    def outline(self) -> tuple[str | None, str | None, str | None]:
        if self._outline is None:
            return super().outline()
        uri, date, record_id = self._outline
        return (
            bare_uri(uri.decode("utf-8", "surrogateescape").strip(BLANK)),
            date.decode("utf-8", "surrogateescape").strip(BLANK),
            strip_brackets(record_id.decode("utf-8", "surrogateescape").strip(BLANK)),
        )

    @property
    def record_type(self) -> str:
        return self.shape.record_type

    @property
    def payload_digest(self) -> str | None:
        digest = self._digest
        return None if digest is None else digest.decode("utf-8", "surrogateescape").strip(BLANK)

    @property
    def declares_http(self) -> bool:
        # A shape learnt from another Content-Type matches any, also that of HTTP.
        return self.shape.declares_http or super().declares_http


class ShapeBook:
    """The shapes of the headers of one file.

    Learning a shape costs as much as parsing a hundred headers, so no more than `_LESSONS`
    are learnt from one file, even if all its headers differ.
    """

    def __init__(self, *, lessons: int = _LESSONS) -> None:
        """`lessons`: how many shapes it learns at most."""
        self.shape: HeaderShape | None = None
        self._shapes: list[HeaderShape] = []
        self._lessons = lessons
        # Which shape followed which: requests and responses alternate.
        self._after: dict[int, HeaderShape] = {}
        self._last = 0

    def read(self, data: bytes) -> ShapedHeader | None:
        """The header that `data` begins with, if it matches a known shape.

        It keeps `data` in memory.
        """
        match = self.match(data)
        shape = self.shape
        if match is None or shape is None:
            return None
        header = ShapedHeader(shape, match, int(match[shape.length_group]))
        # `data` is a few kilobytes at most here, and is not kept for long.
        header._match = match
        return header

    def match(self, data: bytes | bytearray) -> re.Match[bytes] | None:
        """`read` for the inner loop: returns only the match, and sets `shape`."""
        shape = self._after.get(self._last)
        match = shape.pattern.match(data) if shape is not None else None
        if shape is None or match is None:
            for shape in self._shapes:
                match = shape.pattern.match(data)
                if match is not None:
                    self._after[self._last] = shape
                    break
            else:
                return None
        self._last = id(shape)
        self.shape = shape
        return match

    def learn(self, raw: bytes) -> None:
        """Learn the shape of a header that matches no known shape, if it has one."""
        if not self._lessons:
            return
        self._lessons -= 1
        shape = shape_of(raw)
        if shape is not None:
            self._shapes = [shape, *self._shapes[: _SHAPES_KEPT - 1]]


def shape_of(raw: bytes) -> HeaderShape | None:
    """The shape of a header; None if it needs a parse."""
    version = _VERSION.match(raw)
    if version is None:
        return None
    at = version.end()
    lines: list[tuple[bytes, bytes]] = []
    while (line := _LINE.match(raw, at)) is not None and len(lines) < _LINES_LIMIT:
        lines.append((line[1], line[2]))
        at = line.end()
    names = [name.lower() for name, _ in lines]
    if raw[at:] != b"\r\n" or names.count(WARC_TYPE_RAW) != 1:
        return None
    if names.count(CONTENT_LENGTH_RAW) != 1 or names.count(CONTENT_TYPE_RAW) > 1:
        return None
    if not _LENGTH.match(dict(zip(names, lines, strict=True))[CONTENT_LENGTH_RAW][1]):
        return None
    return _compile(
        version[0], tuple((name, _constant(name.lower(), value)) for name, value in lines)
    )


def _constant(lower_name: bytes, value: bytes) -> bytes | None:
    """The value, if it is part of the shape."""
    if lower_name == WARC_TYPE_RAW:
        return value
    if lower_name == CONTENT_TYPE_RAW and _is_http(value.decode("utf-8", "replace")):
        return value
    return None


def _is_http(media_type: str) -> bool:
    return media_type.strip(BLANK)[:16].lower() == "application/http"


@lru_cache(maxsize=256)
def _compile(version: bytes, lines: tuple[tuple[bytes, bytes | None], ...]) -> HeaderShape:
    pattern = [re.escape(version)]
    groups: dict[str, int] = {}
    record_type = ""
    declares_http = False
    for number, (name, constant) in enumerate(lines, 1):
        lower_name = name.lower().decode("ascii")
        value = b".*" if constant is None else re.escape(constant)
        if lower_name == CONTENT_LENGTH_KEY:
            value = rb"[0-9]{1,18}"
        elif lower_name == WARC_TYPE_KEY and constant is not None:
            record_type = constant.decode("utf-8", "surrogateescape").strip(BLANK).lower()
        declares_http |= lower_name == CONTENT_TYPE_KEY and constant is not None
        pattern.append(name + b": (" + value + b")\r\n")
        # The first field of a name counts.
        groups.setdefault(lower_name, number)
    return HeaderShape(
        re.compile(b"".join(pattern) + b"\r\n"),
        tuple(name.lower() for name, _ in lines),
        groups,
        groups[CONTENT_LENGTH_KEY],
        groups.get(WARC_PAYLOAD_DIGEST_KEY),
        (groups[_OUTLINE[0]], groups[_OUTLINE[1]], groups[_OUTLINE[2]])
        if groups.keys() >= set(_OUTLINE)
        else None,
        version.decode("ascii").strip(),
        record_type,
        declares_http,
    )
