"""The port to a browser: one page at a time, in clean storage, and the browser's events.

Adapters: `chromium` (over the DevTools protocol, by Selenium or by a pipe), `firefox`,
`webkitgtk`.  `snapshot_builder` uses it, and `session` keeps it alive.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pinakes.qa.snapshot import Resource


class BrowserGone(Exception):
    """The browser died, was killed, or does not answer: start a new one."""


class PageRefused(Exception):
    """A call in the page failed: the page navigated away, or broke the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewport:
    """CSS pixels; one CSS pixel is one pixel of the image."""

    width: int = 1280
    height: int = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """The only server that a browser reaches, on loopback.

    Certificates are not verified: every answer comes from this proxy, in our own process, and a
    certificate that it made would prove nothing.
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEvents:
    """The browser's events since the page was begun; empty if it reports none."""

    resources: tuple[Resource, ...] = ()
    resources_total: int = 0
    console: tuple[str, ...] = ()
    console_total: int = 0
    notes: tuple[str, ...] = ()
    documents: int = 0  # answers to the page itself: more than one is a redirect
    failure: str | None = None
    download: str | None = None
    media_type: str | None = None
    status: int | None = None


class Tab(Protocol):
    """A browser with one page in it.  All raise BrowserGone, and `run`, `shoot` PageRefused."""

    version: str
    process_session: int  # the operating-system session with all processes of this browser
    can_pin: bool  # whether scripts run before the page's own

    def begin(self, pins: str) -> None:
        """Open a blank page that shares no storage with the last; `pins` runs in all frames."""

    def go(self, url: str) -> None:
        """Begin to load a URL, without waiting."""

    def run(self, function: str, *arguments: object) -> Any:
        """Call a JavaScript function isolated from the page's scripts; promises are awaited."""

    def shoot(self, width: int, height: int) -> bytes:
        """A PNG of the document from its upper left corner."""

    def events(self) -> PageEvents: ...

    def close(self) -> None:
        """End the browser and all that it started; never raises; idempotent."""


def profile_folder(scratch: Path) -> Path:
    """The browser's profile folder; removed with the session."""
    folder = scratch / "profile"
    folder.mkdir(exist_ok=True)
    return folder
