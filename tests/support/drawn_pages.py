"""Pages drawn with text and boxes, as a screenshot would show them."""

from __future__ import annotations

import random

import comparing  # noqa: F401
import cv2
import numpy as np

from pinakes.qa.compare.pixels import Pixels, read_pixels

WIDTH = 1280
LINE = 40


def page(lines: int = 60, *, seed: int = 1, first: int = 0) -> Pixels:
    """A page with so many lines of words, numbered from `first`; white, at its full size."""
    image: Pixels = np.full((lines * LINE, WIDTH, 3), 255, np.uint8)
    for number in range(lines):
        dice = random.Random(seed * 10_000 + first + number)
        text = "".join(dice.choices("abcdefghijklmnop   ", k=dice.randrange(30, 70)))
        place = (20, number * LINE + 28)
        cv2.putText(image, text, place, cv2.FONT_HERSHEY_SIMPLEX, 0.7, (0, 0, 0), 1, cv2.LINE_AA)
    return image


def banner(rows: int) -> Pixels:
    """Something to be put in between."""
    image: Pixels = np.full((rows, WIDTH, 3), (90, 60, 200), np.uint8)
    return image


def png(image: Pixels) -> bytes:
    encoded: bytes = cv2.imencode(".png", image)[1].tobytes()
    return encoded


def seen(image: Pixels) -> Pixels:
    """As it is compared."""
    return read_pixels(png(image))
