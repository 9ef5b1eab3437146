"""Screenshots as crawlers store them."""

from __future__ import annotations

import gzip
from typing import Any

import comparing  # noqa: F401
import cv2
import numpy as np
from landed_stores import page


def picture(rows: int = 60, columns: int = 80, seed: int = 1) -> Any:
    """Blocks of colours, opaque."""
    dice = np.random.default_rng(seed)
    coarse = dice.integers(0, 255, (rows // 10 or 1, columns // 10 or 1, 3), np.uint8)
    return cv2.resize(coarse, (columns, rows), interpolation=cv2.INTER_NEAREST)


def encoded(image: Any, kind: str = ".png") -> bytes:
    return bytes(cv2.imencode(kind, image)[1].tobytes())


def kept(uri: str, body: bytes, media_type: str = "image/png", **more: str) -> bytes:
    """A resource record, as Browsertrix and brozzler write them."""
    made = page(uri, body, record_type="resource", head=b"", **more)  # type: ignore[arg-type]
    plain = gzip.decompress(made).replace(
        b"Content-Type: application/http; msgtype=response", f"Content-Type: {media_type}".encode()
    )
    return gzip.compress(plain, mtime=0)
