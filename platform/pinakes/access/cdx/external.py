"""Index lines of archives that lie elsewhere, in rows like those of captures.

A client posts CDX or CDXJ lines, and can take them away again by the same lines.  A row is known
by urlkey, time, file name and offset: a line that is posted again changes its row.  The urlkey in
the line is not believed, as OutbackCDX does not: it is made from the URL.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from pinakes.errors import InputRefused, MalformedRecord
from pinakes.hbase_schema.capture_cells import REVISIT_MIME, ExternalLine, cdx_digest
from pinakes.hbase_schema.capture_keys import encode_external_mark, encode_urlkey
from pinakes.hbase_schema.cells import decode_cell, encode_cell
from pinakes.index import manifest
from pinakes.index.cdxj import CdxLine, cdx_columns, parse_cdx_line, parse_cdxj
from pinakes.index.post_query import with_query
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import Delete, Put, RowStore
from pinakes.warc.dates import format_17, parse_date, parse_digits_date

from .lines import encoded

TABLE = "captures"
MOST_LINES = 1_000_000
_LEAD = b'{"v":1,'
_COLLECTION = b',"collection":"'
_PADDING = "10000101000000"
_MOST_OFFSET = 1 << 53  # what every client reads as a number
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_MARK = "\ufeff"
_COLUMNS = {
    10: "NbamskrMVg",
    14: "NbamskrMSVgxxx",  # and the original's place, of a revisit
}
_NEEDED = frozenset("abVg")


class LineReader:
    """Reads the lines of one index, in their order: one may name the columns of those after it.

    Without such a line, it takes lines of a manifest, too, if it `takes_manifests`.
    """

    def __init__(self, *, takes_manifests: bool = False) -> None:
        self._takes_manifests = takes_manifests
        self._letters: list[str] | None = None

    def read(self, line: str, number: int) -> CdxLine | None:
        """What a line says; None of a blank one, and of one that names columns.

        Raises:
            MalformedRecord: as `parse_line`; it names columns of which URL, time, file or offset is
                missing; or it comes after such a line.
        """
        line = line.removeprefix(_MARK) if number == 1 else line
        words = cdx_columns(line)
        if words is not None:
            self._letters = words if _are_usable(words) else []
            if not self._letters:
                what = "does not name the columns a, b, V and g, each by one letter and once"
                raise MalformedRecord(f"line {number} {what}: {line[:200]!r}")
        if words is not None or not line.strip():
            return None
        if self._letters == []:
            raise MalformedRecord(f"line {number} has columns that no line names: {line[:200]!r}")
        if self._letters is None and self._takes_manifests and is_of_manifest(line):
            return parse_manifest_line(line, number)
        return parse_line(line, number, self._letters)


def _are_usable(letters: Sequence[str]) -> bool:
    return len("".join(letters)) == len(set(letters)) and _NEEDED.issubset(letters)


def parse_lines(text: str, *, skips_bad: bool = False) -> list[CdxLine]:
    """The lines of a body: CDX, with or without a first line that names its columns, or CDXJ.

    Raises:
        InputRefused: a line is none of these, and none of them is taken, unless `skips_bad`; or
            there are more than `MOST_LINES`.
    """
    if text.count("\n") > MOST_LINES:
        raise InputRefused(f"nothing was changed: more than {MOST_LINES:,} lines: post some a time")
    reader = LineReader()
    found: list[CdxLine] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            parsed = reader.read(line, number)
        except MalformedRecord as error:
            if not skips_bad:
                raise InputRefused(f"nothing was changed: {error.message}") from error
            continue
        if parsed is not None:
            found.append(parsed)
    return found


def parse_line(line: str, number: int, letters: Sequence[str] | None = None) -> CdxLine:
    """One line of CDX, with the columns of these letters, or of CDXJ.

    Raises:
        MalformedRecord: it is neither, or says not which URL, when, in which file and where.
    """
    if _is_json(line):
        return _checked(parse_cdxj(line, number=number), line, number)
    letters = letters or _COLUMNS.get(len(line.split()))
    return _checked(parse_cdx_line(line, letters, number=number), line, number)


def _is_json(line: str) -> bool:
    return line.split(" ", 2)[-1].startswith("{")


def parse_manifest_line(line: str, number: int) -> CdxLine:
    """A line of a manifest, as an index has it; Raises MalformedRecord as `parse_line` does."""
    given = manifest.parse_line(line, number=number)
    moment = parse_date(given.date)
    is_revisit = given.type == "revisit"
    found = CdxLine(
        "",
        format_17(moment) if moment is not None else "",
        given.target_uri,
        REVISIT_MIME if is_revisit else given.ctype,
        None if given.status is None else str(given.status),
        None if given.digest == "-" else given.digest,
        given.length,
        given.offset,
        given.file,
    )
    return _checked(found, line, number)


def is_of_manifest(line: str) -> bool:
    """Whether a line is one of a manifest: it begins with file, offset and length, an index with
    urlkey or URL, time, and then no number."""
    fields = line.split(" ", 3)
    return len(fields) == 4 and fields[1].isdecimal() and fields[2].isdecimal()


def _checked(parsed: CdxLine, line: str, number: int) -> CdxLine:
    if not parsed.url or not parsed.filename or parsed.offset is None:
        raise MalformedRecord(f"line {number} has no URL, file name or offset: {line[:200]!r}")
    time = _full_time(parsed.timestamp)
    if time is None:
        raise MalformedRecord(f"line {number} has no time of up to 14 digits: {line[:200]!r}")
    if not 0 <= parsed.offset < _MOST_OFFSET or not 0 <= (parsed.length or 0) < _MOST_OFFSET:
        raise MalformedRecord(f"line {number} has no place in a file: {line[:200]!r}")
    if not _is_text(parsed):
        raise MalformedRecord(f"line {number} has characters of no text: {line[:200]!r}")
    return parsed._replace(timestamp=time)


def _is_text(line: CdxLine) -> bool:
    """Whether its values have no control characters, nor surrogates but those of raw bytes."""
    values = "".join(value for value in line if isinstance(value, str))
    extra = json.dumps(line.extra, ensure_ascii=False)
    try:
        (values + extra).encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return _CONTROL.search(values) is None


def _full_time(text: str) -> str | None:
    if not (text.isascii() and text.isdigit() and 4 <= len(text) <= 17):
        return None
    time = text + _PADDING[len(text) :]
    return time if parse_digits_date(time) is not None else None


def put_lines(
    store: RowStore, lines: Iterable[CdxLine], collection: str, *, act_time_ms: int
) -> int:
    """Write lines; return how many.  Lines that are there are written again."""
    puts = {_key(line): _cell(line, collection) for line in lines}
    column = ExternalLine.COLUMN
    store.mutate(TABLE, (Put(key, {column: cell}, act_time_ms) for key, cell in puts.items()))
    return len(puts)


def delete_lines(store: RowStore, lines: Iterable[CdxLine], *, act_time_ms: int) -> int:
    """Delete lines, whether they are there or not; return how many were given."""
    keys = list(map(_key, lines))
    columns = [ExternalLine.COLUMN]
    store.mutate(TABLE, (Delete(key, act_time_ms, columns) for key in dict.fromkeys(keys)))
    return len(keys)


def _key(line: CdxLine) -> bytes:
    url, extra = line.url or "", line.extra or {}
    method = extra.get("method")
    if isinstance(method, str) and method.upper() != "GET":
        body = extra.get("requestBody")
        url = with_query(url, f"__wb_method={method.upper()}" + (f"&{body}" if body else ""))
    time = (line.timestamp + "000")[:17]
    mark = encode_external_mark(line.filename or "", line.offset or 0)
    return b"%b %b %b" % (encode_urlkey(urlkey(url)), time.encode("ascii"), mark)


def _cell(line: CdxLine, collection: str) -> bytes:
    return encode_cell(
        ExternalLine(
            url=line.url or "",
            mime=line.mime,
            status=line.status,
            digest=None if line.digest is None else cdx_digest(line.digest),
            length=None if line.length is None else str(line.length),
            offset=str(line.offset),
            filename=line.filename or "",
            redirect=line.redirect,
            robots=line.robots,
            collection=collection,
            more=json.dumps(line.extra, separators=(",", ":")) if line.extra else None,
        )
    )


def external_fields(value: bytes) -> tuple[bytes, str]:
    """The fields of a stored line, and its collection."""
    # A quote within a value is escaped, so this is the key; after its value is `more`, or nothing.
    at = value.rfind(_COLLECTION)
    end = value.find(b'"', at + len(_COLLECTION))
    if value[:7] == _LEAD and value[end:] == b'"}':
        return value[7:at], value[at + len(_COLLECTION) : end].decode()
    cell = decode_cell(ExternalLine, value)
    more: Mapping[str, object] = json.loads(cell.more) if cell.more is not None else {}
    texts = {name: v if isinstance(v, str) else json.dumps(v) for name, v in more.items()}
    return value[7:at] + (b"," + encoded(texts) if texts else b""), cell.collection
