"""The pages in real browsers: by keyboard, on a phone, in both palettes, without a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from landed_stores import LandedStore, page, revisit
from served_sites import served

from pinakes.access.asgi_site import AsgiSite
from pinakes.access.readable import ReadableCaptures
from pinakes.access.site import HEADERS, Site
from pinakes.access.views import Views
from pinakes.config import user_folder

pytest.importorskip("selenium", reason="the extra qa is not here: make dev-qa")

from selenium.webdriver import ActionChains, Chrome, ChromeOptions, Firefox, FirefoxOptions
from selenium.webdriver.chrome.service import Service as ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.firefox.service import Service as FirefoxService
from selenium.webdriver.support.ui import WebDriverWait

pytestmark = pytest.mark.slow
TIMEOUT_S = 60
URL = "http://a.example/page"
EVIL = 'http://evil.example/"><script>document.title="run"</script><img src=x onerror=alert(1)>'
WIDE, PHONE = 1280, 320

# Text whose colour is too near to what is behind it: WCAG 2.2, contrast (minimum).
FAINT = """
const luminance = (colour) => {
  const [r, g, b] = colour.match(/[\\d.]+/g).map(Number).map((part) => {
    part /= 255;
    return part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4;
  });
  return .2126 * r + .7152 * g + .0722 * b;
};
const behind = (element) => {
  for (; element; element = element.parentElement) {
    const colour = getComputedStyle(element).backgroundColor;
    if (colour !== "rgba(0, 0, 0, 0)" && colour !== "transparent") return colour;
  }
  return "rgb(255, 255, 255)";
};
const faint = [];
for (const element of document.body.querySelectorAll("*")) {
  const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  if (!own || !element.getClientRects().length) continue;
  const [a, b] = [luminance(getComputedStyle(element).color), luminance(behind(element))];
  const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (contrast < 4.5) faint.push(`${element.outerHTML.slice(0, 80)}: ${contrast.toFixed(2)}`);
}
return faint;
"""


class Browser:
    """A browser of either kind, at one address."""

    def __init__(self, driver: Any, address: str) -> None:
        self.driver = driver
        self.address = address

    def open(self, path: str) -> None:
        self.driver.get(self.address + path)

    def resize(self, width: int) -> None:
        """The page as wide as this, which a window cannot always be."""
        if isinstance(self.driver, Chrome):
            size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        else:
            context = self.driver.current_window_handle
            size = {"width": width, "height": 800}
            self.driver.browsing_context.set_viewport(context=context, viewport=size)

    def js(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, css: str) -> Any:
        return self.driver.find_element(By.CSS_SELECTOR, css)

    def keys(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()

    def focused(self) -> Any:
        return self.driver.switch_to.active_element

    def until(self, look: Callable[[], Any]) -> Any:
        return WebDriverWait(self.driver, TIMEOUT_S, poll_frequency=0.05).until(lambda _: look())


def chromium(dark: bool) -> Chrome:
    for program in ("chromium", "chromedriver"):
        if which(program) is None:
            pytest.skip(f"there is no {program}: apt-get install chromium chromium-driver")
    options = ChromeOptions()
    options.binary_location = which("chromium") or ""
    for flag in ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "no-first-run"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=ChromeService(which("chromedriver")))
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    return driver


def firefox(dark: bool) -> Firefox:
    driver = user_folder("cache") / "browsers" / "bin" / "geckodriver"
    found = which("geckodriver") or (str(driver) if driver.exists() else None)
    program = which("firefox-esr") or which("firefox")
    if found is None or program is None:
        pytest.skip("there is no Firefox with geckodriver: make browsers")
    options = FirefoxOptions()
    options.binary_location = program
    options.add_argument("-headless")
    options.set_capability("webSocketUrl", True)
    options.set_preference("layout.css.prefers-color-scheme.content-override", int(not dark))
    return Firefox(options=options, service=FirefoxService(found))


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    store = LandedStore(Path(tmp_path_factory.mktemp("pages")) / "store")
    first, second = "2020-01-02T03:04:05Z", "2020-02-02T03:04:05Z"
    long = "http://a.example/" + "long" * 300
    store.land("one", "a.warc.gz", page(URL, date=first), page(EVIL), page(long), b"no record")
    store.land("two", "b.warc.gz", revisit(URL, second, URL, first), collection="news")
    views = Views(store.rows, store.archive)
    pages = Site(views, ReadableCaptures(store.rows, store.archive))
    with served(AsgiSite(pages, hosts=None, headers=HEADERS)) as (host, port):
        yield f"http://{host}:{port}"
    views.close()
    store.close()


@pytest.fixture(
    scope="module",
    params=["chromium-light", *(
        pytest.param(name, marks=pytest.mark.browsers)
        for name in ("chromium-dark", "firefox-light", "firefox-dark")
    )],
)  # fmt: skip
def browser(request: pytest.FixtureRequest, address: str) -> Iterator[Browser]:
    kind, _, scheme = str(request.param).partition("-")
    driver = {"chromium": chromium, "firefox": firefox}[kind](scheme == "dark")
    driver.set_page_load_timeout(TIMEOUT_S)
    yield Browser(driver, address)
    driver.quit()


def paths(browser: Browser) -> list[str]:
    """Every kind of page, followed from the list of all URLs."""
    found = ["/", "/landing?refresh=off", "/search", "/search?q=no+url", "/nowhere", "/search?q=*"]
    browser.open("/search?q=*")
    links = browser.js("return [...document.querySelectorAll('th a')].map((a) => a.href)")
    assert len(links) == 3
    for link in links:
        found.append(link.removeprefix(browser.address))
        browser.open(found[-1])
        capture = browser.find("#list ~ .wide th a").get_attribute("href")
        found.append(capture.removeprefix(browser.address))
    return found


def test_pages_fit_a_phone_and_can_be_read(browser: Browser) -> None:
    looked_at = paths(browser)
    for width in (PHONE, WIDE):
        browser.resize(width)
        for path in looked_at:
            browser.open(path)
            assert browser.js("return innerWidth") == width
            assert browser.js("return document.documentElement.scrollWidth") <= width, path
            assert browser.js(FAINT) == [], path
            assert browser.js("return document.title.endsWith(' · Pinakes')"), path
            # What scrolls sideways can be reached by keyboard, and has a name.
            assert browser.js(
                "return [...document.querySelectorAll('.wide')].every((one) => "
                "one.tabIndex === 0 && one.getAttribute('aria-label'))"
            )
    if isinstance(browser.driver, Chrome):
        complaints = [entry["message"] for entry in browser.driver.get_log("browser")]
        assert [one for one in complaints if "404" not in one] == []


def test_by_keyboard_from_the_search_to_a_capture(browser: Browser) -> None:
    browser.resize(WIDE)
    browser.open("/")
    browser.keys(Keys.TAB)
    skip = browser.focused()
    assert skip.text == "To the content"
    assert skip.rect["x"] >= 0
    browser.keys(Keys.ENTER)
    browser.until(lambda: browser.focused().get_attribute("id") == "main")
    browser.find("#q").send_keys("a.example/page", Keys.ENTER)
    browser.until(lambda: "/captures?" in browser.driver.current_url)
    days = browser.driver.find_elements(By.CSS_SELECTOR, ".months td a")
    assert [day.text.partition(":")[0].strip() for day in days] == ["2", "2"]
    browser.find("#list ~ .wide th a").send_keys(Keys.ENTER)
    browser.until(lambda: "/capture/" in browser.driver.current_url)
    assert "WARC-Type: response" in browser.find("pre").text
    outline = browser.js("return getComputedStyle(document.querySelector('#q')).outlineStyle")
    browser.find("#q").send_keys(Keys.TAB)
    assert outline == "none"
    assert browser.js("return getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_suggestions_come_while_one_types(browser: Browser) -> None:
    browser.open("/")
    browser.find("#q").send_keys("a.example/pa")
    assert browser.until(
        lambda: browser.js("return [...document.querySelectorAll('option')].map((o) => o.value)")
    ) == [URL]


def test_nothing_archived_runs_and_no_script_is_needed(browser: Browser) -> None:
    browser.open("/search?q=http://evil.example/*")
    assert "<script>" in browser.find("th a").text
    browser.find("th a").click()
    browser.until(lambda: "/captures?" in browser.driver.current_url)
    assert browser.driver.title.endswith("Pinakes")
    assert browser.js("return document.images.length") == 0
    if isinstance(browser.driver, Chrome):
        browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        try:
            browser.open("/")
            browser.find("#q").send_keys("a.example", Keys.ENTER)
            browser.until(lambda: "/search?" in browser.driver.current_url)
            assert URL in browser.find("main").text
        finally:
            browser.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
