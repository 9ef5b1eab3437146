"""URLs with bytes that are not UTF-8: no form of an answer has what is no Unicode."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from xml.etree import ElementTree as ET

import pytest
from asked_cdx import TOKEN, Ask, Got, asking
from crawl_states import set_crawl_state
from landed_stores import LandedStore, page, sha1_of

from pinakes.catalog.crawl_rows import COMMITTED
from pinakes.index.urlkey import urlkey

URL = "http://u.example/%FF%FE\N{GRINNING FACE}"
BODY = b"the body"
ASKED = "url=http://u.example/*"


@pytest.fixture
def ask(store: LandedStore) -> Iterator[Ask]:
    written = gzip.decompress(page("http://u.example/XX\N{GRINNING FACE}", BODY))
    store.land("one", "a.warc.gz", gzip.compress(written.replace(b"/XX", b"/\xff\xfe")))
    set_crawl_state(store.rows, "one", COMMITTED, act="a")
    yield from asking(store)


def urls_in(value: object) -> list[str]:
    """The URLs in an answer's JSON."""
    if isinstance(value, dict):
        found = [value["url"]] if "url" in value else []
        return found + [url for one in value.values() for url in urls_in(one)]
    return [url for one in value for url in urls_in(one)] if isinstance(value, list) else []


@pytest.mark.parametrize(
    "path",
    [
        f"/cdx?{ASKED}",
        f"/cdx?{ASKED}&filter=status:200",
        f"/cdx?{ASKED}&fl=urlkey,url",
        f"/cdx?{ASKED}&sort=reverse",
        f"/cdx?{ASKED}&output=json",
        f"/cdx?{ASKED}&output=json&fl=url",
        f"/cdx?{ASKED}&output=jsondict",
        f"/default?{ASKED}&output=cdxj",
        f"/digest/{sha1_of(BODY)}",
        f"/digest/{sha1_of(BODY)}?original=true",
    ],
)
def test_json_says_them_percent_encoded(ask: Ask, path: str) -> None:
    [line] = ask(path).lines
    found = re.search(r"[\[{].*", line)
    assert found is not None
    assert urls_in(json.loads(found[0])) == [URL]


@pytest.mark.parametrize(
    "path", [f"/cdx?{ASKED}&output=cdx", f"/cdx?{ASKED}&output=text", f"/default?{ASKED}"]
)
def test_columns_say_them_the_same(ask: Ask, path: str) -> None:
    assert f" {URL} " in ask(path).body


def test_other_forms(ask: Ask) -> None:
    names, row = json.loads(ask(f"/default?{ASKED}&output=json").body)
    assert row[names.index("url")] == URL
    xml = ET.fromstring(ask("/default?q=type:prefixquery+url:http://u.example/").body)
    assert URL in [element.text for element in xml.iter()]


def originals(got: Got) -> list[str]:
    return urls_in([json.loads(line) for line in got.lines])


def test_crawlers_are_told_what_a_revisit_can_refer_to(ask: Ask) -> None:
    [said] = originals(ask("/digests", sha1_of(BODY), None))
    assert said == URL
    assert urlkey(said) == urlkey("http://u.example/\udcff\udcfe\N{GRINNING FACE}")


def test_reports_are_told_the_same(ask: Ask) -> None:
    report = {"url": "http://u.example/r\udcff", "date": "2024-02-29T12:34:56Z", "size": 9}
    report["digest"] = sha1_of(b"reported")
    assert ask("/default/crawls/open/captures", json.dumps(report), TOKEN).status == 200
    for path in ("/digests?crawl=open", f"/digest/{sha1_of(b'reported')}?original=true&crawl=open"):
        body = sha1_of(b"reported") if path.startswith("/digests") else None
        [line] = ask(path, body, None).lines
        assert urls_in(json.loads(line[line.index("{") :])) == ["http://u.example/r%FF"]
        assert json.loads(line[line.index("{") :]).get("original", {"reported": True})["reported"]


def test_lines_of_other_archives_and_names_of_files(ask: Ask) -> None:
    given = {
        "url": "http://v.example/\udcff",
        "offset": "5",
        "filename": "f\udcff",
        "lang": "\udcfe",
    }
    assert ask("/mine", f"x 2018 {json.dumps(given)}").status == 200
    [line] = ask("/mine/cdx?url=v.example/*").lines
    assert json.loads(line.split(" ", 2)[2]) == {
        **given, "url": "http://v.example/%FF", "lang": "%FE"
    }  # fmt: skip


def test_what_only_looks_like_raw_bytes_stays(ask: Ask) -> None:
    given = {"url": "http://w.example/\\udcff", "offset": "5", "filename": "f"}
    assert ask("/mine", f"x 2018 {json.dumps(given)}").status == 200
    [line] = ask("/mine/cdx?url=w.example/*").lines
    assert json.loads(line.split(" ", 2)[2]) == given
