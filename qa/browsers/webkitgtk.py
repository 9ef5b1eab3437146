"""WebKitGTK's MiniBrowser by Selenium and WebKitWebDriver, in an X server of its own.

Classic WebDriver has neither events nor scripts that run before the page's: clock and random
numbers are not pinned, statuses come from the proxy's log alone, alerts are dismissed unseen,
and a page that prints itself hangs in a dialogue until it is cut off.  The image is taken in a
window as high as the page, so fixed elements are where that window has them.
Each page gets a new browser: there is no other way to clear its storage.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from pinakes.errors import ConfigError
from pinakes.qa.browsers.browser_list import Installed
from pinakes.qa.browsers.driven import POPEN, end, starting, translated, wrapped
from pinakes.qa.browsers.selenium_extra import WebKitGTK, WebKitOptions, WebKitService
from pinakes.qa.browsers.tab import PageEvents, PageRefused, Proxy, Viewport

# Room for the highest image and the window's frame.
_SCREEN = "1600x4600x24"
_TIMEOUT_S = 60  # the limit per page ends a browser that hangs much sooner
_ASYNC = "const done = arguments[arguments.length - 1];"
# A window is black for a moment after it has grown.
_PAINTED = """() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 150))))"""
_FOLDERS = ("TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")


class WebKitTab:
    """A `Tab` by classic WebDriver."""

    can_pin = False

    def __init__(self, service: WebKitService, options: WebKitOptions, viewport: Viewport) -> None:
        self._service = service
        self._options = options
        self._viewport = viewport
        self._driver = self._first()
        self.version = str(self._driver.capabilities["browserVersion"])
        self.process_session: int = service.process.pid

    def begin(self, pins: str) -> None:
        del pins  # see can_pin
        with translated():
            used = self._driver.current_url != "about:blank"
        if used:
            self._renew()
        self._size(self._viewport.height)

    def go(self, url: str) -> None:
        with translated():
            self._driver.set_script_timeout(_TIMEOUT_S)
            self._driver.get(url)

    def run(self, function: str, *arguments: object) -> Any:
        words = "".join(f"arguments[{number}]," for number in range(len(arguments)))
        # In the page's own world, where Prototype.js, for example, changes how arrays become JSON.
        script = f"""{_ASYNC}
            for (const kind of [Array, Object, String]) delete kind.prototype.toJSON;
            (async () => ({function})({words}))().then(
            (value) => done({{ value }}), (error) => done({{ error: String(error) }}));"""
        with translated():
            answer = self._driver.execute_async_script(script, *arguments)
        if not isinstance(answer, dict) or "error" in answer:
            raise PageRefused(str(answer)[:300])
        return answer.get("value")

    def shoot(self, width: int, height: int) -> bytes:
        del width  # the window has it
        self._size(height)
        self.run(_PAINTED)
        with translated():
            png: bytes = self._driver.get_screenshot_as_png()
        self._size(self._viewport.height)
        return png

    def events(self) -> PageEvents:
        return PageEvents()

    def close(self) -> None:
        end(self._service)

    def _first(self) -> Any:
        with starting(self._service):
            return WebKitGTK(options=self._options, service=self._service)

    def _renew(self) -> None:
        with starting(self._service):
            self._driver.execute("quit")
            self._driver.start_session(self._options.to_capabilities())

    def _size(self, height: int) -> None:
        """Resize the window so that the page has the viewport's width and this height."""
        with translated():
            for _ in range(3):
                window = self._driver.get_window_size()
                inner = self._driver.execute_script("return [innerWidth, innerHeight]")
                if inner == [self._viewport.width, height]:
                    return
                self._driver.set_window_size(
                    window["width"] + self._viewport.width - inner[0],
                    window["height"] + height - inner[1],
                )


def open_webkitgtk(
    installed: Installed, scratch: Path, proxy: Proxy, viewport: Viewport
) -> WebKitTab:
    """Start it; raises BrowserGone, and ConfigError where D-Bus is missing."""
    bus = shutil.which("dbus-run-session")
    if bus is None or installed.driver is None:
        raise ConfigError("webkitgtk needs dbus-run-session; install it with `make browsers`")
    environment = {
        **dict.fromkeys(_FOLDERS, str(scratch)),
        "GDK_BACKEND": "x11",
        "NO_AT_BRIDGE": "1",
        "TZ": "UTC",
    }
    screen = [str(installed.program), "-a", "-s", f"-screen 0 {_SCREEN}", bus, "--"]
    wrapper = wrapped(installed.driver, scratch, environment, screen)
    options = WebKitOptions()
    options.page_load_strategy = "none"
    options.accept_insecure_certs = True  # see tab.Proxy
    options.unhandled_prompt_behavior = "dismiss"
    options.binary_location = str(_mini_browser())
    # Not with WebDriver's `proxy`: for https it would speak TLS to the proxy itself.
    options.add_argument("--automation")
    options.add_argument(f"--proxy=http://{proxy}")
    service = WebKitService(executable_path=wrapper, popen_kw=dict(POPEN))
    return WebKitTab(service, options, viewport)


def _mini_browser() -> Path:
    for place in sorted(Path("/usr/lib").glob("*/webkit2gtk-4*/MiniBrowser"), reverse=True):
        return place
    raise ConfigError(
        "webkitgtk needs MiniBrowser of libwebkit2gtk; install it with `make browsers`"
    )
