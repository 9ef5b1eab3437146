"""A stored screenshot and another view of its page, made comparable.

A screenshot has an image, and sometimes text; what boxes, pictures, styles and requests the
page had is not known.  What one of the two does not know must not be counted as a difference.
Pure.
"""

from __future__ import annotations

from dataclasses import replace

from pinakes.qa.compare.pairs import LoadedSnapshot
from pinakes.qa.compare.pixels import SCALE
from pinakes.qa.snapshot import Snapshot


def comparable_with_stored(
    stored: LoadedSnapshot, other: LoadedSnapshot
) -> tuple[LoadedSnapshot, LoadedSnapshot]:
    """Both, with what neither or one alone can tell taken out of the comparison.

    Of the other view the image is cut to the stored one's height where that shows the top of
    the page only; its viewport should be as wide as the stored image (`viewport_width`).  What
    lay over the page is in both: no crawler takes it away for its screenshot.
    """
    top = stored.snapshot.viewport_height
    pixels = other.pixels
    if top and pixels is not None:
        pixels = pixels[: max(1, top // SCALE)]
    known = replace(stored, snapshot=_as_far_as_known(stored.snapshot, other.snapshot))
    return known, replace(other, pixels=pixels, uncovered=None)


def _as_far_as_known(stored: Snapshot, other: Snapshot) -> Snapshot:
    """The stored one, with the other's word for what no screenshot tells."""
    return replace(
        stored,
        page_height=other.page_height,
        page_width=other.page_width,
        overlay=other.overlay,
        text=stored.text or other.text,
        text_length=stored.text_length or other.text_length,
        boxes=other.boxes,
        boxes_total=other.boxes_total,
        resources=other.resources,
        resources_total=other.resources_total,
        frames=other.frames,
        frames_total=other.frames_total,
        media=other.media,
        media_total=other.media_total,
        pictures=other.pictures,
        styles=other.styles,
        console=other.console,
        console_total=other.console_total,
    )
