"""Chromium by Selenium and the chromedriver that came with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pinakes.errors import ConfigError
from pinakes.qa.browsers.browser_list import Installed
from pinakes.qa.browsers.chromium import ChromiumTab, flags
from pinakes.qa.browsers.driven import POPEN, quit_driver, starting, translated, wrapped
from pinakes.qa.browsers.page_events import OF_CHROMIUM
from pinakes.qa.browsers.selenium_extra import Chrome, ChromeOptions, ChromeService
from pinakes.qa.browsers.tab import Proxy, Viewport

# No account, no search engine, no downloads, no PDF viewer.
_PREFERENCES = {
    "signin.allowed": False,
    "session.restore_on_startup": 5,
    "homepage": "about:blank",
    "homepage_is_newtabpage": False,
    "plugins.always_open_pdf_externally": True,
    "search.suggest_enabled": False,
    "safebrowsing.enabled": False,
}


class DrivenChromium:
    """`DevTools` through chromedriver, which keeps events in its performance log.

    A page gets a window of its own; cookies, storage and caches are cleared before it.
    """

    def __init__(self, driver: Chrome, service: ChromeService) -> None:
        self._driver = driver
        self._service = service
        is_shell = driver.capabilities["browserName"] == "chrome-headless-shell"
        self.version = f"{driver.capabilities['browserVersion']}{' headless shell' * is_shell}"
        self.process_session: int = service.process.pid

    def renew(self) -> None:
        with translated():
            old = self._driver.window_handles
            self._driver.switch_to.new_window("tab")
            new = self._driver.current_window_handle
            for handle in old:
                self._driver.switch_to.window(handle)
                self._driver.close()
            self._driver.switch_to.window(new)
        self.send("Network.clearBrowserCookies", {})
        self.send("Network.clearBrowserCache", {})
        self.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
        self.send("Browser.setDownloadBehavior", {"behavior": "deny"})

    def post(self, method: str, parameters: dict[str, Any]) -> None:
        # The driver's only command that does not wait is a navigation with the strategy `none`.
        if method != "Page.navigate":
            raise ValueError(method)
        with translated():
            self._driver.get(parameters["url"])

    def send(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        with translated():
            result: dict[str, Any] = self._driver.execute_cdp_cmd(method, parameters)
        return result

    def take_events(self) -> list[tuple[str, dict[str, Any]]]:
        with translated():
            entries = self._driver.get_log("performance")  # type: ignore[no-untyped-call,unused-ignore]
            lines = self._driver.get_log("browser")  # type: ignore[no-untyped-call,unused-ignore]
        messages = (json.loads(entry["message"])["message"] for entry in entries)
        events = [
            (entry["method"], entry["params"])
            for entry in messages
            if entry["method"] in OF_CHROMIUM
        ]
        return [*events, *(as_event(line) for line in lines)]

    def close(self) -> None:
        quit_driver(self._driver, self._service)


def as_event(line: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The event behind a line of the driver's browser log.

    The performance log has no events of Runtime and Log.  `message` of a console line is
    `URL LINE:COLUMN "TEXT"`.
    """
    text = str(line.get("message", ""))
    if line.get("source") == "console-api":
        quoted = text[text.find('"') :]
        try:
            said = json.loads(quoted)
        except ValueError:
            said = text
        kind = {"SEVERE": "error", "DEBUG": "debug"}.get(str(line.get("level")), "log")
        return "Runtime.consoleAPICalled", {"type": kind, "args": [{"value": said}]}
    level = "error" if line.get("level") == "SEVERE" else "info"
    source = str(line.get("source", "other"))
    return "Log.entryAdded", {"entry": {"level": level, "source": source, "text": text}}


def open_chromium(
    installed: Installed, scratch: Path, proxy: Proxy, viewport: Viewport
) -> ChromiumTab:
    """Start it; raises BrowserGone."""
    options = ChromeOptions()
    options.binary_location = str(installed.program)
    options.page_load_strategy = "none"
    options.unhandled_prompt_behavior = "dismiss"
    # The driver makes the profile, in TMPDIR: with one of ours the shell opens no page.
    for flag in flags(proxy, viewport):
        options.add_argument(flag)
    options.add_experimental_option("prefs", _PREFERENCES)
    # The driver adds this flag; with it a page could open any number of tabs.
    options.add_experimental_option("excludeSwitches", ["disable-popup-blocking"])
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    if installed.driver is None:
        raise ConfigError("chromium needs chromedriver; install it with `make browsers`")
    wrapper = wrapped(installed.driver, scratch, {"TMPDIR": str(scratch)})
    service = ChromeService(executable_path=wrapper, popen_kw=dict(POPEN))
    with starting(service):
        driver = Chrome(options=options, service=service)
    return ChromiumTab(DrivenChromium(driver, service), viewport)
