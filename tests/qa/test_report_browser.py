"""The report in real browsers: filtered where it lies, without a server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from review_scene import result, with_images

from pinakes.qa.report.pages import PAIRS_A_PAGE, write_report
from pinakes.qa.results import JudgedPair, Verdict

pytest.importorskip("selenium", reason="the extra qa is not here: make dev-qa")

from review_page import OPENERS, Page
from review_process import Serving
from selenium.webdriver import Chrome, Firefox
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

pytestmark = pytest.mark.slow
COUNTS = {Verdict.DISSIMILAR: PAIRS_A_PAGE + 10, Verdict.UNCERTAIN: 3, Verdict.SIMILAR: 50}
SHOWN = """
return [...document.querySelectorAll("article")].filter((one) => one.checkVisibility())
  .map((one) => [one.querySelector(".verdict").textContent, one.textContent]);
"""


@pytest.fixture(
    scope="module", params=["chromium", pytest.param("firefox", marks=pytest.mark.browsers)]
)
def driver(request: pytest.FixtureRequest) -> Iterator[Chrome | Firefox]:
    with OPENERS[request.param]() as made:
        yield made


@pytest.fixture
def page(driver: Chrome | Firefox, tmp_path: Path) -> Page:
    """Three pages of pairs; every tenth is settled."""
    verdicts = [verdict for verdict, count in COUNTS.items() for _ in range(count)]
    pairs = [result(number, verdict) for number, verdict in enumerate(verdicts)]
    pairs[0] = replace(
        with_images(tmp_path, pairs[0], 0), reasons=("unreadable now: a", "video: 1")
    )
    labels = dict.fromkeys(range(0, len(pairs), 10), "reject")
    write_report(tmp_path, [JudgedPair(result=one, weight=1.0) for one in pairs], title="t",
                 labels=labels)  # fmt: skip
    driver.get((tmp_path / "index.html").as_uri())
    return Page(driver, Serving(None, "", ""))  # type: ignore[arg-type]


def choose(page: Page, name: str, words: str) -> None:
    Select(page.find(f"[name={name}]")).select_by_visible_text(words)


def verdicts(page: Page) -> list[str]:
    return [verdict for verdict, _ in page.js(SHOWN)]


def test_it_is_filtered_over_all_its_pages(page: Page) -> None:
    assert len(verdicts(page)) == PAIRS_A_PAGE
    assert page.js("return [...document.images].slice(0, 2).every((one) => one.naturalWidth)")
    choose(page, "verdict", "uncertain")
    assert verdicts(page) == []
    assert page.text("#found") == "3 pairs, 0 of them on this page. Page 2 "
    page.find("#found a").click()
    page.until(lambda: verdicts(page) == ["uncertain"] * 3)
    assert [one.get_attribute("rel") for one in page.all("nav a") if one.is_displayed()] == []
    choose(page, "verdict", "dissimilar")
    assert set(verdicts(page)) == {"dissimilar"}
    page.all("nav a[rel=prev]")[0].click()
    page.until(lambda: "index.html" in page.driver.current_url)
    page.until(lambda: page.text("#found").startswith(f"{PAIRS_A_PAGE + 10} pairs, "))
    choose(page, "settled", "reject")
    assert len(verdicts(page)) == PAIRS_A_PAGE / 10
    choose(page, "cause", "unreadable now")
    assert page.text("#found") == "1 pair, 1 of them on this page. "
    page.driver.refresh()  # the address has it
    page.until(lambda: len(verdicts(page)) == 1)
    page.find("#report-filters button").click()
    page.until(lambda: len(verdicts(page)) == PAIRS_A_PAGE)


def test_the_summary_leads_to_the_alarms(page: Page) -> None:
    page.driver.find_element(By.LINK_TEXT, "uncertain").click()
    page.until(lambda: verdicts(page) == ["uncertain"] * 3)
    assert "page-2.html" in page.driver.current_url
    page.driver.find_element(By.LINK_TEXT, "similar").click()
    page.until(lambda: "similar" in verdicts(page))
    assert set(verdicts(page)) == {"similar"}


def test_its_policy_lets_no_other_script_run(page: Page) -> None:
    page.js("const s = document.createElement('script'); s.textContent = 'window.ran = 1';"
            "document.body.append(s)")  # fmt: skip
    assert page.js("return window.ran ?? null") is None
