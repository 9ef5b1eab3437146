"""The captures that crawlers may refer to: `POST /digests`, and the query that warcprox sends."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from archive_builders import HTTP
from asked_cdx import Ask, asking_here
from crawl_states import set_crawl_state
from landed_stores import LandedStore, in_one_member, page, revisit, sha1_of
from scenes import Scene, write_crawl
from scenes import page as site_page
from taken_down import withdraw

from pinakes.access.cdx.external import parse_lines, put_lines
from pinakes.catalog.captures import scan_captures_of
from pinakes.catalog.crawl_rows import CANCELLING, COMMITTED, REMOVING
from pinakes.catalog.originals import Asked, OriginalFinder
from pinakes.catalog.visible_files import VisibleFiles
from pinakes.hbase_schema.capture_cells import CaptureFacts, Location
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.columns import numbered_column
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import Put
from pinakes.warc.digest import parse_digest

URL = "http://example.org/page"
BODY = b"the body that everybody has"
FIRST, SECOND, THIRD = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z", "2022-01-01T00:00:00Z"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
GONE = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n"
MOVED = b"HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\n"
Rules = list[dict[str, object]]


def commit(store: LandedStore, *crawls: str, state: str = COMMITTED) -> None:
    for crawl in crawls:
        set_crawl_state(store.rows, crawl, state, act="a")


def told(ask: Ask, *digests: str, path: str = "/digests") -> list[dict[str, object]]:
    got = ask(path, json.dumps(digests), token=None)
    assert got.status == 200, got.body
    return [json.loads(line) for line in got.lines]


def offered(ask: Ask, body: bytes = BODY, path: str = "/digests") -> str | None:
    """The date of the original that is offered for a body."""
    [one] = told(ask, sha1_of(body), path=path)
    original = one["original"]
    return original["date"] if isinstance(original, dict) else None


def one(store: LandedStore, **options: object) -> None:
    """One page, in a committed crawl."""
    store.land("one", "a.warc.gz", page(URL, BODY, date=FIRST, **options))  # type: ignore[arg-type]
    commit(store, "one")


def open_only(store: LandedStore) -> None:
    store.land("one", "a.warc.gz", page(URL, BODY, date=FIRST))


def leaving(state: str) -> Callable[[LandedStore], None]:
    def scene(store: LandedStore) -> None:
        open_only(store)
        commit(store, "one", state=state)

    return scene


def open_before_committed(store: LandedStore) -> None:
    open_only(store)
    store.land("two", "b.warc.gz", page(URL, BODY, date=SECOND))
    commit(store, "two")


def with_revisit_before(store: LandedStore) -> None:
    digest = ("WARC-Payload-Digest", sha1_of(BODY))
    store.land(
        "one",
        "a.warc.gz",
        page(URL, b"", date=FIRST, record_type="revisit", extra=[digest]),
        page(URL, BODY, date=SECOND),
    )
    commit(store, "one")


def with_neighbour(
    body: bytes, *, head: bytes = HTTP, crawl: str = "one"
) -> Callable[[LandedStore], None]:
    """Another capture of the same urlkey and second; a later copy has its own."""

    def scene(store: LandedStore) -> None:
        open_only(store)
        url = URL.replace("http:", "https:")
        store.land(crawl, "n.warc.gz", page(url, body, date=FIRST, head=head))
        store.land("later", "c.warc.gz", page(URL, BODY, date=SECOND))
        commit(store, "one", "later")

    return scene


def with_external_neighbour(body: bytes) -> Callable[[LandedStore], None]:
    def scene(store: LandedStore) -> None:
        one(store)
        line = f"- 20200101000000 {URL} text/html 200 {sha1_of(body)[5:]} - - 10 0 x.warc.gz"
        put_lines(store.rows, parse_lines(line, skips_bad=False), "other", act_time_ms=9)

    return scene


def behind_another(store: LandedStore) -> None:
    """No line leads to the first; a later copy begins its member."""
    first, second = page(URL, BODY, date=FIRST), page(URL, BODY, date=SECOND)
    other = page(f"{URL}/other", b"another")
    store.land("one", "a.warc.gz", in_one_member(other, first), in_one_member(second, other))
    commit(store, "one")


def only_behind_another(store: LandedStore) -> None:
    store.land("one", "a.warc.gz", in_one_member(page(f"{URL}/other"), page(URL, BODY, date=FIRST)))
    commit(store, "one")


def crowded(store: LandedStore) -> None:
    """More captures of one address and second than are looked at, all of one body."""
    store.land("one", "a.warc.gz", *(page(URL, BODY, date=FIRST) for _ in range(9)))
    commit(store, "one")


def of_other_collection(store: LandedStore) -> None:
    store.land("one", "a.warc.gz", page(URL, BODY, date=FIRST), collection="other")
    store.land("two", "b.warc.gz", page(URL, BODY, date=SECOND))
    commit(store, "one", "two")


def many(store: LandedStore) -> None:
    pages = (page(f"{URL}/{n}", BODY, date=f"20{n:02d}-01-01T00:00:00Z") for n in range(25, 9, -1))
    store.land("one", "a.warc.gz", *pages)
    commit(store, "one")


@pytest.mark.parametrize(
    ("scene", "path", "date"),
    [
        pytest.param(one, "/digests", FIRST, id="a committed crawl"),
        pytest.param(one, "/default/digests", FIRST, id="of its collection"),
        pytest.param(one, "/nothing/digests", None, id="of another collection"),
        pytest.param(open_only, "/digests", None, id="an open crawl"),
        pytest.param(open_only, "/digests?crawl=one", FIRST, id="the open crawl that asks"),
        pytest.param(open_only, "/digests?crawl=two", None, id="another one asks"),
        pytest.param(open_only, "/digests?crawl=*", FIRST, id="all that are open are asked for"),
        pytest.param(leaving(CANCELLING), "/digests?crawl=one", None, id="being cancelled"),
        pytest.param(leaving(REMOVING), "/digests?crawl=*", None, id="being removed"),
        pytest.param(open_before_committed, "/digests", SECOND, id="an earlier one is open"),
        pytest.param(open_before_committed, "/digests?crawl=one", FIRST, id="that one asks"),
        pytest.param(with_revisit_before, "/digests", SECOND, id="a revisit is no original"),
        pytest.param(with_neighbour(b"x"), "/digests", SECOND, id="another body at its second"),
        pytest.param(with_neighbour(BODY), "/digests", FIRST, id="the same body at its second"),
        pytest.param(
            with_neighbour(b"x", crawl="open"),
            "/digests",
            SECOND,
            id="another body, of an open crawl",
        ),
        pytest.param(
            with_neighbour(BODY, head=MOVED), "/digests", SECOND, id="a redirect at its second"
        ),
        pytest.param(
            with_external_neighbour(b"another"), "/digests", None, id="a line of another archive"
        ),
        pytest.param(
            with_external_neighbour(BODY), "/digests", FIRST, id="such a line of the same body"
        ),
        pytest.param(behind_another, "/digests", SECOND, id="first of its member"),
        pytest.param(only_behind_another, "/digests", None, id="behind another in its member"),
        pytest.param(crowded, "/digests", None, id="too many at its second"),
        pytest.param(of_other_collection, "/digests", FIRST, id="of all collections"),
        pytest.param(of_other_collection, "/default/digests", SECOND, id="of this collection"),
        pytest.param(many, "/digests", "2010-01-01T00:00:00Z", id="the earliest of many"),
    ],
)
def test_original_that_is_offered(
    store: LandedStore, scene: Callable[[LandedStore], None], path: str, date: str | None
) -> None:
    scene(store)
    for ask in asking_here(store):
        assert offered(ask, path=path) == date


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"head": MOVED}, id="redirect"),
        pytest.param({"extra": [("WARC-Truncated", "length")]}, id="truncated"),
        pytest.param({"record_type": "resource", "head": b""}, id="resource"),
        pytest.param({"date": "1980-01-01T00:00:00Z"}, id="before the web"),
        pytest.param({"date": "2999-01-01T00:00:00Z"}, id="later than its landing"),
        pytest.param({"extra": [("WARC-Payload-Digest", sha1_of(b"x"))]}, id="declares another"),
    ],
)
def test_what_takes_no_part_is_not_offered(store: LandedStore, options: dict[str, object]) -> None:
    store.land("one", "a.warc.gz", page(URL, BODY, **options))  # type: ignore[arg-type]
    commit(store, "one")
    for ask in asking_here(store):
        assert offered(ask) is None
        assert ask(f"/digest/{sha1_of(BODY)}").lines  # it is there


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param([{"block": URL}], id="a URL"),
        pytest.param([{"block": "*", "crawl": "one"}], id="a crawl"),
        pytest.param([{"block": "*", "older_than": "1 day"}], id="by age"),
    ],
)
def test_what_rules_hide_is_not_offered(store: LandedStore, rules: Rules) -> None:
    one(store)
    for ask in asking_here(store, rules):
        assert told(ask, sha1_of(BODY)) == [{"digest": sha1_of(BODY), "original": None}]
        assert not ask(f"/digest/{sha1_of(BODY)}?original=true").body
        assert not ask(f"/digest/{sha1_of(BODY)}").body
        assert not ask(warcprox_asks("/default", URL)).body
        assert ask("/default/dedup/wget").lines == [" CDX N b a m s k r M S V g u"]


def test_what_shares_a_member_with_something_hidden_is_not_offered(store: LandedStore) -> None:
    """`/warc` gives out no part of such a member, so nobody could replay a reference to it."""
    hidden = "http://example.org/hidden"
    store.land("one", "a.warc.gz", in_one_member(page(URL, BODY, date=FIRST), page(hidden)))
    commit(store, "one")
    for ask in asking_here(store):
        assert offered(ask) is not None
    for ask in asking_here(store, [{"block": hidden}]):
        assert offered(ask) is None
        assert not ask(f"/digest/{sha1_of(BODY)}?original=true").body
        assert not ask(warcprox_asks("/default/dedup/hex", URL)).body
        assert ask("/default/dedup/wget").lines == [" CDX N b a m s k r M S V g u"]
    for ask in asking_here(store, [{"block": "http://example.org/another"}]):
        assert offered(ask) is not None


def test_all_that_is_told(store: LandedStore) -> None:
    one(store)
    for ask in asking_here(store):
        [found] = told(ask, "sha1:" + hashlib.sha1(BODY).hexdigest().upper(), path="/digests")
    original = found.pop("original")
    assert found == {"digest": "sha1:" + hashlib.sha1(BODY).hexdigest().upper()}
    assert isinstance(original, dict)
    assert int(original.pop("length")) > 0
    assert original.pop("digest") == BASE32
    assert original.pop("record_id").startswith("urn:uuid:")
    assert original == {
        "urlkey": "org,example)/page",
        "timestamp": "20200101000000",
        "url": URL,
        "date": FIRST,
        "mime": "text/html",
        "status": "200",
        "size": str(len(BODY)),
        "collection": "default",
        "crawl": "one",
        "filename": "one/a.warc.gz",
        "offset": "0",
    }


@pytest.mark.parametrize(
    ("body", "digests"),
    [
        pytest.param(b"", [], id="nothing"),
        pytest.param(b"[]", [], id="an empty array"),
        pytest.param(b" \r\n\n", [], id="blank lines"),
        pytest.param(b"a\r\nb\n\nc", ["a", "b", "c"], id="lines"),
        pytest.param(b'["a", 1, null, {"x": []}]', ["a", "1", "null", '{"x": []}'], id="no texts"),
        pytest.param(b"\xff\xfe", ["\ufffd\ufffd"], id="not UTF-8"),
        pytest.param(b"md5:" + b"0" * 32, ["md5:" + "0" * 32], id="an MD5"),
    ],
)
def test_invalid_digests_have_their_lines(
    store: LandedStore, body: bytes, digests: list[str]
) -> None:
    for ask in asking_here(store):
        got = ask("/digests", body, token=None)
    error = "not a digest of SHA-1 or SHA-256"
    assert [json.loads(line) for line in got.lines] == [
        {"digest": digest, "error": error} for digest in digests
    ]


def test_answers_are_in_the_order_asked(store: LandedStore) -> None:
    """Any notation, what is unknown or invalid between, one digest twice, several pieces."""
    one(store)
    sha1, sha256 = hashlib.sha1(BODY), hashlib.sha256(BODY)
    known = [sha1_of(BODY), sha1_of(BODY)[5:], sha1.hexdigest(), f"sha-256:{sha256.hexdigest()}"]
    unknown = [hashlib.sha1(b"%d" % n).hexdigest() for n in range(1200)]
    asked = [known[0], "x", *unknown[:600], *known[1:], *unknown[600:], known[0]]
    for ask in asking_here(store):
        found = told(ask, *asked)
    assert [line["digest"] for line in found] == asked
    assert [bool(line.get("original")) for line in found] == [text in known for text in asked]
    assert [text for text, line in zip(asked, found, strict=True) if "error" in line] == ["x"]


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        pytest.param("/digests", b"[1,", 400, "neither a JSON array", id="no JSON"),
        pytest.param("/digests", b"[" * 100_000, 400, "neither a JSON array", id="deep JSON"),
        pytest.param("/digests", b"x\n" * 10_001, 413, "more than 10,000", id="too many"),
        pytest.param("/digests", b"x" * (4 << 20) + b"x", 413, "Too Large", id="too large"),
        pytest.param("/digests", None, 405, "Method", id="GET"),
        pytest.param("/digests?crawl=a/b", b"x", 400, "crawl", id="no crawl's name"),
        pytest.param("/default/dedup/hex", None, 400, "url is missing", id="no URL"),
        pytest.param("/default/dedup/hex", b"x", 405, "Method", id="POST"),
    ],
)
def test_what_is_refused(
    store: LandedStore, path: str, body: bytes | None, status: int, words: str
) -> None:
    for ask in asking_here(store):
        got = ask(path, body, token=None)
    assert (got.status, words in got.body) == (status, True), got.body


def test_digest_with_several_bodies_has_no_original(store: LandedStore, shared_data: Path) -> None:
    """Two PDFs with one SHA-1; by SHA-256 each is found, and so is the one of its collection."""
    first, second = ((shared_data / f"collisions/sha1-{n}.pdf").read_bytes() for n in (1, 2))
    sha1 = hashlib.sha1(first).hexdigest()
    store.land("one", "a.warc.gz", page(URL, first, date=FIRST))
    store.land("two", "b.warc.gz", page(URL, second, date=SECOND), collection="other")
    commit(store, "one", "two")
    several = {"digest": sha1, "original": None, "why": "several bodies have this digest"}
    for ask in asking_here(store):
        assert told(ask, sha1) == [several]
        assert offered(ask, first, "/default/digests") == FIRST
        assert offered(ask, second, "/other/digests") == SECOND
        by_256 = told(ask, *(hashlib.sha256(body).hexdigest() for body in (first, second)))
        assert [line["original"]["date"] for line in by_256] == [FIRST, SECOND]  # type: ignore[index]
        assert not ask(f"/digest/{sha1}?original=true").body
    for ask in asking_here(store, [{"block": "*", "collection": "other"}]):
        assert told(ask, sha1) == [{"digest": sha1, "original": None}]  # no word of what is hidden


@pytest.mark.parametrize("copies", [1, 3, 7, 8, 9, 30])
def test_other_body_among_many_copies_is_found(
    store: LandedStore, shared_data: Path, copies: int
) -> None:
    first, second = ((shared_data / f"collisions/sha1-{n}.pdf").read_bytes() for n in (1, 2))
    sha1 = hashlib.sha1(first).hexdigest()
    pages = [page(f"{URL}/{n}", first, date=f"20{n:02d}-01-01T00:00:00Z") for n in range(copies)]
    store.land("one", "a.warc.gz", *pages)
    query = urlencode({"url": f"{URL}/0"})
    for ask in asking_here(store):
        assert told(ask, sha1, path="/default/digests?crawl=one")[0]["original"]
        assert ask(f"/default/dedup/hex/one?{query}").body == f"20000101000000 {sha1}\n"
        store.land("open", "b.warc.gz", page(f"{URL}/x", second, date="2008-06-01T00:00:00Z"))
        [found] = told(ask, sha1, path="/default/digests?crawl=one")
        assert found["why"] == "several bodies have this digest"
        assert not ask(f"/default/dedup/hex/one?{query}").body
        assert len(ask("/default/dedup/wget/one").lines) == 1


def test_digest_of_very_many_captures_has_no_original(store: LandedStore) -> None:
    pages = (page(f"{URL}/{n}", BODY, date=FIRST) for n in range(600))
    store.land("one", "a.warc.gz", *pages)
    commit(store, "one")
    digest = parse_digest(sha1_of(BODY))
    assert digest is not None

    def found(most_copies: int) -> list[bool]:
        finder = OriginalFinder(
            store.rows,
            VisibleFiles(store.rows),
            collection="default",
            crawl=None,
            admits=lambda key, place: True,
            gives=lambda original: True,
            most_copies=most_copies,
        )
        return [bool(one.original) for one in finder.iter_found([Asked(digest)]) if one]

    assert (found(500), found(1000)) == ([False], [True])


def test_pinned_original_is_offered_before_an_earlier_copy(scene: Scene) -> None:
    """Crawl 3 refers to crawl 2, whose file is rewritten too; then crawl 1 lands."""
    write_crawl(scene.crawls / "c3", 3)
    scene.land(2)
    scene.land(3)
    scene.dedupe()
    scene.land(1)
    for crawl in ("c1", "c2", "c3"):
        set_crawl_state(scene.rows, crawl, COMMITTED, act="a")
    same, other = sha1_of(site_page(1)), sha1_of(site_page(3, 1))
    for ask in asking_here(scene):
        found = [line["original"] for line in told(ask, same, other, path="/news/digests")]
        assert [original["crawl"] for original in found] == ["c2", "c1"]  # type: ignore[index]


def test_withdrawn_original_is_not_offered(scene: Scene) -> None:
    """The copy that takes its place is, where it lies now; then nothing is."""
    scene.land(1)
    scene.land(2)
    scene.dedupe()
    for crawl in ("c1", "c2"):
        set_crawl_state(scene.rows, crawl, COMMITTED, act="a")
    body, url = sha1_of(site_page(1)), "http://example.org/1"
    key = next(iter(scan_captures_of(scene.rows, urlkey(url)))).key.decode("ascii")
    for ask in asking_here(scene):
        assert told(ask, body)[0]["original"]["filename"].startswith("c1/")  # type: ignore[index]
    withdraw(scene, key)
    query = warcprox_asks("/news/dedup/hex", url)
    for ask in asking_here(scene):
        [found] = told(ask, body)
        original = found["original"]
        assert isinstance(original, dict)
        name, offset, length = (original[n] for n in ("filename", "offset", "length"))
        assert name.startswith("c2/g")
        stored = (scene.folder / "store" / "archive" / name).read_bytes()
        member = gzip.decompress(stored[int(offset) : int(offset) + int(length)])
        assert site_page(1) in member
        assert ask(query).body.startswith("20220101")
    withdraw(scene, url)
    for ask in asking_here(scene):
        assert told(ask, body) == [{"digest": body, "original": None}]
        assert not ask(query).body


def test_rows_of_older_versions_are_read(store: LandedStore) -> None:
    """A `m:capture` of version 1 has its place in a cell of its own."""
    one(store)
    for ask in asking_here(store):
        expected = told(ask, sha1_of(BODY))
    [row] = store.rows.scan("captures")
    facts = json.loads(row.value(CaptureFacts.COLUMN) or b"")
    place = {name: int(facts.pop(name)) for name in ("offset", "length")}
    older = {
        "v": 1,
        "target_uri": facts.pop("url"),
        "archive_file": facts.pop("filename"),
        "media_type": facts.pop("mime"),
        "payload_sha1": f"sha1:{facts.pop('digest')}",
        "status": int(facts.pop("status")),
    }
    cells = {
        CaptureFacts.COLUMN: json.dumps(facts | older).encode(),
        numbered_column(Location, 1): encode_cell(Location(**place)),
    }
    store.rows.mutate("captures", [Put(row.key, cells, 2_000_000_000_000)])
    for ask in asking_here(store):
        assert told(ask, sha1_of(BODY)) == expected


def warcprox_asks(path: str, url: str) -> str:
    """The query as urllib3 writes it."""
    fields = {"url": url, "fl": "timestamp,digest", "filter": "!mimetype:warc/revisit"}
    return f"{path}?{urlencode({**fields, 'limit': -1})}"


HEX, BASE32 = hashlib.sha1(BODY).hexdigest(), sha1_of(BODY)[5:]
DECLARED = [("WARC-Payload-Digest", f"sha1:{HEX}")]


@pytest.mark.parametrize(
    ("path", "extra", "expected"),
    [
        pytest.param("/default", (), BASE32, id="OutbackCDX's path, Base32"),
        pytest.param("/default/cdx", (), BASE32, id="pywb's path, Base32"),
        pytest.param("/cdx", (), BASE32, id="all collections"),
        pytest.param("/default", DECLARED, HEX, id="as it is declared"),
        pytest.param("/default/dedup/hex", (), HEX, id="hex"),
        pytest.param("/default/dedup/base32", DECLARED, BASE32, id="Base32"),
        pytest.param("/other/dedup/hex", (), None, id="another collection"),
    ],
)
def test_warcproxs_query_has_one_line(
    store: LandedStore, path: str, extra: list[tuple[str, str]], expected: str | None
) -> None:
    one(store, extra=extra)
    for ask in asking_here(store):
        got = ask(warcprox_asks(path, URL))
        assert got.status == 200
        assert got.body == (f"20200101000000 {expected}\n" if expected else "")


def test_warcproxs_query_of_an_open_crawl(store: LandedStore) -> None:
    open_only(store)
    line = f"20200101000000 {HEX}\n"
    expected = {"": "", "/one": line, "/two": "", "/*": line, "/%2A": line}
    for ask in asking_here(store):
        assert not ask(warcprox_asks("/default", URL)).body
        got = {own: ask(warcprox_asks(f"/default/dedup/hex{own}", URL)).body for own in expected}
    assert got == expected


@pytest.mark.parametrize(
    ("records", "url", "expected"),
    [
        pytest.param(
            [page(URL, BODY, date=FIRST), page(URL, BODY, date=SECOND)], URL, "2020", id="earliest"
        ),
        pytest.param(
            [page(URL, BODY, date=FIRST), page(URL, b"new", date=SECOND)], URL, "2021", id="newest"
        ),
        pytest.param(
            [
                page(URL, BODY, date=FIRST),
                page(URL, b"new", date=SECOND),
                page(
                    URL,
                    b"",
                    date=THIRD,
                    record_type="revisit",
                    extra=[("WARC-Payload-Digest", sha1_of(BODY))],
                ),
            ],
            URL,
            "2020",
            id="what it is again",
        ),
        pytest.param(
            [page(URL, BODY, date=FIRST), page(URL, b"x", date=SECOND, head=MOVED)],
            URL,
            "2020",
            id="behind a redirect",
        ),
        pytest.param([page(URL, BODY, head=MOVED)], URL, None, id="a redirect alone"),
        pytest.param([page(URL, b"gone", date=FIRST, head=GONE)], URL, "2020", id="404"),
        pytest.param([revisit(URL, SECOND, URL, FIRST)], URL, None, id="a revisit alone"),
        pytest.param(
            [page(URL.replace("http:", "https:"), BODY)], URL, None, id="of https: another URL"
        ),
        pytest.param([page(f"{URL}/x", BODY)], f"{URL}/*", None, id="a star is no prefix"),
        pytest.param([page(f"{URL}/*", BODY, date=FIRST)], f"{URL}/*", "2020", id="but itself"),
    ],
)
def test_warcproxs_query_is_answered_by_what_it_may_refer_to(
    store: LandedStore, records: list[bytes], url: str, expected: str | None
) -> None:
    store.land("one", "a.warc.gz", *records)
    commit(store, "one")
    for ask in asking_here(store):
        lines = ask(warcprox_asks("/default/dedup/hex", url)).lines
    assert [line[:4] for line in lines] == ([expected] if expected else [])


def test_chunked_body_has_the_digest_without_chunks_for_warcprox(store: LandedStore) -> None:
    """warcprox hashes what it has decoded of chunks, wget the bytes as they come."""
    framed = b"3\r\nabc\r\n0\r\n\r\n"
    one(store, head=CHUNKED)
    store.land("two", "b.warc.gz", page(f"{URL}/c", framed, date=FIRST, head=CHUNKED))
    commit(store, "two")
    for ask in asking_here(store):
        got = ask(warcprox_asks("/default/dedup/hex", f"{URL}/c")).body
        assert got == f"20200101000000 {hashlib.sha1(b'abc').hexdigest()}\n"
        assert offered(ask, b"abc") == offered(ask, framed) == FIRST
        lines = ask("/default/dedup/wget").lines
    assert [line.split(" ")[5] for line in lines if f"{URL}/c " in line] == [sha1_of(framed)[5:]]


def test_other_queries_are_answered_as_before(store: LandedStore) -> None:
    """Only the very query of warcprox is one for an original."""
    store.land("one", "a.warc.gz", page(URL, BODY, date=FIRST))
    query = warcprox_asks("/default", URL)
    for ask in asking_here(store):
        assert not ask(query).body
        assert ask(f"{query}&output=cdx").body == f"20200101000000 {BASE32}\n"
        assert ask(query.replace("limit=-1", "limit=-10")).body == f"20200101000000 {BASE32}\n"


@pytest.fixture
def for_wget(store: LandedStore) -> Iterator[Ask]:
    store.land(
        "one",
        "a.warc.gz",
        page(URL, BODY, date=FIRST),
        page(URL, BODY, date=SECOND),
        page(f"{URL}/b c", BODY, date=SECOND),
        page("http://other.example/", BODY, date=SECOND),
        page(f"{URL}/moved", b"x", head=MOVED),
        revisit(URL, THIRD, URL, FIRST),
    )
    store.land("two", "b.warc.gz", page(f"{URL}/open", BODY, date=FIRST))
    commit(store, "one")
    yield from asking_here(store)


@pytest.mark.parametrize(
    ("path", "urls"),
    [
        ("", [f"{URL} 2020", f"{URL}/b%20c 2021", "http://other.example/ 2021"]),
        ("?url=example.org/*", [f"{URL} 2020", f"{URL}/b%20c 2021"]),
        ("/two?url=example.org/page/o*", [f"{URL}/open 2020"]),
        ("?url=nothing.example", []),
    ],
)
def test_cdx_file_for_wget_has_originals_alone(for_wget: Ask, path: str, urls: list[str]) -> None:
    first, *lines = for_wget(f"/default/dedup/wget{path}").lines
    assert first == " CDX N b a m s k r M S V g u"
    columns = [line.split(" ") for line in lines]
    assert sorted(f"{url} {time[:4]}" for _, time, url, *_ in columns) == sorted(urls)
    assert all(c[5] == BASE32 and c[11].startswith("<urn:uuid:") for c in columns)
