"""The test of the models is kept apart from their training; its measures are what they say."""

from __future__ import annotations

import random

import comparing  # noqa: F401
import cv2
import numpy as np
import pytest

pytest.importorskip("sklearn", reason="the extra qa is not here: make dev-qa")


from bench.qa_accuracy.harms import HARMS, lettered
from bench.qa_accuracy.measured import lines, peers
from bench.qa_accuracy.peers import measure
from bench.qa_accuracy.sites import SITES as TESTED
from bench.qa_training.recorded import Page, Recorded
from bench.qa_training.sites import SITES as TRAINED
from pinakes.qa.results import Verdict
from pinakes.qa.training.figures import JudgedPair, figures
from pinakes.qa.training.train import shipped_table


def png(image: np.ndarray) -> bytes:
    encoded: bytes = cv2.imencode(".png", image)[1].tobytes()
    return encoded


def noise(seed: int) -> np.ndarray:
    coarse = np.random.default_rng(seed).integers(0, 255, (90, 128, 3), np.uint8)
    return np.kron(coarse, np.ones((10, 10, 1), np.uint8))


def test_no_site_of_the_test_is_one_of_the_training() -> None:
    trained, tested = ({site.name for site in sites} for sites in (TRAINED, TESTED))
    assert not trained & tested
    assert len(trained) >= 40
    assert len(tested) >= 20
    assert {pair.site for pair in shipped_table()} <= trained


def test_what_is_the_same_matches_whole() -> None:
    image = png(noise(1))
    assert measure(image, image, "some words", "some words") == pytest.approx((1, 1, 1))


def test_half_of_another_image_is_half_a_match() -> None:
    one, other = noise(1), noise(1)
    other[450:] = 255 - other[450:]
    found = measure(png(one), png(other), "abcd", "abXX")
    assert found.screenshot == pytest.approx(0.5, abs=0.05)
    assert found.text == 0.5
    assert found.similarity < 0.8


def test_an_image_that_is_not_there_matches_nothing() -> None:
    assert measure(png(noise(1)), None, "", "")[:1] == (0.0,)


def test_browsertrixs_measure_ignores_what_hardly_differs() -> None:
    image = noise(1)
    assert measure(png(image), png(image // 16 * 16), "", "").screenshot > 0.99


def test_each_harm_leaves_a_page_without_what_it_harms_alone() -> None:
    bare = Page(
        url="http://a.example/",
        records={"http://a.example/": Recorded(body=b"<p>Text", media_type="text/html")},
    )
    needs = {"embed_missing", "images_missing", "wrong_image", "style_lost", "style_half",
             "script_broken", "encoding", "video"}  # fmt: skip
    for name, harm in HARMS.items():
        assert (harm(bare, random.Random(1)) is None) == (name in needs), name
    assert HARMS["encoding"](lettered(bare), random.Random(1)) is not None


def test_the_report_says_what_was_counted_and_that_faults_were_injected() -> None:
    judged = [
        JudgedPair("similar", "unaltered", 0.1, Verdict.SIMILAR),
        JudgedPair("dissimilar", "fault:blank", 0.9, Verdict.DISSIMILAR),
        JudgedPair("dissimilar", "fault:blank", 0.2, Verdict.SIMILAR),
    ]
    rows = [
        {"label": "similar", "kind": "unaltered", "peers": [0.95, 1.0, 0.99]},
        {"label": "dissimilar", "kind": "fault:blank", "peers": [0.2, 0.0, 0.1]},
    ]
    text = "\n".join(lines("some model", figures(judged), peers(rows)))
    assert "3 pairs, injected faults" in text
    assert "66.7%" in text
    assert "1 of 2" in text
    assert "Browsertrix, screenshots (0.9)" in text
