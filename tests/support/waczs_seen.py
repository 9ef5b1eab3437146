"""A WACZ file in ReplayWeb.page, as it comes, in a real browser: what its frames show."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from shutil import which
from urllib.parse import quote, urlsplit

import pytest
from range_server import Handler, RangeServer, serving

from bench.peers import pins

pytest.importorskip("selenium", reason="the extra qa is not here: make dev-qa")

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

TIMEOUT_S = 120
_FRAMES = """
const found = [];
const walk = (root) => {
  for (const element of root.querySelectorAll("*")) {
    if (element.shadowRoot) walk(element.shadowRoot);
    if (element.tagName === "IFRAME" && element.contentDocument) {
      const text = element.contentDocument.body?.textContent ?? "";
      found.push([element.contentWindow.location.href, text]);
      walk(element.contentDocument);
    }
  }
};
walk(document);
return found;
"""


@contextmanager
def browser() -> Iterator[Chrome]:
    """Chromium; skips without it."""
    for program in ("chromium", "chromedriver"):
        if which(program) is None:
            pytest.skip(f"there is no {program}: apt-get install chromium chromium-driver")
    options = ChromeOptions()
    options.binary_location = which("chromium") or ""
    for flag in ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "no-first-run"):
        options.add_argument(f"--{flag}")
    made = Chrome(options=options, service=Service(which("chromedriver")))
    made.set_page_load_timeout(TIMEOUT_S)
    try:
        yield made
    finally:
        made.quit()


@contextmanager
def viewer(files: Mapping[str, bytes]) -> Iterator[str]:
    """The address of ReplayWeb.page, with these files beside it; skips if it is not installed."""
    folder = pins.replaywebpage()
    if not folder.is_dir():
        pytest.skip("ReplayWeb.page is not installed: `make tools` does it")
    own = {name: (folder / name).read_bytes() for name in ("index.html", "ui.js", "sw.js")}

    def behave(_: int, handler: Handler) -> bool:
        """A script has to be given out as one; the rest is asked for by ranges."""
        handler.path = urlsplit(handler.path).path
        name = handler.path.lstrip("/")
        if name not in own:
            return False
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        handler.answer(200, own[name], {"Content-Type": kind})
        return True

    with serving({**own, **files}) as server:
        server.behave = behave
        yield server.url


def shown(driver: Chrome, address: str, wacz: str, url: str, time: str, text: str) -> str:
    """The address of the frame that shows the text, once one does: of a page in a WACZ file."""
    place = f"{address}/{wacz}"
    view = f"#view=pages&url={quote(url, safe='')}&ts={time}"
    driver.get("about:blank")
    driver.get(f"{address}/index.html?source={quote(place, safe='')}{view}")

    def look(_: object) -> str | None:
        frames = driver.execute_script(_FRAMES)
        return next((href for href, content in frames if text in content), None)

    return str(WebDriverWait(driver, TIMEOUT_S, poll_frequency=0.2).until(look))


__all__ = ["RangeServer", "browser", "shown", "viewer"]
