"""The page of one capture."""

from __future__ import annotations

from pinakes.hbase_schema.name_keys import crawl_of

from .capture_view import CaptureView
from .links import Links
from .rendering import render

_REFERRERS_SHOWN = 50
_FITS = {
    "stored": "the body as it is stored",
    "dechunked": "the body without its chunks",
    "decoded": "the decoded body",
    "none": "no form of the body",
}


def capture_page(view: CaptureView, *, links: Links) -> str:
    """The page."""
    capture = view.shown.capture
    facts = capture.facts
    digests = {
        "declared": facts.declared_digest,
        "of the body": facts.payload_sha1 if facts.type != "revisit" else None,
        "of the body, sha256": facts.payload_sha256 if facts.type != "revisit" else None,
        "without chunks": facts.dechunked_sha1,
        "without chunks, sha256": facts.dechunked_sha256,
    }
    return render(
        "capture.html",
        links=links,
        view=view,
        urlkey=capture.key.partition(b" ")[0].decode("ascii"),
        crawl=crawl_of(facts.archive_file),
        replay=links.replay(facts.target_uri, capture.time),
        digests=[(name, digest) for name, digest in digests.items() if digest],
        fits=_FITS,
        most=_REFERRERS_SHOWN,
    )
