"""What is put right in a record's header, by the code of the finding of `conformance`.

    Pinakes-Repaired: version=1; line=LINE; line=LINE

Pure.  This field keeps each header line that was changed or removed, without its line end and
percent-encoded as in `warc.replaced_field`.  A value is changed where the record's own bytes say
what is meant; a digest that no form of the bytes has is removed, for they may be damaged: another
one would vouch for them.  No mend changes a block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timezone
from types import MappingProxyType
from typing import NamedTuple

from pinakes.conformance import syntax
from pinakes.conformance.fields import FIELDS
from pinakes.conformance.payload import Basis, basis_of
from pinakes.conformance.subject import Subject
from pinakes.warc import field_names as names
from pinakes.warc.dates import parse_date
from pinakes.warc.digest import Digest, parse_digest
from pinakes.warc.header import Header, HeaderLine
from pinakes.warc.record import Record
from pinakes.warc.replaced_field import encode_line
from pinakes.warc.write import name_record

REPAIRED_FIELD = "Pinakes-Repaired"
REMOVED = ""
Mend = Callable[[Subject, HeaderLine], "str | None"]
"""The new value of a line, `REMOVED`, or None where it cannot be determined."""


class HeaderChange(NamedTuple):
    """A field that is changed; `after` is `REMOVED` where it is taken away."""

    code: str
    field: str
    before: str
    after: str


def _bracketed(subject: Subject, line: HeaderLine) -> str | None:
    value = f"<{line.value}>"
    return value if syntax.bracketed_uri(value) is None else None


def _bare(subject: Subject, line: HeaderLine) -> str | None:
    value = line.value[1:-1] if line.value[:1] == "<" and line.value[-1:] == ">" else line.value
    return value if value != line.value and syntax.uri(value) is None else None


def _dated(subject: Subject, line: HeaderLine) -> str | None:
    """The same moment as the standard writes it; that of WARC/1.0 has no place for a fraction."""
    moment = parse_date(line.value)
    if moment is None or moment.microsecond or syntax.date_1_1(line.value) is None:
        return None
    if sum(map(str.isdigit, line.value)) < 14 or "." in line.value or "," in line.value:
        return None  # no second of it is known, or a fraction
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _labelled(subject: Subject, line: HeaderLine) -> str | None:
    digest = parse_digest(line.value)
    return None if digest is None else str(digest)


def _block_digest(subject: Subject, line: HeaderLine) -> str | None:
    """That of the block, if what is declared is the payload's; else none."""
    declared, record = parse_digest(line.value), subject.record
    if declared is None:
        return None
    others = (record.payload_digest, record.dechunked_digest)
    if declared in (digest(declared.algorithm) for digest in others):
        return str(record.block_digest(declared.algorithm))
    return REMOVED


def _payload_digest(subject: Subject, line: HeaderLine) -> str | None:
    """That of the payload, if what is declared is that of another form of it; else none."""
    declared = parse_digest(line.value)
    if declared is None:
        return None
    basis = basis_of(subject.record, declared)
    if basis is Basis.NONE:
        return REMOVED
    return str(_payload_of(subject.record, declared.algorithm))


def _payload_of(record: Record, algorithm: str) -> Digest:
    return record.dechunked_digest(algorithm) or record.payload_digest(algorithm)


def _syntax(name: str) -> str:
    return f"{FIELDS[name].short}-syntax"


_IDS = (
    names.WARC_RECORD_ID_KEY,
    names.WARC_CONCURRENT_TO_KEY,
    names.WARC_REFERS_TO_KEY,
    names.WARC_WARCINFO_ID_KEY,
    names.WARC_SEGMENT_ORIGIN_ID_KEY,
)
_URIS = (names.WARC_TARGET_URI_KEY, names.WARC_REFERS_TO_TARGET_URI_KEY, names.WARC_PROFILE_KEY)
_DATES = (names.WARC_DATE_KEY, names.WARC_REFERS_TO_DATE_KEY)
_DIGESTS = (names.WARC_BLOCK_DIGEST_KEY, names.WARC_PAYLOAD_DIGEST_KEY)

MENDS: Mapping[str, tuple[str, Mend]] = MappingProxyType(
    {
        **{_syntax(name): (name, _bracketed) for name in _IDS},
        **{_syntax(name): (name, _bare) for name in _URIS},
        **{_syntax(name): (name, _dated) for name in _DATES},
        **{_syntax(name): (name, _labelled) for name in _DIGESTS},
        "block-digest-wrong": (names.WARC_BLOCK_DIGEST_KEY, _block_digest),
        "payload-digest-wrong": (names.WARC_PAYLOAD_DIGEST_KEY, _payload_digest),
        "payload-digest-framed": (names.WARC_PAYLOAD_DIGEST_KEY, _payload_digest),
        "payload-digest-decoded": (names.WARC_PAYLOAD_DIGEST_KEY, _payload_digest),
    }
)
"""By the code of a finding: the field, in lower case, and what puts a value of it right."""


def mended_header(
    subject: Subject, codes: Iterable[str], given: str | None, identity: str
) -> tuple[bytes, list[HeaderChange]]:
    """The header with what these findings name put right, and each change.

    `given` is the Content-Length that the block has, where the header has another; `identity` is
    what an id is made of, where the header has none.  Nothing to do gives the header as it is.
    """
    header = subject.record.header
    codes = set(codes)
    changes: list[HeaderChange] = []
    kept: list[bytes] = []
    lines = [_one(subject, line, codes, given, changes, kept) for line in subject.lines]
    if given is not None and not header.get_all(names.CONTENT_LENGTH):
        lines.append(_line(names.CONTENT_LENGTH, given))
        changes.append(HeaderChange("content-length-missing", names.CONTENT_LENGTH, "", given))
    if "record-id-missing" in codes:
        lines.append(_line(names.WARC_RECORD_ID, name_record("repair", identity)))
        new = name_record("repair", identity)
        changes.append(HeaderChange("record-id-missing", names.WARC_RECORD_ID, "", new))
    if kept:
        text = b"; ".join(b"line=" + raw for raw in map(encode_line, kept))
        lines.append(f"{REPAIRED_FIELD}: version=1; ".encode() + text + b"\r\n")
    bare = _lf_only_lines(header.raw)
    if "header-line-end" in codes and bare:
        changes.append(HeaderChange("header-line-end", "", f"{bare} lines end with LF", "CRLF"))
        return b"".join(map(_crlf, [_first_line(header), *lines])) + b"\r\n", changes
    if not changes:
        return header.raw, changes
    return _first_line(header) + b"".join(lines) + _last_line(header), changes


def _one(
    subject: Subject,
    line: HeaderLine,
    codes: set[str],
    given: str | None,
    changes: list[HeaderChange],
    kept: list[bytes],
) -> bytes:
    """The line as it is to be, or nothing; what was done is added to `changes` and `kept`."""
    value, done = line.value, []
    if line.name.lower() == names.CONTENT_LENGTH_KEY and given not in (None, value):
        value, done = given or "", ["content-length-wrong"]
    for code, (name, mend) in MENDS.items():
        if code in codes and name == line.name.lower() and value != REMOVED:
            new = mend(subject, line._replace(value=value))
            if new is not None and new != value:
                value, done = new, [*done, code]
    name = line.name
    raw_name = line.raw.partition(b":")[0]
    if "field-name" in codes and raw_name != raw_name.strip() and syntax.token(name) is None:
        done.append("field-name")
    if not done:
        return line.raw
    kept.append(line.raw.rstrip(b"\r\n"))
    changes += [HeaderChange(code, name, line.value, value) for code in done[-1:]]
    return _line(name, value) if value != REMOVED else b""


def _line(name: str, value: str) -> bytes:
    return f"{name}: {value}\r\n".encode("utf-8", "surrogateescape")


def _first_line(header: Header) -> bytes:
    return header.raw[: header.raw.index(b"\n") + 1]


def _last_line(header: Header) -> bytes:
    return b"\r\n" if header.raw.endswith(b"\r\n") else b"\n"


def _crlf(line: bytes) -> bytes:
    """A field's lines, each ended by CRLF."""
    return line.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def _lf_only_lines(raw: bytes) -> int:
    return raw.count(b"\n") - raw.count(b"\r\n")
