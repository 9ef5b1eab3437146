"""Who may be a duplicate or an original: one rule a row."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest

from pinakes.index import eligibility
from pinakes.index.eligibility import REASONS, RecordFacts, skip_reason

LANDED = datetime(2026, 1, 1, tzinfo=timezone.utc)
FIT = RecordFacts("response", "http://example.org/", "2020-01-02T03:04:05Z", 10, 200)
RESOURCE = FIT._replace(type="resource", target_uri="urn:x", status=None)


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param(FIT, id="a whole response"),
        pytest.param(FIT._replace(status=404), id="an error page"),
        pytest.param(FIT._replace(target_uri="HTTPS://example.org/"), id="scheme in any case"),
        pytest.param(FIT._replace(promised_size=10), id="as long as promised"),
        pytest.param(FIT._replace(promised_size=9), id="longer than promised"),
        pytest.param(FIT._replace(chunked=True, promised_size=11), id="chunked: no promise"),
        pytest.param(FIT._replace(method="get"), id="method in any case"),
        pytest.param(FIT._replace(date="2026-01-01T00:00:00Z"), id="captured as it landed"),
        pytest.param(RESOURCE, id="a resource of any scheme"),
        pytest.param(RecordFacts("revisit", "", "", 0), id="a revisit: not by a reason"),
    ],
)
def test_takes_part(facts: RecordFacts) -> None:
    assert skip_reason(facts, landed=LANDED) is None


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        (FIT._replace(type="conversion"), "type"),
        (FIT._replace(version="ARC/1.0"), "arc"),
        (FIT._replace(target_uri=""), "uri"),
        (FIT._replace(target_uri="ftp://example.org/"), "scheme"),
        (FIT._replace(target_uri="httpx://example.org/"), "scheme"),
        (FIT._replace(method="POST"), "method"),
        (FIT._replace(status=None), "status"),
        (FIT._replace(status=100), "status"),
        (FIT._replace(status=206), "status"),
        (FIT._replace(status=300), "status"),
        (FIT._replace(status=304), "status"),
        (FIT._replace(status=399), "status"),
        (FIT._replace(size=0), "empty"),
        (FIT._replace(truncated=True), "truncated"),
        (FIT._replace(segment=True), "segment"),
        (FIT._replace(promised_size=11), "short-body"),
        (FIT._replace(chunked=True, chunks_unterminated=True), "chunks-unterminated"),
        (FIT._replace(damaged=True), "damaged"),
        (FIT._replace(date="yesterday"), "date-unreadable"),
        (FIT._replace(date="1990-12-31T23:59:59Z"), "date-before-1991"),
        (FIT._replace(date="2026-01-01T00:00:01Z"), "date-after-landing"),
        (RESOURCE._replace(truncated=True), "truncated"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_takes_no_part(facts: RecordFacts, reason: str) -> None:
    assert skip_reason(facts, landed=LANDED) == reason


def test_every_reason_is_told_with_an_example(repository: Path) -> None:
    page = (repository / "docs" / "dedupe.md").read_text()
    assert [reason for reason in REASONS if f"| `{reason}` |" not in page] == []
    constants = {v for k, v in vars(eligibility).items() if k.isupper() and isinstance(v, str)}
    assert constants == set(REASONS)
