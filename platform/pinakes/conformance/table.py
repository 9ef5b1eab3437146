"""The table of rules: every code that `pinakes check` can print.

Rules about single fields are declared with the fields, in `fields`.  Clauses are
"5.4", or "5.12/5.14" where WARC/1.0 and WARC/1.1 number differently; "-" means that
the version has no such rule.
"""

from __future__ import annotations

from types import MappingProxyType

from .fields import FIELD_RULES
from .rules import Rule, note, shall, should

_CAPTURES = ("response", "resource", "request", "metadata", "revisit")

_FILES = (
    shall("file-empty", "4", "A WARC file has at least one record.", "a file of 0 bytes"),
    should(
        "file-name",
        "A.3/D.3",
        "A file compressed with gzip is named `.warc.gz`, any other `.warc`.",
        "`crawl.warc`, compressed",
    ),
    should("file-size", "B/C", "A file has at most 1 GB (10^9 bytes).", "a file of 5 GB"),
    should("file-compression", "A.1/D.1", "Compression is gzip.", "a file in bzip2"),
    should("warcinfo-first", "5.5", "A file starts with a warcinfo.", "a response first"),
    shall(
        "not-a-record",
        "4",
        "A file is records and nothing else.",
        "a hundred zeros behind a record",
        carries=True,
    ),
    shall(
        "between-records",
        "4",
        "Between two records lies nothing but the two CRLF that end the first.",
        "a third empty line",
    ),
    shall(
        "gzip-crc", "A.1/D.1", "Checksums of gzip members fit.", "one byte changed", carries=True
    ),
    shall(
        "gzip-damaged", "A.1/D.1", "Compressed data can be read.", "a hole of zeros", carries=True
    ),
    should(
        "gzip-member",
        "A.2/D.2",
        "Every record is a gzip member of its own.",
        "a whole file in one member",
        once=True,
    ),
)

_HEADERS = (
    should(
        "version-uncovered",
        "4",
        "The record is a WARC/1.0 or WARC/1.1 record; older formats are not ISO 28500.",
        "`WARC/0.18`, or an ARC file",
        once=True,
        carries=True,
    ),
    shall(
        "version-line",
        "4",
        "The first line is `WARC/1.0` or `WARC/1.1`.",
        "`WARC/2.0`, `WARC/1.0;`",
        carries=True,
    ),
    shall("header-line-end", "4", "Header lines end with CRLF.", "lines that end with LF"),
    shall("field-colon", "4", "A field is a name, a colon and a value.", "`WARC-Date 2020`"),
    shall(
        "field-name",
        "4",
        "A field's name is a token, and the colon follows it.",
        "`WARC Date: 2020`",
    ),
    shall("field-value", "4", "A value has no control characters.", "a NUL in WARC-Filename"),
    shall("field-utf8", "4", "Header fields are in UTF-8.", "an e-acute in Latin-1"),
    shall(
        "field-repeated",
        "5.1",
        "No field but WARC-Concurrent-To is repeated in a record.",
        "two WARC-Date",
    ),
    note(
        "field-folded",
        "4",
        "A value may run over several lines; few tools read that.",
        "a WARC-Target-URI on two lines",
        once=True,
    ),
    note(
        "extension-repeated",
        "5.1",
        "Extension fields repeat only where their extension says so.",
        "two `X-Crawl-Note`",
        once=True,
    ),
    note(
        "field-undefined",
        "5.1",
        "A field that begins with WARC- and is not in the standard is an extension.",
        "`WARC-Page-ID: 7`",
        once=True,
    ),
    note(
        "record-type-unknown",
        "5.5",
        "Other record types are extensions.",
        "`WARC-Type: screenshot`",
        once=True,
    ),
    note(
        "uri-bare",
        "5.12/-",
        "The grammar of WARC/1.0 puts < and > around WARC-Target-URI and WARC-Profile; "
        "its examples do not, nor does WARC/1.1.",
        "`WARC-Target-URI: http://example.org/` in WARC/1.0",
        once=True,
    ),
)

_BLOCKS = (
    shall("record-truncated", "4", "A record is whole.", "a file cut short", carries=True),
    shall(
        "content-length-wrong",
        "5.3",
        "Content-Length is the number of octets in the block.",
        "`Content-Length: 10` over 12 bytes",
        carries=True,
    ),
    shall("record-end", "4", "A record ends with two CRLF.", "one CRLF", carries=True),
    should(
        "content-type-missing",
        "5.6",
        "Records with a block, but continuation, have a Content-Type.",
        "a response without it",
        tuple(t for t in ("warcinfo", *_CAPTURES, "conversion")),
    ),
    shall(
        "block-digest-wrong",
        "5.8",
        "WARC-Block-Digest is the digest of the block.",
        "the digest of another block",
        carries=True,
    ),
    shall(
        "payload-digest-wrong",
        "5.9",
        "WARC-Payload-Digest is the digest of the payload.",
        "a digest of neither the stored, the de-chunked nor the decoded body",
        carries=True,
    ),
    should(
        "payload-digest-framed",
        "5.9",
        "The payload is the entity body, without chunked transfer-coding.",
        "a digest of the bytes with their chunk sizes (GNU Wget)",
        carries=True,
    ),
    should(
        "payload-digest-decoded",
        "5.9",
        "The payload is the entity body, its content-coding kept.",
        "a digest of the page, not of the gzip data sent (Common Crawl)",
        carries=True,
    ),
    should(
        "digest-padding",
        "5.8",
        "A digest value is a token: no `=` (IIPC recommends to read it all the same).",
        "`sha256:AAAA...====`",
        once=True,
    ),
    note(
        "digest-unverified",
        "5.8",
        "No algorithm is prescribed; md5, sha1, sha256 and sha512 are verified here.",
        "`blake3:af13...`",
        once=True,
        carries=True,
    ),
    should(
        "warcinfo-content-type",
        "6.2",
        "The block of a warcinfo is application/warc-fields.",
        "a warcinfo in XML",
        ("warcinfo",),
    ),
    should(
        "warc-fields-block",
        "4",
        "A block of type application/warc-fields is fields in UTF-8, lines ended by CRLF.",
        "`just a note` in a metadata record",
    ),
    should(
        "filename-differs",
        "5.15/5.17",
        "WARC-Filename is the name of the file that holds the warcinfo.",
        "a file that was renamed",
        ("warcinfo",),
    ),
    should(
        "http-content-type",
        "6.3.2, 6.5.2",
        "The Content-Type over an HTTP message is application/http, with the right msgtype if any.",
        "a response of type `text/html`; `msgtype=request` on a response",
        ("response", "request", "revisit"),
    ),
    should(
        "ip-address-missing",
        "6.3.2, 6.5.2",
        "HTTP responses and requests have a WARC-IP-Address.",
        "a response without it",
        ("response", "request"),
        once=True,
    ),
    should(
        "truncated-unmarked",
        "6.3.2",
        "A response known to be truncated says so in WARC-Truncated.",
        "700 bytes behind an HTTP `Content-Length: 1000`",
        ("response",),
    ),
    note(
        "truncated-reason",
        "5.13/5.15",
        "Reasons but length, time, disconnect and unspecified are extensions.",
        "`WARC-Truncated: bored`",
    ),
    shall(
        "resource-http-block",
        "6.4.2",
        "A resource with an http(s) URI holds the entity body alone.",
        "a resource that begins with `HTTP/1.1 200 OK`",
        ("resource",),
    ),
    shall(
        "resource-dns-type",
        "6.4.4",
        "A resource with a dns URI is of type text/dns.",
        "`Content-Type: text/plain`",
        ("resource",),
    ),
    should(
        "conversion-refers-to",
        "6.8",
        "A conversion names what it was made from in WARC-Refers-To.",
        "a conversion without it",
        ("conversion",),
    ),
)

_REVISITS = (
    should(
        "profile-undefined",
        "5.16/5.18",
        "WARC-Profile is undefined on records other than revisit.",
        "a response with it",
        tuple(t for t in ("warcinfo", *_CAPTURES, "conversion", "continuation") if t != "revisit"),
    ),
    should(
        "profile-version",
        "6.7.2, 6.7.3",
        "The profile is written with the URI of the record's own version.",
        "`http://netpreserve.org/warc/1.0/...` in WARC/1.1",
        ("revisit",),
        once=True,
    ),
    note(
        "profile-unknown",
        "6.7.4",
        "Other profiles are extensions: such a revisit is not interpreted.",
        "`WARC-Profile: http://example.org/diff`",
        ("revisit",),
    ),
    shall(
        "revisit-payload-digest",
        "6.7.2",
        "A revisit of identical payload has a WARC-Payload-Digest.",
        "one without it",
        ("revisit",),
    ),
    shall(
        "revisit-truncated",
        "6.7.2",
        "A revisit of identical payload that leaves the payload off says `WARC-Truncated: length`.",
        "HTTP headers alone, without it",
        ("revisit",),
        once=True,
    ),
    should(
        "revisit-body",
        "6.7.2",
        "A revisit of identical payload does not store the payload.",
        "a body behind the HTTP headers",
        ("revisit",),
    ),
    should(
        "revisit-http-headers",
        "-/6.7.2",
        "A revisit keeps the server's response headers in its block.",
        "`Content-Length: 0`",
        ("revisit",),
        once=True,
    ),
    should(
        "revisit-refers-to",
        "6.7.2, 6.7.3",
        "A revisit names the original in WARC-Refers-To.",
        "a revisit without it",
        ("revisit",),
        once=True,
    ),
    should(
        "revisit-refers-to-date",
        "-/6.7.2, 6.7.3",
        "A revisit names its original by WARC-Refers-To-Date, and -Target-URI if of "
        "identical payload.",
        "a revisit without them",
        ("revisit",),
        once=True,
    ),
    shall(
        "revisit-target-self",
        "5.11",
        "A revisit refers to a preceding record, not to itself.",
        "its own id in WARC-Refers-To",
        ("revisit",),
    ),
    shall(
        "revisit-target-later",
        "5.11",
        "A revisit refers to a preceding record, not to a later capture.",
        "a target of the year after",
        ("revisit",),
    ),
    shall(
        "revisit-target-revisit",
        "6.7.2, 6.7.3",
        "A revisit refers to a record that has the content, not to another revisit.",
        "a chain of two revisits",
        ("revisit",),
    ),
    shall(
        "revisit-target-type",
        "6.7.2, 6.7.3",
        "A revisit refers to a response or a resource.",
        "the id of a request",
        ("revisit",),
    ),
    shall(
        "revisit-target-digest",
        "6.7.2",
        "The original of a revisit has the payload whose digest the revisit declares.",
        "an original with another body",
        ("revisit",),
    ),
    should(
        "revisit-target-differs",
        "-/6.7.2, 6.7.3",
        "WARC-Refers-To-Target-URI and -Date are those of the record that WARC-Refers-To names.",
        "an id and a date of two records",
        ("revisit",),
    ),
    note(
        "revisit-target-elsewhere",
        "6.7.2, 6.7.3",
        "The original of a revisit may lie in a file that was not given.",
        "a crawl without the crawl before it",
        ("revisit",),
    ),
)

_LINKS = (
    shall("record-id-repeated", "5.2", "A WARC-Record-ID is unique.", "two records of one id"),
    should(
        "record-id-shared",
        "5.2",
        "A WARC-Record-ID is unique, also over files.",
        "a file given beside a copy of it",
        once=True,
    ),
    shall(
        "warcinfo-id-type",
        "5.14/5.16",
        "WARC-Warcinfo-ID is the id of a warcinfo.",
        "the id of a response",
    ),
    note(
        "warcinfo-id-elsewhere",
        "5.14/5.16",
        "The warcinfo of a record may lie in another file.",
        "records taken out of their file",
        once=True,
    ),
    shall(
        "concurrent-to-type",
        "5.7",
        "WARC-Concurrent-To links response, resource, request, metadata and revisit.",
        "the id of a warcinfo",
        _CAPTURES,
    ),
    shall(
        "concurrent-to-date",
        "5.4",
        "Records of one capture event have the same WARC-Date.",
        "a request a second before its response",
        _CAPTURES,
    ),
    note(
        "concurrent-to-elsewhere",
        "5.7",
        "A record of the same capture event may lie in another file.",
        "a request without its response",
        _CAPTURES,
        once=True,
    ),
)

_SEGMENTS = (
    shall(
        "segment-first",
        "7",
        "The first segment has WARC-Segment-Number 1, and its record's own type.",
        "a response with 2; a continuation with 1",
    ),
    should(
        "segment-record-type",
        "7",
        "Warcinfo, request, metadata and revisit records are not segmented.",
        "a request with a WARC-Segment-Number",
        ("warcinfo", "request", "metadata", "revisit"),
    ),
    should(
        "segment-optional-field",
        "7",
        "Segments other than the first have no further optional fields.",
        "a continuation with a WARC-Identified-Payload-Type",
        ("continuation",),
    ),
    shall(
        "segment-place",
        "7",
        "The first segment stands in a new file, behind a warcinfo at most.",
        "a segment behind a response",
    ),
    shall(
        "segment-origin",
        "7",
        "WARC-Segment-Origin-ID is the id of a first segment.",
        "the id of a continuation, or of a record without WARC-Segment-Number",
        ("continuation",),
    ),
    shall(
        "segment-order",
        "7",
        "Segments are numbered one by one.",
        "two segments 3 in a series",
    ),
    shall(
        "segment-target-uri",
        "7",
        "All segments have the same WARC-Target-URI.",
        "a continuation of another URI",
    ),
    shall(
        "segment-total",
        "7",
        "The last segment, and no other, has the length of all as WARC-Segment-Total-Length.",
        "`WARC-Segment-Total-Length: 10` over 12 bytes",
        ("continuation",),
    ),
    note(
        "segment-elsewhere",
        "7",
        "Segments of a record may lie in files that were not given.",
        "a continuation alone",
    ),
)

GROUPS = MappingProxyType(
    {
        "Files": _FILES,
        "Headers": _HEADERS,
        "Fields": FIELD_RULES,
        "Blocks": _BLOCKS,
        "Revisits": _REVISITS,
        "Links between records": _LINKS,
        "Segments": _SEGMENTS,
    }
)
"""The rules under the headings of docs/check.md."""

RULES: MappingProxyType[str, Rule] = MappingProxyType(
    {rule.code: rule for rules in GROUPS.values() for rule in rules}
)
"""Every rule by its code."""
