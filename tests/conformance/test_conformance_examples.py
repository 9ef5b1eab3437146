"""The example records of the standard (Annex C of 2009, B of 2017), with what they break.

Their blocks are given in part only: here they are filled up to their Content-Length, so
that digests do not fit.  The rest of what is found are mistakes of the examples, most of
them in the list of errata that the IIPC keeps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from pinakes.conformance.rules import Severity

if TYPE_CHECKING:
    from checking import Check


class Example(NamedTuple):
    """Header lines, the block as far as it is printed, and the codes found, infos apart."""

    header: str
    block: str
    found: str


RESPONSE_HEAD = """\
HTTP/1.1 200 OK
Date: Tue, 19 Sep 2006 17:18:40 GMT
Server: Apache/2.0.54 (Ubuntu)
Last-Modified: Mon, 16 Jun 2003 22:28:51 GMT
ETag: "3e45-67e-2ed02ec0"
Accept-Ranges: bytes
Content-Length: 1662
Connection: close
Content-Type: image/jpeg

"""
EXAMPLES = {
    "warcinfo": Example(
        """\
WARC-Type: warcinfo
WARC-Date: 2006-09-19T17:20:14Z
WARC-Record-ID: <urn:uuid:d7ae5c10-e6b3-4d27-967d-34780c58ba39>
Content-Type: application/warc-fields
Content-Length: 381
""",
        """\
software: Heritrix 1.12.0 http://crawler.archive.org
hostname: crawling017.archive.org
ip: 207.241.227.234
isPartOf: testcrawl-20050708
description: testcrawl with WARC output
operator: IA_Admin
http-header-user-agent:
 Mozilla/5.0 (compatible; heritrix/1.4.0 +http://crawler.archive.org)
format: WARC file version 1.0
conformsTo:
 http://www.archive.org/documents/WarcFileFormat-1.0.html
""",
        "",
    ),
    "request": Example(
        """\
WARC-Type: request
WARC-Target-URI: http://www.archive.org/images/logoc.jpg
WARC-Warcinfo-ID: <urn:uuid:d7ae5c10-e6b3-4d27-967d-34780c58ba39>
WARC-Date: 2006-09-19T17:20:24Z
Content-Length: 236
WARC-Record-ID: <urn:uuid:4885803b-eebd-4b27-a090-144450c11594>
Content-Type: application/http;msgtype=request
WARC-Concurrent-To: <urn:uuid:92283950-ef2f-4d72-b224-f54c6ec90bb0>
""",
        "GET /images/logoc.jpg HTTP/1.0\nHost: www.archive.org\n\n",
        "ip-address-missing",
    ),
    "response": Example(
        """\
WARC-Type: response
WARC-Target-URI: http://www.archive.org/images/logoc.jpg
WARC-Warcinfo-ID: <urn:uuid:d7ae5c10-e6b3-4d27-967d-34780c58ba39>
WARC-Date: 2006-09-19T17:20:24Z
WARC-Block-Digest: sha1:UZY6ND6CCHXETFVJD2MSS7ZENMWF7KQ2
WARC-Payload-Digest: sha1:CCHXETFVJD2MUZY6ND6SS7ZENMWF7KQ2
WARC-IP-Address: 207.241.233.58
WARC-Record-ID: <urn:uuid:92283950-ef2f-4d72-b224-f54c6ec90bb0>
Content-Type: application/http;msgtype=response
WARC-Identified-Payload-Type: image/jpeg
Content-Length: 1902
""",
        RESPONSE_HEAD,
        "block-digest-wrong payload-digest-wrong truncated-unmarked",
    ),
    "resource": Example(
        """\
WARC-Type: resource
WARC-Target-URI: file://var/www/htdoc/images/logoc.jpg
WARC-Date: 2006-09-30T16:40:32Z
WARC-Record-ID: <urn:uuid:23200706-de3e-3c61-a131-g65d7fd80cc1>
Content-Type: image/jpeg
WARC-Payload-Digest: sha1:DBXHDRBXLF4OMUZ5DN4JJ2KFUAOB6VK8
WARC-Block-Digest: sha1:DBXHDRBXLF4OMUZ5DN4JJ2KFUAOB6VK8
Content-Length: 1662
""",
        "",
        # "g" is no hex digit, and the UUID is a character short; "8" is not in Base32.
        "record-id-syntax block-digest-syntax payload-digest-syntax",
    ),
    "metadata": Example(
        """\
WARC-Type: metadata
WARC-Target-URI: http://www.archive.org/images/logoc.jpg
WARC-Date: 2006-09-19T17:20:24Z
WARC-Record-ID: <urn:uuid:16da6da0-bcdc-49c3-927e-57494593b943>
WARC-Concurrent-To: <urn:uuid:92283950-ef2f-4d72-b224-f54c6ec90bb0>
Content-Type: application/warc-fields
WARC-Block-Digest: sha1:VXT4AF5BBZVHDYKNC2CSM8TEAWDB6CH8
Content-Length: 63
""",
        "via: http://www.archive.org/\nhopsFromSeed: E\nfetchTimeMs: 565\n",
        "block-digest-syntax",
    ),
    "revisit": Example(
        """\
WARC-Type: revisit
WARC-Target-URI: http://www.archive.org/images/logoc.jpg
WARC-Date: 2007-03-06T00:43:35Z
WARC-Profile: http://netpreserve.org/warc/1.0/server-not-modified
WARC-Record-ID: <urn:uuid:16da6da0-bcdc-49c3-927e-57494593bbbb>
WARC-Refers-To: <urn:uuid:92283950-ef2f-4d72-b224-f54c6ec90bb0>
Content-Type: message/http
Content-Length: 226
""",
        "HTTP/1.x 304 Not Modified\nDate: Tue, 06 Mar 2007 00:43:35 GMT\n\n",
        # Erratum 36: the profile lacks "revisit/".
        "profile-version",
    ),
    "conversion": Example(
        """\
WARC-Type: conversion
WARC-Target-URI: http://www.archive.org/images/logoc.jpg
WARC-Date: 2016-09-19T19:00:40Z
WARC-Record-ID: <urn:uuid:16da6da0-bcdc-49c3-927e-57494593dddd>
WARC-Refers-To: <urn:uuid:92283950-ef2f-4d72-b224-f54c6ec90bb0>
WARC-Block-Digest: sha1:XQMRY75YY42ZWC6JAT6KNXKD37F7MOEK
Content-Type: image/neoimg
Content-Length: 934
""",
        "",
        "block-digest-wrong",
    ),
    "first segment": Example(
        """\
WARC-Type: response
WARC-Target-URI: http://www.archive.org/images/logoc.jpg
WARC-Date: 2006-09-19T17:20:24Z
WARC-Block-Digest: sha1:2ASS7ZUZY6ND6CCHXETFVJDENAWF7KQ2
WARC-Payload-Digest: sha1:CCHXETFVJD2MUZY6ND6SS7ZENMWF7KQ2
WARC-IP-Address: 207.241.233.58
WARC-Record-ID: <urn:uuid:39509228-ae2f-11b2-763a-aa4c6ec90bb0>
WARC-Segment-Number: 1
Content-Type: application/http;msgtype=response
Content-Length: 1600
""",
        RESPONSE_HEAD,
        "block-digest-wrong",
    ),
    "continuation": Example(
        """\
WARC-Type: continuation
WARC-Target-URI: http://www.archive.org/images/logoc.jpg
WARC-Date: 2006-09-19T17:20:24Z
WARC-Block-Digest: sha1:T7HXETFVA92MSS7ZENMFZY6ND6WF7KB7
WARC-Record-ID: <urn:uuid:70653950-a77f-b212-e434-7a7c6ec909ef>
WARC-Segment-Origin-ID: <urn:uuid:39509228-ae2f-11b2-763a-aa4c6ec90bb0>
WARC-Segment-Number: 2
WARC-Segment-Total-Length: 1902
WARC-Identified-Payload-Type: image/jpeg
Content-Length: 302
""",
        "",
        # "9" is not in Base32; §7: segments should have no other optional fields.
        "block-digest-syntax segment-optional-field",
    ),
}
# Where the example of 2017 is another record than that of 2009.
EXAMPLES_OF_1_1 = {
    "revisit": Example(
        """\
WARC-Type: revisit
WARC-Target-URI: http://www.archive.org/images/logoc.jpg
WARC-Date: 2017-06-23T12:43:35Z
WARC-Profile: http://netpreserve.org/warc/1.1/server-not-modified
WARC-Record-ID: <urn:uuid:16da6da0-bcdc-49c3-927e-57494593bbbb>
WARC-Refers-To: <urn:uuid:92283950-ef2f-4d72-b224-f54c6ec90bb0>
WARC-Refers-To-Target-URI: http://www.archive.org/images/logoc.jpg
WARC-Refers-To-Date: 2016-09-19T17:20:24Z
Content-Type: message/http
Content-Length: 226
""",
        "HTTP/1.x 304 Not Modified\nDate: Tue, 06 Mar 2017 00:43:35 GMT\n\n",
        "profile-version",
    ),
    "conversion": Example(
        """\
WARC-Type: conversion
WARC-Target-URI: http://www.archive.org/images/logoc.jpg
WARC-Date: 2026-09-19T19:00:40Z
WARC-Record-ID: <urn:uuid:27ef1r9j-defr-25f9-328r-16859347dddd>
WARC-Refers-To: <urn:uuid:92283950-ef2f-4d72-b224-f54c6ec90bb0>
WARC-Block-Digest: sha1:XQMRY75YY42ZWC6JAT6KNXKD37F7MOEK
Content-Type: image/neoimg
Content-Length: 934
""",
        "",
        "block-digest-wrong record-id-syntax",
    ),
}


def as_record(example: Example, version: str) -> bytes:
    """The example in bytes, its block cut or filled up to its Content-Length."""
    length = int(example.header.rpartition("Content-Length: ")[2].split()[0])
    header = f"WARC/{version}\n{example.header}\n".replace("\n", "\r\n").encode()
    block = example.block.replace("\n", "\r\n").encode()
    if "warc-fields" in example.header:  # their lengths count other line ends
        header = header.replace(str(length).encode(), str(len(block)).encode())
        return header + block + b"\r\n\r\n"
    return header + block[:length].ljust(length, b".") + b"\r\n\r\n"


def cases() -> list[object]:
    found = [("1.0", name, example) for name, example in EXAMPLES.items()]
    found += [("1.1", name, ex) for name, ex in (EXAMPLES | EXAMPLES_OF_1_1).items()]
    return [pytest.param(*case, id=f"{case[0]}-{case[1]}") for case in found]


@pytest.mark.parametrize(("version", "name", "example"), cases())
def test_an_example_of_the_standard(
    check: Check, version: str, name: str, example: Example
) -> None:
    findings = check(as_record(example, version))
    expected = set(example.found.split()) | ({"warcinfo-first"} if name != "warcinfo" else set())
    assert {f.code for f in findings if f.severity > Severity.INFO} == expected


def test_the_examples_together_are_a_capture_and_a_series(check: Check) -> None:
    whole = [as_record(EXAMPLES[name], "1.0") for name in ("warcinfo", "response", "request")]
    first = [as_record(EXAMPLES[name], "1.0") for name in ("warcinfo", "first segment")]
    last = as_record(EXAMPLES["continuation"], "1.0")
    codes = {f.code for f in check(b"".join(whole), b"".join(first), last)}
    assert not {code for code in codes if code.startswith(("concurrent", "warcinfo-id"))}
    assert {code for code in codes if code.startswith("segment")} == {"segment-optional-field"}
