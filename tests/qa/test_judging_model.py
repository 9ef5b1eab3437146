"""Models: read, walked, calibrated; what is no model, or another's, is refused by name."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from snapshots import SHOWN

from pinakes.errors import ConfigError, MalformedRecord
from pinakes.qa.judging.model import (
    NAMES,
    Model,
    Tree,
    decode_model,
    encode_model,
    load_model,
    sigmoid,
)
from pinakes.qa.judging.page_kind import ImageStatistics, PageKind, page_kinds
from pinakes.qa.results import Verdict
from pinakes.qa.snapshot import Box, Outcome, Overlay, Rect

STUMP = Tree(
    feature=(0, -1, -1), threshold=(0.5, 0, 0), left=(1, 0, 0), right=(2, 0, 0), value=(0, -2, 2)
)
MODEL = Model(
    name="same-browser",
    version="7",
    features=("image_gone", "text_gone"),
    base=0.0,
    calibration=(2.0, 0.0),
    uncertain=(0.4, 0.6),
    trees=(STUMP,),
    training={"seed": 1},
)


@pytest.mark.parametrize(
    ("gone", "verdict"),
    [(0.0, Verdict.SIMILAR), (0.5, Verdict.SIMILAR), (0.51, Verdict.DISSIMILAR)],
)
def test_a_tree_is_walked_left_up_to_its_threshold(gone: float, verdict: Verdict) -> None:
    found = MODEL.judge({"image_gone": gone, "text_gone": 0.0, "another": 1.0})
    assert found.verdict is verdict
    assert found.confidence == pytest.approx(sigmoid(4.0))


def test_between_its_bounds_a_verdict_is_uncertain() -> None:
    found = replace(MODEL, calibration=(0.1, 0.0)).judge({"image_gone": 1.0, "text_gone": 0.0})
    assert found.verdict is Verdict.UNCERTAIN
    assert 0.5 <= found.confidence <= 0.6


@pytest.mark.parametrize(
    ("probability", "verdict"), [(0.97, Verdict.DISSIMILAR), (0.5, Verdict.UNCERTAIN)]
)
def test_where_a_decisive_feature_tells_no_tree_is_asked(
    probability: float, verdict: Verdict
) -> None:
    model = replace(MODEL, decisive=("text_gone",), decisive_probability=probability)
    found = model.judge({"image_gone": 0.0, "text_gone": 1.0})
    assert found == (verdict, probability)
    assert model.judge({"image_gone": 0.0, "text_gone": 0.0}).verdict is Verdict.SIMILAR


def test_a_missing_feature_is_named() -> None:
    with pytest.raises(ConfigError, match="text_gone"):
        MODEL.judge({"image_gone": 1.0})


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_feature_that_is_no_number_is_no_similar_page(number: float) -> None:
    with pytest.raises(ConfigError, match="finite"):
        MODEL.judge({"image_gone": number, "text_gone": 0.0})


def test_a_model_is_read_as_it_was_written() -> None:
    assert decode_model(encode_model(MODEL)) == MODEL


@pytest.mark.parametrize(
    "harm",
    [
        {"schema": 1},
        {"trees": [{"feature": [0], "threshold": [0], "left": [0], "right": [0], "value": [1]}]},
        {"trees": [{"feature": [9, -1, -1], "threshold": [0, 0, 0], "left": [1, 0, 0],
                    "right": [2, 0, 0], "value": [0, 0, 0]}]},
        {"trees": [{"feature": [], "threshold": [], "left": [], "right": [], "value": []}]},
        {"trees": [{"feature": [-1], "threshold": [0], "left": [0], "right": [0]}]},
        {"uncertain": [0.9, 0.1]},
        {"base": "__import__('os')"},
        {"base": 1e999},
        {"features": None},
        {"decisive": ["no such"]},
        {"decisive_probability": 1.5},
    ],
    ids=["schema", "circle", "no such feature", "empty tree", "half a tree", "bounds", "code",
         "infinite", "no names", "decided by nothing", "no probability"],
)  # fmt: skip
def test_what_is_no_model_is_refused(harm: dict[str, object]) -> None:
    document = {**json.loads(encode_model(MODEL)), **harm}
    with pytest.raises(MalformedRecord, match="not a model"):
        decode_model(json.dumps(document).encode(), "some.json")


@pytest.mark.parametrize("content", [b"", b"[]", b"\x80\x04\x95", b"{" * 100_000])
def test_bytes_of_anything_else_are_refused(content: bytes) -> None:
    with pytest.raises(MalformedRecord):
        decode_model(content)


def test_a_model_that_does_not_ship_is_refused() -> None:
    with pytest.raises(ConfigError, match="unknown model"):
        load_model("pickle")


@pytest.mark.parametrize("name", NAMES)
def test_the_models_that_ship_judge_what_is_the_same_and_what_is_gone(name: str) -> None:
    model = load_model(name)
    assert model.training["sites"] >= 40
    same = dict.fromkeys(model.features, 0.0) | {
        "image_similarity": 1.0, "image_similarity_low": 1.0, "image_there": 1.0,
        "text_order": 1.0, "text_length_ratio": 1.0, "page_height_ratio": 1.0,
        "page_style_rules_ratio": 1.0,
    }  # fmt: skip
    assert model.judge(same).verdict is Verdict.SIMILAR
    gone = same | {
        "image_gone": 1.0, "image_similarity": 0.0, "image_similarity_low": 0.0, "text_gone": 1.0,
        "text_order": 0.0, "text_length_ratio": 0.0, "page_boxes_gone": 1.0,
        "page_height_ratio": 0.3, "image_emptied_tiles": 0.5, "image_changed_tiles": 0.9,
        "image_colour": 0.6, "element_lost": 40.0, "element_lost_share": 1.0,
        "element_changed": 40.0,
    }  # fmt: skip
    assert model.judge(gone).verdict is Verdict.DISSIMILAR


# --- What a page is taken for, by itself


RECT = Rect(x=0, y=0, width=400, height=40)
FIELD = Box(tag="input", kind="control", rect=RECT)
LONG = "What the scrolls of the library were about, and who read them. " * 40
DRAWN = ImageStatistics(deviation=40.0, commonest=0.8)
PAGE = replace(
    SHOWN,
    text=LONG,
    boxes=(Box(tag="p", kind="text", rect=RECT),),
)


def kinds(**changes: object) -> list[PageKind]:
    page = replace(PAGE, **changes)  # type: ignore[arg-type]
    return [found.kind for found in page_kinds(page, DRAWN)]


@pytest.mark.parametrize(
    "text",
    [
        "404 Not Found",
        "Error 404\nGo home",
        "Oops! The page you are looking for does not exist.",
        "Sorry, we couldn't find the page you asked for",
        "Seite nicht gefunden",
        "La page introuvable: page introuvable",
        "This article is no longer available.",
    ],
)
def test_a_page_that_says_it_is_none_is_a_soft_404(text: str) -> None:
    assert kinds(text=text) == [PageKind.SOFT_404]


@pytest.mark.parametrize(
    "text",
    [
        "Opening hours: Monday to Friday",
        "Room 404 is on the fourth floor",
        "404 Not Found is a status of HTTP. " + LONG,
        "Find what you are looking for on our page",
    ],
)
def test_a_page_about_something_is_none(text: str) -> None:
    assert kinds(text=text) == []


def test_a_form_that_asks_for_a_password_and_little_else_is_a_wall() -> None:
    text = "Sign in to continue\nE-mail\nPassword\nForgot your password?"
    assert kinds(text=text, boxes=(FIELD, FIELD)) == [PageKind.LOGIN_WALL]
    assert kinds(text=text) == []  # nothing to type into
    assert kinds(text=text + LONG, boxes=(FIELD, FIELD)) == []


def test_a_form_that_lies_over_a_page_is_a_wall() -> None:
    over = Overlay(
        tag="div", identity="", rect=RECT, viewport_share=1.0, text="Log in\nUsername\nPassword"
    )
    assert kinds(overlay=over) == [PageKind.LOGIN_WALL]
    assert kinds(overlay=replace(over, text="We use cookies")) == []


def test_a_page_of_one_colour_is_blank_whatever_it_holds() -> None:
    empty = ImageStatistics(deviation=0.0, commonest=1.0)
    assert [found.kind for found in page_kinds(PAGE, empty)] == [PageKind.BLANK]
    assert page_kinds(PAGE, DRAWN) == ()
    bare = replace(PAGE, text=" \n", boxes=())
    assert [found.kind for found in page_kinds(bare)] == [PageKind.BLANK]
    assert page_kinds(PAGE) == ()


def test_without_an_image_a_picture_is_something_and_a_bare_area_is_not() -> None:
    for kind, found in (("image", []), ("block", [PageKind.BLANK])):
        page = replace(PAGE, text="", boxes=(Box(tag="div", kind=kind, rect=RECT),))
        assert [one.kind for one in page_kinds(page)] == found


def test_an_error_of_the_browser_says_which() -> None:
    failed = replace(PAGE, outcome=Outcome.FAILED, reasons=("net::ERR_EMPTY_RESPONSE",))
    [found] = page_kinds(failed)
    assert found.kind is PageKind.BROWSER_ERROR
    assert "ERR_EMPTY_RESPONSE" in found.reason
    assert page_kinds(replace(PAGE, outcome=Outcome.NOT_A_PAGE, text="")) == ()
