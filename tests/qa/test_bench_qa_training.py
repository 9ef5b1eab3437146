"""Changes and faults put into records: what each harms, and that the same dice do the same."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import comparing  # noqa: F401
import pytest

from bench.qa_training.benign import CHANGES, DRESSINGS
from bench.qa_training.faults import FAULTS, accented
from bench.qa_training.held_out import Row, judge_held_out, maker_of, tables
from bench.qa_training.looks import Taken, in_turns
from bench.qa_training.pairs import by_page
from bench.qa_training.pictures import film, picture, resized, size_of
from bench.qa_training.plan import plan_of
from bench.qa_training.recorded import PackagedSite, Page, Recorded
from pinakes.qa.training.labelled import LabelledPair

SITE = "http://docs.example/"
STYLE = b"body{color:#333}\n" + b"\n".join(b"p.c%d{float:left;margin:0}" % n for n in range(60))
HTML = (
    '<!doctype html><html><head><meta charset="utf-8"><title>Docs</title>'
    '<link rel=stylesheet href=style.css><script src="app.js"></script></head>'
    "<body><main><h1>Über die Bibliothek</h1><p>Größe, Äpfel, Übermut, Mühe, Höhe, Süße, Nüsse, "
    "Löffel, Zöpfe, Bücher, Türen, Öl, Käse, Räder, für, "
    "Möwe, Jäger, Hütte, Wölfe, Mäuse, Schlüssel, Gänse, Kühe, Föhn, Tänze.</p>"
    "<img src=a.png><img src=b.png>"
    "<video src=film.webm></video><p>Since 1998, page 42.</p></main></body></html>"
).encode()


def whole_page() -> Page:
    """A page that has what any fault harms."""
    return Page(
        url=SITE,
        records={
            SITE: Recorded(body=HTML, media_type="text/html"),
            SITE + "style.css": Recorded(body=STYLE, media_type="text/css"),
            SITE + "app.js": Recorded(body=b"1;", media_type="text/javascript"),
            SITE + "a.png": Recorded(body=picture(1, 300, 200), media_type="image/png"),
            SITE + "b.png": Recorded(body=picture(2, 320, 240), media_type="image/png"),
            SITE + "c.jpg": Recorded(body=picture(3, 90, 90, kind=".jpg"), media_type="image/jpeg"),
            SITE + "f.woff": Recorded(body=b"wOFF", media_type="font/woff"),
            SITE + "film.webm": Recorded(body=b"film", media_type="video/webm"),
        },
    )


def changed(page: Page) -> set[str]:
    """The URLs whose records are others than those of the whole page."""
    before = whole_page().records
    return {
        url.removeprefix(SITE)
        for url, record in page.records.items()
        if url not in before or before[url] != record
    }


@pytest.mark.parametrize("kind", FAULTS)
def test_every_fault_harms_a_page_that_has_all_the_same_way_for_the_same_dice(kind: str) -> None:
    for seed in range(6):
        harmed = FAULTS[kind](whole_page(), random.Random(seed))
        assert harmed is not None
        assert changed(harmed)
        assert harmed == FAULTS[kind](whole_page(), random.Random(seed))


@pytest.mark.parametrize(
    ("kind", "urls"),
    [
        ("missing_images", {"a.png", "b.png", "c.jpg"}),
        ("scripts_lost", {"app.js"}),
        ("style_halved", {"style.css"}),
        ("film_lost", {"film.webm"}),
        ("misread", {""}),
    ],
)
def test_a_fault_harms_what_it_is_called_after_and_nothing_else(kind: str, urls: set[str]) -> None:
    harmed = FAULTS[kind](whole_page(), random.Random(1))
    assert harmed is not None
    assert changed(harmed) == urls


@pytest.mark.parametrize(
    "kind",
    ["missing_image", "missing_images", "wrong_image", "style_lost", "style_halved",
     "scripts_lost", "misread", "film_lost", "image_truncated"],
)  # fmt: skip
def test_a_page_that_has_nothing_to_be_harmed_so_is_left_alone(kind: str) -> None:
    bare = Page(url=SITE, records={SITE: Recorded(body=b"<p>Text", media_type="text/html")})
    assert FAULTS[kind](bare, random.Random(1)) is None


def test_misread_letters_are_those_of_utf_8_taken_for_another() -> None:
    found = [FAULTS["misread"](whole_page(), random.Random(seed)) for seed in range(60)]
    texts = [harmed.html.body.decode("utf-8") for harmed in found if harmed is not None]
    assert any("GrÃ¶ÃŸe" in text for text in texts)
    assert any("Ãœber" in text and "Größe" in text for text in texts), "some words alone"
    assert all("utf-8" in text and HTML.decode() != text for text in texts)


@pytest.mark.parametrize("kind", DRESSINGS)
def test_a_dressing_has_states_and_each_is_the_same_again(kind: str) -> None:
    made = [DRESSINGS[kind](whole_page(), state, random.Random(7)) for state in (0, 1, 1)]
    assert made[1] == made[2]
    assert (made[0] == made[1]) == (kind == "film")


@pytest.mark.parametrize("kind", CHANGES)
def test_benign_changes_leave_the_pages_own_words(kind: str) -> None:
    made = CHANGES[kind](whole_page(), random.Random(3))
    assert made is not None
    assert "Über die Bibliothek".encode() in made.html.body


def test_an_accented_page_has_letters_to_be_misread() -> None:
    bare = Page(url=SITE, records={SITE: Recorded(body=b"<p>Text</p>", media_type="text/html")})
    made = accented(bare, random.Random(1))
    assert FAULTS["misread"](made, random.Random(1)) is not None


def test_pictures_have_the_size_that_was_asked_for_and_are_the_same_again() -> None:
    assert size_of(picture(5, 123, 45)) == (123, 45)
    assert picture(5, 123, 45) == picture(5, 123, 45)
    assert size_of(resized(picture(5, 123, 45), 60, 30)) == (60, 30)
    assert size_of(b"no picture") is None
    assert size_of(b"") is None


def test_a_film_is_one_for_a_process() -> None:
    assert film(3) == film(3)


@pytest.fixture
def site(tmp_path: Path) -> PackagedSite:
    """A package with pages, one of them behind a link to what another package has."""
    root = tmp_path / "some-doc" / "usr" / "share" / "doc"
    root.mkdir(parents=True)
    for name in ("index.html", "a.html"):
        (root / name).write_bytes(HTML + b"<p>more words</p>" * 200)
    shared = tmp_path / "shared" / "libjs-jquery" / "usr" / "share" / "javascript"
    shared.mkdir(parents=True)
    (shared / "jquery.js").write_text("1;")
    (root / "jquery.js").symlink_to("../javascript/jquery.js")
    (root / "passwd").symlink_to("/etc/passwd")
    (root / "above").symlink_to("../../../../secret")
    (tmp_path / "secret").write_text("secret")
    return PackagedSite("some-doc", tmp_path / "some-doc")


def test_a_site_answers_what_lies_in_its_package_and_what_that_links_to(
    site: PackagedSite,
) -> None:
    folder = "http://some-doc.example/usr/share/doc/"
    assert site.pages[0] == folder + "index.html"
    assert set(site.pages) == {folder + "index.html", folder + "a.html"}
    script = site.record(folder + "jquery.js")
    assert script is not None
    assert script.body == b"1;"
    for url in ("passwd", "above", "absent.html", "../../../../shared", "%2e%2e/%2e%2e/etc"):
        assert site.record(folder + url) is None
    assert site.record("http://elsewhere.example/index.html") is None


def test_pages_come_by_turns(site: PackagedSite) -> None:
    pages = [page for _, page in in_turns([site, site], 5)]
    assert pages == [site.pages[0], site.pages[0], site.pages[1], site.pages[1]]


def looks(variants: Iterable[str], dressing: str) -> list[Taken]:
    return [
        Taken(
            site="s", page=SITE, browser=browser, variant=variant, dressing=dressing,
            base=variant if not variant.startswith("fault") else "reference",
            snapshot="", payloads={},
        )
        for browser in ("chromium", "firefox")
        for variant in variants
        if (browser, variant) != ("firefox", "again")
    ]  # fmt: skip


def test_unaltered_pairs_are_between_looks_at_the_same() -> None:
    [page] = by_page(looks(("reference", "again", "fault:blank"), "none"), ("chromium", "firefox"))
    pairs = [(of, one) for of, one in page.all() if one.kind == "unaltered"]
    assert [(one.first.variant, one.second.variant) for of, one in pairs if of[0] == "s"] == [
        ("reference", "again"),
    ]
    assert all(
        one.first.browser != one.second.browser for of, one in pairs if of == "across-browsers"
    )


def test_a_carousel_is_compared_only_where_it_can_be_masked() -> None:
    [page] = by_page(looks(("reference", "again"), "carousel"), ("chromium", "firefox"))
    same = [one for of, one in page.all() if of == "same-browser"]
    assert same == []


def row(site: str, kind: str, label: Literal["similar", "dissimilar"], worth: float) -> Row:
    pair = LabelledPair(
        site=site, kind=kind, label=label, pair="same-browser", features={"image_gone": worth}
    )
    return Row(pair, maker=site, area=0.01 if label == "dissimilar" else 0.0)


@pytest.mark.browsers
def test_held_out_pairs_are_each_judged_once_by_models_that_saw_neither_maker_nor_family() -> None:
    """The one feature tells makers and families apart, and no more: nothing can be learnt of it."""
    rows = [
        row(f"site-{site}", f"fault:{family}", "dissimilar", 10 * site + family)
        for site in range(28)
        for family in range(8)
    ]
    rows += [
        row(f"site-{site}", "unaltered", "similar", 10 * site + 8 + again / 2)
        for site in range(28)
        for again in range(4)
    ]
    judged = list(judge_held_out(rows, "same-browser", seed=1))
    assert sorted(id(one) for one, _ in judged) == sorted(map(id, rows))
    text = "\n".join(tables(judged))
    assert "of 224" in text
    assert "of 112" in text
    right = sum((one.likely > 0.5) == (one.label == "dissimilar") for _, one in judged)
    assert right < 0.9 * len(rows)


@pytest.mark.parametrize(
    ("name", "html", "maker"),
    [
        ("a-doc", b"<meta name=generator content='Doxygen 1.9'>", "doxygen"),
        ("now-ui-kit", b"<p>by hand</p>", "creative-tim"),
        ("b-doc", b"<p>by hand</p>", "b-doc"),
    ],
)
def test_makers_are_told_by_what_pages_say(
    tmp_path: Path, name: str, html: bytes, maker: str
) -> None:
    (tmp_path / "index.html").write_bytes(html + b" " * 3000)
    assert maker_of(PackagedSite(name, tmp_path)) == maker


@pytest.mark.parametrize("number", range(30))
def test_a_plan_draws_each_look_once_and_is_the_same_again(number: int) -> None:
    dice = f"dice {number}"
    plans = [plan_of(whole_page(), random.Random(dice)) for _ in range(2)]
    asked = {url: it for url, it in whole_page().records.items() if it is not None}
    wanted = [list(plan.others(asked)) for plan in plans]
    assert wanted[0] == wanted[1]
    variants = [one.variant for one in wanted[0]]
    assert len(variants) == len(set(variants))
    assert sum(variant.startswith("fault:") for variant in variants) == 9
    assert {one.base for one in wanted[0]} <= {"reference", *variants}
