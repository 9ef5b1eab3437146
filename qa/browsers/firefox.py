"""Firefox by Selenium and geckodriver; pages by WebDriver BiDi.

A page gets a user context of its own (a "container"), which shares no storage with others.
"""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pinakes.errors import ConfigError
from pinakes.qa.browsers.browser_list import Installed
from pinakes.qa.browsers.driven import POPEN, quit_driver, starting, translated, wrapped
from pinakes.qa.browsers.page_events import OF_FIREFOX, FirefoxFold
from pinakes.qa.browsers.selenium_extra import (
    Firefox,
    FirefoxOptions,
    FirefoxService,
    command_builder,
)
from pinakes.qa.browsers.tab import PageEvents, PageRefused, Proxy, Viewport, profile_folder

# How often Selenium polls for an answer.
_POLL_S = 0.005
_SANDBOX = "pinakes"


# Chromium's, in every script: by default Firefox has 12 for most, and sans-serif for Japanese.
_MONOSPACE_PX = 13
_SCRIPTS = (
    "ar", "el", "he", "ja", "ko", "th", "x-armn", "x-beng", "x-cans", "x-cyrillic", "x-devanagari",
    "x-ethi", "x-geor", "x-gujr", "x-guru", "x-khmr", "x-knda", "x-math", "x-mlym", "x-orya",
    "x-sinh", "x-tamil", "x-telu", "x-tibt", "x-unicode", "x-western", "zh-CN", "zh-HK", "zh-TW",
)  # fmt: skip


def preferences(proxy: Proxy) -> dict[str, str | int | bool]:
    """Preferences: only through the proxy, no requests of its own, no animations."""
    return {
        **{f"font.size.monospace.{script}": _MONOSPACE_PX for script in _SCRIPTS},
        **{f"font.default.{script}": "serif" for script in _SCRIPTS},
        "network.proxy.type": 1,
        "network.proxy.http": proxy.host,
        "network.proxy.http_port": proxy.port,
        "network.proxy.ssl": proxy.host,
        "network.proxy.ssl_port": proxy.port,
        "network.proxy.no_proxies_on": "",
        "network.proxy.allow_hijacking_localhost": True,
        # Its own requests would bypass a proxy that does not answer.
        "network.proxy.failover_direct": False,
        "network.dns.disablePrefetch": True,
        "network.prefetch-next": False,
        "network.predictor.enabled": False,
        "network.http.speculative-parallel-limit": 0,
        "network.trr.mode": 5,
        "network.captive-portal-service.enabled": False,
        "network.connectivity-service.enabled": False,
        "network.http.http3.enable": False,
        "network.webtransport.enabled": False,
        "media.peerconnection.enabled": False,
        "dom.security.https_first": False,
        "dom.security.https_only_mode": False,
        "dom.serviceWorkers.enabled": False,
        "dom.push.enabled": False,
        "dom.disable_open_during_load": True,
        "dom.disable_beforeunload": True,
        "browser.cache.disk.enable": False,
        "browser.cache.memory.enable": False,
        "browser.safebrowsing.malware.enabled": False,
        "browser.safebrowsing.phishing.enabled": False,
        "browser.safebrowsing.downloads.enabled": False,
        "browser.safebrowsing.update.enabled": False,
        "browser.region.update.enabled": False,
        "browser.search.update": False,
        "browser.newtabpage.enabled": False,
        "browser.startup.page": 0,
        "browser.aboutHomeSnippets.updateUrl": "",
        "browser.tabs.warnOnClose": False,
        "browser.download.start_downloads_in_tmp_dir": True,
        "app.normandy.enabled": False,
        "app.update.enabled": False,
        "datareporting.policy.dataSubmissionEnabled": False,
        "toolkit.telemetry.enabled": False,
        "extensions.update.enabled": False,
        "extensions.getAddons.cache.enabled": False,
        "services.settings.server": "data:,#remote-settings-dummy/v1",
        "pdfjs.disabled": True,
        "media.autoplay.default": 5,
        "media.volume_scale": "0.0",
        "intl.accept_languages": "en-US, en",
        "ui.prefersReducedMotion": 1,
        "ui.caretBlinkTime": 0,
        "image.animation_mode": "none",
        "toolkit.cosmeticAnimations.enabled": False,
        # As Chromium with an sRGB screen: what says which colours it has is shown in these.
        "gfx.color_management.mode": 2,
        "gfx.color_management.force_srgb": True,
        "ui.useOverlayScrollbars": 1,
        "widget.gtk.overlay-scrollbars.enabled": True,
        # Else rules for ::-webkit-scrollbar bring back scroll bars that take room.
        "layout.css.fake-webkit-scrollbar.enabled": False,
        # The fonts that Chromium uses where a page names none.
        "font.name.serif.x-western": "Liberation Serif",
        "font.name.sans-serif.x-western": "Liberation Sans",
        "font.name.monospace.x-western": "Liberation Mono",
        "dom.ipc.processCount": 2,
        "dom.ipc.processPrelaunch.enabled": False,
    }


class FirefoxTab:
    """A `Tab` by BiDi."""

    can_pin = True

    def __init__(self, driver: Firefox, service: FirefoxService, viewport: Viewport) -> None:
        self.version = str(driver.capabilities["browserVersion"])
        self.process_session: int = service.process.pid
        self._driver = driver
        self._service = service
        self._viewport = viewport
        self._user_context: str | None = None
        self._context = ""
        self._lock = threading.Lock()
        self._fold = FirefoxFold("")
        with starting(service):
            self._do("session.subscribe", {"events": sorted(OF_FIREFOX)})
            for name in OF_FIREFOX:
                self._listen(name)

    def begin(self, pins: str) -> None:
        if self._user_context is not None:
            self._do("browser.removeUserContext", {"userContext": self._user_context})
            self._user_context = None
        self._user_context = self._do("browser.createUserContext", {})["userContext"]
        self._do("browser.setDownloadBehavior", {"downloadBehavior": {"type": "denied"}})
        tab = {"type": "tab", "userContext": self._user_context}
        self._context = self._do("browsingContext.create", tab)["context"]
        with self._lock:
            self._fold = FirefoxFold(self._context)
        size = {"width": self._viewport.width, "height": self._viewport.height}
        self._do(
            "browsingContext.setViewport",
            {"context": self._context, "viewport": size, "devicePixelRatio": 1},
        )
        self._do(
            "script.addPreloadScript",
            {"functionDeclaration": f"() => {{ {pins} }}", "contexts": [self._context]},
        )

    def go(self, url: str) -> None:
        self._do("browsingContext.navigate", {"context": self._context, "url": url, "wait": "none"})

    def run(self, function: str, *arguments: object) -> Any:
        """In a sandbox, which the page's scripts cannot reach."""
        words = ",".join(json.dumps(argument) for argument in arguments)
        result = self._do(
            "script.callFunction",
            {
                "functionDeclaration": f"async () => JSON.stringify(await ({function})({words}))",
                "awaitPromise": True,
                "target": {"context": self._context, "sandbox": _SANDBOX},
            },
        )
        if result.get("type") != "success":
            raise PageRefused(str(result.get("exceptionDetails", {}).get("text"))[:300])
        value = result["result"]
        return json.loads(value["value"]) if value.get("type") == "string" else None

    def shoot(self, width: int, height: int) -> bytes:
        clip = {"type": "box", "x": 0, "y": 0, "width": width, "height": height}
        shot = {"context": self._context, "origin": "document", "clip": clip}
        return base64.b64decode(self._do("browsingContext.captureScreenshot", shot)["data"])

    def events(self) -> PageEvents:
        with self._lock:
            return self._fold.result()

    def close(self) -> None:
        quit_driver(self._driver, self._service)

    def _do(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        with translated():
            command: Any = command_builder(method, parameters)
            result: dict[str, Any] = self._driver.execute(command)
        return result

    def _listen(self, name: str) -> None:
        def take(parameters: dict[str, Any]) -> None:
            with self._lock:
                self._fold.take(name, parameters)

        connection: Any = self._driver._websocket_connection
        connection.add_callback(_Named(name), take)


class _Named:
    """An event as Selenium needs it: its name, and how its parameters are read."""

    def __init__(self, name: str) -> None:
        self.event_class = name
        self.from_json: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict


def open_firefox(
    installed: Installed, scratch: Path, proxy: Proxy, viewport: Viewport
) -> FirefoxTab:
    """Start it; raises BrowserGone."""
    options = FirefoxOptions()
    options.binary_location = str(installed.program)
    options.page_load_strategy = "none"
    options.accept_insecure_certs = True  # see Proxy
    options.unhandled_prompt_behavior = "dismiss"
    options.set_capability("webSocketUrl", True)
    options.add_argument("-headless")
    for name, value in preferences(proxy).items():
        options.set_preference(name, value)
    # Without these `services.settings.server` is ignored; all browsers have the same time zone.
    environment = {
        "MOZ_REMOTE_SETTINGS_DEVTOOLS": "1",
        "TZ": "UTC",
        "TMPDIR": str(scratch),
        # The size of the screen, which is Chromium's.
        "MOZ_HEADLESS_WIDTH": str(viewport.width),
        "MOZ_HEADLESS_HEIGHT": str(viewport.height),
    }
    if installed.driver is None:
        raise ConfigError("firefox needs geckodriver; install it with `make browsers`")
    service = FirefoxService(
        executable_path=wrapped(installed.driver, scratch, environment),
        service_args=["--profile-root", str(profile_folder(scratch))],
        popen_kw=dict(POPEN),
    )
    with starting(service):
        driver = Firefox(options=options, service=service)
        executor: Any = driver.command_executor
        executor.client_config.websocket_interval = _POLL_S
    return FirefoxTab(driver, service, viewport)
