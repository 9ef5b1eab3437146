"""Screenshots that the crawl kept: what a browser showed at the moment of the capture.

They are `resource` records under URLs of their own, beside those of the page:

    urn:fullPage:URL   urn:view:URL   urn:text:URL        Browsertrix (PNG, PNG, text/plain)
    screenshot:URL                                         brozzler (JPEG)

`urn:thumbnail:` and `thumbnail:` are too small to be compared.  Found in the index as any
capture, the closest in time; a revisit of one is resolved.  No browser is asked.
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
"""Higher ones are cut: our own browsers take no more."""
FAR_S = 24 * 3600
"""A screenshot so far from the capture shows another state of the page, and it is said."""
_TEXT_CHARACTERS = 200_000
_TEXTS = ("urn:text:", "urn:textFinal:")


class ScreenshotKind(NamedTuple):
    """Under which URLs screenshots are kept; `is_top` where they show one window's height."""

    prefix: str
    is_top: bool


SCREENSHOT_KINDS = (
    ScreenshotKind("urn:fullPage:", False),
    ScreenshotKind("urn:view:", True),
    ScreenshotKind("screenshot:", False),
)
"""The one with more of the page first."""


class StoredResource(NamedTuple):
    """A stored resource: its bytes, and what is to be said of it."""

    content: bytes
    distance_s: int
    notes: tuple[str, ...]


class StoredScreenshots:
    """Finds what a crawl kept of its pages.  Safe for several threads."""

    def __init__(
        self, rows: RowStore, archive: ArchiveReader, *, collection: str | None = None
    ) -> None:
        self._answers = ArchiveAnswers(rows, archive, "current", collection=collection)

    def read(self, uri: str, moment: datetime) -> StoredResource | None:
        """What is stored under exactly this URL's key, closest to the moment; None: nothing.

        Raises:
            PinakesError: it is there, and cannot be read.
        """
        with self._answers.answer(ProxyRequest(method="GET", uri=uri), moment) as answer:
            found = answer.found
            if answer.outcome == "unavailable":
                raise StoreUnavailable(answer.problem or "a store did not answer")
            if answer.outcome == "fault":
                raise MalformedRecord(answer.problem or "it cannot be read")
            # Fuzzy rules are for what scripts ask for: another page's picture is none of this.
            if answer.outcome != "hit" or found is None or found.rule is not None:
                return None
            if answer.head.end - answer.head.start > MOST_BYTES:
                raise MalformedRecord(f"what is stored of it has over {MOST_BYTES:,} bytes")
            content = b"".join(bytes(piece) for piece in answer.body)
            if len(content) != answer.head.end - answer.head.start:
                raise MalformedRecord("what is stored of it breaks off")
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
        """The screenshot as a snapshot with image and text, and nothing else known.

        Its `viewport_height` is that of the image where that shows the top of the page only,
        else 0: see `comparable_with_stored`.  `taken` is when the crawl took it.
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
                raise  # which says nothing of what is stored
            except PinakesError as error:
                reasons.append(f"{form.prefix.rstrip(':')}: {error.message}"[:500])
                continue
            except OSError as error:  # a full disk ends no run
                reasons.append(f"the image is not kept: {error.strerror}")
                continue
            if kept is not None:
                reasons += kept.notes
                taken = moment + timedelta(seconds=kept.distance_s)
                is_top = form.is_top
                break
        if image is None and not reasons:
            reasons.append("no screenshot was stored of it")
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
                raise  # which says nothing of what is stored
            except PinakesError as error:
                reasons.append(f"{prefix.rstrip(':')}: {error.message}"[:500])
                continue
            if kept is not None:
                return kept.content.decode("utf-8", "replace")[:_TEXT_CHARACTERS]
        return ""


def _keep(folder: Path, kept: StoredResource) -> Image:
    return keep_image(folder, as_png(kept.content, most_rows=MOST_ROWS))
