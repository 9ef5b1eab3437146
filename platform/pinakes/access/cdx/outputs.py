"""Lines in the forms that clients ask for, as bytes, batch by batch.

cdxj      urlkey timestamp {"url": ...}        the stored bytes, unless `fl` chooses fields
cdx       CDX-11, `-` for what is unknown
text      pywb's: CDXJ, or the chosen values
ndjson    pywb's `json`: an object a line
json      OutbackCDX's: an array of arrays; `jsondict`, of objects
link      a timemap: the captures as links
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from email.utils import format_datetime
from typing import NamedTuple
from urllib.parse import quote

from pinakes.warc.dates import parse_digits_date

from .lines import Line, canonical_name, encoded, has_raw_bytes
from .parameters import CdxQuery

CDX_11_FIELDS = (
    "urlkey", "timestamp", "url", "mime", "status", "digest", "redirecturl", "robotflags", "length",
    "offset", "filename",
)  # fmt: skip
_NUMBERS = frozenset({"timestamp", "status", "length", "offset"})
_BLANK = re.compile("[\x00-\x20\x7f\ud800-\udfff]")
CONTENT_TYPES = {
    "cdxj": "text/x-cdxj",
    "cdx": "text/plain; charset=utf-8",
    "text": "text/plain; charset=utf-8",
    "ndjson": "text/x-ndjson",
    "json": "application/json",
    "jsondict": "application/json",
}
TIMEMAP_TYPE = "application/link-format"
PAGE_MEMENTOS = 10_000
"""Of a timemap."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")
_SAFE = "!#$%&'()*+,/:;=?@[]~"


class Output(NamedTuple):
    """How an answer is written: before all lines, each of them, between them, at the end."""

    content_type: str
    join: Callable[[Sequence[Line]], bytes]
    start: bytes = b""
    between: bytes = b""
    end: bytes = b""
    start_of_none: bytes | None = None

    @property
    def is_stored(self) -> bool:
        """Whether lines are given as they are stored."""
        return self.join is _cdxj

    def written(self, batch: Sequence[Line]) -> bytes:
        """The lines; bytes that are not UTF-8 are percent-encoded."""
        text = self.join(batch)
        return self.join([line.in_unicode() for line in batch]) if has_raw_bytes(text) else text

    def iter_bytes(
        self,
        batches: Iterable[list[Line]],
        resume_key: Callable[[], str | None] = lambda: None,
    ) -> Iterator[bytes]:
        """The answer, in a piece for each batch; some are empty."""
        lead = self.start
        has_begun = False
        for batch in batches:
            if batch:
                yield lead + self.written(batch)
                lead, has_begun = self.between, True
            else:
                yield b""
        none = self.start if self.start_of_none is None else self.start_of_none
        key = resume_key()
        more = b"" if key is None else self.resumed(key)
        yield more + self.end if has_begun else none + self.end

    def resumed(self, resume_key: str) -> bytes:
        """A resume key after the lines, as Wayback writes it."""
        if self.end:
            return self.between + b'[],["%b"]' % resume_key.encode("ascii")
        return b"\n%b\n" % resume_key.encode("ascii")


def output_of(query: CdxQuery) -> Output:
    """The form that a query asks for."""
    fields = query.fields
    if query.counts_duplicates and fields is None and query.output == "cdx":
        fields = (*CDX_11_FIELDS, "dupecount")
    names = tuple((name, canonical_name(name)) for name in fields) if fields else None
    content_type = CONTENT_TYPES[query.output]
    if query.output == "cdxj":
        return Output(content_type, _cdxj if names is None else _each(_cdxj_of(names)))
    if query.output == "text" and names is None:
        return Output(content_type, _each(_values))
    if query.output == "ndjson":
        return Output(content_type, _each(_object if names is None else _object_of(names)))
    chosen = names or tuple((name, canonical_name(name)) for name in CDX_11_FIELDS)
    if query.output == "jsondict":
        return Output(content_type, _each(_dict_of(chosen), b","), b"[", b",", b"]")
    if query.output == "json":
        start = b"[" + json.dumps([name for name, _ in chosen]).encode("ascii")
        return Output(content_type, _each(_array_of(chosen), b","), start + b",", b",", b"]", start)
    return Output(content_type, _each(_columns_of(chosen)))


def _cdxj(lines: Sequence[Line]) -> bytes:
    return b"".join([b"%b %b {%b}\n" % line[:3] for line in lines])


def _values(line: Line) -> bytes:
    text = " ".join(_without_blanks(value) for value in line.values().values())
    return text.encode("utf-8", "surrogateescape") + b"\n"


def _each(
    write: Callable[[Line], bytes], between: bytes = b""
) -> Callable[[Sequence[Line]], bytes]:
    return lambda lines: between.join(map(write, lines))


_Names = tuple[tuple[str, str], ...]


def _columns_of(names: _Names) -> Callable[[Line], bytes]:
    keys = [key for _, key in names]

    def columns(line: Line) -> bytes:
        values = line.values()
        text = " ".join(_without_blanks(values.get(key) or "-") for key in keys)
        return text.encode("utf-8", "surrogateescape") + b"\n"

    return columns


def _without_blanks(text: str) -> str:
    if not _BLANK.search(text):
        return text
    return _BLANK.sub(
        lambda m: "".join(f"%{byte:02X}" for byte in m[0].encode("utf-8", "surrogateescape")), text
    )


def _cdxj_of(names: _Names) -> Callable[[Line], bytes]:
    def cdxj(line: Line) -> bytes:
        values = line.values()
        chosen = {
            name: values[key]
            for name, key in names
            if key in values and key not in ("urlkey", "timestamp")
        }
        return b"%b %b {%b}\n" % (line.urlkey, line.timestamp, encoded(chosen))

    return cdxj


def _object(line: Line) -> bytes:
    lead = encoded(
        {"urlkey": line.urlkey.decode("ascii"), "timestamp": line.timestamp.decode("ascii")}
    )
    return b"{%b,%b}\n" % (lead, line.fields)


def _object_of(names: _Names) -> Callable[[Line], bytes]:
    def chosen(line: Line) -> bytes:
        values = line.values()
        return b"{%b}\n" % encoded({name: values[key] for name, key in names if key in values})

    return chosen


def _dict_of(names: _Names) -> Callable[[Line], bytes]:
    def chosen(line: Line) -> bytes:
        values = line.values()
        found = {name: _typed(key, values[key]) for name, key in names if key in values}
        return json.dumps(found, separators=(",", ":")).encode("ascii")

    return chosen


def _array_of(names: _Names) -> Callable[[Line], bytes]:
    def array(line: Line) -> bytes:
        values = line.values()
        found = [_typed(key, values.get(key, "-")) for _, key in names]
        return json.dumps(found, separators=(",", ":")).encode("ascii")

    return array


def _typed(key: str, value: str) -> str | int:
    return int(value) if key in _NUMBERS and value.isascii() and value.isdigit() else value


def iter_timemap(
    url: str,
    batches: Iterable[list[Line]],
    *,
    self_url: str,
    memento_url: Callable[[Line], str],
    next_url: Callable[[], str | None],
) -> Iterator[bytes]:
    """The Memento TimeMap of a URL (RFC 7089, section 5; RFC 6690), in pieces; empty without
    mementos.

    `next_url` is asked at the end: where the next TimeMap is, if this one has not all.
    """
    has_begun = False
    for batch in batches:
        piece = []
        for line in batch:
            moment = parse_digits_date(line.timestamp.decode("ascii"))
            if moment is None:
                continue
            if not has_begun:
                original = url if _SCHEME.match(url) else f"http://{url}"
                piece.append(_link(original, 'rel="original"'))
                piece.append(",\n" + _link(self_url, f'rel="self"; type="{TIMEMAP_TYPE}"'))
                has_begun = True
            date = format_datetime(moment, usegmt=True)
            piece.append(",\n" + _link(memento_url(line), f'rel="memento"; datetime="{date}"'))
        yield "".join(piece).encode("ascii")
    if has_begun:
        behind = next_url()
        more = _link(behind, f'rel="timemap"; type="{TIMEMAP_TYPE}"') if behind is not None else ""
        yield (f",\n{more}\n" if more else "\n").encode("ascii")


def _link(target: str, parameters: str) -> str:
    encoded = quote(target, safe=_SAFE, errors="surrogateescape")
    return f"<{encoded}>; {parameters}"
