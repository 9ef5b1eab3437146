"""Captures that crawlers report before their files land: seen by their own crawl, and no other."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from hashlib import sha1, sha256
from pathlib import Path
from urllib.parse import urlencode

import pytest
from asked_cdx import TOKEN, Ask, asking, asking_here
from crawl_states import set_crawl_state
from landed_stores import LandedStore, page, sha1_of
from reporting import report, report_of
from scenes import make_scene
from scenes import page as site_page
from taken_down import withdraw

from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import CANCELLED, CANCELLING, COMMITTED, PURGING, read_crawl
from pinakes.catalog.reported import open_scope, scan_reports
from pinakes.ingest.commit import commit_crawl

URL = "http://example.org/page"
BODY = b"the body that everybody has"
DATE = "2020-01-01T00:00:00Z"
PATH = "/default/crawls/one/captures"
Fields = dict[str, object]
MOVED = b"HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\n"


@pytest.fixture
def ask(store: LandedStore) -> Iterator[Ask]:
    yield from asking_here(store, tokens=(TOKEN,))


def line(body: bytes = BODY, **fields: object) -> str:
    given: Fields = {"url": URL, "date": DATE, "digest": sha1_of(body), "size": len(body)}
    return json.dumps(given | fields) + "\n"


def reported(ask: Ask, *lines: str, path: str = PATH) -> None:
    got = ask(path, "".join(lines) or line())
    assert got.status == 200, got.body


def original(
    ask: Ask, digest: str | None = None, path: str = "/digests?crawl=one"
) -> Fields | None:
    got = ask(path, json.dumps([digest or sha1_of(BODY)]))
    assert got.status == 200, got.body
    found: Fields | None = json.loads(got.lines[0])["original"]
    return found


def test_over_a_connection(store: LandedStore) -> None:
    for ask in asking(store):
        reported(ask)
        assert original(ask) is not None
        assert ask(PATH, line(), None).status == 401


def test_a_crawl_is_told_what_it_has_reported(ask: Ask) -> None:
    got = ask(PATH, line(mime="text/html", status="200", filename="a.wacz"))
    assert (got.status, got.body) == (200, "Added 1 captures\n")
    assert original(ask) == {
        "urlkey": "org,example)/page",
        "timestamp": "20200101000000",
        "url": URL,
        "mime": "text/html",
        "status": "200",
        "digest": base64.b32encode(sha1(BODY).digest()).decode(),
        "date": DATE,
        "size": str(len(BODY)),
        "collection": "default",
        "crawl": "one",
        "reported": True,
    }


def test_by_sha256_and_digits_too(ask: Ask) -> None:
    digest = "sha256:" + sha256(BODY).hexdigest()
    given = {"url": URL, "timestamp": "20200101000000123", "digest": digest}
    reported(ask, json.dumps(given))
    found = original(ask, digest)
    assert found is not None
    assert (found["digest"], found["date"]) == (digest, "2020-01-01T00:00:00.123Z")


@pytest.mark.parametrize(
    "path",
    [
        "/digests",
        "/digests?crawl=two",
        "/digests?crawl=*",
        "/other/digests?crawl=one",
        "/default/digests?crawl=",
    ],
)
def test_nobody_else_is_told(ask: Ask, store: LandedStore, path: str) -> None:
    reported(ask)
    store.land("two", "b.warc.gz", page("http://example.org/other", b"other"))
    assert original(ask, path=path) is None


def test_it_is_in_no_other_answer(ask: Ask) -> None:
    reported(ask)
    digest = sha1_of(BODY)
    for path in (
        f"/cdx?url={URL}",
        "/cdx?url=*.org",
        f"/default?url={URL}",
        f"/digest/{digest}",
        f"/digest/{digest}?crawl=one",
        f"/digest/{digest}?original=true",
        f"/default/dedup/hex?url={URL}",
        f"/default/dedup/hex/two?url={URL}",
        f"/default/dedup/hex/*?url={URL}",
    ):
        assert ask(path).body == "", path
    assert len(ask("/default/dedup/wget/one").lines) == 1  # no more than its header


def test_a_line_of_it_has_no_place(ask: Ask) -> None:
    reported(ask, line(mime="text/html", filename="a.wacz"))
    asked = f"/digest/{sha1_of(BODY)}?original=true&crawl=one"
    assert ask(asked).body == (
        'org,example)/page 20200101000000 {"url":"http://example.org/page","mime":"text/html",'
        f'"digest":"{sha1_of(BODY)[5:]}","reported":true}}\n'
    )
    assert ask(asked + "&output=cdx").body.split() == [
        "org,example)/page", "20200101000000", URL, "text/html", "-", sha1_of(BODY)[5:], "-", "-",
        "-", "-", "-",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("form", "digest"),
    [("hex", sha1(BODY).hexdigest()), ("base32", sha1_of(BODY)[5:])],
)
def test_warcprox_is_told(ask: Ask, form: str, digest: str) -> None:
    older = line(b"what it had before", date="2019-01-01T00:00:00Z")
    reported(ask, older, line(), line(url="http://example.org/elsewhere"))
    query = urlencode({"url": URL, "fl": "timestamp,digest", "limit": "-1"})
    assert ask(f"/default/dedup/{form}/one?{query}").body == f"20200101000000 {digest}\n"
    assert ask(f"/default/dedup/{form}/one?url=http://example.org/none").body == ""
    # That of exactly this URL: warcprox writes a reference to it.
    https = urlencode({"url": URL.replace("http:", "https:")})
    assert ask(f"/default/dedup/{form}/one?{https}").body == ""


def test_what_has_landed_is_named_where_it_lies(ask: Ask, store: LandedStore) -> None:
    reported(ask)
    store.land("one", "a.warc.gz", page(URL, BODY, date=DATE))
    found = original(ask)
    assert found is not None
    assert found["filename"] == "one/a.warc.gz"
    assert "reported" not in found


def test_an_original_of_a_committed_crawl_comes_first(ask: Ask, store: LandedStore) -> None:
    store.land("zero", "z.warc.gz", page(URL, BODY, date="2019-01-01T00:00:00Z"))
    set_crawl_state(store.rows, "zero", COMMITTED, act="a")
    reported(ask)
    found = original(ask)
    assert found is not None
    assert found["crawl"] == "zero"


def of_warc(record: bytes) -> Callable[[LandedStore, Ask], None]:
    def landing(store: LandedStore, ask: Ask) -> None:
        store.land("one", "a.warc.gz", record)

    return landing


def withdrawn(store: LandedStore, ask: Ask) -> None:
    store.land("one", "a.warc.gz", page(URL, BODY, date=DATE))
    [done] = withdraw(store, sha1_of(BODY))  # type: ignore[arg-type]
    assert done.is_complete


def other_body_beside(store: LandedStore, ask: Ask) -> None:
    reported(ask, line(b"another body"))


def other_body_landed(store: LandedStore, ask: Ask) -> None:
    store.land("two", "b.warc.gz", page(URL, b"another body", date=DATE), collection="other")


def external_beside(store: LandedStore, ask: Ask) -> None:
    got = ask("/other", f"- 20200101000000 {URL} text/html 200 AAAA - - 10 0 x.warc.gz")
    assert got.status == 200


@pytest.mark.parametrize(
    "then",
    [
        pytest.param(of_warc(page(URL, BODY, date=DATE, head=MOVED)), id="landed unfit"),
        pytest.param(withdrawn, id="landed, and withdrawn"),
        pytest.param(other_body_beside, id="two bodies at one address"),
        pytest.param(other_body_landed, id="another body has landed there"),
        pytest.param(external_beside, id="a line of another archive is there"),
    ],
)
def test_not_referred_to(
    ask: Ask, store: LandedStore, then: Callable[[LandedStore, Ask], None]
) -> None:
    reported(ask)
    assert original(ask) is not None
    then(store, ask)
    assert original(ask) is None


def test_the_earliest_fit_one_is_given(ask: Ask) -> None:
    earlier = line(url="http://example.org/2", date="2019-01-01T00:00:00Z")
    reported(ask, line(), earlier, line(b"x", url="http://example.org/2", date=DATE))
    found = original(ask)
    assert found is not None
    assert found["url"] == "http://example.org/2"
    reported(ask, line(b"y", url="http://example.org/2", date="2019-01-01T00:00:00Z"))
    found = original(ask)
    assert found is not None
    assert found["url"] == URL


def test_while_its_file_lands_it_is_still_reported(ask: Ask, store: LandedStore) -> None:
    reported(ask)
    seen: list[object] = []

    def look(step: str) -> None:
        found = original(ask)
        assert found is not None, step
        seen.append(found.get("reported", False))

    store.land("one", "a.warc.gz", page(URL, BODY, date=DATE), at=look)
    assert seen == sorted(seen, reverse=True)
    assert {True, False} == set(seen)


def test_access_rules_hide_reports(store: LandedStore) -> None:
    for ask in asking_here(store, [{"block": "http://example.org/"}], tokens=(TOKEN,)):
        reported(ask)
        assert original(ask) is None
    for ask in asking_here(store, [{"block": "*", "crawl": "one"}], tokens=(TOKEN,)):
        assert original(ask) is None
    for ask in asking_here(store, [{"block": "http://example.com/"}], tokens=(TOKEN,)):
        assert original(ask) is not None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"mime": "warc/revisit"}, "type"),
        ({"size": 0}, "empty"),
        ({"digest": sha1_of(b"")}, "empty"),
        ({"status": 301}, "status"),
        ({"status": "206"}, "status"),
        ({"method": "POST"}, "method"),
        ({"url": "ftp://example.org/"}, "scheme"),
        ({"date": "1980-01-01T00:00:00Z"}, "date-before-1991"),
        ({"date": "9999-01-01T00:00:00Z"}, "date-after-landing"),
    ],
    ids=str,
)
def test_what_can_be_no_original_is_left_out(ask: Ask, fields: Fields, reason: str) -> None:
    got = ask(PATH, line(**fields) + line(b"fit"))
    assert got.body == f"Added 1 captures, left out 1: 1 {reason}\n"
    assert original(ask) is None
    assert original(ask, sha1_of(b"fit")) is not None


@pytest.mark.parametrize(
    "bad",
    [
        "nonsense\n",
        "[]\n",
        "{" * 20_000 + "\n",
        line(url="http://a/" + "x" * (1 << 20)),
        line(url=None),
        line(url=""),
        line(url=5),
        line(url="http://a/\n"),
        line(url="http://a/\ud800"),
        line(date=None),
        line(date="yesterday"),
        line(date="２０２００１０１００００００"),
        line(date="2020"[:3]),
        line(digest=None),
        line(digest="md5:d41d8cd98f00b204e9800998ecf8427e"),
        line(digest="sha1:short"),
        line(size=-1),
        line(size="much"),
        line(size=1 << 53),
        line(size="9" * 17),
        line(size=True),
        line(status=[200]),
        line(filename={"a": "b"}),
    ],
    ids=lambda bad: repr(bad)[:60],
)
def test_a_bad_line(ask: Ask, store: LandedStore, bad: str) -> None:
    got = ask(PATH, line() + bad)
    assert got.status == 400
    assert "nothing was changed: line 2" in got.body
    assert read_crawl(store.rows, "one") is None
    assert (
        ask(PATH + "?badLines=skip", line() + bad).body == "Added 1 captures, left out 1: 1 bad\n"
    )
    assert original(ask) is not None


def test_too_many_lines(ask: Ask, store: LandedStore) -> None:
    assert ask(PATH, "\n" * 1_000_001).status == 400
    assert read_crawl(store.rows, "one") is None


@pytest.mark.parametrize(
    ("token", "status"), [(None, 401), ("another-token-as-long-as", 401), (TOKEN, 200)]
)
def test_writing_needs_a_token(ask: Ask, token: str | None, status: int) -> None:
    assert ask(PATH, line(), token).status == status
    assert (original(ask) is not None) == (status == 200)


def test_without_tokens_nobody_writes(store: LandedStore) -> None:
    for ask in asking_here(store):
        assert ask(PATH, line()).status == 403
    for ask in asking_here(store):
        assert ask(PATH).status == 405


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (COMMITTED, "is committed"),
        (CANCELLED, "is cancelled"),
        (CANCELLING, "is being taken out"),
        (PURGING, "is being taken out"),
    ],
)
def test_only_an_open_crawl_takes_reports(
    ask: Ask, store: LandedStore, state: str, words: str
) -> None:
    reported(ask)
    set_crawl_state(store.rows, "one", state, act="a")
    got = ask(PATH, line(b"more"))
    assert got.status == 409
    assert words in got.body
    assert original(ask) is None
    assert original(ask, sha1_of(b"more")) is None


def test_a_crawl_of_another_collection_is_not_reported_to(ask: Ask, store: LandedStore) -> None:
    reported(ask)
    got = ask("/other/crawls/one/captures", line(b"more"))
    assert got.status == 400
    assert "belongs to the collection default" in got.body
    assert len(list(scan_reports(store.rows, open_scope(store.rows, "one")))) == 1


@pytest.mark.parametrize("name", ["-one", "a%20b", "%C3%A9", "é", "a" * 101])
def test_what_can_name_no_crawl_is_refused(ask: Ask, name: str) -> None:
    got = ask(f"/default/crawls/{name}/captures", line())
    assert (got.status, len(got.lines)) == (400, 1)
    assert "cannot name a crawl" in got.body


def test_reports_of_several_crawls_are_apart(ask: Ask) -> None:
    for crawl in ("one", "two", "three"):
        reported(ask, line(crawl.encode()), path=f"/default/crawls/{crawl}/captures")
    for crawl in ("one", "two", "three"):
        for other in ("one", "two", "three"):
            found = original(ask, sha1_of(crawl.encode()), f"/default/digests?crawl={other}")
            assert (found is not None) == (crawl == other)


def test_ten_thousand_at_once(ask: Ask) -> None:
    bodies = [b"%d" % n for n in range(10_000)]
    reported(ask, *(line(body, url=f"{URL}/{n}") for n, body in enumerate(bodies)))
    got = ask("/default/digests?crawl=one", json.dumps([sha1_of(body) for body in bodies]))
    found = [json.loads(answer)["original"]["url"] for answer in got.lines]
    assert found == [f"{URL}/{n}" for n in range(10_000)]


def what_others_see(folder: Path, *, hostile: bool) -> dict[str, object]:
    """Two crawls, one committed, deduplicated; and one that reports all they have, and more."""
    with make_scene(folder) as scene:
        given = [
            report_of(
                site_page(n, version), f"http://example.org/{n}", f"202{crawl}-01-01T00:00:{n:02d}Z"
            )
            for crawl in (0, 1, 2, 3)
            for n in range(12)
            for version in (0, 1, 2)
        ]
        if hostile:
            report(scene.rows, "hostile", given, collection="news")
        scene.land(1)
        commit_crawl(scene.rows, scene.archive, "c1", Actor())
        scene.land(2)
        scene.dedupe()
        said = {}
        for ask in asking_here(scene):
            for path in (
                "/cdx?url=*.org",
                "/news/dedup/wget",
                "/news/dedup/hex/c2?url=http://example.org/1",
            ):
                said[path] = ask(path).body
            digests = "\n".join(one.digest.hex for one in given)
            for crawl in ("", "?crawl=c2", "?crawl=*", "?crawl=c3"):
                said[crawl] = ask(f"/news/digests{crawl}", digests).body
        if hostile:
            done = commit_crawl(scene.rows, scene.archive, "hostile", Actor())
            assert (done.findings.landed, done.findings.never_landed) == (0, len(given))
        return {**scene.state(), **said}


def test_a_hostile_crawler_changes_nothing_for_others(tmp_path: Path) -> None:
    assert what_others_see(tmp_path / "a", hostile=True) == what_others_see(
        tmp_path / "b", hostile=False
    )
