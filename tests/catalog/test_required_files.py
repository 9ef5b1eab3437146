"""What WACZ files say that they need, and where the store has it."""

from __future__ import annotations

import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from importing import COLLECTION, import_all, sha256_of, write_wacz
from landed_stores import LandedStore, page
from packages import members_of, with_datapackage, write_package
from scenes import make_scene
from store_chain import call

from pinakes.catalog.file_records import read_generations
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.page_lists import ListedPage, PageLists, package_of
from pinakes.catalog.required_files import find_files, iter_required, scan_required
from pinakes.qa.sample import Population

URI = "http://example.org/"
HEX = "ab" * 32


def datapackage(requires: object) -> bytes:
    return json.dumps({"relation": {"requires": requires}}).encode()


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"{", id="cut off"),
        pytest.param(b"[" * 100_000, id="too deep"),
        pytest.param(b"[]", id="a list"),
        pytest.param(b"{}", id="no relation"),
        pytest.param(b'{"relation": 1}', id="relation no object"),
        pytest.param(b'{"relation": {"requires": 1}}', id="requires no list"),
        pytest.param(datapackage([1, None, [], {}, {"filename": 1}]), id="entries without a name"),
        pytest.param(b'{"relation": {"requires": {"filename": "a"}}}', id="requires an object"),
        pytest.param(b"\xff\xfe", id="no text"),
    ],
)
def test_what_cannot_be_understood_requires_nothing(data: bytes) -> None:
    assert list(iter_required(data, "c/a.wacz")) == []


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        ({"filename": "a.wacz"}, (None, None, None, ())),
        ({"filename": "a.wacz", "hash": HEX, "size": 7, "crawlId": "c"}, (HEX, 7, "c", ())),
        ({"filename": "a.wacz", "hash": f"sha256:{HEX.upper()}"}, (HEX, None, None, ())),
        ({"filename": "a.wacz", "hash": "abc", "size": -1, "crawlId": 3}, (None, None, None, ())),
        ({"filename": "a.wacz", "size": True}, (None, None, None, ())),
        ({"filename": "a.wacz", "resources": [{"hash": HEX}]}, (None, None, None, (HEX,))),
        (
            {"filename": "a.wacz", "resources": [{"hash": HEX}, {"hash": "?"}, 3]},
            (None,) * 3 + ((),),
        ),
        ({"filename": "a.wacz", "resources": 3}, (None, None, None, ())),
    ],
    ids=["name", "all", "labelled", "lies", "size", "members", "a member unknown", "no list"],
)
def test_an_entry_is_read_for_what_it_says(entry: dict[str, Any], wanted: tuple[Any, ...]) -> None:
    [found] = iter_required(datapackage([entry]), "c/a.wacz")
    assert (found.sha256, found.size, found.crawl, found.members) == wanted
    assert (found.filename, found.package, found.entry) == ("a.wacz", "c/a.wacz", entry)


def test_what_is_in_the_store_and_what_is_missing(store: LandedStore, tmp_path: Path) -> None:
    spring = write_wacz(tmp_path / "spring.wacz", page(URI))
    store.land("winter", "w.warc.gz", page(f"{URI}w"), collection=COLLECTION)
    store.land("other", "o.warc.gz", page(f"{URI}o"), collection="elsewhere")
    winter, other = (
        hashlib.sha256((store.folder / "archive" / name).read_bytes()).hexdigest()
        for name in ("winter/w.warc.gz", "other/o.warc.gz")
    )
    requires = [
        {"filename": "spring.wacz", "hash": sha256_of(spring), "crawlId": "spring"},
        {"filename": "w.warc.gz", "hash": winter},
        {"filename": "again.wacz", "hash": HEX, "resources": [{"hash": f"sha256:{winter}"}]},
        {"filename": "gone.wacz", "hash": HEX},
        {"filename": "half.wacz", "resources": [{"hash": winter}, {"hash": HEX}]},
        {"filename": "o.warc.gz", "hash": other},
        {"filename": "unknown.wacz"},
    ]
    members = with_datapackage(members_of(), relation={"requires": requires})
    summer = write_package(tmp_path / "summer.wacz", members)
    import_all(store.rows, store.archive, [spring, summer])
    found = scan_required(store.rows, store.archive, "summer", COLLECTION)
    assert {one.required.filename: one.found for one in found} == {
        "spring.wacz": ("spring/spring.wacz",),
        "w.warc.gz": ("winter/w.warc.gz",),
        "again.wacz": ("winter/w.warc.gz",),
        "gone.wacz": (),
        "half.wacz": (),
        "o.warc.gz": (),
        "unknown.wacz": (),
    }
    assert scan_required(store.rows, store.archive, "spring", COLLECTION) == []
    answer = call("crawl", "requires", "summer", "--store", store.folder)
    assert "its WACZ files say that they need:\n" in answer.out
    assert (
        "  summer/summer.wacz: spring.wacz of spring: in the store: spring/spring.wacz\n"
        in answer.out
    )
    there = "not here as such a file, and every reference resolves"
    assert f"  summer/summer.wacz: gone.wacz: {there}\n" in answer.out
    answer = call("crawl", "requires", "summer", "--json", "--store", store.folder)
    [declared] = [json.loads(answer.out)["declared"]]
    assert declared[0] == {
        **requires[0],
        "package": "summer/summer.wacz",
        "found": ["spring/spring.wacz"],
    }


def test_an_archive_file_is_known_in_any_generation(tmp_path: Path) -> None:
    with make_scene(tmp_path) as scene:
        scene.land(1)
        scene.land(2)
        scene.dedupe()
        name = "c2/part-0.warc.gz"
        generations = read_generations(scene.rows, name)
        assert sorted(generations) == [1, 2]
        sha256s = [facts.sha256 for facts in generations.values()]
        found = find_files(scene.rows, COLLECTION, [*sha256s, HEX])
        assert found == dict.fromkeys(sha256s, name)
        assert find_files(scene.rows, COLLECTION, []) == {}


# --- Lists of pages that WACZ files brought along


HEADER = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def wacz(folder: Path, name: str, records: bytes, **lists: bytes) -> Path:
    members = members_of({"a.warc.gz": records})
    del members["pages/pages.jsonl"]
    members |= {f"pages/{name}.jsonl": content for name, content in lists.items()}
    return write_package(folder / f"{name}.wacz", members)


def listed(store: LandedStore) -> tuple[list[ListedPage], int]:
    lists = PageLists(store.archive, scan_entries(store.rows))
    return list(lists), lists.unread


def test_pages_of_both_lists_with_titles(store: LandedStore, tmp_path: Path) -> None:
    pages = lines(HEADER, {"url": URI, "title": "Où?"}, {"url": f"{URI}b", "title": 7})
    more = lines(HEADER, {"url": f"{URI}c", "text": "x" * 100_000})
    import_all(
        store.rows,
        store.archive,
        [wacz(tmp_path, "one", page(URI), pages=pages, extraPages=more)],
    )
    package = "one/one.wacz"
    assert listed(store) == (
        [
            ListedPage(package, f"{URI}c", None),
            ListedPage(package, URI, "Où?"),
            ListedPage(package, f"{URI}b", None),
        ],
        0,
    )


@pytest.mark.parametrize(
    "line",
    [b"no JSON\n", b"[1]\n", b'"x"\n', b'{"url": 7}\n', b"[" * 100_000 + b"\n", b"\xff\n", b"{"],
)
def test_a_line_that_is_no_page_is_counted(store: LandedStore, tmp_path: Path, line: bytes) -> None:
    pages = lines(HEADER, {"url": URI}) + b"\n \r\n" + line
    import_all(store.rows, store.archive, [wacz(tmp_path, "one", page(URI), pages=pages)])
    found, unread = listed(store)
    assert ([one.url for one in found], unread) == ([URI], 1)


def test_the_same_records_elsewhere_are_no_list(store: LandedStore) -> None:
    record = page("urn:wacz:a.wacz/pages/pages.jsonl", lines({"url": URI}), head=b"")
    store.land("c", "documents.warc.gz", record)
    assert listed(store) == ([], 0)


def test_packages_by_their_files() -> None:
    assert package_of("c/a.wacz/archive/b.warc.gz") == "c/a.wacz"
    assert package_of("c/deep/A.WACZ/in.wacz/archive/b.warc.gz") == "c/deep/A.WACZ"
    assert package_of("c/a.wacz") is None
    assert package_of("c/b.warc.gz") is None


def population(store: LandedStore) -> tuple[list[str], int]:
    pages = Population(store.rows, store.archive, None)
    return [one.url for one in pages], pages.absent


def html(uri: str) -> bytes:
    return page(uri, head=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")


def test_listed_pages_are_the_population_where_there_are_any(
    store: LandedStore, tmp_path: Path
) -> None:
    listing = lines(HEADER, {"url": f"{URI}a"}, {"url": f"{URI}gone"}, {"url": f"{URI}b"})
    records = b"".join(map(html, (f"{URI}frame", f"{URI}a")))
    # Its page b was captured by another instance of the crawler.
    one = wacz(tmp_path, "one", records, pages=listing)
    two = wacz(tmp_path, "two", html(f"{URI}b"), pages=lines(HEADER, {"url": f"{URI}a"}))
    none = wacz(tmp_path, "none", html(f"{URI}x"), pages=lines(HEADER))
    import_all(store.rows, store.archive, [one, two, none])
    store.land("plain", "p.warc.gz", html(f"{URI}y"))
    assert population(store) == ([f"{URI}{name}" for name in "abxy"], 1)


def test_without_lists_every_page_counts(store: LandedStore) -> None:
    store.land("plain", "p.warc.gz", html(f"{URI}y"), html(f"{URI}z"))
    assert population(store) == ([f"{URI}y", f"{URI}z"], 0)


def test_real_lists_are_read(store: LandedStore, shared_data: Path) -> None:
    wanted = []
    for path in (shared_data / "archives").rglob("*.wacz"):
        with zipfile.ZipFile(path) as package:
            for name in package.namelist():
                if name.startswith("pages/"):
                    found = map(json.loads, package.read(name).splitlines())
                    wanted += [(line["url"], line.get("title")) for line in found if "url" in line]
    import_all(store.rows, store.archive, [shared_data / "archives"])
    pages, unread = listed(store)
    assert (sorted((one.url, one.title) for one in pages), unread) == (sorted(wanted), 0)
    assert any(one.title for one in pages)
    assert population(store)[0]
