"""The declared fields: mandatory, forbidden and syntax, for every type and version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from conformance_builders import IDENTICAL, identity, page, record, sha1, warc

from pinakes.conformance.fields import FIELDS, Field
from pinakes.conformance.rules import RECORD_TYPES, Severity

if TYPE_CHECKING:
    from checking import Check

GOOD = {
    "WARC-Record-ID": identity(7),
    "Content-Length": "7",
    "WARC-Date": "2020-01-02T03:04:05Z",
    "WARC-Type": "response",
    "Content-Type": 'text/plain; charset="utf-8"',
    "WARC-Concurrent-To": identity(8),
    "WARC-Block-Digest": sha1(b"content"),
    "WARC-Payload-Digest": sha1(b"content"),
    "WARC-IP-Address": "2001:db8::1",
    "WARC-Refers-To": identity(1),
    "WARC-Refers-To-Target-URI": page(1),
    "WARC-Refers-To-Date": "2020-01-02T03:04:05Z",
    "WARC-Target-URI": "http://example.org/%C3%A9?a=b#c",
    "WARC-Truncated": "length",
    "WARC-Warcinfo-ID": identity(900),
    "WARC-Filename": "a file.warc",
    "WARC-Profile": IDENTICAL.format("1.1"),
    "WARC-Identified-Payload-Type": "image/png",
    "WARC-Segment-Number": "2",
    "WARC-Segment-Origin-ID": identity(1),
    "WARC-Segment-Total-Length": "12",
}


def pairs(which: str) -> Iterator[object]:
    for field in FIELDS.values():
        for record_type in getattr(field, which):
            yield pytest.param(field, record_type, id=f"{field.name}-{record_type}")


def file_of(record_type: str, fields: dict[str, str | None], version: str = "1.1") -> bytes:
    return warc(record(record_type, 5, fields, version=version), version=version)


def codes(check: Check, data: bytes) -> set[str]:
    return {finding.code for finding in check(data)}


@pytest.mark.parametrize(("field", "record_type"), [*pairs("mandatory")])
def test_a_mandatory_field_is_missed(check: Check, field: Field, record_type: str) -> None:
    code = f"{field.short}-missing"
    assert code not in codes(check, file_of(record_type, {}))
    if field.name == "WARC-Type" and record_type != "resource":
        return  # without its type a record is of no type
    assert code in codes(check, file_of(record_type, {field.name: None}))


@pytest.mark.parametrize(("field", "record_type"), [*pairs("forbidden")])
def test_a_forbidden_field_is_found(check: Check, field: Field, record_type: str) -> None:
    code = f"{field.short}-forbidden"
    assert code in codes(check, file_of(record_type, {field.name: GOOD[field.name]}))
    allowed = next(name for name in RECORD_TYPES if name not in field.forbidden)
    assert code not in codes(check, file_of(allowed, {field.name: GOOD[field.name]}))


@pytest.mark.parametrize("field", FIELDS.values(), ids=lambda field: field.name)
def test_a_value_against_the_grammar_is_found(check: Check, field: Field) -> None:
    code = f"{field.short}-syntax"
    record_type = next(name for name in RECORD_TYPES[::-1] if name not in field.forbidden)
    assert code in codes(check, file_of(record_type, {field.name: field.bad}))
    good = {} if field.name == "Content-Length" else {field.name: GOOD[field.name]}
    assert code not in codes(check, file_of(record_type, good))


@pytest.mark.parametrize("name", [n for n, f in FIELDS.items() if f.syntax("1.0") is None])
def test_fields_of_1_1_are_extensions_in_1_0(check: Check, name: str) -> None:
    findings = check(file_of("response", {FIELDS[name].name: "anything"}, "1.0"))
    assert [str(f) for f in findings if f.severity > Severity.INFO] == []


def test_every_record_type_conforms_as_built(check: Check) -> None:
    for version in ("1.0", "1.1"):
        records = [record("response", 1, version=version)]
        for number, record_type in enumerate(RECORD_TYPES[2:-1], 2):
            records.append(record(record_type, number, version=version))
        assert [str(finding) for finding in check(warc(*records, version=version))] == []


def test_each_version_cites_its_own_clause(check: Check) -> None:
    for version, clause in (("1.0", "1.0 §5.12"), ("1.1", "1.1 §5.14")):
        [finding] = check(file_of("resource", {"WARC-Target-URI": None}, version))
        assert (finding.code, finding.clause) == ("target-uri-missing", clause)
