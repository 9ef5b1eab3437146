"""Makes a stored screenshot and another view of its page comparable.

A screenshot has an image, and sometimes text; boxes, pictures, styles and requests of the page
are unknown.  What one side does not know must not count as a difference.  Pure.
"""

from __future__ import annotations

from dataclasses import replace

from pinakes.qa.compare.pairs import LoadedSnapshot
from pinakes.qa.compare.pixels import SCALE
from pinakes.qa.snapshot import Snapshot


def comparable_with_stored(
    stored: LoadedSnapshot, other: LoadedSnapshot
) -> tuple[LoadedSnapshot, LoadedSnapshot]:
    """Both, limited to what both know.

    If the stored image shows only the top of the page, the other view's image is cut to its
    height; that view's viewport should be as wide as the stored image (`viewport_width`).
    Overlays stay in both images: crawlers do not remove them for their screenshots.
    """
    top = stored.snapshot.viewport_height
    pixels = other.pixels
    if top and pixels is not None:
        pixels = pixels[: max(1, top // SCALE)]
    known = replace(stored, snapshot=_as_far_as_known(stored.snapshot, other.snapshot))
    return known, replace(other, pixels=pixels, uncovered=None)


def _as_far_as_known(stored: Snapshot, other: Snapshot) -> Snapshot:
    """The stored snapshot, with the other's values for all that it does not know.

    Named is what it knows: so what snapshots learn to say later is not known to it.
    """
    return replace(
        other,
        url=stored.url,
        browser=stored.browser,
        browser_version=stored.browser_version,
        taken=stored.taken,
        clock=stored.clock,
        seed=stored.seed,
        outcome=stored.outcome,
        reasons=stored.reasons,
        viewport_width=stored.viewport_width,
        viewport_height=stored.viewport_height,
        image=stored.image,
        image_without_overlay=None,
        text=stored.text or other.text,
        text_length=stored.text_length or other.text_length,
    )
