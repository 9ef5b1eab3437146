"""Checks of a record's header: version line, syntax of lines, fields by the table.

Source: ISO 28500:2017 §4 (grammar), §5 (fields).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pinakes.warc.field_names import CONTENT_LENGTH_KEY, WARC_PROFILE_KEY, WARC_TARGET_URI_KEY

from . import syntax
from .fields import FIELDS, OLDER_FIELDS
from .rules import Hit
from .subject import Subject

_BARE_LF = re.compile(rb"(?<!\r)\n")
_NAME = re.compile(syntax.TOKEN.encode() + rb"\Z")
_CONTROL = re.compile(rb"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f]|\r(?!\n)")
_OLD_VERSION = re.compile(r"WARC/0\.\d+\Z|ARC/\d\.0\Z")
_URIS = (WARC_TARGET_URI_KEY, WARC_PROFILE_KEY)


def check_version(subject: Subject) -> Iterator[Hit]:
    """The version line: a version of the standard, written as in the standard."""
    version = subject.record.version
    first = subject.record.header.raw.split(b"\n", 1)[0].removesuffix(b"\r")
    if _OLD_VERSION.match(version):
        yield Hit("version-uncovered", f"{version} is not covered by ISO 28500")
    # Literal text in the grammar matches in any case (RFC 2616 §2.1).
    elif first.upper() not in (b"WARC/1.0", b"WARC/1.1"):
        written = syntax.shown(first.decode("utf-8", "replace"))
        yield Hit("version-line", f"{written} is neither WARC/1.0 nor WARC/1.1")


def check_lines(subject: Subject) -> Iterator[Hit]:
    """Line ends, colons, names, characters, continuation lines."""
    bare = len(_BARE_LF.findall(subject.record.header.raw))
    if bare:
        yield Hit("header-line-end", f"{bare} header lines end with LF instead of CRLF")
    for line in subject.lines:
        for code, wrong in _line_faults(line.raw):
            yield Hit(code, f"{syntax.shown(line.name or line.value)} {wrong}")


def _line_faults(raw: bytes) -> Iterator[tuple[str, str]]:
    """Yield (code, what is wrong) for the lines of one field; cheap for a correct one."""
    name, colon, value = raw.partition(b":")
    if not colon:
        yield "field-colon", "has no colon"
        return
    if not _NAME.match(name):
        yield "field-name", "is not a token followed by a colon"
    control = _CONTROL.search(value)
    if control:
        yield "field-value", f"has the control character 0x{control[0][0]:02x}"
    if not raw.isascii() and not _is_utf8(raw):
        yield "field-utf8", "is not in UTF-8"
    if raw.count(b"\n") > 1:
        yield "field-folded", "continues on further lines"


def check_presence(subject: Subject) -> Iterator[Hit]:
    """Mandatory, forbidden, repeated and undefined fields."""
    for name, field in FIELDS.items():
        there = name in subject.fields
        # Fields that are mandatory on all types are so on unknown types, too.
        if not there and (subject.type in field.mandatory or len(field.mandatory) == 8):
            yield Hit(f"{field.short}-missing", f"{field.name} is missing")
        if there and subject.type in field.forbidden and field.syntax(subject.version):
            message = f"{field.name} shall not be used on a {subject.type} record"
            yield Hit(f"{field.short}-forbidden", message)
    for name, values in subject.fields.items():
        known = FIELDS.get(name)
        if len(values) > 1 and not (known and known.repeats):
            code = "field-repeated" if known else "extension-repeated"
            yield Hit(code, f"{syntax.shown(name)} occurs {len(values)} times")
        if known is None and name.startswith("warc-"):
            yield Hit("field-undefined", f"{syntax.shown(name)} is not in the standard")
    if subject.type and not subject.known_type:
        yield Hit("record-type-unknown", f"{syntax.shown(subject.type)} is not in the standard")


def check_syntax(subject: Subject) -> Iterator[Hit]:
    """Every value against the grammar of its field."""
    for name, values in subject.fields.items():
        field = FIELDS.get(name)
        check = field.syntax(subject.version) if field else None
        if field is None or check is None:
            continue
        for value in values:
            wrong = check(value)
            if wrong:
                yield Hit(f"{field.short}-syntax", f"{field.name}: {wrong}")
    for name in _URIS if subject.version == "1.0" else ():
        if not (subject.first(name) or "<").startswith("<"):
            yield Hit(
                "uri-bare",
                f"{FIELDS[name].name} is not in < and >; nor are the examples of the standard",
            )


def check_older_fields(subject: Subject) -> Iterator[Hit]:
    """Length and digests of a WARC record that the standard does not cover."""
    if CONTENT_LENGTH_KEY not in subject.fields:
        yield Hit("content-length-missing", "Content-Length is missing")
    for name in sorted(OLDER_FIELDS & subject.fields.keys()):
        field = FIELDS[name]
        wrong = field.grammar(subject.fields[name][0])
        if wrong:
            yield Hit(f"{field.short}-syntax", f"{field.name}: {wrong}")


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
