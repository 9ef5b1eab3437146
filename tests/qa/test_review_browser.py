"""The review in a real browser: judged by keyboard, still there, several reviewers, no harm."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from review_process import Serving, serving
from review_scene import RUN, pairs_of, result, rows_in, view, with_images, write_run, write_sample

from pinakes.qa.results import Verdict
from pinakes.qa.review.judgement_rows import read_judgements
from pinakes.qa.snapshot import Outcome

pytest.importorskip("selenium", reason="the extra qa is not here: make dev-qa")

from review_page import Page, chromium
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

pytestmark = pytest.mark.slow
EVIL = (
    'http://evil.example/"><script>document.title="run"</script><img src=x onerror=alert(1)>\u202e'
)
BY_BROWSER = Verdict.BY_BROWSER.value
DRAWS = "firefox was sent the same bytes for all that both asked, and lacks nothing more"


@pytest.fixture(scope="module")
def driver() -> Iterator[Chrome]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("review")
    results = [with_images(folder / RUN, result(number), number) for number in range(60)]
    results[0] = replace(
        results[0], url=EVIL, reasons=(EVIL,), other=replace(results[0].other, missed=(EVIL,))
    )
    lost = view("replay:current", image="f" * 64 + ".png")
    results[4] = replace(results[4], other=lost)
    none = view("replay:current", outcome=Outcome.CUT_OFF, reasons=("the browser hung",))
    results[8] = replace(results[8], other=none)
    results[39] = replace(results[39], verdict=Verdict.BY_BROWSER, reasons=(DRAWS,))
    write_run(folder / RUN, results)
    write_sample(folder / RUN, [*results, result(len(results))])  # its last page is wanting
    return folder


@pytest.fixture(scope="module")
def server(run: Path) -> Iterator[Serving]:
    with rows_in(run / "store"), serving(run, "--lead", "Ida") as made:
        yield made


@pytest.fixture
def page(driver: Chrome, server: Serving) -> Iterator[Page]:
    driver.get_log("browser")
    made = Page(driver, server)
    yield made
    made.js("pending.clear()")  # nobody is asked whether to leave
    driver.get("about:blank")


def ids(run: Path) -> dict[str, Any]:
    lines = (run / RUN / "pairs.jsonl").read_bytes().splitlines()
    from pinakes.qa.results import decode_pair

    return {
        pair.judged.result.url: pair
        for pair in pairs_of(decode_pair(line).result for line in lines)
    }


def test_judged_by_keyboard_and_still_there(page: Page, run: Path) -> None:
    page.open("Nadia")
    assert "token" not in page.driver.current_url
    first = page.shown()
    page.keys("r", "2", "4", "m")
    page.keys("a note, with keys: a r u ?", Keys.ESCAPE)
    page.saved()
    second = page.on_to("j")
    page.keys("a")
    page.saved()
    assert page.on_to("k") == first
    page.driver.refresh()
    page.until(lambda: page.shown() == first)
    assert (page.pressed(), page.faults()) == ("reject", ["wrong image", "layout"])
    assert page.find("#note").get_attribute("value") == "a note, with keys: a r u ?"
    assert page.text("#saved").startswith("Saved")
    assert not page.all("dialog[open]")  # the name is asked for once
    by_id = {pair.id: pair for pair in ids(run).values()}
    with rows_in(run / "store") as rows:
        kept = [read_judgements(rows, by_id[one].key).judgements for one in (first, second)]
    assert (kept[0][0].statement.faults, kept[0][0].statement.note) == ((), "")
    assert kept[0][-1].statement.faults == ("wrong image", "layout")
    assert len(kept[0]) > 1  # none overwrites another
    assert [one.label.value for one in kept[1]] == ["accept"]
    assert {one.author for one in (*kept[0], *kept[1])} == {"Nadia"}


def test_what_a_browser_draws_otherwise_is_found_by_its_verdict(page: Page) -> None:
    page.open("Omar")
    page.keys("f")
    Select(page.find("[name=state]")).select_by_value("")
    Select(page.find("[name=verdict]")).select_by_value("differs-by-browser")
    page.until(lambda: page.js("return list.pairs.map((one) => one.verdict)") == [BY_BROWSER])
    page.until(lambda: page.text("#verdict") == BY_BROWSER)
    assert DRAWS in page.text("body")
    page.keys("a")
    page.saved()
    assert page.pressed() == "accept"


def test_a_key_that_comes_before_its_pair_judges_nothing(page: Page) -> None:
    """Least of all the pair before it, which is still shown."""
    page.open("Early", "?state=unreviewed")
    page.js("const real = ask; ask = async (path, given) => {"
            "  if (/pairs\\/\\w+$/.test(path)) await new Promise((go) => { window.go = go; });"
            "  return real(path, given); }")  # fmt: skip
    page.keys("j")
    page.until(lambda: page.js("return Boolean(window.go)"))
    page.keys("a", "3")
    assert page.text("#saved") == "Nothing was saved: the pair was not shown yet."
    assert (page.js("return pending.size"), page.pressed(), page.faults()) == (0, "", [])
    page.js("window.go()")
    page.until(page.shown)
    page.keys("a")
    page.saved()
    assert page.js("return pair.history.map((one) => one.label)") == ["accept"]


def test_an_answer_from_before_a_judgement_does_not_hide_it(page: Page) -> None:
    """The pair that is shown is opened once more, and judged before its answer is here."""
    page.open("Late", "?state=unreviewed")
    page.js("const real = ask; ask = async (path, given) => {"
            "  const found = await real(path, given);"
            "  if (/pairs\\/\\w+$/.test(path)) {"
            "    ask = real; await new Promise((go) => { window.go = go; });"
            "  }"
            "  return found; }; openPair(pair.id)")  # fmt: skip
    page.until(lambda: page.js("return Boolean(window.go)"))
    page.keys("r")
    page.saved()
    page.js("window.go()")
    page.until(lambda: page.find("#note").is_enabled())
    assert page.text("#saved").startswith("Saved")
    assert page.pressed() == "reject"


def test_filters_stand_in_the_url(page: Page) -> None:
    page.open("Omar")
    page.keys("f")
    Select(page.find("[name=state]")).select_by_value("")
    Select(page.find("[name=verdict]")).select_by_value("uncertain")
    page.find("[name=site]").send_keys("site3.example", Keys.TAB)
    page.until(lambda: "site3" in page.driver.current_url)
    page.until(lambda: page.text("#url").startswith("http://site3.example/"))
    urls = page.js("return list.pairs.map((one) => [one.verdict, one.url])")
    assert {verdict for verdict, _ in urls} == {"uncertain"}
    assert all(url.startswith("http://site3.example/page/3") for _, url in urls)
    page.driver.refresh()
    page.until(page.shown)
    assert page.js("return list.pairs.map((one) => [one.verdict, one.url])") == urls
    assert page.find("[name=site]").get_attribute("value") == "site3.example"


def test_a_list_is_no_longer_than_a_part_of_it(page: Page) -> None:
    page.open("Omar", "?mode=side")
    assert len(page.all("#list li")) == 50
    assert page.text("#count") == "60 pairs"
    page.find("#list-next").click()
    page.until(lambda: len(page.all("#list li")) == 10)
    assert page.find("#list-next").get_property("disabled")
    page.open("Omar", "?state=unreviewed")
    seen = [page.shown()]
    count = int(page.text("#count").split()[0])
    page.keys("a")  # the list that follows is shorter by one
    page.saved()
    seen += [page.on_to("j") for _ in range(count - 1)]
    assert len(set(seen)) == count
    page.keys("j")
    page.until(lambda: page.text("#saved") == "This is the last of the list.")


def test_each_view_of_a_pair(page: Page) -> None:
    page.open("Omar", "?verdict=dissimilar&site=site1.example")
    page.until(lambda: page.js("return [...document.images].every((i) => i.naturalWidth)"))
    assert len(page.all(".box")) == 2
    # Scrolled together.
    page.js("document.querySelectorAll('.pane')[0].scrollTop = 120")
    page.until(lambda: page.js("return document.querySelectorAll('.pane')[1].scrollTop") == 120)
    seen = {}
    for key, style in (("l", "clipPath"), ("o", "opacity"), ("d", "mixBlendMode")):
        page.keys(key)
        seen[key] = page.js(f"return document.querySelector('.layer').style.{style}")
    assert seen == {"l": "inset(0px 0px 0px 50%)", "o": "0.5", "d": "difference"}
    page.keys("b")
    assert page.all(".box") == []
    page.keys("v")
    assert "mode=side" in page.driver.current_url
    assert page.find("[data-mode=side]").get_attribute("aria-pressed") == "true"


def test_nothing_archived_runs(page: Page, run: Path) -> None:
    pair = ids(run)[EVIL]
    page.open("Omar", f"?pair={pair.id}")
    page.until(lambda: page.shown() == pair.id)
    assert page.text("#url") == EVIL.replace("\u202e", "\\u202e")
    scripts = page.js("return [...document.scripts].map((one) => one.src)")
    assert {place.rpartition("/")[0] + "/" for place in scripts} == {page.server.address}
    assert page.driver.title == f"{RUN} · Review · Pinakes"
    levels = [entry for entry in page.driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert levels == []
    # Were it in the page all the same, its policy would not let it run.
    page.js("try { const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
            "document.body.append(s) } catch {}")  # fmt: skip
    assert page.js("return window.ran") is None


def test_images_that_are_not_there_are_said(page: Page, run: Path) -> None:
    found = ids(run)
    for number, words in ((4, "is not in the run's folder"), (8, "cut off: the browser hung")):
        pair = found[f"http://site0.example/page/{number}"]
        page.open("Ida", f"?pair={pair.id}")
        page.until(lambda pair=pair: page.shown() == pair.id)
        page.until(lambda words=words: words in page.text("#stage"))


def test_a_second_reviewer_is_blind_and_the_lead_settles(page: Page, run: Path) -> None:
    double = next(p for p in ids(run).values() if p.hides_verdict)
    query = f"?pair={double.id}"
    page.open("Ada", query)
    assert page.text("#verdict") == "hidden"
    page.keys("r", "1")
    page.saved()
    assert page.text("#verdict") == double.judged.result.verdict.value
    page.open("Bo", query)
    assert page.text("#verdict") == "hidden"
    assert "Ada" not in page.text("#more")
    assert page.pressed() == ""
    page.keys("a")
    page.saved()
    page.until(lambda: "Ada: reject: missing embed" in page.text("#more"))
    page.open("Ida")  # what there is for a lead to do
    page.until(lambda: page.shown() == double.id)
    assert page.text("#go-name") == "Ida (lead)"
    assert {"Ada: reject: missing embed", "Bo: accept"} <= {
        line.text.partition(" ")[2].partition(" ")[2]
        for line in page.all("#more details:first-child li")
    }
    page.keys("r")
    page.saved()
    page.keys("g")
    page.until(lambda: page.all("#signing"))
    assert "1" in page.text("#summary section:nth-child(3)")
    assert "1 (1 pair) is not judged yet; continue with `pinakes qa run`" in page.text(
        "#summary .notice"
    )
    Select(page.find("#sign-state")).select_by_visible_text("to patch")
    page.find("#sign-note").send_keys("three maps")
    page.find("#signing [type=submit]").click()
    page.until(lambda: "Ida (lead): to patch “three maps”" in page.text("#summary"))
    assert "1 page not looked at" in page.text("#summary")
    page.driver.refresh()
    page.until(lambda: "Ida (lead): to patch" in page.text("#summary"))


def test_who_only_looks_or_has_no_token_writes_nothing(page: Page) -> None:
    page.open()
    page.find("#only-look").click()
    assert page.until(page.shown)
    assert page.find("[data-label=accept]").get_property("disabled")
    page.keys("a")
    assert page.js("return pending.size") == 0
    page.open("Omar")
    page.js("sessionStorage.clear()")
    page.driver.get(page.server.address)
    page.until(page.shown)
    assert page.find("[data-label=accept]").get_property("disabled")
    assert "token is missing" in page.text("#judging-title")


def test_help_is_shown_and_keys_can_be_turned_off(page: Page) -> None:
    page.open("Omar", "?state=unreviewed")
    page.keys("?")
    assert page.find("#help").get_property("open")
    assert "login wall" in page.text("#keys")
    page.find("#keys-on").click()
    page.keys(Keys.ESCAPE)
    before = page.shown()
    page.keys("j", "a")
    assert (page.shown(), page.pressed()) == (before, "")
    page.js("document.getElementById('keys-on').click()")


def test_unsaved_warning_stays_until_saved(driver: Chrome, run: Path) -> None:
    """The server dies between two judgements; another is begun on the same port."""
    with serving(run) as first:
        page = Page(driver, first)
        page.open("Zoe", "?state=unreviewed")
        page.keys("u")
        page.saved()
        pair = page.on_to("j")
        first.process.kill()
        first.process.wait()
        page.keys("r")
        page.until(lambda: page.find("#alarm").is_displayed())
        assert "NOT saved" in page.text("#alarm-words")
        assert page.text("#saved").startswith("NOT saved: the server is not there")
        port = int(first.address.strip("/").rpartition(":")[2])
    by_id = {one.id: one for one in ids(run).values()}
    with serving(run, port=port) as second:
        page.keys("x")
        page.until(lambda: "invalid token" in page.text("#alarm-words"))
        page.js("location.hash = arguments[0]", f"token={second.token}")
        page.saved()
        assert not page.find("#alarm").is_displayed()
        with rows_in(run / "store") as rows:
            kept = read_judgements(rows, by_id[pair].key).judgements
        assert [(one.author, one.label.value) for one in kept] == [("Zoe", "reject")]
        driver.get("about:blank")


@pytest.mark.parametrize("width", [1280, 1920])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_can_be_read(page: Page, width: int, scheme: str) -> None:
    """No bar to scroll sideways; text stands out from its ground as WCAG 2.1 §1.4.3 asks."""
    cdp = page.driver.execute_cdp_cmd
    cdp("Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})  # fmt: skip
    cdp("Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]})  # fmt: skip
    try:
        page.open("Omar", "?verdict=dissimilar")
        for part in ("pairs", "summary"):
            assert page.js("return document.documentElement.scrollWidth") <= width
            assert page.js(CONTRAST) == []
            assert page.js(NAMELESS) == []
            if part == "pairs":
                assert page.js("return document.documentElement.scrollHeight") <= 800
                page.keys("g")
                page.until(lambda: page.all("#summary table"))
    finally:
        cdp("Emulation.clearDeviceMetricsOverride", {})
        cdp("Emulation.setEmulatedMedia", {"features": []})


# Texts whose colour is too near their ground's (ratio below 4.5), by WCAG's formula.
CONTRAST = """
const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
const light = (colour) => {
  const [r, g, b] = parts(colour).map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (element) => {
  for (; element; element = element.parentElement) {
    const colour = getComputedStyle(element).backgroundColor;
    const [, , , alpha = 1] = parts(colour);
    if (alpha === 1) return colour;
  }
  return getComputedStyle(document.body).backgroundColor;
};
return [...document.querySelectorAll("body *")].filter((element) =>
  [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())
  && element.checkVisibility() && !element.closest(":disabled, option, noscript"))
  .map((element) => {
    const both = [getComputedStyle(element).color, ground(element)];
    const [a, b] = both.map(light).sort((x, y) => y - x);
    return [element.textContent.slice(0, 40), (a + 0.05) / (b + 0.05)];
  }).filter(([, ratio]) => ratio < 4.5);
"""
# Controls and images that a screen reader has no name for.
NAMELESS = """
return [...document.querySelectorAll("button, input, select, textarea, img")].filter((element) =>
  element.checkVisibility() && !element.textContent.trim() && !element.alt
  && !element.getAttribute("aria-label") && !(element.labels && element.labels.length))
  .map((element) => element.outerHTML);
"""


def test_the_scripts_of_these_tests_find_what_they_look_for(page: Page) -> None:
    page.open("Omar")
    page.js("const p = document.createElement('p'); p.textContent = 'grey on grey';"
            "p.style.color = 'rgb(128,128,128)'; p.style.backgroundColor = 'rgb(120,120,120)';"
            "document.body.append(p, document.createElement('input'))")  # fmt: skip
    assert [text for text, _ in page.js(CONTRAST)] == ["grey on grey"]
    assert json.dumps(page.js(NAMELESS)) == '["<input>"]'
