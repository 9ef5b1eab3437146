"""The page of `pinakes qa review` in a real browser, as one reviewer sees it.

To be imported behind `pytest.importorskip("selenium")`.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from review_process import Serving
from selenium.webdriver import ActionChains, Chrome, ChromeOptions, Firefox, FirefoxOptions
from selenium.webdriver.chrome.service import Service as ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.firefox.service import Service as FirefoxService
from selenium.webdriver.support.ui import WebDriverWait

from pinakes.config import user_folder
from pinakes.errors import ConfigError
from pinakes.qa.browsers.browser_list import browser_named, installed

TIMEOUT_S = 60


@contextmanager
def chromium() -> Iterator[Chrome]:
    """Chromium of Debian, without a screen; skips without it."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program}: apt-get install chromium chromium-driver")
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage",
                 "no-first-run", "window-size=1280,800"):  # fmt: skip
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = Chrome(options=options, service=ChromeService(shutil.which("chromedriver")))
    made.set_page_load_timeout(TIMEOUT_S)
    try:
        yield made
    finally:
        made.quit()


@contextmanager
def firefox() -> Iterator[Firefox]:
    """Firefox ESR, without a screen."""
    try:
        found = installed(browser_named("firefox"), user_folder("cache") / "browsers")
    except ConfigError as error:
        pytest.skip(str(error))
    options = FirefoxOptions()
    options.binary_location = str(found.program)
    options.add_argument("-headless")
    options.set_capability("webSocketUrl", True)
    made = Firefox(options=options, service=FirefoxService(str(found.driver)))
    made.set_page_load_timeout(TIMEOUT_S)
    try:
        yield made
    finally:
        made.quit()


OPENERS = {"chromium": chromium, "firefox": firefox}
"""Browsers by name."""


class Page:
    """The review as one reviewer sees it, in a browser of their own."""

    def __init__(self, driver: Chrome | Firefox, server: Serving) -> None:
        self.driver = driver
        self.server = server

    def open(self, name: str | None = None, query: str = "", *, onward: bool = False) -> None:
        """As on the first day: nobody has given a name.  `onward`: a verdict goes on by itself."""
        driver = self.driver
        driver.get(f"{self.server.address}review.css")  # of this origin, without our script
        driver.execute_script("localStorage.clear(); sessionStorage.clear()")
        if not onward:
            driver.execute_script("localStorage.setItem('pinakes-review-onward', 'off')")
        driver.get(f"{self.server.address}{query}#token={self.server.token}")
        self.until(lambda: self.js("return document.body.dataset.ready"))
        if name is not None:
            self.find("#name").send_keys(name, Keys.ENTER)
            self.until(lambda: self.text("#go-name").startswith(name) and self.shown())

    def until(self, look: Callable[[], Any]) -> Any:
        return WebDriverWait(self.driver, TIMEOUT_S, poll_frequency=0.05).until(lambda _: look())

    def js(self, script: str, *arguments: Any) -> Any:
        """What a script returns, among the names of the page's own scripts."""
        if isinstance(self.driver, Chrome):
            return self.driver.execute_script(script, *arguments)
        # Firefox runs scripts of WebDriver in a sandbox, which has no `let` of the page.
        found = self.driver.script.execute(
            "(...given) => JSON.stringify("
            f"(function () {{ {script}\n }}).apply(null, given) ?? null)",
            *arguments,
        )
        return json.loads(found["value"])

    def find(self, css: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def all(self, css: str) -> list[Any]:
        return self.driver.find_elements(By.CSS_SELECTOR, css)

    def text(self, css: str) -> str:
        return str(self.js("return document.querySelector(arguments[0]).textContent", css))

    def keys(self, *keys: str) -> None:
        for key in keys:
            ActionChains(self.driver).send_keys(key).perform()

    def shown(self) -> str:
        """The id of the pair that is shown, once all of it is."""
        return str(self.js("return pair && place.pair === pair.id ? pair.id : ''"))

    def on_to(self, key: str) -> str:
        """To another pair; its id."""
        before = self.shown()
        self.keys(key)
        return str(self.until(lambda: (now := self.shown()) != before and now))

    def saved(self) -> str:
        self.until(
            lambda: self.text("#saved").startswith("Saved") and not self.js("return pending.size")
        )
        return self.text("#saved")

    def pressed(self) -> str:
        found = self.all("#judging [data-label][aria-pressed=true]")
        return str(found[0].get_attribute("data-label")) if found else ""

    def faults(self) -> list[str]:
        return [box.get_attribute("value") for box in self.all("#faults input:checked")]
