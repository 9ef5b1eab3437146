"""Sets of records for `refs`: by name, and any; and what holds of the references it wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hypothesis import strategies as st
from warc_sets import FRAMED, OTHER, PAGE, Rec, records_of, revisit

from pinakes.warc.dates import parse_date
from pinakes.warc.header import strip_brackets
from pinakes.warc.revisit import is_ours

LATER = "2020-02-02T00:00:00Z"


IDENTICAL = "http://netpreserve.org/warc/{}/revisit/identical-payload-digest"


NOT_MODIFIED = "http://netpreserve.org/warc/{}/revisit/server-not-modified"


def pair(**changes: object) -> list[Rec]:
    """A capture and the same again, a month later and elsewhere."""
    first = Rec(**changes)
    return [first, replace(first, uri="http://example.org/again", date=LATER)]


# The duplicates that must come out as revisits: how many.
SETS: dict[str, tuple[Sequence[Rec], int]] = {
    "plain HTML": (pair(), 1),
    "WARC/1.0 with brackets": (pair(version="WARC/1.0", brackets=True), 1),
    "no declared digest": (pair(declared=None), 1),
    "sha256": (pair(declared="sha256"), 1),
    "SHA-256 in capitals": (pair(declared="SHA-256"), 1),
    "hex": (pair(declared="hex"), 1),
    "a digest that is wrong": (pair(declared="wrong"), 1),
    "chunked": (pair(framing=True), 1),
    "no block digest": (pair(block_digest=False), 1),
    "LF in the HTTP head": (pair(http_end=b"\n"), 1),
    "a field twice": (pair(fields=(b"WARC-Concurrent-To: <urn:a>",) * 2), 1),
    "a folded field": (pair(fields=(b"X-Long: one\r\n  two",)), 1),
    "a folded field, last": (pair(block_digest=False, fields=(b"X: a\r\n\tb: c",)), 1),
    "bytes that are no UTF-8": (pair(fields=(b"X-Name: caf\xe9 \xff",)), 1),
    "a line that is no field": (pair(fields=(b"no colon here",)), 1),
    "names in any case": (pair(fields=(b"warc-ip-address:192.0.2.1",)), 1),
    "; and % and \\ in a value": (pair(fields=(b"X: a; 2=b%41\\n=;",)), 1),
    "an IRI": (pair(uri="http://example.org/\N{SNOWMAN}"), 1),
    "fractions of seconds": (pair(date="2020-01-01T00:00:00.123456Z"), 1),
    "same URI, later": ([Rec(), Rec(date=LATER)], 1),
    "same URI, same second": ([Rec(), Rec(date="2020-01-01T00:00:00.9Z")], 0),
    "other body of one size": ([Rec(), Rec(body=OTHER, date=LATER)], 0),
    "other status": ([Rec(status=404), Rec(date=LATER)], 0),
    "empty body": (pair(body=b""), 0),
    "LF-only record": (pair(line_end=b"\n"), 0),
    "Content-Length too small": (pair(lie=-3), 0),
    "Content-Length too large": (pair(lie=3), 0),
    "not closed": (pair(close=b"\r\n"), 0),
    "resources": (pair(type="resource"), 0),
    "WARC-Truncated": (pair(fields=(b"WARC-Truncated: time",)), 0),
    "two dates": (pair(fields=(b"WARC-Date: 2019-01-01T00:00:00Z",)), 0),
    "three captures": ([*pair(), Rec(uri="http://example.net/", date=LATER)], 2),
    "among other records": (
        [
            Rec(type="warcinfo", body=b"software: x\r\n"),
            Rec(type="request"),
            *pair(),
            Rec(type="metadata", body=b"via: y\r\n"),
            Rec(type="unknown", body=b"?"),
        ],
        1,
    ),
    "a revisit of others on the second": (
        [
            *pair(),
            revisit(pair()[1], of_number=1, profile=IDENTICAL.format("1.1"), date="2021-01-01"),
        ],
        0,
    ),
    "an old revisit without a reference": (
        [*pair(), revisit(pair()[1], of_number=1, profile=NOT_MODIFIED.format("1.0"))],
        0,
    ),
    "an unknown profile": ([*pair(), revisit(Rec(uri="http://z/"), of_number=0, profile="u:x")], 1),
    "a large body": (pair(body=PAGE * 6000), 1),
}


LAYOUTS = ("plain", "gzip", "shared", "pairs", "split", "empties", *FRAMED)


def check_references(paths: Sequence[Path]) -> None:
    """No revisit of ours refers to a revisit, to itself, to the future."""
    records = [record for path in paths for record in records_of(path)]
    full = {(r.target_uri, r.date_text) for r in records if r.type == "response"}
    for record in records:
        if not is_ours(record.header):
            continue
        uri = strip_brackets(record.header.get("WARC-Refers-To-Target-URI"))
        date = record.header.get("WARC-Refers-To-Date") or ""
        assert (uri, date) in full
        assert (uri, date[:19]) != (record.target_uri, (record.date_text or "")[:19])
        own, other = parse_date(record.date_text or ""), parse_date(date)
        assert own is not None
        assert other is not None
        assert other.replace(microsecond=0) <= own


BODIES = (PAGE, OTHER, PAGE[:-1], b"", b"x", PAGE * 40)


DATES = ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00.5Z", LATER, "2021-03-04T05:06:07Z", "never")


URIS = ("http://example.org/", "http://example.org/b", "http://example.net/")


fields = st.sampled_from(
    [(), (b"X-Long: one\r\n two",), (b"X: \xff; 3=%41\\",), (b"WARC-Truncated: length",)]
)


@st.composite
def records(draw: st.DrawFn) -> Rec:
    record = Rec(
        uri=draw(st.sampled_from(URIS)),
        date=draw(st.sampled_from(DATES)),
        body=draw(st.sampled_from(BODIES)),
        status=draw(st.sampled_from([200, 200, 200, 404, 302])),
        version=draw(st.sampled_from(["WARC/1.0", "WARC/1.1"])),
        declared=draw(st.sampled_from(["sha1", "hex", "sha256", "wrong", None])),
        block_digest=draw(st.booleans()),
        type=draw(st.sampled_from(["response"] * 6 + ["resource", "request", "metadata"])),
        brackets=draw(st.booleans()),
        line_end=draw(st.sampled_from([b"\r\n"] * 9 + [b"\n"])),
        http_end=draw(st.sampled_from([b"\r\n", b"\r\n", b"\n"])),
        fields=draw(fields),
        lie=draw(st.sampled_from([0] * 9 + [-1])),
        framing=draw(st.booleans()),
    )
    if draw(st.integers(0, 6)):
        return record
    profile = draw(st.sampled_from([IDENTICAL.format("1.0"), IDENTICAL.format("1.1"), "u:x"]))
    own = draw(st.sampled_from(DATES))
    return revisit(record, of_number=draw(st.integers(0, 9)), profile=profile, date=own, lie=0)


collections = st.lists(
    st.tuples(st.lists(records(), max_size=7), st.sampled_from(LAYOUTS)), min_size=1, max_size=3
)
