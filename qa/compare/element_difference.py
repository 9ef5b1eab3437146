"""What `elements` finds: counts of elements that differ, and the first of them in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pinakes.qa.snapshot import Rect


class ElementChange(NamedTuple):
    """What became of an element, in words, and where it is in the second page's image.

    Of one that is gone, where it was in the first's.
    """

    what: str
    rect: Rect


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementDifference:
    """Counts of elements; of form controls, which browsers draw as they please, only whether they
    are there, are chosen, and the borders and shadows that pages give them."""

    lost: int
    """Elements of the first without one of their kind, tag and text in the second; of pictures and
    films their size, and whether they are broken, is their text."""
    added: int
    changed: int
    """All that are lost, added or restyled; any is nearly proof.

    Between two browsers also texts with other numbers, pictures that show something else, and
    shapes of drawings that are gone, new, or painted or placed otherwise.
    """
    lost_share: float
    """Of all elements of the first."""
    restyled: int
    """Matched elements of which any of `drawn_elements.ASPECTS` is another.

    One number for all: a model that has seen colours change then knows that fonts may not either.
    """
    restyled_share: float
    shifted: int
    """Matched blocks that begin elsewhere across, and not because of the block before."""
    shifted_most: float
    """CSS pixels, to 400."""
    spaced: int
    """Matched elements at another distance below the element before."""
    spaced_most: float
    widened: int
    """Matched blocks of another width."""
    resized: int
    """Matched pictures of another size."""
    changes: tuple[ElementChange, ...]
    """The first of each of these, 20 at most."""
