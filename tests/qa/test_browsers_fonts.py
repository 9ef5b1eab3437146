"""Letters without a font on this machine, and what that does to a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import comparing  # noqa: F401
import pytest
from snapshots import SHOWN

from bench.qa_training.kept_snapshots import decode_snapshot, encode_snapshot
from pinakes.qa.browsers import fonts
from pinakes.qa.browsers.firefox import preferences
from pinakes.qa.browsers.fonts import fontless, points_of
from pinakes.qa.browsers.tab import Proxy
from pinakes.qa.judging.model import Model, Tree
from pinakes.qa.results import Verdict
from pinakes.qa.run.decision import FONTS, judge_visits
from pinakes.qa.snapshot import Fontless

FEATURES = {"image_there": 1.0}
BOXES = Fontless(letters=40, total=100, scripts=("Cjk", "Hiragana"))
WORDS = "letters without a font on this machine, drawn as boxes: 40 of 100 (Cjk, Hiragana)"


@pytest.fixture
def latin_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine whose fonts have Latin letters."""
    command = tmp_path / "fc-list"
    command.write_text("#!/bin/sh\necho ':charset=20-7e a0-17f'\necho ':charset=20 1e00-1eff'\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    fonts._covered.cache_clear()
    yield command
    fonts._covered.cache_clear()


def model(offset: float) -> Model:
    """One that always says the same."""
    leaf = Tree(feature=(-1,), threshold=(0.0,), left=(0,), right=(0,), value=(0.0,))
    return Model(
        name="same-browser",
        version="1",
        features=("image_there",),
        base=0.0,
        calibration=(1.0, offset),
        uncertain=(0.4, 0.6),
        trees=(leaf,),
    )


def test_ranges_of_fontconfig() -> None:
    points = points_of(":charset=20-22 1f600\n:charset=\n:charset=41\n")
    assert [point for point, has in enumerate(points) if has] == [0x20, 0x21, 0x22, 0x41, 0x1F600]


@pytest.mark.usefixtures("latin_alone")
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("plain", None),
        ("Ünïcödé ṽ ✂ 😀 — …", None),
        ("ab 文字 ひ", Fontless(letters=3, total=5, scripts=("Cjk", "Hiragana"))),
        ("नमस्ते", Fontless(letters=4, total=4, scripts=("Devanagari",))),
    ],
)
def test_letters_without_a_font(text: str, wanted: Fontless | None) -> None:
    assert fontless(text) == wanted


def test_without_fontconfig_nothing_is_said(latin_alone: Path) -> None:
    latin_alone.write_text("#!/bin/sh\nexit 1\n")
    assert fontless("文字") is None


@pytest.mark.parametrize("which", ["reference", "other"])
def test_boxes_are_never_called_similar(which: str) -> None:
    sides = {"reference": SHOWN, "other": SHOWN}
    sides[which] = replace(SHOWN, fontless=BOXES)
    found = judge_visits(model(-9.0), FEATURES, **sides)
    assert found == (Verdict.UNCERTAIN, 0.5, FONTS, (WORDS,))
    found = judge_visits(model(9.0), FEATURES, **sides)
    assert (found.verdict, found.harm) == (Verdict.DISSIMILAR, (WORDS,))


def test_a_word_of_another_script_does_not_count_but_is_named() -> None:
    one = replace(SHOWN, fontless=replace(BOXES, letters=4, total=1000))
    found = judge_visits(model(-9.0), FEATURES, one, SHOWN)
    assert found.verdict is Verdict.SIMILAR
    assert "4 of 1,000" in found.harm[0]


def test_it_is_kept_with_the_snapshot() -> None:
    one = replace(SHOWN, fontless=BOXES)
    assert decode_snapshot(encode_snapshot(one)) == one


def test_firefox_has_the_fonts_of_chromium_in_every_script() -> None:
    said = preferences(Proxy(host="127.0.0.1", port=1))
    groups = {name.rpartition(".")[2] for name in said if name.startswith("font.")}
    assert groups >= {"ar", "ja", "x-western", "zh-CN", "zh-TW"}
    for group in groups:
        assert said[f"font.size.monospace.{group}"] == 13
        assert said[f"font.default.{group}"] == "serif"
