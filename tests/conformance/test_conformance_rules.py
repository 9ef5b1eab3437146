"""Every rule of the table, but those of single fields: a file that breaks it, one that does not."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import brotli
import pytest
import zstandard
from archive_builders import dictionary, dictionary_frame, frame, skippable, stored_frame
from conformance_builders import (
    BODY,
    CHUNKED_BODY,
    CHUNKED_HEAD,
    DATE,
    HEAD,
    IDENTICAL,
    LATER,
    identity,
    info,
    member,
    page,
    record,
    sha1,
    warc,
)

from pinakes.conformance.rules import Severity
from pinakes.conformance.table import GROUPS, RULES

if TYPE_CHECKING:
    from checking import Check, Named

PLAIN = warc(record())
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
COMPRESSED = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
ZIPPED = gzip.compress(BODY, mtime=0)


class Case(NamedTuple):
    """`broken` breaks the rule, and those of `also`, and no other above info; `kept` none."""

    broken: list[Named]
    kept: list[Named] = [PLAIN]  # noqa: RUF012 (never changed)
    also: frozenset[str] = frozenset()


def one(*records: bytes, kept: bytes = PLAIN, also: str = "") -> Case:
    """A file of a warcinfo and these."""
    return Case([warc(*records)], [kept], frozenset(also.split()))


def revisit(number: int = 2, **fields: str | None) -> bytes:
    """A revisit of the response 1, with some fields otherwise (`_` for `-`)."""
    return record("revisit", number, {k.replace("_", "-"): v for k, v in fields.items()})


def response(number: int = 1, block: bytes = HEAD + BODY, **fields: str | None) -> bytes:
    named = {key.replace("_", "-"): value for key, value in fields.items()}
    return record("response", number, named, block=block)


def segments(*sizes: int, total: int | None = None, **last: str) -> list[bytes]:
    """A response in segments, the last with the total length."""
    first = record("response", 1, {"WARC-Segment-Number": "1"}, block=b"x" * sizes[0])
    result = [first]
    for number, size in enumerate(sizes[1:], 2):
        fields = {"WARC-Segment-Number": str(number), "WARC-Target-URI": page(1)}
        if number == len(sizes):
            fields["WARC-Segment-Total-Length"] = str(sum(sizes) if total is None else total)
            fields.update({name.replace("_", "-"): value for name, value in last.items()})
        result.append(record("continuation", number, fields, block=b"x" * size))
    return result


def spoilt(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at + len(new) :]


def damaged() -> bytes:
    """A member of stored blocks, the header of the second one overwritten."""
    raw = zlib.compressobj(0, zlib.DEFLATED, 31)
    data = raw.compress(response(block=HEAD + bytes(200_000))) + raw.flush()
    second = 10 + 5 + int.from_bytes(data[11:13], "little")
    return member(info()) + spoilt(data, second, b"\xff" * 5)


def named(data: bytes) -> Named:
    return ("a.warc.zst", data)


RESPONSE = response()
REVISITED = warc(RESPONSE, revisit())
SEGMENTED = warc(*segments(5, 4, 3))
LF = info(line_end=b"\n", block=b"", end=b"\n\n")

FILES = {
    "file-empty": Case([b""]),
    "file-name": Case(
        [("a.warc", member(info()))],
        [("a.warc.gz", member(info()))],
    ),
    "file-compression": Case([("a.warc.bz2", bz2.compress(info()))], [member(info())]),
    "warcinfo-first": Case([record()], [info()]),
    "not-a-record": Case([info() + b"\0" * 100]),
    "between-records": Case([info() + b"\r\n" + RESPONSE], [info() + RESPONSE]),
    "gzip-crc": Case([spoilt(member(info()), len(member(info())) - 8, b"\1\2\3\4")]),
    "gzip-damaged": Case([damaged()], also=frozenset({"not-a-record"})),
    "gzip-member": Case([member(info() + RESPONSE)], [member(info()) + member(RESPONSE)]),
}
ZSTD_INFO, ZSTD_RESPONSE = (frame(data, dictionary=dictionary()) for data in (info(), RESPONSE))
ZSTD = dictionary_frame(dictionary()) + ZSTD_INFO + ZSTD_RESPONSE
LARGE = response(block=HEAD + bytes(range(256)) * 1000)
ZSTANDARD = {
    "zstd-crc": Case([named(frame(info())[:-4] + b"harm")], [named(frame(info()))]),
    "zstd-damaged": Case(
        [named(frame(info()) + spoilt(stored_frame(LARGE), 9 + 3 + (1 << 17), b"\x06"))],
        [named(frame(info()) + frame(LARGE))],
        also=frozenset({"not-a-record", "zstd-frame"}),
    ),
    "zstd-record": Case(
        [named(frame(info() + RESPONSE))],
        [named(frame(info()[:40]) + frame(info()[40:]) + frame(b"") + frame(RESPONSE))],
    ),
    "zstd-frame": Case([named(frame(info()[:40]) + frame(info()[40:], size=False))], [named(ZSTD)]),
    "zstd-dictionary": Case(
        [named(ZSTD + frame(response(3), dictionary=dictionary(), dictionary_id=False))],
        [named(ZSTD + skippable(b"a note"))],
    ),
    "zstd-start": Case(
        [named(skippable(b"a note") + frame(info()))],
        [named(frame(b"") + skippable(b"a note") + frame(info()))],
    ),
}
HEADERS = {
    "version-uncovered": Case([info(line="WARC/0.18")]),
    "version-line": Case([info(line="WARC/2.0")], [info(line="warc/1.1")]),
    "header-line-end": Case([LF]),
    "field-colon": Case([info(extra=b"no field\r\n")]),
    "field-name": Case([info(extra=b"WARC Date: 2020\r\n")], [info(extra=b"x!#: 2020\r\n")]),
    "field-value": Case([info(extra=b"X-Note: a\0b\r\n")], [info(extra=b"X-Note: a\tb\r\n")]),
    "field-utf8": Case([info(extra=b"X-Note: \xe9\r\n")], [info(extra=b"X-Note: \xc3\xa9\r\n")]),
    "field-repeated": one(
        record("response", 1, {"WARC-Date": [DATE, DATE]}),
        kept=warc(
            RESPONSE,
            record("request", 2, {"WARC-Concurrent-To": [identity(1)] * 2}),
        ),
    ),
    "field-folded": Case([info(extra=b"X-Note: a\r\n b\r\n")]),
    "extension-repeated": Case([info(extra=b"X: 1\r\nX: 2\r\n")], [info(extra=b"X: 1\r\n")]),
    "field-undefined": Case([info(extra=b"WARC-Page-ID: 1\r\n")], [info(extra=b"Page-ID: 1\r\n")]),
    "record-type-unknown": one(record("screenshot", fields={"Content-Type": "image/png"})),
    "uri-bare": Case(
        [warc(record("response", 1, {"WARC-Target-URI": page(1)}, version="1.0"), version="1.0")],
        [warc(record(version="1.0"), version="1.0")],
    ),
}
BLOCKS = {
    "record-truncated": Case([warc(response(Content_Length="1000"))]),
    "content-length-wrong": Case(
        [member(info()) + member(response(Content_Length="50"))], also=frozenset({"record-end"})
    ),
    "record-end": Case([info() + record(end=b"\r\n") + record(number=2)]),
    "content-type-missing": one(response(Content_Type=None), kept=warc(*segments(3, 3))),
    "block-digest-wrong": one(
        response(WARC_Block_Digest=sha1(b"")),
        kept=warc(response(WARC_Block_Digest=sha1(HEAD + BODY))),
    ),
    "payload-digest-wrong": one(
        response(WARC_Payload_Digest=sha1(HEAD + BODY)),
        kept=warc(
            response(WARC_Payload_Digest="sha256:" + hashlib.sha256(BODY).hexdigest()),
            response(2, CHUNKED_HEAD + CHUNKED_BODY, WARC_Payload_Digest=sha1(BODY)),
            # Chunked it says, and is not: the body that lies there is the payload.
            response(3, CHUNKED_HEAD + BODY, WARC_Payload_Digest=sha1(BODY)),
        ),
    ),
    "payload-digest-framed": one(
        response(1, CHUNKED_HEAD + CHUNKED_BODY, WARC_Payload_Digest=sha1(CHUNKED_BODY))
    ),
    "payload-digest-decoded": one(
        response(1, COMPRESSED + ZIPPED, WARC_Payload_Digest=sha1(BODY)),
        kept=warc(response(1, COMPRESSED + ZIPPED, WARC_Payload_Digest=sha1(ZIPPED))),
    ),
    "digest-padding": one(
        response(
            WARC_Block_Digest="sha256:4OYMIQUY7QOBJGX36TEJS35ZEQT24QPEMSNZGTFESWMRW6CSXBKQ===="
        ),
        also="block-digest-wrong",
    ),
    "digest-unverified": one(response(WARC_Block_Digest="blake3:af1349b9")),
    "warcinfo-content-type": Case([info(fields={"Content-Type": "text/xml"})]),
    "warc-fields-block": one(
        record("metadata", block=b"just a note"),
        kept=warc(record("metadata", block=b"via: x\r\n folded\r\nnone:\r\n\r\n")),
    ),
    "filename-differs": Case(
        [info(fields={"WARC-Filename": "b.warc"})],
        [("b.warc", info(fields={"WARC-Filename": "b.warc"}))],
    ),
    "http-content-type": one(
        response(Content_Type="application/http; msgtype=request"),
        kept=warc(
            response(Content_Type="application/http; msgtype=response"),
            record("request", 2, {"Content-Type": "application/http;msgtype=request"}),
        ),
    ),
    "ip-address-missing": one(response(WARC_IP_Address=None)),
    "truncated-unmarked": one(
        response(block=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + BODY),
        kept=warc(
            response(
                block=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n" + BODY, WARC_Truncated="time"
            ),
            response(2, b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"),
        ),
    ),
    "truncated-reason": one(response(WARC_Truncated="bored")),
    "resource-http-block": one(
        record("resource", fields={"Content-Type": "application/http"}, block=HEAD + BODY)
    ),
    "resource-dns-type": one(
        record("resource", fields={"WARC-Target-URI": "dns:example.org"}),
        kept=warc(
            record(
                "resource",
                fields={"WARC-Target-URI": "dns:example.org", "Content-Type": "text/dns"},
            )
        ),
    ),
    "conversion-refers-to": one(record("conversion", fields={"WARC-Refers-To": None})),
}
REVISITS = {
    "profile-undefined": one(response(WARC_Profile=NOT_MODIFIED), kept=REVISITED),
    "profile-version": one(RESPONSE, revisit(WARC_Profile=IDENTICAL.format("1.0")), kept=REVISITED),
    "profile-unknown": one(RESPONSE, revisit(WARC_Profile="http://example.org/diff")),
    "revisit-payload-digest": one(
        RESPONSE,
        revisit(WARC_Payload_Digest=None),
        kept=warc(RESPONSE, revisit(WARC_Payload_Digest=None, WARC_Profile=NOT_MODIFIED)),
    ),
    "revisit-truncated": one(
        RESPONSE,
        revisit(WARC_Truncated=None),
        kept=warc(RESPONSE, revisit(WARC_Truncated=None, WARC_Profile=NOT_MODIFIED)),
    ),
    "revisit-body": one(RESPONSE, record("revisit", 2, block=HEAD + BODY), kept=REVISITED),
    "revisit-http-headers": one(RESPONSE, record("revisit", 2, block=b""), kept=REVISITED),
    "revisit-refers-to": one(RESPONSE, revisit(WARC_Refers_To=None), kept=REVISITED),
    "revisit-refers-to-date": one(
        RESPONSE,
        revisit(WARC_Refers_To_Target_URI=None),
        kept=warc(RESPONSE, revisit(WARC_Refers_To_Target_URI=None, WARC_Profile=NOT_MODIFIED)),
    ),
    "revisit-target-self": one(
        RESPONSE,
        revisit(
            WARC_Refers_To=identity(2),
            WARC_Refers_To_Target_URI=page(2),
            WARC_Refers_To_Date=LATER,
        ),
    ),
    "revisit-target-later": one(
        response(WARC_Date="2022-01-01T00:00:00Z"),
        revisit(WARC_Refers_To_Date="2022-01-01T00:00:00Z"),
    ),
    "revisit-target-revisit": one(
        RESPONSE,
        revisit(),
        revisit(
            3,
            WARC_Refers_To=identity(2),
            WARC_Refers_To_Target_URI=page(2),
            WARC_Refers_To_Date=LATER,
        ),
    ),
    "revisit-target-type": one(
        record("metadata", 1, {"WARC-Target-URI": page(1)}), revisit(), kept=REVISITED
    ),
    "revisit-target-digest": one(
        response(block=HEAD + b"another"),
        revisit(),
        # Declared by other writers' lights, the digests are those of one body.
        kept=warc(
            response(
                1, HEAD + BODY, WARC_Payload_Digest="sha256:" + hashlib.sha256(BODY).hexdigest()
            ),
            revisit(),
        ),
    ),
    "revisit-target-differs": one(RESPONSE, revisit(WARC_Refers_To_Date=LATER), kept=REVISITED),
    "revisit-target-elsewhere": one(revisit(), kept=REVISITED),
}
LINKS = {
    "record-id-repeated": one(RESPONSE, RESPONSE),
    "record-id-shared": Case(
        [PLAIN, warc(RESPONSE)], [PLAIN, warc(response(2)).replace(b"900", b"901")]
    ),
    "warcinfo-id-type": one(
        RESPONSE,
        response(2, WARC_Warcinfo_ID=identity(1)),
        kept=warc(response(WARC_Warcinfo_ID=identity(900))),
    ),
    "warcinfo-id-elsewhere": one(response(WARC_Warcinfo_ID=identity(901))),
    "concurrent-to-type": one(response(WARC_Concurrent_To=identity(900))),
    "concurrent-to-date": one(
        RESPONSE,
        record("request", 2, {"WARC-Concurrent-To": identity(1), "WARC-Date": LATER}),
        kept=warc(RESPONSE, record("request", 2, {"WARC-Concurrent-To": identity(1)})),
    ),
    "concurrent-to-elsewhere": one(response(WARC_Concurrent_To=identity(5))),
}
SEGMENTS = {
    "segment-first": one(response(WARC_Segment_Number="2"), kept=SEGMENTED),
    "segment-record-type": one(
        record("metadata", fields={"WARC-Segment-Number": "1"}), kept=SEGMENTED
    ),
    "segment-optional-field": one(
        *segments(5, 4, WARC_Identified_Payload_Type="image/png"),
        kept=warc(*segments(5, 4, WARC_Block_Digest=sha1(b"xxxx"))),
    ),
    "segment-place": one(response(9), *segments(5, 4), kept=SEGMENTED),
    "segment-origin": one(RESPONSE, segments(5, 4)[1], kept=SEGMENTED),
    "segment-order": one(
        *segments(5, 4, 3),
        record(
            "continuation", 9, {"WARC-Segment-Number": "3", "WARC-Target-URI": page(1)}, block=b"x"
        ),
        kept=SEGMENTED,
    ),
    "segment-target-uri": one(*segments(5, 4, WARC_Target_URI=page(7)), kept=SEGMENTED),
    "segment-total": one(*segments(5, 4, total=10), kept=SEGMENTED),
    "segment-elsewhere": one(segments(5, 4)[1], kept=SEGMENTED),
}
CASES = FILES | ZSTANDARD | HEADERS | BLOCKS | REVISITS | LINKS | SEGMENTS
ELSEWHERE = ("file-size", *(rule.code for rule in GROUPS["WACZ files"]))
"""Tested by tests of their own."""


def test_every_rule_has_a_case() -> None:
    of_fields = {rule.code for rule in GROUPS["Fields"]}
    assert set(CASES) | set(ELSEWHERE) | of_fields == set(RULES)


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (frame(info(), checksum=False), ["zstd-frame"]),
        (frame(info(), size=False), ["zstd-frame"]),
        (frame(info(), size=False, checksum=False), ["zstd-frame", "zstd-frame"]),
        (frame(info()) + frame(b"", checksum=False) + frame(RESPONSE), ["zstd-frame"]),
        (frame(info()) + frame(b"", checksum=False), ["zstd-frame"]),
        (dictionary_frame(b"no dictionary") + frame(info()), ["zstd-dictionary"]),
        (ZSTD + dictionary_frame(dictionary()), ["zstd-dictionary"]),
        (frame(info()) + dictionary_frame(dictionary()) + frame(RESPONSE), ["zstd-dictionary"]),
        (frame(info()) + skippable(b"a note") + frame(b"") + frame(RESPONSE), []),
    ],
)
def test_what_frames_have_to_be(check: Check, data: bytes, codes: list[str]) -> None:
    assert [finding.code for finding in check(named(data))] == codes


def test_a_name_says_how_a_file_is_compressed(check: Check) -> None:
    for name in ("a.warc", "a.warc.gz", "a.zst"):
        (finding,) = check((name, frame(info())))
        assert (finding.code, finding.message) == (
            "file-name",
            "compressed with Zstandard, but not named .warc.zst",
        )


def texts_in(function: Any) -> str:
    """The texts in a check, in the functions that it calls and the tables that it reads."""
    found = repr(function.__code__.co_consts)
    for name in function.__code__.co_names:
        used = function.__globals__.get(name)
        if isinstance(used, dict):
            found += repr(used)
        elif getattr(used, "__module__", "") == function.__module__ and hasattr(used, "__code__"):
            found += texts_in(used)
    return found


def test_the_check_in_the_row_of_a_rule_reports_it() -> None:
    codes = [*CASES, *ELSEWHERE]
    assert [code for code in codes if repr(code) not in texts_in(RULES[code].judge)] == []


@pytest.mark.parametrize("code", CASES)
def test_one_file_breaks_the_rule_and_no_other_and_one_none(check: Check, code: str) -> None:
    case = CASES[code]
    findings = check(*case.broken)
    assert code in {finding.code for finding in findings}, [str(f) for f in findings]
    expected = {code, *case.also} if RULES[code].severity > Severity.INFO else case.also
    assert {f.code for f in findings if f.severity > Severity.INFO} == expected
    for finding in findings:
        assert finding.severity is RULES[finding.code].severity
        assert finding.offset >= 0
        assert finding.message
        assert "§" in finding.clause
        assert str(finding).startswith(f"{finding.file}:{finding.offset}: {finding.severity} ")
    findings = check(*case.kept)
    assert [str(f) for f in findings if f.severity > Severity.INFO or f.code == code] == []


def test_both_versions_have_a_clause_for_every_rule_but_some() -> None:
    only_1_1 = {rule.code for rule in RULES.values() if rule.clause_1_0 is None}
    only_1_0 = {rule.code for rule in RULES.values() if rule.clause_1_1 is None}
    assert only_1_0 == {"uri-bare"}
    assert all(code.startswith(("refers-to-", "revisit-")) for code in only_1_1)


def test_codes_and_statements_are_in_good_form() -> None:
    for code, rule in RULES.items():
        assert code == rule.code == code.lower()
        assert rule.statement.endswith((".", ")"))
        assert rule.example
        assert rule.clause_1_0 or rule.clause_1_1
    assert len({id(rule) for rule in RULES.values()}) == len(RULES)


def _coded(*fields: str) -> bytes:
    return "\r\n".join(("HTTP/1.1 200 OK", *fields, "", "")).encode()


IN_CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (len(ZIPPED), ZIPPED)
ZSTD_BODY = zstandard.compress(BODY)
# A window of 256 MiB, and an empty block that is the last (RFC 8878 §3.1.1.1.2).
WIDE = b"\x28\xb5\x2f\xfd\0\x90\1\0\0"


@pytest.mark.parametrize(
    ("head", "stored", "code"),
    [
        pytest.param(_coded("Content-Encoding: zstd"), ZSTD_BODY, "decoded", id="zstd"),
        pytest.param(_coded("Content-Encoding: br"), brotli.compress(BODY), "decoded", id="br"),
        pytest.param(
            _coded("content-encoding: ZSTD", "Content-Encoding: GZip"),
            gzip.compress(ZSTD_BODY),
            "decoded",
            id="two lines",
        ),
        pytest.param(_coded("Content-Encoding: none"), BODY, None, id="none"),
        pytest.param(
            _coded("Transfer-Encoding: gzip, chunked"), IN_CHUNKS, None, id="transfer gzip"
        ),
        pytest.param(
            _coded("Transfer-Encoding: gzip", "Transfer-Encoding: chunked", "Content-Encoding: br"),
            b"%x\r\n%s\r\n0\r\n\r\n"
            % (len(gzip.compress(brotli.compress(BODY))), gzip.compress(brotli.compress(BODY))),
            "decoded",
            id="transfer gzip, content br",
        ),
        pytest.param(_coded("Content-Encoding: zebra"), ZIPPED, "unverified", id="unknown"),
        pytest.param(_coded("Content-Encoding: zstd"), WIDE, "unverified", id="window"),
        pytest.param(_coded("Content-Encoding: gzip"), BODY + b"!", "wrong", id="not gzip"),
        pytest.param(_coded("Content-Encoding: zstd"), ZIPPED, "wrong", id="not zstd"),
    ],
)
def test_a_digest_of_the_decoded_body(
    head: bytes, stored: bytes, code: str | None, check: Check
) -> None:
    found = check(warc(response(1, head + stored, WARC_Payload_Digest=sha1(BODY))))
    codes = {f.code for f in found if "digest" in f.code}
    named = {"unverified": "digest-unverified"}.get(code or "", f"payload-digest-{code}")
    assert codes == ({named} if code else set())


def test_a_digest_of_the_entity_body_below_a_transfer_coding(check: Check) -> None:
    body = gzip.compress(ZSTD_BODY)
    head = _coded("Transfer-Encoding: gzip", "Content-Encoding: zstd")
    found = check(warc(response(1, head + body, WARC_Payload_Digest=sha1(ZSTD_BODY))))
    assert not [f for f in found if "digest" in f.code]
