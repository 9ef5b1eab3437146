"""Pages before and after deduplication: what was sent the same is the same; harm is found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import comparing  # noqa: F401
import pytest
from browsing import Client
from harmed_site import PAGES, SITE, harm, make_store, point_elsewhere
from ingest_processes import call

from pinakes.archive_store.port import ArchiveReader
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.pages import pages_of
from pinakes.config import load_configuration
from pinakes.errors import StoreUnavailable
from pinakes.profile import open_stores
from pinakes.qa.browsers.page_scripts import Pins
from pinakes.qa.replay.proxy import ReplayProxy
from pinakes.qa.results import Verdict
from pinakes.qa.run.page_judge import PageJudge
from pinakes.qa.run.plan import Pair
from pinakes.qa.sample import SampledPage, draw
from pinakes.qa.snapshot import Outcome, Snapshot
from pinakes.qa.views.side import ReplaySide

pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
HARM = f"unreadable now: {SITE}/1.png ("


class Asking:
    """Asks for a page and its pictures, as a browser does, and shows nothing."""

    name = "asking"

    def __init__(self, client: Client) -> None:
        self._client = client
        self.asked: list[str] = []
        self.films: tuple[str, ...] = ()
        self.late: tuple[str, ...] = ()
        self.known: list[bool | None] = []

    def capture(
        self,
        url: str,
        *,
        pins: Pins,
        folder: Path,
        on_blank: Callable[[], None] | None = None,
        is_known: Callable[[], bool] | None = None,
    ) -> Snapshot:
        if on_blank is not None:
            on_blank()
        html = self._client.ask(url).body.decode()
        self.asked.append(url)
        for name in re.findall("src=([^ >]+)", html):
            self._client.ask(f"{SITE}{name}")
        for film in self.films:
            self._client.ask(film, fields={"Range": "bytes=0-"})
        self.known.append(is_known() if is_known is not None else None)
        for late in self.late:
            self._client.ask(late)
        return Snapshot(
            url=url, browser="asking", browser_version="1", seed=None, clock=pins.clock,
            taken=datetime(2026, 1, 1, tzinfo=timezone.utc), outcome=Outcome.COMPLETE,
            viewport_width=1, viewport_height=1, text=html,
        )  # fmt: skip


PAIR = Pair("before.asking", "current.asking")


@contextmanager
def looking(
    folder: Path,
    *,
    prove_first: bool = False,
    archive: Callable[[ArchiveReader], Any] = lambda archive: archive,
) -> Iterator[tuple[PageJudge, list[Asking]]]:
    options = {"store": str(folder / "pinakes-store")}
    configuration = load_configuration(options=options, environment={}, folder=folder)
    with (
        open_stores(configuration) as stores,
        ReplayProxy(stores.rows, archive(stores.archive)) as proxy,
    ):
        sides, browsers = [], []
        for generation in ("before", "current"):
            session = proxy.open_session(generation)  # type: ignore[arg-type]
            browsers.append(Asking(Client(session.port, proxy.ca_file)))
            sides.append(ReplaySide(generation, session, browsers[-1]))
        yield PageJudge(sides, folder / "qa", run="qa", prove_first=prove_first), browsers


def judge(folder: Path) -> dict[str, tuple[Verdict, tuple[str, ...]]]:
    """Judge all pages of crawl b; by URL."""
    drawn = drawn_of(folder)
    with looking(folder) as (look, _):
        results = [pair.result for one in drawn for pair in look.judge(one, [PAIR])]
    return {result.url: (result.verdict, result.reasons) for result in results}


def drawn_of(folder: Path) -> list[SampledPage]:
    options = {"store": str(folder / "pinakes-store")}
    configuration = load_configuration(options=options, environment={}, folder=folder)
    with open_stores(configuration) as stores:
        pages = pages_of(stores.archive, scan_entries(stores.rows, "b"))
        return list(draw(pages, size=PAGES, seed=""))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    make_store(folder)
    return folder


@pytest.fixture
def folder(site: Path) -> Iterator[Path]:
    """The store, as it was."""
    [file] = (site / "pinakes-store").rglob("g2/site.warc")
    content = file.read_bytes()
    yield site
    file.chmod(0o644)
    file.write_bytes(content)


def test_what_was_deduplicated_well_is_the_same(folder: Path) -> None:
    found = judge(folder)
    assert found.keys() == {f"{SITE}/{number}" for number in range(PAGES)}
    assert {verdict for verdict, _ in found.values()} == {Verdict.SIMILAR}


def test_a_revisit_that_was_pointed_elsewhere_is_found_and_named(folder: Path) -> None:
    point_elsewhere(folder)
    found = judge(folder)
    assert {url for url, (verdict, _) in found.items() if verdict is not Verdict.SIMILAR} == {
        f"{SITE}/1"
    }
    verdict, reasons = found[f"{SITE}/1"]
    assert verdict is Verdict.DISSIMILAR
    assert reasons[0].startswith(HARM)


def test_records_that_are_not_what_they_should_be_are_found(folder: Path) -> None:
    harm(folder, lambda content: content.replace(b"WARC-Type: revisit", b"WARC-Type: rubbish"))
    found = judge(folder)
    assert {verdict for verdict, _ in found.values()} == {Verdict.DISSIMILAR}
    for number in range(PAGES):
        said = found[f"{SITE}/{number}"][1][0]
        assert said.startswith(f"unreadable now: {SITE}/{number}.png (b/g2/site.warc:")
        assert "damaged: its body has the digest" in said


def test_what_is_lost_is_found_and_named(folder: Path) -> None:
    harm(folder, lambda content: content[: len(content) // 2])
    found = judge(folder)
    lost = {url for url, (verdict, _) in found.items() if verdict is Verdict.DISSIMILAR}
    assert 1 <= len(lost) < PAGES
    assert all("unreadable now: " in found[url][1][0] for url in lost)


def test_damage_of_before_and_now_is_no_harm_and_is_said(folder: Path) -> None:
    [drawn] = [one for one in drawn_of(folder) if one.page.url == f"{SITE}/3"]
    harm(folder, up_to_picture)
    [file] = (folder / "pinakes-store" / "archive" / "b").glob("site.warc")
    content = file.read_bytes()
    file.chmod(0o644)
    try:
        file.write_bytes(up_to_picture(content))
        with looking(folder) as (look, _):
            [pair] = look.judge(drawn, [PAIR])
    finally:
        file.write_bytes(content)
    assert pair.result.verdict is Verdict.SIMILAR
    for view in (pair.result.reference, pair.result.other):
        assert any(
            f"in the archive but unreadable: 1: {SITE}/3.png: " in reason for reason in view.reasons
        )


def up_to_picture(content: bytes) -> bytes:
    """A file that ends within the record of page 3's picture."""
    return content[: content.index(f"WARC-Target-URI: {SITE}/3.png".encode()) + 60]


class Leaving:
    """An archive whose store stops answering, once it has been asked so often."""

    def __init__(self, archive: ArchiveReader, after: int) -> None:
        self._archive = archive
        self._left = after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._archive, name)

    def open(self, *asked: Any, **more: Any) -> Any:
        self._left -= 1
        if self._left < 0:
            raise StoreUnavailable("no data node answers")
        return self._archive.open(*asked, **more)


@pytest.mark.parametrize("prove_first", [False, True])
@pytest.mark.parametrize("after", [0, 1, 3, 4])
def test_a_store_that_goes_away_is_no_harm_and_the_page_is_left(
    folder: Path, after: int, prove_first: bool
) -> None:
    [drawn, *_] = drawn_of(folder)
    leaving = partial(Leaving, after=after)
    with (
        looking(folder, prove_first=prove_first, archive=leaving) as (look, _),
        pytest.raises(StoreUnavailable, match="no data node answers"),
    ):
        look.judge(drawn, [PAIR])


def test_a_film_that_is_missing_is_named_though_browsers_ask_for_a_part(folder: Path) -> None:
    [drawn, *_] = drawn_of(folder)
    with looking(folder) as (look, browsers):
        for browser in browsers:
            browser.films = (f"{SITE}/film.webm",)
        [pair] = look.judge(drawn, [PAIR])
    assert pair.result.other.missed == (f"{SITE}/film.webm",)


def test_proven_first_a_page_is_shown_again_only_where_it_is_not_the_same(folder: Path) -> None:
    drawn = drawn_of(folder)
    with looking(folder, prove_first=True) as (look, (before, current)):
        results = [look.judge(one, [PAIR])[0].result for one in drawn]
        assert {(result.verdict, result.confidence) for result in results} == {
            (Verdict.SIMILAR, 1.0)
        }
        assert all("not captured" in result.other.reasons[-1] for result in results)
        assert len(before.asked) == PAGES
        assert before.known == [True] * PAGES  # an image of the first screen is enough
        assert current.asked == []
    point_elsewhere(folder)
    with looking(folder, prove_first=True) as (look, (before, current)):
        results = [look.judge(one, [PAIR])[0].result for one in drawn]
        assert before.known == [result.url != f"{SITE}/1" for result in results]
        assert current.asked == [f"{SITE}/1"]
    assert {result.url: (result.verdict, result.reasons) for result in results} == judge(folder)


def test_what_a_page_asks_for_after_the_proof_is_proven_too(folder: Path) -> None:
    [drawn] = [one for one in drawn_of(folder) if one.page.url == f"{SITE}/0"]
    with looking(folder, prove_first=True) as (look, (before, current)):
        before.late = current.late = (f"{SITE}/2.png", f"{SITE}/nowhere.png")
        [pair] = look.judge(drawn, [PAIR])
        assert (before.asked, current.asked) == ([f"{SITE}/0"], [])
    assert (pair.result.verdict, pair.result.confidence) == (Verdict.SIMILAR, 1.0)
    point_elsewhere(folder)
    with looking(folder, prove_first=True) as (look, (before, current)):
        before.late = current.late = (f"{SITE}/1.png",)
        [pair] = look.judge(drawn, [PAIR])
        # Its image was of the first screen, so it is looked at once more, for a whole one.
        assert (before.known, current.known) == ([True, None], [None])
    assert pair.result.verdict is Verdict.DISSIMILAR
    assert pair.result.reasons[0].startswith(HARM)


def test_what_another_pair_needs_is_captured_whole(folder: Path) -> None:
    [drawn, *_] = drawn_of(folder)
    across = Pair("current.asking", "before.asking")
    with looking(folder, prove_first=True) as (look, (before, _)):
        look.judge(drawn, [PAIR, across])
        assert before.known == [None]


@pytest.mark.browsers
@pytest.mark.parametrize("browser", ["chromium", "firefox"])
def test_by_its_verb_in_a_real_browser(folder: Path, tmp_path: Path, browser: str) -> None:
    asked = ("qa", "run", "b", "--browser", browser, "--json")
    whole = call(folder, *asked, "--look-twice", "-o", str(tmp_path / "whole"))
    assert (whole.returncode, whole.stdout) == (0, ""), whole.stderr
    proven = call(folder, *asked, "-o", str(tmp_path / "proven"))
    assert (proven.returncode, proven.stdout) == (0, ""), proven.stderr
    lines = (tmp_path / "proven" / "pairs.jsonl").read_text().splitlines()
    assert ["not captured" in json.loads(line)["other"]["reasons"][-1] for line in lines] == [
        True
    ] * PAGES
    point_elsewhere(folder)
    harmed = call(folder, *asked, "-o", str(tmp_path / "harmed"))
    assert harmed.returncode == 1, harmed.stderr
    [line] = harmed.stdout.splitlines()
    said = json.loads(line)
    assert (said["url"], said["verdict"]) == (f"{SITE}/1", "dissimilar")
    assert said["reasons"][0].startswith(HARM)
    assert f"broken images: 1 more: {SITE}/1.png" in said["reasons"]
