"""What refers to a crawl is found by rows that lead back, however it names a record."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from fsck_here import codes, look
from landed_stores import LandedStore, page, sha1_of

from pinakes.catalog.file_rows import read_entry
from pinakes.catalog.references import scan_references

URI, DATE = "http://example.org/a?x=1", "2020-01-02T03:04:05Z"
ID = f"urn:uuid:00000000-0000-4000-8000-{f'{URI}-{DATE}'.encode().hex()[-12:]}"
DIGEST = sha1_of(b"hello")
AT = {"WARC-Refers-To-Target-URI": URI, "WARC-Refers-To-Date": DATE}
# Fields of the revisit; its URI; whether it refers to the one page of the crawl.
NAMED: dict[str, tuple[dict[str, str], str, bool]] = {
    "URI and second": (AT, URI, True),
    "URI and second, of another URL": (AT, "http://else.example/", True),
    "in another spelling": (
        {**AT, "WARC-Refers-To-Target-URI": "https://www.example.org/a?x=1"},
        "http://else.example/",
        True,
    ),
    "with its digest": ({**AT, "WARC-Payload-Digest": DIGEST}, URI, True),
    "with another digest": ({**AT, "WARC-Payload-Digest": sha1_of(b"else")}, URI, True),
    "another second, its digest": (
        {**AT, "WARC-Refers-To-Date": "2020-01-02T03:04:06Z", "WARC-Payload-Digest": DIGEST},
        "http://else.example/",
        True,
    ),
    "another second, no digest": (
        {**AT, "WARC-Refers-To-Date": "2020-01-02T03:04:06Z"},
        "http://else.example/",
        False,
    ),
    "id": ({"WARC-Refers-To": f"<{ID}>"}, URI, True),
    "id, of another URL": ({"WARC-Refers-To": f"<{ID}>"}, "http://else.example/", True),
    "another id": ({"WARC-Refers-To": "<urn:uuid:1>"}, "http://else.example/", False),
    "another id, of its URL": ({"WARC-Refers-To": "<urn:uuid:1>"}, URI, False),
    "another id, its digest": (
        {"WARC-Refers-To": "<urn:uuid:1>", "WARC-Payload-Digest": DIGEST},
        URI,
        True,
    ),
    "nothing but its digest": ({"WARC-Payload-Digest": DIGEST}, URI, True),
    "nothing but another digest": ({"WARC-Payload-Digest": sha1_of(b"else")}, URI, False),
    "nothing at all": ({}, URI, True),
    "nothing at all, another URL": ({}, "http://else.example/", False),
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LandedStore]:
    made = LandedStore(tmp_path / "store")
    made.land("one", "a.warc.gz", page(URI), page("http://example.org/b", b"b"))
    yield made
    made.close()


def land_revisit(store: LandedStore, uri: str, fields: dict[str, str]) -> None:
    record = page(
        uri, b"", date="2021-01-01T00:00:00Z", record_type="revisit", extra=fields.items()
    )
    store.land("two", "r.warc.gz", record)


def found(store: LandedStore) -> list[tuple[str, str, str]]:
    references = scan_references(store.rows, store.archive, "one", "default")
    return [(r.archive_file, r.original_file, r.written_by) for r in references]


@pytest.mark.parametrize("landed_by", ["this version", "an older one"])
@pytest.mark.parametrize(("fields", "uri", "refers"), NAMED.values(), ids=NAMED)
def test_a_crawlers_revisit_is_found_by_what_it_names(
    store: LandedStore, fields: dict[str, str], uri: str, refers: bool, landed_by: str
) -> None:
    land_revisit(store, uri, fields)
    if landed_by == "an older one":
        forget_references(store)
    assert found(store) == [("two/r.warc.gz", "one/a.warc.gz", "crawler")] * refers


def forget_references(store: LandedStore) -> None:
    """As an older version left the store: no row leads from what revisits name to them."""
    path = store.folder / "rows.sqlite"
    with sqlite3.connect(path) as connection:
        gone = connection.execute("DELETE FROM digests WHERE CAST(row AS TEXT) LIKE '%:refers%'")
        assert gone.rowcount > 0
        noted = connection.execute("DELETE FROM files WHERE CAST(col AS TEXT) = 'f:references'")
        assert noted.rowcount == 1
    connection.close()


def test_what_also_resolves_elsewhere_is_no_reference(store: LandedStore) -> None:
    land_revisit(store, "http://else.example/", AT)
    store.land("three", "t.warc.gz", page(URI))
    assert found(store) == []


def test_the_answer_to_a_post_is_referred_to_by_its_uri_alone(tmp_path: Path) -> None:
    request = page(
        URI,
        b"y=2",
        record_type="request",
        head=b"POST /a?x=1 HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n",
    )
    store = LandedStore(tmp_path / "store")
    store.land("one", "a.warc.gz", page(URI), request)
    [key] = store.dump()["captures"]
    assert b"y=2" in key
    land_revisit(store, "http://else.example/", AT)
    assert found(store) == [("two/r.warc.gz", "one/a.warc.gz", "crawler")]
    store.close()


def test_fsck_writes_the_rows_of_an_older_version(store: LandedStore) -> None:
    land_revisit(store, "http://else.example/", AT)
    assert read_entry(store.rows, "two/r.warc.gz").references_kept
    before = store.dump()
    forget_references(store)
    assert read_entry(store.rows, "two/r.warc.gz").holds_unkept_revisits
    assert codes(store, repair=True, full=False) == ["rows-missing", "references"]
    assert store.dump() == before
    assert not read_entry(store.rows, "two/r.warc.gz").holds_unkept_revisits
    assert look(store) == []
    assert len(found(store)) == 1
