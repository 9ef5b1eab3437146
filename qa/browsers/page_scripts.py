"""Our scripts that run in pages: their texts, and the limits and pins that they are given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files

_BELOW_ALL = 1 << 53
"""CSS pixels; no page is that high."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of time, height and number.  `page_s` is enforced from outside the browser."""

    load_s: float = 15.0
    quiet_s: float = 3.0
    page_s: float = 60.0
    height: int = 4_000
    scroll_pause_ms: int = 60
    boxes: int = 10_000
    shapes: int = 2_000
    canvases: int = 20
    decoding_ms: int = 3_000
    rest_ms: int = 1_500
    across: bool = True
    """Whether two browsers are compared, by more than one needs: shapes of drawings, what the page
    says of margins, and pictures decoded, also those that the image has."""
    frames: int = 100
    media: int = 100
    resources: int = 2_000
    urls: int = 100
    url: int = 2_000
    text: int = 200_000
    elements: int = 50_000
    depth: int = 4

    def of_observation(self, *, is_known: bool = False) -> dict[str, int]:
        """The limits that observe.js uses; `is_known`: no picture needs to be decoded."""
        names = ("boxes", "frames", "media", "resources", "urls", "url", "text")
        more = ("elements", "depth", "canvases", "decoding_ms")
        return {
            **{name: getattr(self, name) for name in (*names, *more)},
            "shapes": self.shapes if self.across else 0,
            "across": int(self.across),
            "rest_ms": self.rest_ms if self.across else 0,
            "decoding_from": _BELOW_ALL if is_known else 0 if self.across else self.height,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """The current time for the page's scripts, and the seed of their random numbers.

    `before` is a script that runs before those of the page, in every frame.
    """

    clock: datetime
    seed: int = 1
    before: str = ""


@cache
def script(name: str) -> str:
    """The function in one of our scripts."""
    text = files("pinakes.qa.browsers").joinpath(f"{name}.js").read_text("utf-8")
    return "\n".join(line for line in text.splitlines() if not line.startswith("//"))


@cache
def observing() -> str:
    """The function that notes everything about a page but its image."""
    parts = f"({script('drawn')})({script('shapes')}), ({script('decoded')})(limits)"
    return f"(limits) => ({script('observe')})(limits, {parts})"


def pinning(pins: Pins, now: datetime, *, across: bool) -> str:
    """The script that runs before the page's scripts; `now` is the clock of this machine.

    `across`: see `Limits`.
    """
    shift_ms = round((pins.clock - now).total_seconds() * 1000)
    letters = f"({script('letters')})();" if across else ""
    return f"({script('pins')})({shift_ms}, {pins.seed});{letters}{pins.before}"
