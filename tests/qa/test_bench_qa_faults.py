"""The grammar of faults, and noise: each alters the page, by its dice alone; the intervals."""

from __future__ import annotations

import random

import comparing  # noqa: F401
import pytest

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")

from bench.qa_faults.__main__ import report
from bench.qa_faults.grammar import FAMILIES
from bench.qa_faults.noise import KINDS, noisy
from bench.qa_training.held_out import wilson
from bench.qa_training.recorded import Page, Recorded

URL = "http://a.example/index.html"
HTML = b"<html><head><title>t</title></head><body><p>words of it</p><p>more</p></body></html>"


def whole() -> Page:
    return Page(
        url=URL,
        records={
            URL: Recorded(body=HTML, media_type="text/html"),
            f"{URL}.css": Recorded(body=b"p{color:red}\n" * 60, media_type="text/css"),
            f"{URL}.js": Recorded(body=b"let a = 1;\n" * 60, media_type="text/javascript"),
            f"{URL}.png": Recorded(body=b"\x89PNG" * 200, media_type="image/png"),
        },
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_each_family_alters_the_page_by_its_dice(family: str) -> None:
    made = [FAMILIES[family](whole(), random.Random(seed)) for seed in (1, 1, 2)]
    assert made[0] is not None
    assert made[0] == made[1] != whole()
    bare = Page(url=URL, records={URL: whole().html})
    harmed = FAMILIES[family](bare, random.Random(1))
    assert harmed is None or harmed != bare


@pytest.mark.parametrize("kind", KINDS)
def test_a_noise_is_put_into_the_page(kind: str) -> None:
    made = {noisy(kind, whole(), random.Random(seed)).html.body for seed in range(20)}
    assert len(made) > 1
    assert all(b"getRandomValues" in body and b"words of it" in body for body in made)


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [(8, 10, 0.4902, 0.9433), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (0, 0, 0.0, 1.0)],
)
def test_intervals_are_those_of_wilson(count: int, of: int, low: float, high: float) -> None:
    """Brown, Cai and DasGupta (2001), section 3.1.1."""
    assert wilson(count, of) == pytest.approx((low, high), abs=0.0001)


def test_what_is_not_seen_counts_apart() -> None:
    row = {
        "site": "s", "page": URL, "noise": "", "family": "icon", "verdict": "dissimilar",
        "pixels": 150, "area": 0.001, "text": False, "outcomes": ["complete", "complete"],
    }  # fmt: skip
    told = "\n".join(report([row, {**row, "pixels": 149, "verdict": "similar"}]))
    assert "icon                              1 of 1 " in told
    assert "not seen: called dissimilar\n  all                               0 of 1 " in told
