"""Chromium of any version, by the Chrome DevTools protocol; the transport is a port.

`PipedChromium` starts the browser and uses pipes, for versions that no chromedriver matches;
`chromium_driver` uses Selenium and chromedriver.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any, Protocol

from pinakes.qa.browsers.devtools_pipe import DevToolsPipe
from pinakes.qa.browsers.page_events import OF_CHROMIUM, ChromiumFold
from pinakes.qa.browsers.processes import kill_session
from pinakes.qa.browsers.tab import (
    BrowserGone,
    PageEvents,
    PageRefused,
    Proxy,
    Viewport,
    profile_folder,
)

_TIMEOUT_S = 60.0  # the limit per page ends a browser that hangs much sooner
_BLANK = "about:blank"


def flags(proxy: Proxy, viewport: Viewport) -> list[str]:
    """Flags of every Chromium: runs as root in a container, quiet, and only through the proxy."""
    disabled = (
        # Frames of other sites stay in the page's process, where scripts and clocks reach them.
        "IsolateOrigins,site-per-process,"
        # URLs are requested as written: http is not upgraded to https.
        "HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,"
        # No requests of its own: time, search engines, accounts.
        "NetworkTimeServiceQuerying,OptimizationGuideModelDownloading,CertificateTransparencyComponentUpdater,"
        "Translate,MediaRouter,OptimizationHints,InterestFeedContentSuggestions"
    )
    return [
        *("--headless", "--no-sandbox", "--no-zygote", "--disable-gpu", "--disable-dev-shm-usage"),
        *("--disable-quic", "--no-first-run", "--no-default-browser-check", "--disable-sync"),
        *("--disable-background-networking", "--disable-component-update", "--disable-extensions"),
        *(
            "--disable-default-apps",
            "--disable-domain-reliability",
            "--disable-client-side-phishing-detection",
        ),
        *("--disable-breakpad", "--disable-crash-reporter", "--metrics-recording-only"),
        *("--disable-site-isolation-trials", f"--disable-features={disabled}"),
        *("--hide-scrollbars", "--mute-audio", "--force-color-profile=srgb", "--lang=en-US"),
        *("--font-render-hinting=none", "--disable-lcd-text", "--force-prefers-reduced-motion"),
        "--autoplay-policy=user-gesture-required",
        *("--disable-background-timer-throttling", "--disable-renderer-backgrounding"),
        f"--window-size={viewport.width},{viewport.height}",
        # Loopback goes to the proxy as well, and no host name is resolved.
        *(f"--proxy-server=http://{proxy}", "--proxy-bypass-list=<-loopback>"),
        f"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE {proxy.host}",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--ignore-certificate-errors",  # see Proxy
        "--block-new-web-contents",  # the headless shell has no popup blocker
    ]


class DevTools(Protocol):
    """One page's commands and events; raise BrowserGone and PageRefused."""

    version: str
    process_session: int

    def renew(self) -> None:
        """Open a blank page with storage of its own."""

    def post(self, method: str, parameters: dict[str, Any]) -> None: ...

    def send(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]: ...

    def take_events(self) -> list[tuple[str, dict[str, Any]]]: ...

    def close(self) -> None: ...


class ChromiumTab:
    """A `Tab` over `DevTools`."""

    can_pin = True

    def __init__(self, devtools: DevTools, viewport: Viewport) -> None:
        self.version = devtools.version
        self.process_session = devtools.process_session
        self._devtools = devtools
        self._viewport = viewport
        self._fold = ChromiumFold()

    def begin(self, pins: str) -> None:
        self._devtools.renew()
        self._devtools.take_events()
        self._fold = ChromiumFold()
        send = self._devtools.send
        for domain in ("Page", "Network", "Runtime", "Log"):
            send(f"{domain}.enable", {})
        size = {"width": self._viewport.width, "height": self._viewport.height}
        screen = {"screenWidth": self._viewport.width, "screenHeight": self._viewport.height}
        metrics = {**size, **screen, "deviceScaleFactor": 1, "mobile": False}
        send("Emulation.setDeviceMetricsOverride", metrics)
        # Fields with `autofocus` have the focus, as in Firefox.
        send("Emulation.setFocusEmulationEnabled", {"enabled": True})
        motion = [{"name": "prefers-reduced-motion", "value": "reduce"}]
        send("Emulation.setEmulatedMedia", {"features": motion})
        send("Emulation.setTimezoneOverride", {"timezoneId": "UTC"})
        send("Network.setCacheDisabled", {"cacheDisabled": True})
        send("Network.setBypassServiceWorker", {"bypass": True})
        send("Page.addScriptToEvaluateOnNewDocument", {"source": pins})

    def go(self, url: str) -> None:
        self._devtools.post("Page.navigate", {"url": url})

    def run(self, function: str, *arguments: object) -> Any:
        """In an isolated world: Prototype.js, for example, changes how arrays become JSON."""
        frame = self._devtools.send("Page.getFrameTree", {})["frameTree"]["frame"]["id"]
        world = {"frameId": frame, "worldName": "pinakes"}
        context = self._devtools.send("Page.createIsolatedWorld", world)["executionContextId"]
        words = ",".join(json.dumps(argument) for argument in arguments)
        result = self._devtools.send(
            "Runtime.evaluate",
            {
                "expression": f"({function})({words})",
                "contextId": context,
                "awaitPromise": True,
                "returnByValue": True,
            },
        )
        if "exceptionDetails" in result:
            raise PageRefused(str(result["exceptionDetails"].get("exception", {}))[:500])
        return result["result"].get("value")

    def shoot(self, width: int, height: int) -> bytes:
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        beyond = not self._is_in_view(width, height)  # what is, is not drawn again
        shot = {"format": "png", "clip": clip, "captureBeyondViewport": beyond}
        # The same pixels, compressed faster, an eighth larger; older browsers ignore it.
        shot["optimizeForSpeed"] = True
        return base64.b64decode(self._devtools.send("Page.captureScreenshot", shot)["data"])

    def _is_in_view(self, width: int, height: int) -> bool:
        """Whether this much of the page, from its top left, is in the viewport."""
        if width > self._viewport.width or height > self._viewport.height:
            return False
        view = self._devtools.send("Page.getLayoutMetrics", {}).get("cssVisualViewport", {})
        return (view.get("pageX"), view.get("pageY"), view.get("scale")) == (0, 0, 1)

    def events(self) -> PageEvents:
        self._fold.take(self._devtools.take_events())
        return self._fold.result()

    def close(self) -> None:
        self._devtools.close()


class PipedChromium:
    """`DevTools` of a browser started here; each page in a browser context of its own."""

    def __init__(self, program: Path, scratch: Path, proxy: Proxy, viewport: Viewport) -> None:
        command = [
            *("env", f"TMPDIR={scratch}", str(program)),
            *flags(proxy, viewport),
            f"--user-data-dir={profile_folder(scratch)}",
            "--remote-debugging-pipe",
        ]
        self._pipe = DevToolsPipe(command, keep=OF_CHROMIUM)
        self.process_session = self._pipe.process.pid
        self._context: str | None = None
        self._session: str | None = None
        try:
            product = self._ask("Browser.getVersion", {})["product"]
        except (BrowserGone, PageRefused):
            self.close()
            raise
        self.version = product.partition("/")[2]

    def renew(self) -> None:
        if self._context is not None:
            self._ask("Target.disposeBrowserContext", {"browserContextId": self._context})
        self._context = self._ask("Target.createBrowserContext", {})["browserContextId"]
        context = {"browserContextId": self._context}
        self._ask("Browser.setDownloadBehavior", {"behavior": "deny", **context})
        target = self._ask("Target.createTarget", {"url": _BLANK, **context})["targetId"]
        attached = self._ask("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = attached["sessionId"]

    def post(self, method: str, parameters: dict[str, Any]) -> None:
        self._pipe.post(method, parameters, self._session)

    def send(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        return self._pipe.send(method, parameters, self._session, timeout_s=_TIMEOUT_S)

    def take_events(self) -> list[tuple[str, dict[str, Any]]]:
        taken = self._pipe.take_events()
        return [(method, entry) for session, method, entry in taken if session == self._session]

    def close(self) -> None:
        self._pipe.close()
        kill_session(self.process_session)
        self._pipe.process.wait()

    def _ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        return self._pipe.send(method, parameters, None, timeout_s=_TIMEOUT_S)
