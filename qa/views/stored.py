"""Screenshots in the archive: what the crawl's browser showed at the time of the capture.

They are `resource` records under URLs of their own:

    urn:fullPage:URL   urn:view:URL   urn:text:URL        Browsertrix (PNG, PNG, text/plain)
    screenshot:URL                                         brozzler (JPEG)

`urn:thumbnail:` and `thumbnail:` are too small to compare.  They are looked up in the index as
other captures, the closest in time; revisits are resolved.  No browser is used.

Images become PNG as ours, opaque and limited in height.  Browsertrix writes a transparent
background (`omitBackground`), shown on white here.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import MalformedRecord, PinakesError, StoreUnavailable
from pinakes.qa.browsers.kept import keep_image, png_size
from pinakes.qa.compare.arrays_extra import cv2, np
from pinakes.qa.compare.pairs import LoadedSnapshot
from pinakes.qa.compare.pixels import SCALE
from pinakes.qa.replay.answers import ArchiveAnswers
from pinakes.qa.replay.request import ProxyRequest
from pinakes.qa.snapshot import Image, Outcome, Snapshot
from pinakes.row_store.port import RowStore

from .side import Visit, load_snapshot

MOST_ROWS = 4_000
"""Higher images are cut, as those of our browsers."""
FAR_S = 24 * 3600
"""A screenshot that far from the capture may show another state of the page: a reason says so."""
_TEXT_CHARACTERS = 200_000
_TEXTS = ("urn:text:", "urn:textFinal:")


class ScreenshotKind(NamedTuple):
    """A URL prefix of screenshots; `is_top`: they show one window's height."""

    prefix: str
    is_top: bool


SCREENSHOT_KINDS = (
    ScreenshotKind("urn:fullPage:", False),
    ScreenshotKind("urn:view:", True),
    ScreenshotKind("screenshot:", False),
)
"""Those that show more of the page first."""


class StoredResource(NamedTuple):
    """A stored resource: its bytes, and notes on it."""

    content: bytes
    distance_s: int
    notes: tuple[str, ...]


class StoredScreenshots:
    """Finds stored screenshots and texts.  Safe for several threads."""

    def __init__(
        self, rows: RowStore, archive: ArchiveReader, *, collection: str | None = None
    ) -> None:
        self._answers = ArchiveAnswers(rows, archive, "current", collection=collection)

    def read(self, uri: str, moment: datetime) -> StoredResource | None:
        """The resource with exactly this URL's key closest to the moment; None if there is none.

        Raises:
            PinakesError: it cannot be read.
        """
        with self._answers.answer(ProxyRequest(method="GET", uri=uri), moment) as answer:
            found = answer.found
            if answer.outcome == "unavailable":
                raise StoreUnavailable(answer.problem or "a store did not answer")
            if answer.outcome == "fault":
                raise MalformedRecord(answer.problem or "cannot be read")
            # Fuzzy rules are for requests of scripts; here they would find another page's image.
            if answer.outcome != "hit" or found is None or found.rule is not None:
                return None
            if answer.head.end - answer.head.start > MOST_BYTES:
                raise MalformedRecord(f"longer than {MOST_BYTES:,} bytes")
            content = b"".join(bytes(piece) for piece in answer.body)
            if len(content) != answer.head.end - answer.head.start:
                raise MalformedRecord("the stored resource is truncated")
            distance_s = found.distance_s or 0
            notes = tuple(_notes(uri, found.capture.facts.target_uri, distance_s))
            return StoredResource(content, distance_s, notes)


def _notes(uri: str, target_uri: str, distance_s: int) -> Iterator[str]:
    if target_uri != uri:
        yield f"stored under {target_uri}"
    if abs(distance_s) > FAR_S:
        days = abs(distance_s) // FAR_S
        yield f"taken {days:,} days {'before' if distance_s < 0 else 'after'} the capture"


class StoredSide:
    """See `side.Side`: the screenshots in index and archive."""

    kind = "stored"
    browser = ""

    def __init__(self, screenshots: StoredScreenshots) -> None:
        self._screenshots = screenshots

    def visit(self, url: str, moment: datetime, folder: Path) -> Visit:
        """The screenshot as a snapshot that has only image and text.

        `viewport_height` is the image's height if it shows only the top of the page, else 0: see
        `comparable_with_stored`.  `taken` is the time of the screenshot.
        """
        started = time.monotonic()
        snapshot = self._snapshot(url, moment, folder)
        loaded = load_snapshot(snapshot, folder)
        return Visit(loaded, None, round(1000 * (time.monotonic() - started)))

    def _snapshot(self, url: str, moment: datetime, folder: Path) -> Snapshot:
        image, is_top, reasons, taken = None, False, list[str](), moment
        for form in SCREENSHOT_KINDS:
            try:
                kept = self._screenshots.read(form.prefix + url, moment)
                if kept is not None:
                    image = _keep(folder, kept)
            except StoreUnavailable:
                raise  # whether a screenshot is stored is unknown
            except PinakesError as error:
                reasons.append(f"{form.prefix.rstrip(':')}: {error.message}"[:500])
                continue
            except OSError as error:  # a full disk does not end a run
                reasons.append(f"image not saved: {error.strerror}")
                continue
            if kept is not None:
                reasons += kept.notes
                taken = moment + timedelta(seconds=kept.distance_s)
                is_top = form.is_top
                break
        if image is None and not reasons:
            reasons.append("no stored screenshot")
        text = self._text(url, moment, reasons) if image is not None else ""
        return Snapshot(
            url=url,
            browser="",
            browser_version="",
            taken=taken.astimezone(timezone.utc),
            clock=None,
            seed=None,
            outcome=Outcome.COMPLETE if image is not None else Outcome.FAILED,
            reasons=tuple(reasons),
            viewport_width=image.width if image is not None else 0,
            viewport_height=image.height if image is not None and is_top else 0,
            image=image,
            text=text,
            text_length=len(text),
        )

    def _text(self, url: str, moment: datetime, reasons: list[str]) -> str:
        for prefix in _TEXTS:
            try:
                kept = self._screenshots.read(prefix + url, moment)
            except StoreUnavailable:
                raise  # whether a screenshot is stored is unknown
            except PinakesError as error:
                reasons.append(f"{prefix.rstrip(':')}: {error.message}"[:500])
                continue
            if kept is not None:
                return kept.content.decode("utf-8", "replace")[:_TEXT_CHARACTERS]
        return ""


def _keep(folder: Path, kept: StoredResource) -> Image:
    return keep_image(folder, as_png(kept.content, most_rows=MOST_ROWS))


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
