"""Of records that share a gzip member the CDX server names the first alone."""

from __future__ import annotations

import gzip
import json
import zlib

import pytest
from asked_cdx import Ask, asking_here
from landed_stores import LandedStore, page

URL = "http://example.org/"
YEARS = ("2020", "2021", "2022")


def shared(*members: bytes) -> bytes:
    """The records of these members in one."""
    return gzip.compress(b"".join(map(gzip.decompress, members)), mtime=0)


@pytest.fixture
def stored(store: LandedStore) -> LandedStore:
    """Three captures of a URL in one member, one of another before it, and one behind it."""
    three = [page(URL, year.encode(), date=f"{year}-05-06T07:08:09Z") for year in YEARS]
    alone = page(f"{URL}b", b"alone", date="2019-05-06T07:08:09Z")
    last = page(URL, b"last", date="2023-05-06T07:08:09Z")
    store.land("one", "a.warc.gz", alone, shared(*three), last)
    return store


def years_of(ask: Ask, path: str) -> list[str]:
    got = ask(path)
    assert got.status == 200, got.body
    return [line.split(" ")[1][:4] for line in got.lines]


@pytest.mark.parametrize(
    "path",
    [
        f"/cdx?url={URL}",
        f"/default/cdx?url={URL}",
        f"/cdx?url={URL}&matchType=prefix&filter=status:200",
        f"/cdx?url={URL}&sort=reverse",
        f"/default?url={URL}",
    ],
)
def test_no_line_leads_to_another_record(stored: LandedStore, path: str) -> None:
    found = years_of(next(asking_here(stored)), path)
    assert sorted(set(found) - {"2019"}) == ["2020", "2023"]


def test_with_rules_neither(stored: LandedStore) -> None:
    ask = next(asking_here(stored, rules=[{"block": "*", "crawl": "other"}]))
    assert years_of(ask, f"/cdx?url={URL}") == ["2020", "2023"]


def test_every_line_leads_to_its_own_record(stored: LandedStore) -> None:
    ask = next(asking_here(stored))
    for line in ask(f"/cdx?url={URL}&matchType=host").lines:
        fields = json.loads(line.split(" ", 2)[2])
        data = stored.archive.path_of(fields["filename"]).read_bytes()
        begin, length = int(fields["offset"]), int(fields["length"])
        record = zlib.decompress(data[begin : begin + length], zlib.MAX_WBITS | 16)
        head = record.split(b"\r\n\r\n", 1)[0].decode()
        assert f"WARC-Target-URI: {fields['url']}" in head
        assert f"WARC-Date: {line.split(' ')[1][:4]}" in head


def test_the_closest_is_another(stored: LandedStore) -> None:
    ask = next(asking_here(stored))
    assert years_of(ask, f"/cdx?url={URL}&closest=20210601000000&limit=1")[0] in ("2020", "2023")
    assert years_of(ask, f"/cdx?url={URL}&limit=-1") == ["2023"]


def test_a_prefix_may_end_between_parts_of_a_query(store: LandedStore) -> None:
    pages = [page(f"{URL}p?{query}") for query in ("a=1&b=2", "a=1&c=3", "a=12")]
    store.land("one", "a.warc.gz", *pages)
    ask = next(asking_here(store))
    got = ask("/cdx?url=http%3A%2F%2Fexample.org%2Fp%3Fa%3D1%26*")
    urls = [json.loads(line.split(" ", 2)[2])["url"] for line in got.lines]
    assert [url.rpartition("?")[2] for url in urls] == ["a=1&b=2", "a=1&c=3"]
