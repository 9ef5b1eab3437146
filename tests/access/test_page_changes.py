"""What is said to have changed between two captures."""

from __future__ import annotations

import pytest

from pinakes.access.pages.captures_page import changes
from pinakes.catalog.captures import Capture
from pinakes.hbase_schema.capture_cells import CaptureFacts, DedupeMark

ONE, TWO = "sha1:" + "A" * 32, "sha1:" + "B" * 32


def capture(
    copy_number: int = 1,
    *,
    type: str = "response",  # noqa: A002
    status: int | None = 200,
    media_type: str = "text/html",
    sha1: str | None = ONE,
    size: int = 100,
    declared: str | None = None,
) -> Capture:
    facts = CaptureFacts(
        type=type,
        target_uri="http://example.org/",
        date="2020-01-02T03:04:05Z",
        archive_file="c/a.warc.gz",
        ordinal=1,
        status=status,
        mime=media_type,
        payload_size=size,
        digest=(sha1 or declared or "").removeprefix("sha1:") or None,
        payload_sha256=f"sha256:of-{sha1}" if sha1 is not None else None,
        declared_digest=declared,
    )
    return Capture(
        key=b"org,example)/ 20200102030405000 ABCDEFGH",
        facts=facts,
        landed_ms=0,
        locations={},
        dedupe=DedupeMark(run="r", hash_extension=0, copy_number=copy_number),
        pinned=False,
    )


def revisit(declared: str | None = None) -> Capture:
    """As a crawler writes it."""
    return capture(type="revisit", sha1=None, size=0, declared=declared)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (None, capture(), ["first capture"]),
        (capture(), capture(), ["same body"]),
        (capture(), capture(2), ["same body", "stored as a revisit by dedupe"]),
        (
            capture(),
            capture(sha1=TWO, size=80),
            ["other body, -20 bytes"],
        ),
        (capture(), capture(sha1=TWO), ["other body, of the same size"]),
        (
            capture(),
            revisit(ONE),
            ["same body", "revisit by its crawler"],
        ),
        (
            capture(),
            revisit(TWO),
            ["other body", "revisit by its crawler"],
        ),
        (
            capture(),
            revisit(),
            ["body not comparable: a digest is missing", "revisit by its crawler"],
        ),
        (
            revisit(ONE),
            capture(sha1=TWO, declared=ONE),
            ["same body"],
        ),
        (
            capture(),
            capture(status=404, media_type="text/plain"),
            ["same body", "status 200 → 404", "type text/html → text/plain"],
        ),
        (capture(status=None), capture(), ["same body", "status none → 200"]),
    ],
    ids=[
        "first", "same", "duplicate", "smaller", "same-size", "revisit", "revisit-of-other",
        "revisit-without-digest", "behind-revisit", "status-and-type", "no-status",
    ],
)  # fmt: skip
def test_words_for_changes(before: Capture | None, after: Capture, words: list[str]) -> None:
    assert [change.words for change in changes(before, after)] == words
