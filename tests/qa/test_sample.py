"""Which pages of a crawl are looked at."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some
from scenes import Scene

from pinakes.catalog.file_rows import TABLE, scan_entries
from pinakes.catalog.pages import PageCapture, page_of, pages_of
from pinakes.catalog.sidecar import SidecarRow, read_sidecar, sidecar_name
from pinakes.cli import main
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_cells import FileStateCell
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.index.external_sort import SortSpace
from pinakes.index.urlkey import urlkey
from pinakes.qa.sample import SampledPage, draw
from pinakes.row_store.port import Put


def page(number: int, site: str = "example.org", media_type: str = "text/html") -> PageCapture:
    url = f"http://{site}/{number}"
    return PageCapture(urlkey(url), "20260101000000", url, media_type, b"%d" % number)


def drawn(
    pages: list[PageCapture], size: int, seed: str = "s", **more: object
) -> list[SampledPage]:
    return list(draw(pages, size=size, seed=seed, **more))  # type: ignore[arg-type]


@given(
    some.lists(some.tuples(some.integers(0, 5), some.integers(1, 60)), max_size=6),
    some.integers(0, 80),
    some.text(max_size=4),
)
def test_as_many_as_asked_for_and_each_once(
    sites: list[tuple[int, int]], size: int, seed: str
) -> None:
    pages = sorted({page(n, f"s{site}.org") for site, count in sites for n in range(count)})
    found = drawn(pages, size, seed)
    assert len(found) == min(size, len(pages))
    assert len({one.page for one in found}) == len(found)
    if found:
        assert sum(one.weight for one in found) == pytest.approx(len(pages))


def test_whatever_the_order_they_come_in() -> None:
    pages = [page(n, f"s{n % 7}.org") for n in range(500)]
    shuffled = random.Random(1).sample(pages, len(pages))
    assert drawn(pages, 40) == drawn(shuffled, 40, space=SortSpace(memory_bytes=10_000))
    assert drawn(pages, 40) != drawn(pages, 40, seed="another")


def test_each_site_has_its_share() -> None:
    pages = [page(n, "large.org") for n in range(900)] + [page(n, "small.org") for n in range(100)]
    found = drawn(pages, 50)
    shares = Counter(one.page.site for one in found)
    assert abs(shares["org,large"] - 45) <= 1
    assert abs(shares["org,small"] - 5) <= 1


def test_each_page_is_as_likely_as_another() -> None:
    pages = [page(n, f"s{n % 3}.org") for n in range(30)]
    times = Counter(one.page for seed in range(3000) for one in drawn(pages, 10, str(seed)))
    assert all(850 < times[one] < 1150 for one in pages)  # 1,000; its deviation is 26


def test_home_pages_and_seeds_are_always_in_and_stand_for_themselves() -> None:
    home = PageCapture(
        urlkey("http://a.org/"), "20260101000000", "http://a.org/", "text/html", b"h"
    )
    pages = [home, *(page(n) for n in range(100))]
    found = drawn(pages, 10, seeds=["https://www.example.org/17"])
    always = [one for one in found if one.is_always]
    assert {one.page for one in always} == {home, page(17)}
    assert {one.weight for one in always} == {1}
    assert sum(one.weight for one in found) == pytest.approx(len(pages))
    assert len(found) == 12


@pytest.mark.parametrize(
    ("url", "is_home"),
    [
        ("http://a.org", True),
        ("https://www.a.org:8080/#top", True),
        ("http://a.org/?PHPSESSID=0123456789abcdef0123456789abcdef", True),
        ("http://a.org/?", True),
        ("http://[::1]/", True),
        ("http://a.org/?page=2", False),
        ("http://a.org/index.html", False),
        ("urn:a:b", False),
        # What `urlsplit` raises ValueError of.
        ("http://[foo/bar", False),
        ("http://[foo/", True),
        ("http://exam\u2100ple.com/", True),
        ("http://a.org:99999/x", False),
    ],
)
def test_the_page_of_a_hosts_root(url: str, is_home: bool) -> None:
    assert PageCapture(urlkey(url), "20260101000000", url, "text/html", b"k").is_home is is_home


def test_what_is_no_page_is_not_looked_at(landed: Scene) -> None:
    [row, *_] = [row for row in rows_of(landed) if row.type == "response"]
    assert page_of(row) is not None
    for change in (
        {"status": 404},
        {"status": None},
        {"media_type": "image/png"},
        {"media_type": None},
        {"type": "request"},
        {"date": "soon"},
        {"row_key": None},
    ):
        assert page_of(row._replace(**change)) is None


def rows_of(landed: Scene) -> list[SidecarRow]:
    entries = scan_entries(landed.rows)
    files = [landed.archive.open(sidecar_name(entry.archive_file)) for entry in entries]
    return [row for file in files for row in read_sidecar(file)]


def test_the_pages_of_a_store_each_url_once(landed: Scene) -> None:
    """Before and after it is deduplicated: what was made a revisit is a page still."""
    entries = list(scan_entries(landed.rows))
    found = list(pages_of(landed.archive, entries))
    assert [one.url for one in found] == sorted(f"http://example.org/{n}" for n in range(12))
    assert {one.second[:4] for one in found} == {"2021"}
    landed.dedupe()
    now = list(scan_entries(landed.rows))
    assert any(entry.generation == 2 for entry in now)
    assert list(pages_of(landed.archive, now)) == found
    second = [entry for entry in now if entry.archive_file.startswith("c2/")]
    assert {one.second[:4] for one in pages_of(landed.archive, second)} == {"2022"}
    assert list(pages_of(landed.archive, [replace(entry, state="removed") for entry in now])) == []


# --- `pinakes qa sample`


@pytest.fixture
def store(landed: Scene, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PINAKES_STORE", str(landed.folder / "store"))
    return landed.folder


def test_pages_with_their_weights(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seeds = store / "seeds"
    seeds.write_text("http://example.org/3\n\nhttp://elsewhere.org/\n")
    asked = ["qa", "sample", "c2", "--size", "4", "--seeds", str(seeds)]
    assert main([*asked, "--json"]) == 0
    pages = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(pages) == 5
    assert sum(page["weight"] for page in pages) == 12
    assert [page["url"] for page in pages if page["always"]] == ["http://example.org/3"]
    assert {page["time"][:4] for page in pages} == {"2022"}
    assert main(asked) == 0
    said = capsys.readouterr()
    assert all(page["url"] in said.out for page in pages)
    assert "5 pages" in said.err
    # A seed that nobody answered is no failure of the crawl's sample.
    assert "http://elsewhere.org/: the crawl c2 has no such page" in said.err
    assert said.err.count("no such page") == 1


@pytest.mark.parametrize("state", ["landing", "loading", "refused"])
def test_files_that_have_not_landed_are_told(
    store: Path, landed: Scene, state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    [name, *_] = [entry.archive_file for entry in scan_entries(landed.rows, "c2")]
    cell = encode_cell(FileStateCell(state=state, act="a"))
    landed.rows.mutate(TABLE, [Put(encode_file_key(name), {FileStateCell.COLUMN: cell}, None)])
    assert main(["qa", "sample", "c2"]) == 0
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 6
    assert "the crawl c2 that have not landed, and whose pages are left out: 1" in said.err


@pytest.mark.parametrize(
    ("words", "reason", "code"),
    [
        (["c9"], "there is no crawl c9", 2),
        (["c1", "--size", "-1"], "must be 0 or more", 2),
        (["c1", "--seeds", "absent"], "absent: No such file", 3),
        (["c1", "--seeds", "a", "--urls", "b"], "--urls and --seeds cannot be combined", 2),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    store: Path, capsys: pytest.CaptureFixture[str], words: list[str], reason: str, code: int
) -> None:
    assert main(["qa", "sample", *words]) == code
    assert reason in capsys.readouterr().err
