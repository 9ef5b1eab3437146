"""Converts a crawler's screenshot to a PNG as ours: opaque, limited in height.

Browsertrix writes PNG with a transparent background (`omitBackground`), shown on white here;
brozzler writes JPEG.  The size is read before decoding: a file of a few bytes may claim to be a
hundred thousand pixels wide.
"""

from __future__ import annotations

import struct
from typing import Any

from pinakes.errors import MalformedRecord
from pinakes.qa.browsers.kept import png_size
from pinakes.qa.compare.arrays_extra import cv2, np

MOST_BYTES = 1 << 26
MOST_PIXELS = 1 << 26
"""3,840 by 17,000 pixels; decoded 256 MB."""

_BAND_ROWS = 256
_JPEG = b"\xff\xd8\xff"
_ENDS = (b"IEND", b"\xff\xd9")
_TAIL_BYTES = 1 << 10
_OPAQUE = 255
# Markers without a length, and markers of frames (ITU-T T.81, table B.1).
_BARE = frozenset({0x01, *range(0xD0, 0xDA)})
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def as_png(encoded: bytes, *, most_rows: int) -> bytes:
    """The image on white, cut to its upper rows, as PNG.

    Raises:
        MalformedRecord: neither PNG nor JPEG, or too large to decode.
    """
    size = png_size(encoded) or jpeg_size(encoded)
    if size is None:
        raise MalformedRecord("the stored screenshot is neither PNG nor JPEG")
    if not any(end in encoded[-_TAIL_BYTES:] for end in _ENDS):
        raise MalformedRecord("the stored screenshot is truncated")  # decoders show a part of it
    if not 0 < size[0] * size[1] <= MOST_PIXELS:
        raise MalformedRecord(
            f"the stored screenshot is too large: {size[0]:,} x {size[1]:,} pixels"
        )
    try:
        image: Any = cv2.imdecode(np.frombuffer(encoded, dtype=np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error as error:
        raise MalformedRecord("the stored screenshot cannot be decoded") from error
    if image is None:
        raise MalformedRecord("the stored screenshot cannot be decoded")
    image = _on_white(image[:most_rows])
    return bytes(cv2.imencode(".png", image)[1].tobytes())


def _on_white(image: Any) -> Any:
    """The image with three channels of one byte."""
    if image.dtype == np.uint16:
        image = (image >> 8).astype(np.uint8)
    if image.ndim == 2:
        return cv2.cvtColor(image, cv2.COLOR_GRAY2BGR)
    if image.shape[2] != 4 or (image[:, :, 3] == _OPAQUE).all():
        return image[:, :, :3]
    white = np.empty((*image.shape[:2], 3), dtype=np.uint8)
    for top in range(0, len(image), _BAND_ROWS):  # two bytes a value, so in bands
        band = image[top : top + _BAND_ROWS].astype(np.uint16)
        alpha = band[:, :, 3:]
        mixed = band[:, :, :3] * alpha + _OPAQUE * (_OPAQUE - alpha)
        white[top : top + _BAND_ROWS] = (mixed + _OPAQUE // 2) // _OPAQUE
    return white


def jpeg_size(encoded: bytes) -> tuple[int, int] | None:
    """Width and height by the frame header (ITU-T T.81, B.2.2); None if not a JPEG."""
    if not encoded.startswith(_JPEG):
        return None
    at = 2
    while at + 9 < len(encoded) and encoded[at] == 0xFF:
        marker = encoded[at + 1]
        if marker in _FRAMES:
            height, width = struct.unpack(">HH", encoded[at + 5 : at + 9])
            return width, height
        if marker == 0xFF or marker in _BARE:
            at += 1 if marker == 0xFF else 2
        else:
            at += 2 + int.from_bytes(encoded[at + 2 : at + 4], "big")
    return None
