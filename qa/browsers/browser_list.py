"""The browsers that capture pages: one table, and where each is installed.

Pure, except that it checks whether files exist.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from pinakes.errors import ConfigError

INSTALL = "make browsers"


class Driver(str, Enum):
    """What drives it."""

    CHROMIUM = "chromium"  # Selenium and chromedriver
    FIREFOX = "firefox"  # Selenium and geckodriver, with WebDriver BiDi
    WEBKITGTK = "webkitgtk"  # Selenium and WebKitWebDriver, in an X server of its own
    PIPED_CHROMIUM = "piped-chromium"  # the DevTools protocol: no chromedriver matches it


@dataclass(frozen=True, slots=True, kw_only=True)
class Browser:
    """One browser of the list.  Programs are names on PATH, or files in the cache folder."""

    name: str
    kind: Driver
    program: str
    fallback: str | None = None  # where `program` is not installed
    driver: str | None = None
    version: str = ""  # required prefix of its version


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A browser, and its programs on this machine."""

    browser: Browser
    program: Path
    driver: Path | None


BROWSERS = (
    # The shell has the same engine and no windows: three quarters of the processor time.
    Browser(
        name="chromium",
        kind=Driver.CHROMIUM,
        program="chromium-headless-shell",
        fallback="chromium",
        driver="chromedriver",
    ),
    Browser(name="firefox", kind=Driver.FIREFOX, program="firefox-esr", driver="geckodriver"),
    Browser(name="webkitgtk", kind=Driver.WEBKITGTK, program="xvfb-run", driver="WebKitWebDriver"),
    Browser(
        name="chromium-131",
        kind=Driver.PIPED_CHROMIUM,
        program="chromium-131.0.1/chromium",
        version="131.",
    ),
    Browser(
        name="chromium-119",
        kind=Driver.PIPED_CHROMIUM,
        program="chromium-119.0.2/chromium",
        version="119.",
    ),
    Browser(
        name="chromium-106",
        kind=Driver.PIPED_CHROMIUM,
        program="chromium-106.0.0/chromium",
        version="106.",
    ),
    Browser(
        name="chromium-92",
        kind=Driver.PIPED_CHROMIUM,
        program="chromium-92.0.0/chromium",
        version="92.",
    ),
)


def browser_named(name: str) -> Browser:
    """The browser of that name.

    Raises:
        ConfigError: unknown name; the message lists the known ones.
    """
    for browser in BROWSERS:
        if browser.name == name:
            return browser
    known = ", ".join(browser.name for browser in BROWSERS)
    raise ConfigError(f"unknown browser {name!r}; known: {known}")


def installed(browser: Browser, cache: Path) -> Installed:
    """Find a browser's programs, in the cache folder and on PATH.

    Raises:
        ConfigError: a program is missing; the message says which, and what installs it.
    """
    return Installed(
        browser=browser,
        program=_first_found(browser, cache, browser.program, browser.fallback),
        driver=_first_found(browser, cache, browser.driver) if browser.driver else None,
    )


def _first_found(browser: Browser, cache: Path, *names: str | None) -> Path:
    wanted = [name for name in names if name is not None]
    for name in wanted:
        path = _found(name, cache)
        if path is not None:
            return path
    raise ConfigError(
        f"browser {browser.name}: {' or '.join(wanted)} not found in {cache} or on PATH; "
        f"install it with `{INSTALL}`"
    )


def _found(name: str, cache: Path) -> Path | None:
    """Search the cache folder, its bin/ (where cargo installs), and PATH; never the current
    folder."""
    for place in (cache / name, cache / "bin" / name):
        if place.is_file():
            return place
    path = None if "/" in name else shutil.which(name)
    return Path(path) if path else None
