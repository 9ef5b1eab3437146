"""A result of rendering QA, with every kind of fact."""

from __future__ import annotations

from dataclasses import replace

from pinakes.qa.results import PageView, PairResult, Verdict
from pinakes.qa.snapshot import Outcome

VIEW = PageView(
    kind="replay:1",
    browser="chromium",
    browser_version="156.0",
    outcome=Outcome.COMPLETE,
    milliseconds=640,
    image="0123.png",
)
RESULT = PairResult(
    run="qa-1",
    url="http://example.org/?a=1&b=<2>",
    date="2026-01-01T00:00:00Z",
    capture_key="6f7267",
    reference=VIEW,
    other=replace(VIEW, kind="replay:2", missed=("http://example.org/a.png",)),
    verdict=Verdict.DISSIMILAR,
    confidence=0.97,
    model="same-browser 1",
    features={"text_gone": 0.25, "image_similarity": 1.0},
    reasons=("broken images: 14 more", "style rules: 60% of the reference's"),
    changes=((0, 32, 640, 80),),
)
