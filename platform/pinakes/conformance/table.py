"""The table of rules: a row for each code that `pinakes check` can print.

A new rule is a row here and a `Hit` with its code in the check that the row names.  The
rules of single fields (mandatory, forbidden, syntax) follow from the rows of `fields`.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType

from . import blocks, digests, framing, headers, links, revisits, targets
from .fields import FIELDS, OLDER_FIELDS, Field
from .rules import CAPTURE_TYPES, RECORD_TYPES, Rule, Severity

INFO, WARNING, ERROR = Severity
REVISIT = ("revisit",)

# fmt: off
# Rows: code, severity, clauses of WARC/1.0 and 1.1, the check; statement, example, options.
FILES = (
    Rule("file-empty",             ERROR,   "4",       framing.check_file,
         "A WARC file has at least one record.", "a file of 0 bytes"),
    Rule("file-name",              WARNING, "A.3/D.3", framing.check_file,
         "A file compressed with gzip is named `.warc.gz`, with Zstandard `.warc.zst`, any other "
         "`.warc`.",
         "`crawl.warc`, compressed"),
    Rule("file-size",              WARNING, "B/C",     framing.check_file,
         "A file has at most 1 GB (10^9 bytes).", "a file of 5 GB"),
    Rule("file-compression",       WARNING, "A.1/D.1", framing.check_file,
         "Compression is gzip.", "a bzip2 file"),
    Rule("warcinfo-first",         WARNING, "5.5",     framing.check_first,
         "The first record of a file is a warcinfo.", "a response first"),
    Rule("not-a-record",           ERROR,   "4",       framing.check_damaged_stretch,
         "A file contains nothing but records.", "a hundred zero bytes after a record",
         older_formats=True),
    Rule("between-records",        ERROR,   "4",       framing.Gaps.before,
         "Nothing stands between two records except the two CRLF that end the first.",
         "a third empty line"),
    Rule("gzip-crc",               ERROR,   "A.1/D.1", framing.check_reader_findings,
         "The checksum of each gzip member is correct.", "one byte changed",
         older_formats=True),
    Rule("gzip-damaged",           ERROR,   "A.1/D.1", framing.check_reader_findings,
         "Compressed data can be read.", "a stretch overwritten with zeros",
         older_formats=True),
    Rule("gzip-member",            WARNING, "A.2/D.2", framing.check_reader_findings,
         "Each record is a gzip member of its own.", "a whole file in one member",
         once=True),
)
_ZSTD = "warc-zstd 1.0"
ZSTANDARD = (
    Rule("zstd-crc",               ERROR,   "4.1",     framing.check_reader_findings,
         "The checksum of each frame is correct, and its size as it declares.",
         "one byte changed", standard=_ZSTD, older_formats=True),
    Rule("zstd-damaged",           ERROR,   "4.1",     framing.check_reader_findings,
         "Compressed data can be read.", "a stretch overwritten with zeros",
         standard=_ZSTD, older_formats=True),
    Rule("zstd-record",            ERROR,   "4",       framing.check_reader_findings,
         "A frame has data of one record only.", "a whole file in one frame",
         standard=_ZSTD, once=True),
    Rule("zstd-frame",             ERROR,   "4.1",     framing.check_frames,
         "A frame declares the size of its content, and has a checksum.",
         "what `zstd --no-check` writes", standard=_ZSTD, once=True),
    Rule("zstd-dictionary",        ERROR,   "4.2",     framing.check_frames,
         "A dictionary is the first frame of its file, in the format of RFC 8878 §5, and each "
         "frame names it.", "two files with dictionaries put together", standard=_ZSTD, once=True),
    Rule("zstd-start",             ERROR,   "4.3",     framing.check_file,
         "No extension frame is before the first frame.", "a skippable frame first",
         standard=_ZSTD),
)
HEADERS = (
    Rule("version-uncovered",      WARNING, "4",       headers.check_version,
         "The record is a WARC/1.0 or WARC/1.1 record; older formats are not ISO 28500.",
         "`WARC/0.18`, or an ARC file", once=True, older_formats=True),
    Rule("version-line",           ERROR,   "4",       headers.check_version,
         "The first line is `WARC/1.0` or `WARC/1.1`.", "`WARC/2.0`, `WARC/1.0;`",
         older_formats=True),
    Rule("header-line-end",        ERROR,   "4",       headers.check_lines,
         "Header lines end with CRLF.", "lines that end with LF"),
    Rule("field-colon",            ERROR,   "4",       headers.check_lines,
         "A field is a name, a colon and a value.", "`WARC-Date 2020`"),
    Rule("field-name",             ERROR,   "4",       headers.check_lines,
         "A field name is a token, and the colon follows it directly.", "`WARC Date: 2020`"),
    Rule("field-value",            ERROR,   "4",       headers.check_lines,
         "A value has no control characters.", "a NUL in WARC-Filename"),
    Rule("field-utf8",             ERROR,   "4",       headers.check_lines,
         "Header fields are in UTF-8.", "an e-acute in Latin-1"),
    Rule("field-repeated",         ERROR,   "5.1",     headers.check_presence,
         "Only WARC-Concurrent-To may be repeated in a record.", "two WARC-Date"),
    Rule("field-folded",           INFO,    "4",       headers.check_lines,
         "A value may continue on further lines; few tools can read that.",
         "a WARC-Target-URI on two lines", once=True),
    Rule("extension-repeated",     INFO,    "5.1",     headers.check_presence,
         "An extension field may be repeated only if its extension says so.",
         "two `X-Crawl-Note`", once=True),
    Rule("field-undefined",        INFO,    "5.1",     headers.check_presence,
         "A field whose name begins with WARC- and is not in the standard is an extension.",
         "`WARC-Page-ID: 7`", once=True),
    Rule("record-type-unknown",    INFO,    "5.5",     headers.check_presence,
         "A record type that is not in the standard is an extension.",
         "`WARC-Type: screenshot`", once=True),
    Rule("uri-bare",               INFO,    "5.12/-",  headers.check_syntax,
         "The grammar of WARC/1.0 puts < and > around WARC-Target-URI and WARC-Profile; "
         "its examples do not, nor does WARC/1.1.",
         "`WARC-Target-URI: http://example.org/` in WARC/1.0", once=True),
)
BLOCKS = (
    Rule("record-truncated",       ERROR,   "4",       framing.check_reader_findings,
         "A record is complete.", "a truncated file", older_formats=True),
    Rule("content-length-wrong",   ERROR,   "5.3",     framing.check_reader_findings,
         "Content-Length is the number of octets in the block.",
         "`Content-Length: 10` on a block of 12 bytes", older_formats=True),
    Rule("record-end",             ERROR,   "4",       framing.check_reader_findings,
         "A record ends with two CRLF.", "one CRLF", older_formats=True),
    Rule("content-type-missing",   WARNING, "5.6",     blocks.check_content_type,
         "A record with a block has a Content-Type, except a continuation.",
         "a response without it", types=RECORD_TYPES[:-1]),
    Rule("block-digest-wrong",     ERROR,   "5.8",     digests.check_block_digest,
         "WARC-Block-Digest is the digest of the block.", "the digest of another block",
         older_formats=True),
    Rule("payload-digest-wrong",   ERROR,   "5.9",     digests.check_payload_digest,
         "WARC-Payload-Digest is the digest of the payload.",
         "a digest of neither the stored, the de-chunked nor the decoded body",
         older_formats=True),
    Rule("payload-digest-framed",  WARNING, "5.9",     digests.check_payload_digest,
         "The payload is the entity body, without chunked transfer-coding.",
         "a digest of the bytes with their chunk sizes (GNU Wget)", older_formats=True),
    Rule("payload-digest-decoded", WARNING, "5.9",     digests.check_payload_digest,
         "The payload is the entity body, its content-coding kept.",
         "a digest of the page, not of the gzip data sent (Common Crawl)", older_formats=True),
    Rule("digest-padding",         WARNING, "5.8",     digests.check_declared_digest,
         "A digest value is a token: no `=` (the IIPC recommends that readers accept it).",
         "`sha256:AAAA...====`", once=True),
    Rule("digest-unverified",      INFO,    "5.8",     digests.check_declared_digest,
         "The standard prescribes no algorithm; md5, sha1, sha256 and sha512 are verified here.",
         "`blake3:af13...`", once=True, older_formats=True),
    Rule("warcinfo-content-type",  WARNING, "6.2",     blocks.check_warcinfo,
         "The block of a warcinfo is application/warc-fields.", "a warcinfo in XML",
         types=("warcinfo",)),
    Rule("warc-fields-block",      WARNING, "4",       blocks.check_fields_block,
         "A block of type application/warc-fields is fields in UTF-8, lines ended by CRLF.",
         "`just a note` in a metadata record"),
    Rule("filename-differs",       WARNING, "5.15/5.17", blocks.check_warcinfo,
         "WARC-Filename is the name of the file that holds the warcinfo.",
         "a file that was renamed", types=("warcinfo",)),
    Rule("http-content-type",      WARNING, "6.3.2, 6.5.2", blocks.check_content_type,
         "The Content-Type of an HTTP message is application/http; msgtype, if any, is right.",
         "a response of type `text/html`; `msgtype=request` on a response",
         types=("response", "request", "revisit")),
    Rule("ip-address-missing",     WARNING, "6.3.2, 6.5.2", blocks.check_capture,
         "HTTP responses and requests have a WARC-IP-Address.", "a response without it",
         types=("response", "request"), once=True),
    Rule("truncated-unmarked",     WARNING, "6.3.2",   blocks.check_truncation,
         "A response known to be truncated has a WARC-Truncated.",
         "an HTTP body of 700 bytes with `Content-Length: 1000`", types=("response",)),
    Rule("truncated-reason",       INFO,    "5.13/5.15", blocks.check_truncation,
         "Reasons other than length, time, disconnect and unspecified are extensions.",
         "`WARC-Truncated: bored`"),
    Rule("resource-http-block",    ERROR,   "6.4.2",   blocks.check_capture,
         "A resource with an http(s) URI holds the entity body alone.",
         "a resource that begins with `HTTP/1.1 200 OK`", types=("resource",)),
    Rule("resource-dns-type",      ERROR,   "6.4.4",   blocks.check_capture,
         "A resource with a dns URI is of type text/dns.", "`Content-Type: text/plain`",
         types=("resource",)),
    Rule("conversion-refers-to",   WARNING, "6.8",     blocks.check_capture,
         "A conversion names the record it was made from in WARC-Refers-To.",
         "a conversion without it", types=("conversion",)),
)
REVISITS = (
    Rule("profile-undefined",      WARNING, "5.16/5.18", revisits.check_revisit,
         "WARC-Profile is undefined on records other than revisit.", "a response with it",
         types=tuple(name for name in RECORD_TYPES if name != "revisit")),
    Rule("profile-version",        WARNING, "6.7.2, 6.7.3", revisits.check_revisit,
         "The profile is written with the URI of the record's own version.",
         "`http://netpreserve.org/warc/1.0/...` in WARC/1.1", types=REVISIT, once=True),
    Rule("profile-unknown",        INFO,    "6.7.4",   revisits.check_revisit,
         "Other profiles are extensions: such a revisit is not interpreted.",
         "`WARC-Profile: http://example.org/diff`", types=REVISIT),
    Rule("revisit-payload-digest", ERROR,   "6.7.2",   revisits.check_revisit,
         "A revisit of identical payload has a WARC-Payload-Digest.",
         "a revisit without it", types=REVISIT),
    Rule("revisit-truncated",      ERROR,   "6.7.2",   revisits.check_revisit,
         "A revisit of identical payload that omits the payload has `WARC-Truncated: length`.",
         "HTTP headers alone, without it", types=REVISIT, once=True),
    Rule("revisit-body",           WARNING, "6.7.2",   revisits.check_revisit,
         "A revisit of identical payload does not store the payload.",
         "a body after the HTTP headers", types=REVISIT),
    Rule("revisit-http-headers",   WARNING, "-/6.7.2", revisits.check_revisit,
         "A revisit keeps the server's response headers in its block.",
         "`Content-Length: 0`", types=REVISIT, once=True),
    Rule("revisit-refers-to",      WARNING, "6.7.2, 6.7.3", revisits.check_revisit,
         "A revisit names its original in WARC-Refers-To.",
         "a revisit without it", types=REVISIT, once=True),
    Rule("revisit-refers-to-date", WARNING, "-/6.7.2, 6.7.3", revisits.check_revisit,
         "A revisit has a WARC-Refers-To-Date; one of identical payload also has a "
         "WARC-Refers-To-Target-URI.",
         "a revisit without them", types=REVISIT, once=True),
    Rule("revisit-target-self",    ERROR,   "5.11",    targets.check_targets,
         "A revisit refers to a preceding record, not to itself.",
         "its own id in WARC-Refers-To", types=REVISIT),
    Rule("revisit-target-later",   ERROR,   "5.11",    targets.check_targets,
         "A revisit refers to a preceding record, not to a later capture.",
         "a record captured a year later", types=REVISIT),
    Rule("revisit-target-revisit", ERROR,   "6.7.2, 6.7.3", targets.check_targets,
         "A revisit refers to a record that has the content, not to another revisit.",
         "a chain of two revisits", types=REVISIT),
    Rule("revisit-target-type",    ERROR,   "6.7.2, 6.7.3", targets.check_targets,
         "A revisit refers to a response or a resource.", "the id of a request", types=REVISIT),
    Rule("revisit-target-digest",  ERROR,   "6.7.2",   targets.check_targets,
         "The payload of the original has the digest that the revisit declares.",
         "an original with another body", types=REVISIT),
    Rule("revisit-target-differs", WARNING, "-/6.7.2, 6.7.3", targets.check_targets,
         "WARC-Refers-To-Target-URI and -Date are those of the record that WARC-Refers-To names.",
         "an id and a date of two records", types=REVISIT),
    Rule("revisit-target-elsewhere", INFO,  "6.7.2, 6.7.3", targets.check_targets,
         "The original of a revisit may be in a file that was not given.",
         "a crawl without the crawl before it", types=REVISIT),
)
LINKS = (
    Rule("record-id-repeated",     ERROR,   "5.2",     links.check_ids,
         "A WARC-Record-ID is unique.", "two records with one id"),
    Rule("record-id-shared",       WARNING, "5.2",     links.check_ids,
         "A WARC-Record-ID is unique across files, too.", "a file together with its copy",
         once=True),
    Rule("warcinfo-id-type",       ERROR,   "5.14/5.16", links.check_links,
         "WARC-Warcinfo-ID is the id of a warcinfo.", "the id of a response"),
    Rule("warcinfo-id-elsewhere",  INFO,    "5.14/5.16", links.check_links,
         "The warcinfo of a record may be in another file.", "records taken out of their file",
         once=True),
    Rule("concurrent-to-type",     ERROR,   "5.7",     links.check_links,
         "WARC-Concurrent-To links response, resource, request, metadata and revisit.",
         "the id of a warcinfo", types=CAPTURE_TYPES),
    Rule("concurrent-to-date",     ERROR,   "5.4",     links.check_links,
         "Records of one capture event have the same WARC-Date.",
         "a request a second before its response", types=CAPTURE_TYPES),
    Rule("concurrent-to-elsewhere", INFO,   "5.7",     links.check_links,
         "A record of the same capture event may be in another file.",
         "a request without its response", types=CAPTURE_TYPES, once=True),
)
SEGMENTS = (
    Rule("segment-first",          ERROR,   "7",       blocks.check_segment,
         "Segment 1 has the type of the whole record; later segments are continuations.",
         "a response with WARC-Segment-Number 2; a continuation with 1"),
    Rule("segment-record-type",    WARNING, "7",       blocks.check_segment,
         "Warcinfo, request, metadata and revisit records are not segmented.",
         "a request with a WARC-Segment-Number",
         types=("warcinfo", "request", "metadata", "revisit")),
    Rule("segment-optional-field", WARNING, "7",       blocks.check_segment,
         "Segments after the first have no other optional fields.",
         "a continuation with a WARC-Identified-Payload-Type", types=("continuation",)),
    Rule("segment-place",          ERROR,   "7",       links.check_segments,
         "The first segment starts a new file; only a warcinfo may precede it.",
         "a first segment after a response"),
    Rule("segment-origin",         ERROR,   "7",       links.check_segments,
         "WARC-Segment-Origin-ID is the id of a first segment.",
         "the id of a continuation, or of a record without WARC-Segment-Number",
         types=("continuation",)),
    Rule("segment-order",          ERROR,   "7",       links.check_segments,
         "Segments are numbered consecutively.", "two segments with number 3"),
    Rule("segment-target-uri",     ERROR,   "7",       links.check_segments,
         "All segments have the same WARC-Target-URI.", "a continuation with another URI"),
    Rule("segment-total",          ERROR,   "7",       links.check_segments,
         "Only the last segment has a WARC-Segment-Total-Length: the length of all together.",
         "`WARC-Segment-Total-Length: 10` for 12 bytes", types=("continuation",)),
    Rule("segment-elsewhere",      INFO,    "7",       links.check_segments,
         "Segments of a record may be in files that were not given.", "a continuation alone"),
)


def _field_rules(field: Field) -> Iterator[Rule]:
    short, name, clauses = field.short, field.name, field.clauses
    older = name.lower() in OLDER_FIELDS
    if field.mandatory:
        types = () if field.mandatory == RECORD_TYPES else field.mandatory
        yield Rule(f"{short}-missing", ERROR, clauses, headers.check_presence,
                   f"{name} is mandatory on {', '.join(types) or 'all records'}.",
                   f"a {field.mandatory[-1]} without it", types, older_formats=older)
    if field.forbidden:
        yield Rule(f"{short}-forbidden", ERROR, clauses, headers.check_presence,
                   f"{name} shall not be used on {', '.join(field.forbidden)}.",
                   f"a {field.forbidden[0]} with it", field.forbidden)
    yield Rule(f"{short}-syntax", ERROR, clauses, headers.check_syntax,
               f"{name} follows its grammar.", f"`{name}: {field.bad}`", older_formats=older)
# fmt: on


GROUPS = MappingProxyType(
    {
        "Files": FILES,
        "Zstandard": ZSTANDARD,
        "Headers": HEADERS,
        "Fields": tuple(rule for field in FIELDS.values() for rule in _field_rules(field)),
        "Blocks": BLOCKS,
        "Revisits": REVISITS,
        "Links between records": LINKS,
        "Segments": SEGMENTS,
    }
)
"""The rules under the headings of docs/check.md."""

RULES = MappingProxyType({rule.code: rule for rules in GROUPS.values() for rule in rules})
"""Every rule by its code."""
