"""A browser that stays open, and is replaced when it dies, is killed, or has shown many pages.

The shell around `snapshot_builder`: starts a browser by its name, reads the clock, has a scratch
folder, kills a browser that takes too long.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

from pinakes.config import user_folder
from pinakes.errors import ConfigError
from pinakes.extras import missing_extra
from pinakes.qa.browsers.browser_list import Driver, Installed, browser_named, installed
from pinakes.qa.browsers.chromium import ChromiumTab, PipedChromium
from pinakes.qa.browsers.kept import keep_image
from pinakes.qa.browsers.page_scripts import Limits, Pins, pinning, script
from pinakes.qa.browsers.processes import Guard, killed_after
from pinakes.qa.browsers.snapshot_builder import SnapshotBuilder
from pinakes.qa.browsers.tab import BrowserGone, PageRefused, Proxy, Tab, Viewport
from pinakes.qa.snapshot import Outcome, Snapshot

# Browsers use more and more memory; a new one takes a second or two to start.
_PAGES_PER_BROWSER = 200
_LONGEST_PLACE = 40


class Session:
    """One browser of the list; not for several threads."""

    def __init__(
        self,
        name: str,
        start: Callable[[Path], Tab],
        *,
        viewport: Viewport,
        limits: Limits | None = None,
        pages_per_browser: int = _PAGES_PER_BROWSER,
        masked: Sequence[str] = (),
        without_strips: bool = False,
    ) -> None:
        """`masked` are CSS selectors of elements not compared; snapshots have their regions.

        `without_strips`: strips that ask for consent are taken away.
        """
        self.name = name
        self._start = start
        self._viewport = viewport
        self._limits = limits or Limits()
        self._pages_per_browser = pages_per_browser
        self._masked = list(masked)
        self._untried = list(masked)
        self._without_strips = without_strips
        self._tab: Tab | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._guard: Guard | None = None
        self._pages = 0
        self.started = 0

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def capture(
        self,
        url: str,
        *,
        pins: Pins,
        folder: Path,
        on_blank: Callable[[], None] | None = None,
        is_known: Callable[[], bool] | None = None,
    ) -> Snapshot:
        """Capture a page; images go to `folder`.

        Returns a snapshot regardless of what the page does.  `on_blank` is called when the previous
        page is left and a blank one is open: requests before belong to the previous page, those
        after to this one.  `is_known`: see `SnapshotBuilder`.

        Raises:
            ConfigError: the browser cannot be started; or, with its first page, a masked selector
                is not a CSS selector to it.
        """
        tab, now = self._begun(pins)
        if on_blank is not None:
            on_blank()
        blank = Snapshot(
            url=url,
            browser=self.name,
            browser_version=tab.version,
            taken=now,
            clock=pins.clock if tab.can_pin else None,
            seed=pins.seed if tab.can_pin else None,
            outcome=Outcome.CUT_OFF,
            viewport_width=self._viewport.width,
            viewport_height=self._viewport.height,
        )
        keep = partial(keep_image, folder)
        builder = SnapshotBuilder(
            tab,
            blank,
            limits=self._limits,
            viewport=self._viewport,
            keep=keep,
            masked=self._masked,
            without_strips=self._without_strips,
            is_known=is_known,
        )
        with killed_after(tab.process_session, self._limits.page_s) as struck:
            try:
                return builder.take()
            except (BrowserGone, PageRefused) as error:
                why = (
                    f"killed after {self._limits.page_s:g} s"
                    if struck.is_set()
                    else f"the browser is gone: {error}"[:300]
                )
        self.close()
        reasons = (*builder.snapshot.reasons, why)
        return replace(builder.snapshot, outcome=Outcome.CUT_OFF, reasons=reasons)

    def close(self) -> None:
        """End the browser, and remove what it wrote."""
        if self._tab is not None:
            self._tab.close()
            self._tab = None
        if self._guard is not None:
            self._guard.close()
            self._guard = None
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def _begun(self, pins: Pins) -> tuple[Tab, datetime]:
        """A browser with a blank page, and the time; a new browser if the last one has died."""
        if self._pages >= self._pages_per_browser:
            self.close()
        for last in (False, True):
            did = "does not start"
            try:
                tab = self._tab or self._open()
                did = "takes no page"
                now = datetime.now(timezone.utc)
                with killed_after(tab.process_session, self._limits.page_s):
                    tab.begin(pinning(pins, now, across=self._limits.across))
                    self._try_selectors(tab)
            except (BrowserGone, PageRefused) as error:
                self.close()
                if last:
                    raise ConfigError(f"{self.name} {did}: {error}") from error
            else:
                self._pages += 1
                return tab, now
        raise AssertionError("unreachable")

    def _try_selectors(self, tab: Tab) -> None:
        """Try the selectors once, on a blank page: an invalid one would mask nothing."""
        wrong = tab.run(script("selectors"), self._untried) if self._untried else []
        self._untried = []
        if wrong:
            self.close()
            wrong_selectors = ", ".join(map(repr, wrong))
            raise ConfigError(f"{self.name}: not a CSS selector: {wrong_selectors}")

    def _open(self) -> Tab:
        """Start it.  Raises BrowserGone or PageRefused if that fails."""
        self._scratch = tempfile.TemporaryDirectory(
            prefix="pinakes-browser-", ignore_cleanup_errors=True, dir=_place()
        )
        try:
            self._tab = self._start(Path(self._scratch.name))
        except BaseException:
            self.close()
            raise
        self._guard = Guard(self._tab.process_session, Path(self._scratch.name))
        self._pages = 0
        self.started += 1
        return self._tab


def _place() -> str | None:
    """The folder for a browser's folder; None for the default one of temporary files.

    A browser puts sockets there, whose paths may have 107 bytes (unix(7)): in a YARN task's
    temporary folder they would be longer, and Chromium would not start.
    """
    return None if len(os.fsencode(tempfile.gettempdir())) <= _LONGEST_PLACE else "/tmp"


def open_browser(
    name: str,
    proxy: Proxy,
    viewport: Viewport,
    *,
    limits: Limits | None = None,
    masked: Sequence[str] = (),
    without_strips: bool = False,
) -> Session:
    """A browser of the list behind a proxy; its process starts with the first page.

    Raises:
        ConfigError: there is no browser of that name, or it is not installed.
    """
    programs = installed(browser_named(name), user_folder("cache") / "browsers")
    start = starter(programs, proxy, viewport)
    return Session(
        name, start, viewport=viewport, limits=limits, masked=masked, without_strips=without_strips
    )


def starter(installed: Installed, proxy: Proxy, viewport: Viewport) -> Callable[[Path], Tab]:
    """A function that starts a browser, given a scratch folder.  It raises ConfigError for a
    version that the list does not allow, and MissingExtra without the extra `qa`."""

    def start(scratch: Path) -> Tab:
        tab = _start(installed, scratch, proxy, viewport)
        wanted = installed.browser.version
        if not tab.version.startswith(wanted):
            tab.close()
            name = installed.browser.name
            raise ConfigError(f"{name} should be version {wanted}*, and is {tab.version}")
        return tab

    return start


def _start(installed: Installed, scratch: Path, proxy: Proxy, viewport: Viewport) -> Tab:
    kind = installed.browser.kind
    if kind is Driver.PIPED_CHROMIUM:
        return ChromiumTab(PipedChromium(installed.program, scratch, proxy, viewport), viewport)
    try:
        from pinakes.qa.browsers import chromium_driver, firefox, webkitgtk
    except ImportError as error:
        raise missing_extra(f"browsers need {error.name}", "qa") from error
    openers: dict[Driver, Callable[[Installed, Path, Proxy, Viewport], Tab]] = {
        Driver.CHROMIUM: chromium_driver.open_chromium,
        Driver.FIREFOX: firefox.open_firefox,
        Driver.WEBKITGTK: webkitgtk.open_webkitgtk,
    }
    return openers[kind](installed, scratch, proxy, viewport)
