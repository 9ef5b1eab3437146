"""The port to a browser: one page at a time, begun clean, and what a browser tells of it.

Adapters: `chromium` (over the DevTools protocol, by Selenium or by a pipe), `firefox`,
`webkitgtk`.  `looking` is all that is done with it, and `session` keeps it alive.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pinakes.qa.snapshot import Resource


class BrowserGone(Exception):
    """The browser died, was killed, or speaks no more: take a new one."""


class PageRefused(Exception):
    """The page would not: it went elsewhere meanwhile, or broke what was asked of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewport:
    """CSS pixels; one of them is one pixel of the image."""

    width: int = 1280
    height: int = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """All that a browser reaches, on loopback.

    Certificates are not asked for: whatever answers is this proxy, in a process of ours, and
    a certificate of its making would prove nothing.
    """

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageEvents:
    """What the browser told since the page was begun; empty where it tells nothing."""

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
    process_session: int  # what the operating system calls one: all processes of this browser
    can_pin: bool  # whether scripts run before the page's own

    def begin(self, pins: str) -> None:
        """A blank page that shares nothing with the one before; `pins` runs in all frames."""

    def go(self, url: str) -> None:
        """Set out, without waiting for anything."""

    def run(self, function: str, *arguments: object) -> Any:
        """Call a JavaScript function out of reach of the page's scripts; promises are awaited."""

    def shoot(self, width: int, height: int) -> bytes:
        """A PNG of the document from its upper left corner."""

    def events(self) -> PageEvents: ...

    def close(self) -> None:
        """End the browser and whatever it started; never raises, may be called again."""


def profile_folder(scratch: Path) -> Path:
    """Where a browser keeps what it must; it goes with the session."""
    folder = scratch / "profile"
    folder.mkdir(exist_ok=True)
    return folder
