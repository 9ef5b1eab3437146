"""Screenshots that the crawl kept: found, made of our kind, and beside a replay."""

from __future__ import annotations

import struct
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import comparing  # noqa: F401
import cv2
import numpy as np
import pytest
from landed_stores import LandedStore
from stored_screenshots import encoded, kept, picture

from pinakes.errors import MalformedRecord, StoreUnavailable
from pinakes.qa.browsers.kept import png_size, read_image
from pinakes.qa.compare.drawn_elements import ASPECTS
from pinakes.qa.compare.pairs import LoadedSnapshot, compare_pair, features, reasons
from pinakes.qa.compare.pixels import read_pixels
from pinakes.qa.snapshot import Box, Outcome, Pictures, Rect, Resource, Snapshot, Styles
from pinakes.qa.views import stored as stored_module
from pinakes.qa.views.side import Side
from pinakes.qa.views.stored import (
    StoredScreenshots,
    StoredSide,
    as_png,
    comparable_with_stored,
    jpeg_size,
)

MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
URL = "http://example.org/A?b=1"


def look(
    store: LandedStore, folder: Path, moment: datetime = MOMENT, url: str = URL
) -> LoadedSnapshot:
    side: Side = StoredSide(StoredScreenshots(store.rows, store.archive))
    assert (side.kind, side.browser) == ("stored", "")
    looked = side.visit(url, moment, folder)
    assert looked.log is None
    return looked.loaded


@pytest.mark.parametrize(
    ("uri", "kind", "is_top"),
    [
        (f"urn:view:{URL}", ".png", True),
        (f"urn:fullPage:{URL}", ".png", False),
        (f"screenshot:{URL}", ".jpg", False),
    ],
)
def test_a_screenshot_is_found(
    uri: str, kind: str, is_top: bool, store: LandedStore, tmp_path: Path
) -> None:
    body = encoded(picture(), kind)
    store.land("a", "1.warc.gz", kept(uri, body, "image/png" if kind == ".png" else "image/jpeg"))
    seen = look(store, tmp_path)
    snapshot = seen.snapshot
    assert (snapshot.outcome, snapshot.reasons) == (Outcome.COMPLETE, ())
    assert snapshot.image is not None
    assert (snapshot.image.width, snapshot.image.height) == (80, 60)
    assert (snapshot.viewport_width, snapshot.viewport_height) == (80, 60 if is_top else 0)
    shown = cv2.imdecode(np.frombuffer(read_image(tmp_path, snapshot.image), np.uint8), 1)
    assert (shown == cv2.imdecode(np.frombuffer(body, np.uint8), 1)).all()
    assert seen.pixels is not None
    assert seen.payloads is None


def test_the_whole_page_goes_before_its_top_and_a_thumbnail_is_nothing(
    store: LandedStore, tmp_path: Path
) -> None:
    store.land(
        "a", "1.warc.gz",
        kept(f"urn:thumbnail:{URL}", encoded(picture(30, 40))),
        kept(f"urn:view:{URL}", encoded(picture(60, 80))),
        kept(f"urn:fullPage:{URL}", encoded(picture(300, 80))),
    )  # fmt: skip
    image = look(store, tmp_path).snapshot.image
    assert image is not None
    assert image.height == 300


def test_only_a_thumbnail_is_no_screenshot(store: LandedStore, tmp_path: Path) -> None:
    store.land("a", "1.warc.gz", kept(f"urn:thumbnail:{URL}", encoded(picture(30, 40))))
    snapshot = look(store, tmp_path).snapshot
    assert snapshot.outcome is Outcome.FAILED
    assert snapshot.reasons == ("no stored screenshot",)
    assert snapshot.taken == MOMENT


def test_that_of_another_page_is_none(store: LandedStore, tmp_path: Path) -> None:
    """The fuzzy rules of replay would take it: another query, of a media file."""
    others = (f"{URL}&_=1580000000000", "http://example.org/A", "http://example.org/A.png?c=2")
    store.land(
        "a", "1.warc.gz", *(kept(f"urn:view:{uri}", encoded(picture())) for uri in others)
    )  # fmt: skip
    for url in (URL, "http://example.org/A.png?c=1"):
        snapshot = look(store, tmp_path, url=url).snapshot
        assert (snapshot.outcome, snapshot.image) == (Outcome.FAILED, None)


def test_the_closest_in_time_and_how_far_it_is(store: LandedStore, tmp_path: Path) -> None:
    for number, date in enumerate(("2019-12-31T00:00:00Z", "2020-02-01T00:00:00Z")):
        body = encoded(picture(seed=number))
        store.land("a", f"{number}.warc.gz", kept(f"urn:view:{URL}", body, date=date))
    near = look(store, tmp_path).snapshot
    assert near.reasons == ("taken 2 days before the capture",)
    assert near.taken == datetime(2019, 12, 31, tzinfo=timezone.utc)
    far = look(store, tmp_path, MOMENT + timedelta(days=300)).snapshot
    assert far.reasons == ("taken 270 days before the capture",)
    assert far.taken == datetime(2020, 2, 1, tzinfo=timezone.utc)
    assert near.image != far.image
    assert look(store, tmp_path, datetime(2020, 1, 31, tzinfo=timezone.utc)).snapshot.reasons == ()


def test_another_spelling_of_the_url_is_said(store: LandedStore, tmp_path: Path) -> None:
    store.land("a", "1.warc.gz", kept("urn:view:http://example.org/a?b=1", encoded(picture())))
    snapshot = look(store, tmp_path).snapshot
    assert snapshot.outcome is Outcome.COMPLETE
    assert snapshot.reasons == ("stored under urn:view:http://example.org/a?b=1",)


def test_text_that_was_kept(store: LandedStore, tmp_path: Path) -> None:
    store.land(
        "a", "1.warc.gz",
        kept(f"urn:view:{URL}", encoded(picture())),
        kept(f"urn:text:{URL}", "größer".encode(), "text/plain"),
    )  # fmt: skip
    assert look(store, tmp_path).snapshot.text == "größer"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"words", "neither PNG nor JPEG"),
        (encoded(picture())[:-40], "truncated"),
        (encoded(picture(), ".jpg")[:-40], "truncated"),
        (b"", "neither PNG nor JPEG"),
    ],
)
def test_what_cannot_be_shown_is_said(
    body: bytes, why: str, store: LandedStore, tmp_path: Path
) -> None:
    store.land("a", "1.warc.gz", kept(f"urn:fullPage:{URL}", body))
    snapshot = look(store, tmp_path).snapshot
    assert snapshot.outcome is Outcome.FAILED
    assert why in snapshot.reasons[0]


def test_where_the_whole_page_is_damaged_its_top_is_taken(
    store: LandedStore, tmp_path: Path
) -> None:
    store.land(
        "a", "1.warc.gz", kept(f"urn:fullPage:{URL}", b"words"),
        kept(f"urn:view:{URL}", encoded(picture())),
    )  # fmt: skip
    snapshot = look(store, tmp_path).snapshot
    assert snapshot.outcome is Outcome.COMPLETE
    assert snapshot.reasons == ("urn:fullPage: the stored screenshot is neither PNG nor JPEG",)


def test_a_damaged_record_is_said(store: LandedStore, tmp_path: Path) -> None:
    store.land("a", "1.warc.gz", kept(f"urn:view:{URL}", encoded(picture(500, 500))))
    [file] = (store.folder / "archive").rglob("1.warc.gz")
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:400])
    snapshot = look(store, tmp_path).snapshot
    assert snapshot.outcome is Outcome.FAILED
    assert snapshot.reasons[0].startswith("urn:view: ")


def test_too_large_a_one_is_not_read(
    store: LandedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = encoded(picture())
    monkeypatch.setattr(stored_module, "MOST_BYTES", len(body) - 1)
    store.land("a", "1.warc.gz", kept(f"urn:view:{URL}", body))
    snapshot = look(store, tmp_path).snapshot
    assert snapshot.outcome is Outcome.FAILED
    assert "bytes" in snapshot.reasons[0]


def test_a_store_that_is_away_says_nothing_of_what_is_stored(
    store: LandedStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object, **__: object) -> None:
        raise StoreUnavailable("no data node answers")

    store.land("a", "1.warc.gz", kept(f"urn:view:{URL}", encoded(picture())))
    monkeypatch.setattr(store.archive, "open", away)
    with pytest.raises(StoreUnavailable):
        look(store, tmp_path)


def test_a_folder_that_takes_no_image(store: LandedStore, tmp_path: Path) -> None:
    store.land("a", "1.warc.gz", kept(f"urn:view:{URL}", encoded(picture())))
    (tmp_path / "file").write_text("no folder")
    snapshot = look(store, tmp_path / "file").snapshot
    assert snapshot.outcome is Outcome.FAILED
    assert snapshot.reasons[0].startswith("image not saved: ")


@pytest.mark.parametrize("rows", [4, 600])
def test_what_is_transparent_is_white(rows: int) -> None:
    """Browsertrix omits the background; black would be another page."""
    image = np.zeros((rows, 4, 4), np.uint8)
    image[0, 0] = (10, 20, 30, 255)
    image[0, 1] = (0, 0, 0, 128)
    shown = cv2.imdecode(np.frombuffer(as_png(encoded(image), most_rows=999), np.uint8), -1)
    assert shown.shape == (rows, 4, 3)
    assert shown[0, 0].tolist() == [10, 20, 30]
    assert shown[0, 1].tolist() == [127, 127, 127]
    assert (shown[1:] == 255).all()


@pytest.mark.parametrize(
    "image", [np.full((4, 6), 7, np.uint8), np.full((4, 6, 3), 1800, np.uint16)]
)
def test_whatever_channels(image: Any) -> None:
    shown = cv2.imdecode(np.frombuffer(as_png(encoded(image), most_rows=9), np.uint8), -1)
    assert shown.shape == (4, 6, 3)
    assert (shown == 7).all()


def test_what_is_too_high_is_cut() -> None:
    assert png_size(as_png(encoded(picture(300, 80)), most_rows=100)) == (80, 100)


def test_a_bomb_is_not_decoded() -> None:
    png = bytearray(encoded(picture()))
    png[16:24] = struct.pack(">II", 100_000, 100_000)
    with pytest.raises(MalformedRecord, match="100,000 x 100,000"):
        as_png(bytes(png), most_rows=9)
    jpeg = bytearray(encoded(picture(), ".jpg"))
    at = jpeg.index(b"\xff\xc0")
    jpeg[at + 5 : at + 9] = struct.pack(">HH", 65_000, 65_000)
    with pytest.raises(MalformedRecord, match="65,000 x 65,000"):
        as_png(bytes(jpeg), most_rows=9)


@pytest.mark.parametrize("cut", [0, 1, 3, 4, 10, 100])
def test_a_jpeg_without_its_frame_has_no_size(cut: int) -> None:
    whole = encoded(picture(), ".jpg")
    assert jpeg_size(whole) == (80, 60)
    assert jpeg_size(whole[:cut]) is None
    assert jpeg_size(b"\xff\xd8\xff" + b"\xff" * 1000) is None
    assert jpeg_size(b"\xff\xd8\xff\xe0\x00\x00" * 100) is None


def seen(pixels: Any, text: str = "some words of the page") -> LoadedSnapshot:
    snapshot = Snapshot(
        url=URL, browser="b", browser_version="1", taken=MOMENT, clock=None, seed=None,
        outcome=Outcome.COMPLETE, viewport_width=800, viewport_height=600, page_height=1200,
        text=text, text_length=len(text), boxes_total=1,
        boxes=(Box(tag="p", kind="text", rect=Rect(x=0, y=0, width=9, height=9), look=0),),
        looks=("|" * (len(ASPECTS) - 1),),
        resources=(Resource(url=URL, status=500, media_type=None, kind="", failure=None),),
        pictures=Pictures(total=9, zero_size=1, broken=1, broken_urls=()),
        styles=Styles(sheets=1, unreadable_sheets=0, rules=99),
    )  # fmt: skip
    return LoadedSnapshot(snapshot=snapshot, pixels=pixels, payloads={URL: "sha256:00"})


def test_beside_a_view_only_what_both_know_counts(store: LandedStore, tmp_path: Path) -> None:
    """The screenshot shows the top; the replay the whole page, whose top is the same."""
    whole = picture(1200, 800)
    store.land("a", "1.warc.gz", kept(f"urn:view:{URL}", encoded(whole[:600])))
    other = seen(read_pixels(encoded(whole)))
    for swapped in (False, True):
        pair = comparable_with_stored(look(store, tmp_path), other)
        comparison = compare_pair(*(reversed(pair) if swapped else pair))
        assert reasons(comparison) == ()
        numbers = features(comparison)
        for name in ("image_gone", "image_new", "image_changed_tiles", "text_gone"):
            assert numbers[name] == 0
        assert (numbers["page_boxes_gone"], numbers["page_images"]) == (0, 0)
        assert numbers["element_changed"] == 0
        assert numbers["page_style_rules_ratio"] == 1


def test_beside_a_view_what_lay_over_the_page_is_compared_too(
    store: LandedStore, tmp_path: Path
) -> None:
    """A view shot again without its banner: the crawler's screenshot has the banner."""
    banner = picture(1200, 800)
    store.land("a", "1.warc.gz", kept(f"urn:view:{URL}", encoded(banner[:600])))
    bare = read_pixels(encoded(picture(1200, 800, seed=2)))
    other = replace(seen(read_pixels(encoded(banner))), uncovered=bare)
    stored, beside = comparable_with_stored(look(store, tmp_path), other)
    assert stored.shown is not None
    assert beside.shown is not None
    assert beside.shown.shape == stored.shown.shape
    assert reasons(compare_pair(stored, beside)) == ()


def test_beside_a_view_what_differs_is_found(store: LandedStore, tmp_path: Path) -> None:
    store.land(
        "a", "1.warc.gz", kept(f"urn:view:{URL}", encoded(picture(600, 800))),
        kept(f"urn:text:{URL}", b"other words than those that were there", "text/plain"),
    )  # fmt: skip
    other = seen(read_pixels(encoded(picture(1200, 800, seed=2))))
    comparison = compare_pair(*comparable_with_stored(look(store, tmp_path), other))
    assert comparison.image is not None
    assert comparison.image.changed_tiles > 0.5 or comparison.image.gone > 0.5
    assert comparison.text.gone > 0


def test_a_page_without_a_screenshot_is_compared_with_nothing(
    store: LandedStore, tmp_path: Path
) -> None:
    pair = comparable_with_stored(look(store, tmp_path), seen(read_pixels(encoded(picture()))))
    assert compare_pair(*pair).image is None
