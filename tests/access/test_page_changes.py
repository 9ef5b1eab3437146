"""What is said to have changed between two captures."""

from __future__ import annotations

import pytest

from pinakes.access.pages.changes import changes
from pinakes.catalog.captures import Capture
from pinakes.hbase_schema.capture_cells import CaptureFacts, DedupeMark

ONE, TWO = "sha1:" + "A" * 32, "sha1:" + "B" * 32


def capture(copy_number: int = 1, **facts: object) -> Capture:
    given: dict[str, object] = {
        "type": "response",
        "target_uri": "http://example.org/",
        "date": "2020-01-02T03:04:05Z",
        "archive_file": "c/a.warc.gz",
        "ordinal": 1,
        "status": 200,
        "media_type": "text/html",
        "payload_size": 100,
        "payload_sha1": ONE,
        **facts,
    }
    return Capture(
        key=b"org,example)/ 20200102030405000 ABCDEFGH",
        facts=CaptureFacts(**given),  # type: ignore[arg-type]
        landed_ms=0,
        locations={},
        dedupe=DedupeMark(run="r", hash_extension=0, copy_number=copy_number),
        pinned=False,
    )


REVISIT = {"type": "revisit", "payload_sha1": None, "payload_size": 0}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (None, capture(), ["first capture"]),
        (capture(), capture(), ["same body"]),
        (capture(), capture(2), ["same body", "stored as a revisit by dedupe"]),
        (
            capture(),
            capture(payload_sha1=TWO, payload_size=80),
            ["other body, -20 bytes"],
        ),
        (capture(), capture(payload_sha1=TWO), ["other body, of the same size"]),
        (
            capture(),
            capture(**REVISIT, declared_digest=ONE),
            ["same body", "revisit by its crawler"],
        ),
        (
            capture(),
            capture(**REVISIT, declared_digest=TWO),
            ["other body", "revisit by its crawler"],
        ),
        (
            capture(),
            capture(**REVISIT),
            ["body not comparable: a digest is missing", "revisit by its crawler"],
        ),
        (
            capture(**REVISIT, declared_digest=ONE),
            capture(payload_sha1=TWO, declared_digest=ONE),
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
