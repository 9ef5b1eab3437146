"""From a browser's name to one that runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from pinakes.config import user_folder
from pinakes.errors import ConfigError
from pinakes.qa.browsers.browser_list import Installed, Kind, browser_named, installed
from pinakes.qa.browsers.chromium import ChromiumTab, PipedChromium
from pinakes.qa.browsers.looking import Limits
from pinakes.qa.browsers.session import Session
from pinakes.qa.browsers.tab import Proxy, Tab, Viewport


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
    if kind is Kind.PIPED_CHROMIUM:
        return ChromiumTab(PipedChromium(installed.program, scratch, proxy, viewport), viewport)
    if kind is Kind.CHROMIUM:
        from pinakes.qa.browsers.chromium_driver import open_chromium

        return open_chromium(installed, scratch, proxy, viewport)
    if kind is Kind.FIREFOX:
        from pinakes.qa.browsers.firefox import open_firefox

        return open_firefox(installed, scratch, proxy, viewport)
    from pinakes.qa.browsers.webkitgtk import open_webkitgtk

    return open_webkitgtk(installed, scratch, proxy, viewport)
