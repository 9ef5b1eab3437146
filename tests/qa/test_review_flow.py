"""A reviewer's way through many pairs, by keyboard alone, in Chromium and Firefox."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from review_process import Serving, serving
from review_scene import RUN, pairs_of, result, rows_in, view, with_images, write_run

from pinakes.qa.results import UNSEEN, Verdict, decode_pair
from pinakes.qa.review.judgement import Judgement
from pinakes.qa.review.judgement_rows import scan_judgements

pytest.importorskip("selenium", reason="the extra qa is not here: make dev-qa")

from review_page import OPENERS, Page
from selenium.webdriver import ActionChains, Chrome, Firefox
from selenium.webdriver.common.keys import Keys

pytestmark = pytest.mark.slow
COUNT = 60
BOXES = ((40, 700, 240, 60), (40, 90, 240, 60), (40, 270, 240, 30))
LONG = tuple(
    f"resources with other bytes: {n}: https://cdn.example/{'assets-' * 12}{n}.css"
    for n in range(12)
)


@pytest.fixture(
    scope="module", params=["chromium", pytest.param("firefox", marks=pytest.mark.browsers)]
)
def driver(request: pytest.FixtureRequest) -> Iterator[Chrome | Firefox]:
    with OPENERS[request.param]() as made:
        yield made


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty alarms, as no audit is drawn of them; one with much to say, one with nothing to see."""
    folder = tmp_path_factory.mktemp("written") / RUN
    results = [with_images(folder, result(n, Verdict.DISSIMILAR), n) for n in range(COUNT)]
    results[1] = replace(results[1], changes=BOXES, reasons=LONG, confidence=1.0)
    before = results[2].reference.image
    results[2] = replace(
        results[2], confidence=1.0, model="proof 2", changes=(), reasons=("other bytes: a", UNSEEN),
        other=view("replay:current", image=before),
    )  # fmt: skip
    write_run(folder, results)
    return folder.parent


@pytest.fixture
def run(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path, dirs_exist_ok=True))


@pytest.fixture
def server(run: Path) -> Iterator[Serving]:
    with rows_in(run / "store"), serving(run, "--lead", "Ida") as made:
        yield made


@pytest.fixture
def page(driver: Chrome | Firefox, server: Serving) -> Iterator[Page]:
    made = Page(driver, server)
    yield made
    made.js("pending.clear(); drafts.clear()")  # nobody is asked whether to leave
    driver.get("about:blank")


def ids(run: Path) -> dict[str, str]:
    lines = (run / RUN / "pairs.jsonl").read_bytes().splitlines()
    found = pairs_of(decode_pair(line).result for line in lines)
    return {pair.judged.result.url.rpartition("/")[2]: pair.id for pair in found}


def said(run: Path) -> list[Judgement]:
    """All that is in the store."""
    with rows_in(run / "store") as rows:
        return [one for row in scan_judgements(rows, RUN) for one in row.judgements]


def on(page: Page, key: str) -> str:
    """By a verdict to the pair behind it; its id."""
    return page.on_to(key)


def last(page: Page, words: str) -> None:
    page.until(lambda: words in page.text("#last-words"))


def test_a_lead_sees_what_is_open_where_nothing_is_left_to_her(page: Page) -> None:
    page.open("Ida")
    assert page.text("#count") == (
        f"Nothing is left to you to settle; what is open for any reviewer: {COUNT} pairs"
    )
    held = {one.text.rpartition(" ")[0]: one.text.rpartition(" ")[2] for one in page.all("#held *")}
    assert held == {"": "all", "open": str(COUNT), "not judged": str(COUNT)}
    page.driver.refresh()
    page.until(page.shown)
    assert page.js("return list.total") == COUNT
    page.open("Nadia", onward=True)
    on(page, "u")
    last(page, "? Unsure, saved: site0.example/page/")
    page.open("Ida")  # what a reviewer leaves to her comes first
    assert page.js("return [place.filter.state, list.total]") == ["todo", 1]
    assert "A reviewer is unsure: it waits for another opinion." in page.text("#about")
    page.find("#held [data-state=open]").click()
    page.until(lambda: page.js("return list.total") == COUNT)
    page.open("Omar", "?state=unsure")
    page.keys("r")
    page.saved()
    page.until(lambda: "Settled: reject." in page.text("#about"))


def test_three_hundred_keys_and_no_other(page: Page, run: Path) -> None:
    """A key for each pair, over both parts of the list, and each is judged once."""
    page.open("Nadia", onward=True)
    seen = [page.shown(), *(on(page, "a") for _ in range(COUNT - 1))]
    assert len(set(seen)) == COUNT
    page.keys("a")
    page.until(lambda: page.text("#saved") == "That was the last open pair of this list.")
    page.until(lambda: not page.js("return pending.size"))
    kept = said(run)
    assert [one.label.value for one in kept] == ["accept"] * COUNT
    page.driver.get(f"{page.server.address}?state=todo")
    page.until(lambda: page.text("#nothing").startswith("You have nothing left to review."))
    assert f"mine {COUNT}" in [one.text for one in page.all("#held button")]


def test_what_was_passed_over_comes_at_the_end(page: Page) -> None:
    page.open("Nadia", onward=True)
    first = page.shown()
    page.on_to("j")
    for _ in range(COUNT - 2):
        on(page, "a")
    assert on(page, "a") == first


def test_back_to_what_was_judged_and_on_from_there(page: Page, run: Path) -> None:
    page.open("Nadia", onward=True)
    first = page.shown()
    second = on(page, "a")
    last(page, "✓ Accepted, saved: site")
    third = on(page, "u")
    assert page.on_to("z") == second
    assert page.pressed() == "unsure"
    assert page.on_to("z") == first
    assert page.pressed() == "accept"
    assert on(page, "r") == third
    last(page, "✗ Rejected, saved: site")
    labels = [one.label.value for one in said(run)]
    assert sorted(labels) == ["accept", "reject", "unsure"]  # nothing was overwritten
    page.on_to("z")
    on(page, "r")  # said again: nothing new
    page.until(lambda: not page.js("return pending.size"))
    assert len(said(run)) == 3


def test_a_fault_that_is_marked_is_no_verdict(page: Page, run: Path) -> None:
    """Least of all of the next pair, where a finger was late."""
    page.open("Nadia", onward=True)
    first = page.shown()
    page.keys("2", "m")
    page.keys("a map", Keys.ESCAPE)
    assert "not judged" in page.text("#saved") or "not saved" in page.text("#saved")
    page.on_to("j")
    assert page.faults() == []
    assert page.on_to("k") == first
    assert (page.faults(), page.find("#note").get_attribute("value")) == (["wrong image"], "a map")
    assert page.text("#saved").startswith("Marked, and not judged yet")
    assert said(run) == []
    page.keys("4")
    on(page, "r")
    last(page, "saved:")
    [one] = said(run)
    assert one.statement.faults == ("wrong image", "layout")
    assert one.statement.note == "a map"
    page.on_to("z")
    page.keys("4")  # of what is judged it is said at once
    page.saved()
    assert said(run)[-1].statement.faults == ("wrong image",)


def test_keys_work_whatever_has_the_focus(page: Page, run: Path) -> None:
    page.open("Nadia", "?state=unreviewed&mode=slider", onward=True)
    page.keys("f")
    assert page.js("return document.activeElement.name") == "state"
    on(page, "a")
    assert page.js("return place.filter.state") == "unreviewed"  # nothing was chosen by it
    for css in ("#faults input", "#dial", "#list button", "[data-mode=slider]", "#held button"):
        page.js("document.querySelector(arguments[0]).focus()", css)
        on(page, "a")
    page.js("document.querySelector('[data-label=reject]').focus()")
    page.keys(Keys.ENTER)
    last(page, "✗ Rejected, saved")
    assert page.js("return document.activeElement.id") == "pair"  # the next Enter judges nothing
    page.until(page.shown)
    page.keys("f")
    assert not page.js("return document.getElementById('filters').open")
    count = len(said(run))
    page.keys("f")
    page.js("document.querySelector('[name=text]').focus()")
    page.keys("aru", Keys.ESCAPE)
    assert page.find("[name=text]").get_attribute("value") == "aru"
    assert not page.js("return document.getElementById('filters').open")
    assert page.js("return document.activeElement.id") == "pair"
    assert len(said(run)) == count


@pytest.mark.parametrize("saves", [True, False], ids=["it was saved", "it was not"])
def test_a_reload_says_what_is_true_of_what_was_on_its_way(
    page: Page, run: Path, saves: bool
) -> None:
    page.open("Nadia", "?state=unreviewed")
    first = page.shown()
    page.js("const real = ask; ask = async (path, given = {}) => {"
            "  if (given.body && it_saves) await real(path, given);"
            "  if (given.body) await new Promise(() => { window.gone = true; });"
            "  return real(path, given); }".replace("it_saves", str(saves).lower()))  # fmt: skip
    page.keys("r")
    page.until(lambda: page.js("return window.gone"))
    assert len(said(run)) == saves
    page.driver.refresh()
    page.until(lambda: page.shown() == first and page.pressed() == "reject")
    page.saved()
    assert not page.find("#alarm").is_displayed()
    assert [one.label.value for one in said(run)] == ["reject"]
    assert page.js("return sessionStorage.getItem(`${KEPT}-pending-${run.run}`)") == "[]"


# What reaches out of its box, or out of the window.
CUT = """
const parts = "#judging :is(button, label, legend, h2, textarea), header :is(button, h1), "
  + ".modes button, #held button";
return [...document.querySelectorAll(parts)].filter((element) => {
  if (!element.checkVisibility()) return false;
  const inner = element.getBoundingClientRect();
  const box = element.closest("form, header, .modes, #held").getBoundingClientRect();
  const right = Math.min(innerWidth, box.width ? box.right : innerWidth);
  return inner.right > right + 1 || inner.left < -1
    || (element.scrollWidth > element.clientWidth + 1
      && getComputedStyle(element).display !== "inline");
}).map((element) => element.textContent || element.id);
"""
BELOW = """
return [...document.querySelectorAll("#judging :is([data-label], #faults label, #note)")]
  .filter((element) => element.getBoundingClientRect().bottom > innerHeight)
  .map((element) => element.textContent || element.id);
"""


def resized(driver: Chrome | Firefox, width: int, height: int) -> None:
    if isinstance(driver, Chrome):
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        return
    driver.set_window_size(width, height)
    inner = driver.execute_script("return [innerWidth, innerHeight]")
    driver.set_window_size(2 * width - inner[0], 2 * height - inner[1])


@pytest.mark.parametrize(
    ("width", "height"), [(1280, 720), (1280, 800), (1920, 1080), (390, 800)],
)  # fmt: skip
def test_nothing_is_cut_off(page: Page, run: Path, width: int, height: int) -> None:
    try:
        resized(page.driver, width, height)
        page.open("Nadia", f"?pair={ids(run)['1']}")
        page.until(lambda: len(page.all(".box")) == len(BOXES))
        least = page.js("return innerWidth")  # Firefox has no narrower window than some 450
        assert page.js(CUT) == []
        assert page.js("return document.documentElement.scrollWidth") <= least
        # The reasons have no bar of their own: eight of them, and the others behind a word.
        assert page.js("return [...document.querySelectorAll('.reasons')]"
                       ".filter((e) => e.scrollHeight > e.clientHeight + 1)") == []  # fmt: skip
        assert len(page.all("#reasons li")) == 8
        assert page.text("#more-reasons summary") == "4 more reasons"
        if width >= 1280:
            assert page.js(BELOW) == []
            page.keys("f")
            assert page.js(BELOW) == []  # nor are they where the filters are open
            assert page.js("return document.documentElement.scrollHeight") <= height
        else:
            place = page.js(
                "return document.querySelector('.labels').getBoundingClientRect().bottom"
            )
            assert place <= page.js("return innerHeight") + 1  # in reach, wherever the page is
    finally:
        if isinstance(page.driver, Chrome):
            page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        else:
            resized(page.driver, 1280, 800)


def test_boxes_are_in_view_and_stepped_through(page: Page, run: Path) -> None:
    page.open("Nadia", f"?pair={ids(run)['1']}")
    page.until(lambda: page.text("#box-at") == "1 of 3")
    page.until(lambda: in_view(page))
    assert page.js("return document.querySelectorAll('.pane')[1].scrollTop") > 0  # the first is low
    page.until(lambda: page.js("const [a, b] = document.querySelectorAll('.pane');"
                               "return a.scrollTop === b.scrollTop"))  # fmt: skip
    for key, words in (("n", "2 of 3"), ("n", "3 of 3"), ("n", "1 of 3"), ("p", "3 of 3")):
        page.keys(key)
        assert page.text("#box-at") == words
        assert in_view(page)
    page.js("openPair(pair.id)")
    page.until(lambda: page.find("#note").is_enabled())
    assert page.text("#box-at") == "3 of 3"
    page.keys("b", "n")  # a step shows them again
    page.until(lambda: page.text("#box-at") == "1 of 3" and in_view(page))


def in_view(page: Page) -> bool:
    return bool(page.js(
        "const box = document.querySelector('.box.current');"
        "if (!box) return false; const one = box.getBoundingClientRect();"
        "const all = box.closest('.pane').getBoundingClientRect();"
        "return one.top >= all.top && one.bottom <= all.bottom + 1;"
    ))  # fmt: skip


def test_one_key_flips_between_both(page: Page, run: Path) -> None:
    page.open("Nadia", f"?pair={ids(run)['1']}")
    shown = "return [...document.querySelectorAll('.stack > *')].map((e) => e.style.visibility)"
    for words, hidden in (("After", ["hidden", ""]), ("Before", ["", "hidden"]), ("After", None)):
        page.keys("t")
        assert page.text("#flip-caption").startswith(words)
        assert hidden is None or page.js(shown) == hidden
    page.keys("s")
    assert len(page.all(".pane")) == 2


def test_harm_that_is_not_to_be_seen_is_said_in_place_of_equal_pictures(
    page: Page, run: Path
) -> None:
    page.open("Nadia", f"?pair={ids(run)['2']}")
    assert page.all("#stage img") == []
    assert "is proven by the bytes that were sent, and is not to be seen" in page.text("#stage")
    assert "Boxes (0)" not in page.find("main").text
    assert page.text("#about").startswith("Proven by the bytes that were sent.")
    page.keys("t")
    page.until(lambda: len(page.all("#stage img")) == 2)
    assert page.text("#no-boxes") == "Both pictures are the same, byte for byte."


def test_pictures_of_the_next_pair_are_there_before_it_is(page: Page) -> None:
    page.open("Nadia", onward=True)
    names = page.js("return openBehind(pair.id)[0].images")
    loaded = "return performance.getEntriesByType('resource').map((one) => one.name)"
    page.until(lambda: all(any(n in url for url in page.js(loaded)) for n in names))
    on(page, "a")
    assert page.js("return [pair.reference.image, pair.other.image]") == names


def test_more_keys_do_no_more(page: Page, run: Path) -> None:
    """Of two keys at once the second is not for a pair that nobody has seen."""
    page.open("Nadia", onward=True)
    ActionChains(page.driver).send_keys("aaa").perform()
    page.until(lambda: not page.js("return pending.size") and page.shown())
    judged: dict[Any, int] = {}
    for one in said(run):
        judged[one.id] = judged.get(one.id, 0) + 1
    assert set(judged.values()) == {1}
    assert 1 <= len(judged) <= 3
