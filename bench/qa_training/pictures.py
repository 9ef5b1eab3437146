"""Pictures made of a seed: gradients, discs and noise, as photographs and drawings have them."""

from __future__ import annotations

import random
import tempfile
from functools import cache
from pathlib import Path

from pinakes.qa.compare.arrays_extra import cv2, np
from pinakes.qa.compare.pixels import Pixels


def picture(seed: int, width: int, height: int, *, kind: str = ".png") -> bytes:
    """One of so many pixels, encoded."""
    dice = random.Random(seed)
    grid = np.random.default_rng(seed)
    coarse = grid.integers(0, 255, (dice.randint(2, 5), dice.randint(2, 5), 3)).astype(np.uint8)
    image = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    for _ in range(dice.randint(1, 8)):
        centre = (dice.randrange(width), dice.randrange(height))
        colour = tuple(dice.randrange(256) for _ in range(3))
        if dice.random() < 0.5:
            cv2.circle(image, centre, dice.randint(4, max(5, height // 3)), colour, -1)
        else:
            far = (dice.randrange(width), dice.randrange(height))
            cv2.rectangle(image, centre, far, colour, dice.choice([-1, 2, 4]))
    encoded: bytes = cv2.imencode(kind, image)[1].tobytes()
    return encoded


def size_of(encoded: bytes) -> tuple[int, int] | None:
    """Width and height of an image; None for one that cannot be decoded here."""
    image = _decoded(encoded)
    return None if image is None else (image.shape[1], image.shape[0])


def _decoded(encoded: bytes) -> Pixels | None:
    array = np.frombuffer(encoded, dtype=np.uint8)
    try:
        return cv2.imdecode(array, cv2.IMREAD_COLOR) if array.size else None
    except cv2.error:
        return None


def recoded(encoded: bytes, quality: int) -> bytes | None:
    """The picture as JPEG; None where it cannot be decoded here."""
    image = _decoded(encoded)
    if image is None:
        return None
    jpeg: bytes = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()
    return jpeg


def resized(encoded: bytes, width: int, height: int) -> bytes:
    """The picture at another size, as PNG; one of ours where it cannot be decoded here."""
    image = _decoded(encoded)
    if image is None:
        return picture(width * height, width, height)
    png: bytes = cv2.imencode(".png", cv2.resize(image, (width, height)))[1].tobytes()
    return png


_VP8 = int.from_bytes(b"VP80", "little")
"""What OpenCV calls a codec by."""


@cache
def film(seed: int) -> bytes | None:
    """A second of VP8 in WebM, of a process the same; None where OpenCV cannot write it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "film.webm"
        writer = cv2.VideoWriter(str(file), _VP8, 10, (480, 270))
        if not writer.isOpened():
            return None
        for number in range(10):
            still = cv2.imdecode(
                np.frombuffer(picture(seed + number // 5, 480, 270), np.uint8), cv2.IMREAD_COLOR
            )
            writer.write(still)
        writer.release()
        return file.read_bytes()
