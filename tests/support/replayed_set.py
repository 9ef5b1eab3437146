"""One capture of every kind that refs may turn into a revisit, and its duplicate."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator

from warc_sets import PAGE, ArchiveFile, Rec, revisit

LATER = "2020-02-02T02:02:02Z"
IDENTICAL = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.0/revisit/server-not-modified"


def body(kind: str) -> bytes:
    """A body that no other kind has."""
    return PAGE + hashlib.sha256(kind.encode()).hexdigest().encode()


KINDS: dict[str, dict[str, object]] = {
    "sha1": {},
    "sha256": {"declared": "sha256"},
    "sha256-capitals": {"declared": "SHA-256"},
    "hex": {"declared": "hex"},
    "none": {"declared": None},
    "wrong": {"declared": "wrong"},
    "chunked": {"framing": True},
    "chunked-framed": {"framing": True, "declared": "framed"},
    "chunked-none": {"framing": True, "declared": None},
    "brackets": {"version": "WARC/1.0", "brackets": True},
    "old": {"version": "WARC/1.0", "block_digest": False, "declared": None},
    "not-found": {"status": 404},
    "lf-head": {"http_end": b"\n"},
    "query": {"fields": (b"WARC-IP-Address: 192.0.2.1",)},
    "gzip": {
        "http_fields": (b"Content-Type: text/html", b"Content-Encoding: gzip"),
    },
    "image": {"http_fields": (b"Content-Type: image/png", b"X-Long: a\r\n b")},
    "fraction": {"date": "2020-01-01T00:00:00.25Z"},
    "resource": {"type": "resource"},
    "resource-none": {"type": "resource", "declared": None},
    "resource-urn": {"type": "resource", "uri": "urn:view:http://example.org/"},
}


def captures() -> Iterator[tuple[str, Rec, Rec]]:
    """(kind, original, duplicate), some at the same URL, others at another one."""
    for number, (kind, changes) in enumerate(KINDS.items()):
        data = body(kind)
        if kind == "gzip":
            data = gzip.compress(data, mtime=0)
        query = "?a=1&b=2" if kind == "query" else ""
        first = Rec(**{"uri": f"http://example.org/{kind}{query}", "body": data, **changes})
        for where, other in (
            ("here", first.uri),
            ("there", f"https://example.net/{number}/{kind}"),
        ):
            yield f"{kind} {where}", first, Rec(**{**vars(first), "uri": other, "date": LATER})


def crawler_chain() -> list[Rec]:
    """A revisit that a crawler wrote before us, and one that refers to that revisit."""
    full = Rec(uri="http://example.org/chain", body=body("chain"))
    first = revisit(
        full,
        of_number=0,
        profile=IDENTICAL,
        uri="http://example.org/link-1",
        date="2020-03-01T00:00:00Z",
    )
    second = revisit(
        full,
        of_number=0,
        profile=IDENTICAL,
        uri="http://example.org/chain",
        date="2020-04-01T00:00:00Z",
    )
    third = revisit(
        second,
        of_number=0,
        profile=IDENTICAL,
        uri="http://example.org/link-2",
        date="2020-05-01T00:00:00Z",
    )
    duplicate = Rec(
        **{**vars(full), "uri": "http://example.org/ours", "date": "2020-06-01T00:00:00Z"}
    )
    return [full, first, second, third, duplicate]


def replayed_files() -> list[ArchiveFile]:
    """All of it in three files, originals and duplicates apart."""
    firsts = {first.uri: first for _, first, _ in captures()}
    seconds = [second for _, _, second in captures()]
    return [
        ArchiveFile("originals", list(firsts.values())),
        ArchiveFile("duplicates", seconds),
        ArchiveFile("chain", crawler_chain(), "plain"),
    ]
