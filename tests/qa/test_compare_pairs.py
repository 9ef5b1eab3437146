"""Pairs of snapshots: what differs beside pixels and words, as numbers and as reasons."""

from __future__ import annotations

import math
from dataclasses import replace

import comparing  # noqa: F401
import pytest
from drawn_pages import page, seen
from snapshots import SHOWN

from pinakes.qa.compare.page import compare_pages, other_payloads
from pinakes.qa.compare.pairs import LoadedSnapshot, compare_pair, feature_names, features, reasons
from pinakes.qa.snapshot import Box, Media, Overlay, Pictures, Rect, Resource, Styles

RECT = Rect(x=0, y=0, width=600, height=40)
TEXT = "What the scrolls of the library were about. " * 10


def resource(number: int, status: int | None = 200, failure: str | None = None) -> Resource:
    url = f"http://example.org/{number}.png"
    return Resource(url=url, status=status, media_type="image/png", kind="img", failure=failure)


SNAPSHOT = replace(
    SHOWN,
    viewport_height=800,
    page_height=2400,
    text=TEXT,
    boxes=(Box(tag="p", kind="text", rect=RECT),) * 4,
    boxes_total=4,
    resources=tuple(map(resource, range(5))),
    resources_total=5,
    pictures=Pictures(total=5, zero_size=0, broken=0, broken_urls=()),
    styles=Styles(sheets=1, unreadable_sheets=0, rules=125),
)


def test_a_snapshot_does_not_differ_from_itself() -> None:
    one = LoadedSnapshot(
        snapshot=SNAPSHOT, pixels=seen(page()), payloads={"http://example.org/": "sha256:0"}
    )
    found = compare_pair(one, one)
    assert reasons(found) == ()
    assert found.payloads == ()


def test_numbers_stand_in_one_order_and_are_numbers() -> None:
    one = LoadedSnapshot(snapshot=SNAPSHOT, pixels=seen(page()))
    found = features(compare_pair(one, replace(one, pixels=None)))
    assert tuple(found) == feature_names()
    assert all(map(math.isfinite, found.values()))
    assert (found["image_there"], found["image_gone"], found["text_order"]) == (0, 1, 1)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"pictures": Pictures(total=5, zero_size=4, broken=4, broken_urls=())},
         "broken images: 4 more"),
        ({"pictures": Pictures(total=3, zero_size=0, broken=0, broken_urls=())},
         "images: 2 fewer"),
        ({"styles": Styles(sheets=1, unreadable_sheets=0, rules=75)},
         "style rules: 125 → 75"),
        ({"resources": (*map(resource, range(3)), resource(3, 404), resource(4, None, "reset"))},
         "failed resources: 2 more: http://example.org/3.png, http://example.org/4.png"),
        ({"text": ""}, "100% of the words are gone"),
        ({"text": "Another page altogether"}, "100% of the words are new"),
        ({"text": TEXT.replace("scrolls", "scrÃ³lls")},
         "100% of the non-ASCII letters are in a wrong encoding"),
        ({"page_height": 600}, "page height: 2,400 → 600 px"),
        ({"overlay": Overlay(tag="div", identity="", rect=RECT, viewport_share=0.5, text="")},
         "an overlay covers the page"),
        ({"media": (Media(tag="video", url="", ready_state=0, network_state=3, error=4,
                          duration_s=None, width=0, height=0),)},
         "failed videos or sounds: 1 more"),
    ],
)  # fmt: skip
def test_what_differs_is_said(change: dict[str, object], reason: str) -> None:
    other = replace(SNAPSHOT, **change)  # type: ignore[arg-type]
    found = compare_pair(LoadedSnapshot(snapshot=SNAPSHOT), LoadedSnapshot(snapshot=other))
    assert reason in reasons(found)
    if "heights" not in reason and "words" not in reason:  # these are either way
        back = compare_pair(LoadedSnapshot(snapshot=other), LoadedSnapshot(snapshot=SNAPSHOT))
        assert reason not in reasons(back)


def test_what_looks_different_is_said() -> None:
    one, other = (
        LoadedSnapshot(snapshot=SNAPSHOT, pixels=seen(page(seed=seed))) for seed in (1, 2)
    )
    assert any("of the page" in reason for reason in reasons(compare_pair(one, other)))


def test_other_bytes_of_one_url_are_a_proof_and_come_first() -> None:
    one = {"http://example.org/a.png": "sha256:1", "http://example.org/b.png": "sha256:2"}
    other = {**one, "http://example.org/b.png": "sha256:1", "http://example.org/c.png": "sha256:3"}
    assert other_payloads(one, other) == ("http://example.org/b.png",)
    found = compare_pair(
        LoadedSnapshot(snapshot=SNAPSHOT, payloads=one),
        LoadedSnapshot(snapshot=SNAPSHOT, payloads=other),
    )
    assert reasons(found)[0] == "resources with other bytes: 1: http://example.org/b.png"


def test_boxes_are_compared_wherever_they_are() -> None:
    lower = tuple(replace(box, rect=replace(RECT, y=500)) for box in SNAPSHOT.boxes)
    found = compare_pages(SNAPSHOT, replace(SNAPSHOT, boxes=lower))
    assert (found.boxes_gone, found.boxes_new) == (0, 0)
    narrow = tuple(replace(box, rect=replace(RECT, width=300)) for box in SNAPSHOT.boxes[:2])
    found = compare_pages(SNAPSHOT, replace(SNAPSHOT, boxes=SNAPSHOT.boxes[:2] + narrow))
    assert (found.boxes_gone, found.boxes_new) == (0.5, 0.5)


def test_what_moves_by_itself_is_no_difference() -> None:
    image, moved, other = page(), page(), page()
    moved[400:500, :640], other[400:500, :640] = 0, 128
    one = LoadedSnapshot(snapshot=SNAPSHOT, pixels=seen(image))
    found = compare_pair(
        one,
        LoadedSnapshot(snapshot=SNAPSHOT, pixels=seen(other)),
        again=LoadedSnapshot(snapshot=SNAPSHOT, pixels=seen(moved)),
        masked=[Rect(x=0, y=0, width=10, height=10)],
    )
    assert found.image is not None
    assert found.image.changed_tiles == 0
    assert found.masked > 0
