"""Images of pages, compared: what is the same, what has moved, what is gone, new or changed."""

from __future__ import annotations

import comparing  # noqa: F401
import numpy as np
import pytest
from drawn_pages import banner, page, png, seen

from pinakes.errors import MalformedRecord
from pinakes.qa.compare.alignment import align
from pinakes.qa.compare.images import compare_images
from pinakes.qa.compare.pixels import SCALE, mask_of, moving_parts, read_pixels
from pinakes.qa.snapshot import Rect


def test_a_page_does_not_differ_from_itself() -> None:
    image = seen(page())
    found = compare_images(image, image)
    assert (found.gone, found.new, found.moved, found.changed_tiles) == (0, 0, 0, 0)
    assert (found.similarity, found.similarity_low) == pytest.approx((1, 1))
    assert found.changes == ()


@pytest.mark.parametrize("rows", [34, 90, 200, 514])
def test_what_is_put_in_between_is_all_that_differs(rows: int) -> None:
    """However high it is: rows are matched one by one, and not by blocks of them."""
    image = page()
    at = 20 * 40
    other = np.concatenate((image[:at], banner(rows), image[at:]))
    found = compare_images(seen(image), seen(other))
    # A block of rows may be cut in two by it.
    assert found.gone <= 2 / 37
    assert found.new == pytest.approx(rows / len(other), abs=64 / len(other) + 0.01)
    assert found.moved == pytest.approx(2 / 3, abs=0.05)
    assert found.changed_tiles < 0.03
    back = compare_images(seen(other), seen(image))
    assert back.gone == pytest.approx(rows / len(other), abs=128 / len(other))
    assert back.changed_tiles < 0.03


def test_another_page_differs_everywhere() -> None:
    found = compare_images(seen(page(seed=1)), seen(page(seed=2)))
    assert found.gone + found.new + found.changed_tiles > 0.4
    assert found.similarity < 0.8


def test_what_is_blank_now_is_told_of() -> None:
    image = page()
    blank = image.copy()
    blank[800:1600] = 255
    found = compare_images(seen(image), seen(blank))
    back = compare_images(seen(blank), seen(image))
    # A third of the page, of which lines of words fill a third.
    assert found.emptied_tiles == pytest.approx(1 / 9, abs=0.03)
    assert back.filled_tiles == found.emptied_tiles
    assert (found.filled_tiles, back.emptied_tiles) == (0, 0)


def test_a_change_is_found_where_it_is() -> None:
    image = page()
    other = image.copy()
    other[1000:1064, 640:768] = (0, 128, 0)
    found = compare_images(seen(image), seen(other))
    [place] = found.changes
    x, y, width, height = (SCALE * value for value in place)
    assert x <= 640
    assert x + width >= 768
    assert y <= 1000
    assert y + height >= 1064
    assert (width, height) <= (128 + 128, 64 + 32)


def test_other_colours_of_the_same_shapes() -> None:
    image = page()
    red = image.copy()
    red[:, :, :2] //= 2
    assert compare_images(seen(image), seen(red)).colour > 0.5


def test_what_is_masked_is_not_compared() -> None:
    image = page()
    other = image.copy()
    region = Rect(x=600, y=1000, width=200, height=100)
    other[1000:1100, 600:800] = 0
    mask = mask_of(seen(image).shape, [region])
    assert compare_images(seen(image), seen(other)).changed_tiles > 0
    assert compare_images(seen(image), seen(other), masked=mask).changed_tiles == 0


@pytest.mark.parametrize(("width", "other_width"), [(1280, 1282), (1282, 1280), (400, 1280)])
def test_a_mask_is_as_wide_as_the_wider_image(width: int, other_width: int) -> None:
    image = page()[:, :width]
    other = np.pad(page(), ((0, 0), (0, 40), (0, 0)), mode="edge")[:, :other_width]
    mask = mask_of(seen(image).shape, [Rect(x=0, y=0, width=width, height=len(image))])
    found = compare_images(seen(image), seen(other), masked=mask)
    assert found.changed_tiles == 0


def test_a_mask_moves_with_what_it_covers() -> None:
    image = page()
    changed = image.copy()
    changed[1600:1664, 600:800] = 0
    other = np.concatenate((banner(200), changed))
    mask = mask_of(seen(image).shape, [Rect(x=600, y=1600, width=200, height=64)])
    without = compare_images(seen(image), seen(other))
    found = compare_images(seen(image), seen(other), masked=mask)
    assert found.changed_tiles < without.changed_tiles


def test_what_moves_by_itself_is_masked() -> None:
    image = page()
    again = image.copy()
    again[400:500, 100:300] = 0
    mask = moving_parts(seen(image), seen(again))
    assert mask[200:250, 50:150].all()
    assert mask.mean() < 0.05
    assert not moving_parts(seen(page(seed=1)), seen(banner(60 * 40))).any()


@pytest.mark.parametrize("size", [(1, 1), (1, 1280), (7, 3), (40, 2000), (8000, 64)])
def test_images_of_any_size_can_be_compared(size: tuple[int, int]) -> None:
    small = np.full((*size, 3), 200, np.uint8)
    for one, other in ((small, page(3)), (page(3), small), (small, small)):
        found = compare_images(seen(one), seen(other))
        assert 0 <= found.gone <= 1
        assert 0 <= found.new <= 1


@pytest.mark.parametrize("data", [b"", b"no image", png(page(2))[:50]])
def test_what_is_no_image_is_told(data: bytes) -> None:
    with pytest.raises(MalformedRecord, match="cannot be decoded"):
        read_pixels(data)


def test_rows_are_matched_in_order() -> None:
    image = seen(page())
    other = seen(np.concatenate((page()[1200:], page()[:1200])))  # upside down, by halves
    found = align(image, other)
    assert (np.diff(found.first) >= 0).all()
    # Filled up at the end, where both are.
    assert (np.diff(found.second) >= 0).all()
    assert found.gone + found.new > 0.3
