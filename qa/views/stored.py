"""Screenshots in the archive: what the crawl's browser showed at the time of the capture.

They are `resource` records under URLs of their own:

    urn:fullPage:URL   urn:view:URL   urn:text:URL        Browsertrix (PNG, PNG, text/plain)
    screenshot:URL                                         brozzler (JPEG)

`urn:thumbnail:` and `thumbnail:` are too small to compare.  They are looked up in the index as
other captures, the closest in time; revisits are resolved.  No browser is used.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import MalformedRecord, PinakesError, StoreUnavailable
from pinakes.qa.browsers.kept import keep_image
from pinakes.qa.replay.answers import ArchiveAnswers
from pinakes.qa.replay.request import ProxyRequest
from pinakes.qa.snapshot import Image, Outcome, Snapshot
from pinakes.row_store.port import RowStore

from .side import LookResult, load_snapshot
from .stored_image import MOST_BYTES, as_png

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

    def look(self, url: str, moment: datetime, folder: Path) -> LookResult:
        """The screenshot as a snapshot that has only image and text.

        `viewport_height` is the image's height if it shows only the top of the page, else 0: see
        `comparable_with_stored`.  `taken` is the time of the screenshot.
        """
        started = time.monotonic()
        snapshot = self._snapshot(url, moment, folder)
        loaded = load_snapshot(snapshot, folder)
        return LookResult(loaded, None, round(1000 * (time.monotonic() - started)))

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
