"""The counts of a crawl under Browsertrix's names, compared with lengths of members on the disk."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from importing import COLLECTION, import_all, write_wacz
from landed_stores import LandedStore, page, revisit
from purged import capture, land, paths_now, purge, revisit_of
from scenes import Scene, make_scene
from taken_down import withdraw

from pinakes.catalog.browsertrix_counts import BrowsertrixCounts, count_as_browsertrix
from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.sidecar import read_sidecar, sidecar_name

URI = "http://example.org/"
DATE = "2020-01-02T03:04:05Z"
LARGE = bytes(range(256)) * 8
ORIGINAL = page(URI, LARGE, date=DATE)
REVISIT = revisit(URI, "2021-01-01T00:00:00Z", URI, DATE)


def counted(store: LandedStore | Scene, crawl: str, collection: str = "default") -> list[int]:
    found = count_as_browsertrix(store.rows, store.archive, crawl, collection)
    return list(found.as_json().values())


def test_the_names_are_browsertrix() -> None:
    assert BrowsertrixCounts(1, 2, 3, 4).as_json() == {
        "totalCrawlSize": 1,
        "totalUrls": 2,
        "dupeUrls": 3,
        "conservedSize": 4,
    }


def test_a_crawl_of_wacz_files(store: LandedStore, tmp_path: Path) -> None:
    path = write_wacz(tmp_path / "item.wacz", ORIGINAL, REVISIT)
    import_all(store.rows, store.archive, [path])
    counts = counted(store, "item", COLLECTION)
    # `documents.warc` of the package is among its records.
    records = 2 + sum(1 for _ in documents(store))
    assert counts == [path.stat().st_size, records, 1, len(ORIGINAL) - len(REVISIT)]


def documents(store: LandedStore) -> Iterator[object]:
    for entry in scan_entries(store.rows, "item"):
        if entry.archive_file.endswith("documents.warc"):
            with store.archive.open(sidecar_name(entry.archive_file)) as file:
                yield from (r for r in read_sidecar(file) if r.type == "response")


def test_a_crawl_of_archive_files(store: LandedStore) -> None:
    store.land("one", "a.warc.gz", ORIGINAL)
    assert counted(store, "one") == [len(ORIGINAL), 1, 0, 0]
    store.land("two", "b.warc.gz", REVISIT)
    assert counted(store, "two") == [len(REVISIT), 1, 1, len(ORIGINAL) - len(REVISIT)]
    assert counted(store, "nothing") == [0, 0, 0, 0]


def test_both_in_one_crawl(store: LandedStore, tmp_path: Path) -> None:
    path = write_wacz(tmp_path / "item.wacz", ORIGINAL)
    import_all(store.rows, store.archive, [path])
    before = counted(store, "item", COLLECTION)
    store.land("item", "b.warc.gz", REVISIT, collection=COLLECTION)
    after = counted(store, "item", COLLECTION)
    assert after[0] == before[0] + len(REVISIT)
    assert after[1:] == [before[1] + 1, 1, len(ORIGINAL) - len(REVISIT)]


@pytest.mark.parametrize(
    ("record", "urls", "duplicates"),
    [
        pytest.param(page("urn:view:1", b"a"), 0, 0, id="urn"),
        pytest.param(page(f"{URI}r", b"a", record_type="resource"), 0, 0, id="resource"),
        pytest.param(page(f"{URI}r", b"a", record_type="request"), 0, 0, id="request"),
        pytest.param(revisit(URI, "2021-01-01T00:00:00Z", f"{URI}x", DATE), 1, 1, id="unresolved"),
        pytest.param(page(f"{URI}m", b"", head=b"HTTP/1.1 301 M\r\n\r\n"), 1, 0, id="redirect"),
    ],
)
def test_what_counts(store: LandedStore, record: bytes, urls: int, duplicates: int) -> None:
    store.land("one", "a.warc.gz", ORIGINAL, record)
    assert counted(store, "one") == [len(ORIGINAL) + len(record), 1 + urls, duplicates, 0]


def test_a_revisit_larger_than_its_original_conserves_nothing(store: LandedStore) -> None:
    small = page(URI, b"", date=DATE)
    store.land("one", "a.warc.gz", small, REVISIT)
    assert len(small) < len(REVISIT)
    assert counted(store, "one")[1:] == [2, 1, 0]


def test_what_dedupe_and_a_take_down_leave(tmp_path: Path) -> None:
    with make_scene(tmp_path) as scene:
        scene.land(1)
        scene.land(2)
        before = counted(scene, "c2", "news")
        assert before[1:] == [12, 0, 0]
        scene.dedupe()
        size, urls, duplicates, conserved = counted(scene, "c2", "news")
        # Pages that are another in every crawl, every third, stay.
        assert (size, urls, duplicates) == (before[0], 12, 8)
        assert conserved == saved_by_members(scene)
        withdraw(scene, "http://example.org/1")
        assert counted(scene, "c2", "news")[1:3] == [11, 7]


@pytest.mark.parametrize("by", ["crawlers", "dedupe"])
def test_what_a_purge_leaves(tmp_path: Path, by: str) -> None:
    """A revisit that was made full is the original of others at the length that it has now."""
    with make_scene(tmp_path) as scene:
        numbers = range(1, 4)
        land(scene, 1, *(capture(1, n) for n in numbers))
        for crawl in (2, 3):
            by_crawler = by == "crawlers"
            land(
                scene,
                crawl,
                *(
                    revisit_of(crawl, n, (1, n)) if by_crawler else capture(crawl, n)
                    for n in numbers
                ),
            )
        scene.dedupe()
        assert purge(scene, 1).problems == []
        for crawl in ("c2", "c3"):
            conserved = counted(scene, crawl, "news")[3]
            assert conserved == conserved_in_files(scene, crawl)
        assert conserved > 3 * 2500


def conserved_in_files(scene: Scene, crawl: str) -> int:
    """By the members of the files as they are now, read by zlib alone."""
    full: dict[tuple[str, str], int] = {}
    revisits = []
    for path in paths_now(scene):
        data = path.read_bytes()
        while data:
            inflater = zlib.decompressobj(31)
            record = inflater.decompress(data).decode("latin-1")
            length, data = len(data) - len(inflater.unused_data), inflater.unused_data
            fields = dict(re.findall(r"(?m)^([\w-]+): ([^\r]*)", record.partition("\r\n\r\n")[0]))
            if fields["WARC-Type"] == "revisit":
                named = fields["WARC-Refers-To-Target-URI"], fields["WARC-Refers-To-Date"]
                revisits += [(named, length)] if f"/{crawl}/" in str(path) else []
            elif fields["WARC-Type"] == "response":
                full[fields["WARC-Target-URI"], fields["WARC-Date"]] = length
    return sum(full[named] - length for named, length in revisits)


def saved_by_members(scene: Scene) -> int:
    """By how much the revisits of crawl 2 are shorter than crawl 1's records, by sidecars."""
    lengths: dict[bytes, int] = {}
    revisits = []
    for entry in scan_entries(scene.rows):
        name = entry.stored_name
        with scene.archive.open(sidecar_name(name)) as file:
            for row in read_sidecar(file):
                lengths[row.row_key or b""] = row.length
                revisits += [row] if row.is_replaced else []
    return sum(lengths[row.original_key or b""] - row.length for row in revisits)
