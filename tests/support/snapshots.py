"""A page that a browser has shown to its end, for tests to alter."""

from __future__ import annotations

from datetime import datetime, timezone

from pinakes.qa.snapshot import Outcome, Snapshot

SHOWN = Snapshot(
    url="http://example.org/",
    browser="chromium",
    browser_version="1",
    taken=datetime(2026, 1, 1, tzinfo=timezone.utc),
    clock=None,
    seed=None,
    outcome=Outcome.COMPLETE,
    viewport_width=1280,
    viewport_height=900,
)
