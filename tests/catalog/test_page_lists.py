"""Lists of pages that WACZ files brought along."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from importing import import_all
from landed_stores import LandedStore, page
from packages import members_of, write_package

from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.page_lists import ListedPage, PageLists, package_of
from pinakes.qa.sample import Population

URI = "http://example.org/"
HEADER = {"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LandedStore]:
    made = LandedStore(tmp_path / "store")
    yield made
    made.close()


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
