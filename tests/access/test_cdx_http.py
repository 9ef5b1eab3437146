"""The CDX server over HTTP: paths, forms, errors, writing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from urllib.parse import quote
from xml.etree import ElementTree as ET

import pytest
from asked_cdx import TOKEN, Ask, Got, asking
from landed_stores import LandedStore, page

from pinakes.access.cdx.answer import AnswerProgress, CdxIndex
from pinakes.access.cdx.external import parse_lines, put_lines
from pinakes.access.cdx.parameters import Dialect, Parameters, parse_query
from pinakes.access.cdx.xml_answer import iter_xml, parse_xml_query

URL = "http://example.org/a b?x=1"


@pytest.fixture
def landed(store: LandedStore) -> LandedStore:
    store.land(
        "one",
        "a.warc.gz",
        page("http://example.org/", b"1", date="2020-01-01T00:00:00Z"),
        page(URL, b"2", date="2020-01-01T00:00:01Z"),
        page("http://example.org/", b"3", date="2021-01-01T00:00:00Z"),
    )
    store.land(
        "two",
        "b.warc.gz",
        page("http://example.org/", b"1", date="2022-01-01T00:00:00Z"),
        page("http://sub.example.org/", b"4", date="2022-01-01T00:00:00Z"),
        collection="other",
    )
    return store


@pytest.fixture
def ask(landed: LandedStore) -> Iterator[Ask]:
    yield from asking(landed)


def times(got: Got) -> list[str]:
    assert got.status == 200, got.body
    return [line.split(" ")[1][:4] for line in got.lines]


@pytest.mark.parametrize(
    ("path", "years"),
    [
        ("/cdx?url=example.org", ["2020", "2021", "2022"]),
        ("/default/cdx?url=example.org", ["2020", "2021"]),
        ("/other/cdx?url=example.org", ["2022"]),
        ("/other?url=example.org", ["2022"]),
        ("/cdx?url=example.org&from=2021", ["2021", "2022"]),
        ("/cdx?url=example.org&to=2021", ["2020", "2021"]),
        ("/cdx?url=example.org&from=2021&to=2020", []),
        ("/cdx?url=example.org&sort=reverse&limit=2", ["2022", "2021"]),
        ("/cdx?url=example.org&limit=-2", ["2021", "2022"]),
        ("/cdx?url=example.org&limit=1&fastLatest=true", ["2022"]),
        ("/cdx?url=example.org&limit=-1&collapse=timestamp:1", ["2020"]),
        ("/cdx?url=example.org&closest=20210701000000&limit=2", ["2022", "2021"][::-1]),
        ("/cdx?url=example.org&closest=2021&sort=closest&limit=1", ["2022"]),
        ("/cdx?url=example.org&offset=1&limit=1", ["2021"]),
        ("/cdx?url=example.org&page=1&pageSize=2", ["2022"]),
        ("/cdx?url=*.example.org", ["2020", "2021", "2022", "2020", "2022"]),
        ("/cdx?url=example.org/*", ["2020", "2021", "2022", "2020"]),
        ("/cdx?url=example.org&matchType=host", ["2020", "2021", "2022", "2020"]),
        ("/cdx?url=example.org&matchType=prefix&from=2022", ["2022"]),
        ("/cdx?url=example.org&filter=!~timestamp:202[01]", ["2022"]),
        ("/other?url=*.example.org&filter=urlkey:org,example,sub.*", ["2022"]),
        ("/cdx?url=example.org&collapse=timestamp:3", ["2020"]),
        ("/cdx?url=example.org&collapseToLast=timestamp:3", ["2022"]),
        ("/cdx?url=example.org&collapse=timestamp:3&closest=20220101000000", ["2022"]),
        ("/cdx?url=example.org/*&collapse=timestamp:3&closest=20220101000000", ["2022"]),
        ("/cdx?url=example.org/*&closest=20200701000000&limit=2", ["2020", "2020"]),
        ("/cdx?url=example.org&limit=1&limit=2", ["2020", "2021"]),
        ("/cdx?url=example.org&pageSize=2", ["2020", "2021"]),
        ("/default?url=example.org&sort=REVERSE", ["2021", "2020"]),
        ("/cdx?urlkey=org,example)/", ["2020", "2021", "2022"]),
        ("/cdx?url=nothing.example", []),
    ],
)
def test_captures_in_the_order_asked_for(ask: Ask, path: str, years: list[str]) -> None:
    assert times(ask(path)) == years


def test_forms_of_a_line(ask: Ask) -> None:
    one = f"url={quote(URL)}&limit=1"
    [cdxj] = ask(f"/cdx?{one}").lines
    urlkey, timestamp, fields = cdxj.split(" ", 2)
    assert (urlkey, timestamp) == ("org,example)/a%20b?x=1", "20200101000001")
    values = json.loads(fields)
    assert values["url"] == URL
    assert values["filename"] == "one/a.warc.gz"
    assert json.loads(ask(f"/cdx?{one}&output=json").body) == {
        "urlkey": urlkey,
        "timestamp": timestamp,
        **values,
    }
    columns = ask(f"/default?{one}").body.split(" ")
    assert columns[:3] == [urlkey, timestamp, "http://example.org/a%20b?x=1"]
    assert columns[6:8] == ["-", "-"]
    names, row = json.loads(ask(f"/default?{one}&output=json").body)
    assert dict(zip(names, row, strict=True))["offset"] == int(values["offset"])
    assert ask(f"/cdx?{one}&fl=status,url&output=text").body == "200 http://example.org/a%20b?x=1\n"
    assert ask(f"/cdx?{one}&fl=status").body == f'{urlkey} {timestamp} {{"status":"200"}}\n'
    assert json.loads(ask("/default?url=none.example&output=json").body) == [names]
    assert ask("/default?url=none.example&output=jsondict").body == "[]"


def test_a_line_of_digits_and_its_types(ask: Ask) -> None:
    got = ask("/other?url=sub.example.org&output=jsondict")
    [line] = json.loads(got.body)
    assert (line["timestamp"], line["status"]) == (20220101000000, 200)
    assert got.headers["content-type"] == "application/json"


def test_resume_keys_go_on_where_an_answer_ended(landed: LandedStore, ask: Ask) -> None:
    found, key, path = [], "", "/cdx?url=*.example.org&limit=2&showResumeKey=true"
    for _ in range(9):
        got = ask(f"{path}&resumeKey={quote(key)}" if key else path)
        text, _, rest = got.body.partition("\n\n")
        found += [line for line in text.splitlines() if line]
        if not rest:
            break
        key = rest.strip()
        assert got.headers["pinakes-resume-key"] == key
        if len(found) == 2:  # what lands before the key changes nothing behind it
            landed.land("late", "z.warc.gz", page("http://aaa.example.org/", b"z"))
    wanted = [line for line in ask("/cdx?url=*.example.org").lines if "late/" not in line]
    assert [line for line in found if "late/" not in line] == wanted


def test_collapse_goes_on_over_a_resume_key(ask: Ask) -> None:
    path = "/cdx?url=example.org&collapse=timestamp:3&limit=1&showResumeKey=true"
    key = ask(path).headers["pinakes-resume-key"]
    assert times(ask(f"{path}&resumeKey={key}")) == []


def test_xml_of_openwayback(ask: Ask) -> None:
    got = ask(
        "/default?q=type:urlquery+url:http%253A%252F%252Fexample.org%252F+limit:1+date:20210101"
    )
    root = ET.fromstring(got.body)
    [result] = root.findall("results/result")
    assert result.findtext("capturedate") == "20200101000000"
    assert root.findtext("request/numresults") == "2"
    urls = ET.fromstring(ask("/default?q=type:prefixquery+url:example.org").body)
    assert [r.findtext("numcaptures") for r in urls.findall("results/result")] == ["2", "1"]
    missing = ET.fromstring(ask("/default?q=url:none.example").body)
    assert missing.findtext("error/title") == "Resource Not In Archive"


def test_timemap(ask: Ask) -> None:
    got = ask("/timemap/link/http://example.org/")
    assert got.headers["content-type"] == "application/link-format"
    assert re.findall(r'rel="(\w+)', got.body) == ["original", "self"] + ["memento"] * 3
    assert 'datetime="Fri, 01 Jan 2021 00:00:00 GMT"' in got.body
    assert ask("/timemap/link/http://none.example/").body == ""
    assert ask("/timemap/link/example.org").body.startswith('<http://example.org>; rel="original"')


def test_digest(ask: Ask) -> None:
    digest = json.loads(ask("/cdx?url=example.org&limit=1").body.split(" ", 2)[2])["digest"]
    for text in (digest, f"sha1:{digest}", f"sha1:{digest.lower()}"):
        assert times(ask(f"/digest/{text}")) == ["2020", "2022"]
    assert times(ask(f"/other/digest/{digest}")) == ["2022"]
    assert times(ask(f"/digest/{digest}?limit=1")) == ["2020"]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/cdx", 400, "url is missing"),
        ("/cdx?url=", 400, "url is missing"),
        ("/cdx?url=a&matchType=near", 400, "matchType"),
        ("/cdx?url=a&sort=up", 400, "sort"),
        ("/cdx?url=a&output=pdf", 400, "output"),
        ("/cdx?url=a&limit=1e3", 400, "limit"),
        ("/cdx?url=a&limit=99999999999999999999", 400, "limit"),
        ("/cdx?url=a&from=soon", 400, "from"),
        ("/cdx?url=a&closest=soon", 400, "closest"),
        ("/cdx?url=a&filter=~url:(", 400, "regular expression"),
        ("/cdx?url=a&filter=~url:" + ".{0,1000}" * 20 + "zz", 400, "too large"),
        ("/cdx?url=a" + "&filter=~url:.{0,100}z" * 3, 400, "too large"),
        ("/cdx?url=a&filter=~url:" + "a" * 3000, 400, "filter"),
        ("/default?url=a&filter=nofield", 400, "filter"),
        ("/cdx?url=a&resumeKey=*", 400, "resumeKey"),
        ("/cdx?" + "a=1&" * 100 + "url=a", 400, "parameters"),
        ("/digest/xyz", 400, "not a digest"),
        ("/default?q=limit:x+url:a", 400, "limit"),
    ],
)
def test_wrong_queries_are_answered_in_a_line(ask: Ask, path: str, status: int, words: str) -> None:
    got = ask(path)
    assert got.status == status
    assert len(got.lines) == 1
    assert words in got.body


def test_names_of_parameters_may_be_percent_encoded(ask: Ask) -> None:
    asked = "/cdx?%75rl=example.org&limi%74=1&%66ilter=~timestamp:2021&filte%72==status:200"
    assert ask(asked).body == ask("/cdx?url=example.org&filter=~timestamp:2021").body != ""


@pytest.mark.parametrize("path", ["/nosuch?url=a", "/nosuch/cdx?url=a"])
def test_unknown_collections(landed: LandedStore, path: str) -> None:
    for ask in asking(landed, tokens=()):
        assert (ask(path).status, ask(path).body) == (404, "404 there is no collection nosuch\n")
    # Lines of other archives may be in any.
    for ask in asking(landed):
        assert (ask(path).status, ask(path).body) == (200, "")


@pytest.mark.parametrize("path", ["", "/cdx?url=example.org", "?url=example.org"])
def test_hidden_collections_are_as_unknown_ones(landed: LandedStore, path: str) -> None:
    for tokens in ((), (TOKEN,)):
        for ask in asking(landed, [{"block": "*", "collection": "default"}], tokens=tokens):
            hidden, unknown = ask(f"/default{path}"), ask(f"/nosuch{path}")
            assert (hidden.status, hidden.body.replace("default", "nosuch")) == (
                unknown.status,
                unknown.body,
            )


@pytest.mark.parametrize(
    "url", ["http://[::1", "%00", "%FF%FE", "http://" + "a" * 20_000, "-", "://"]
)
def test_malformed_urls_find_nothing(ask: Ask, url: str) -> None:
    got = ask(f"/cdx?url={url}")
    assert (got.status, got.body) == (200, "")


def test_exploding_expressions_take_linear_time(ask: Ask) -> None:
    got = ask("/cdx?url=*.example.org&filter=~url:" + quote("((h|t|p)*)*" * 20 + "$"))
    assert got.status in (200, 400)


def test_blocked_captures_come_out_nowhere(landed: LandedStore) -> None:
    rules = [{"block": "*.example.org"}, {"allow": "http://sub.example.org/"}]
    for ask in asking(landed, rules):
        digest = "QMV6VBAKGV2K2DPXGOHACF6ZW5HJFVHH"
        assert times(ask("/cdx?url=*.example.org")) == ["2022"]
        assert times(ask("/cdx?url=example.org&closest=2021")) == []
        assert times(ask(f"/digest/{digest}")) == []
        assert ask("/timemap/link/http://example.org/").body == ""
        assert "Not In Archive" in ask("/default?q=url:example.org").body


@pytest.mark.parametrize(
    "asked",
    [
        "filter=url:sub",
        "filter=url:none&limit=-1",
        "collapse=timestamp:1",
        "collapseToLast=timestamp:1",
        "closest=2020&limit=1",
        "url=example.org&closest=2021&filter=url:none",
    ],
)
def test_what_leaves_out_too_many_rows_is_refused(landed: LandedStore, asked: str) -> None:
    path = f"/cdx?{asked}" if asked.startswith("url=") else f"/cdx?url=*.example.org&{asked}"
    for ask in asking(landed, most_left_out=2):
        got = ask(path)
        assert (got.status, "resume" in got.body.lower()) == (400, True)


@pytest.mark.parametrize(
    "asked",
    [
        "url=a.org&filter=url:none",
        "url=a.org&filter=url:none&limit=-1",
        "url=a.org&filter=url:none&closest=2000",
        "url=a.org&filter=url:none&closest=2030",
        "url=a.org/*&closest=2000&limit=1",
        "url=a.org&collapse=urlkey",
        "url=a.org&collapseToLast=urlkey",
        "url=a.org&showNumPages=true",
        "q=type:urlquery+url:a.org+limit:1",
        "q=type:prefixquery+url:a.org+limit:1",
    ],
)
def test_scans_give_way_between_pieces(store: LandedStore, asked: str) -> None:
    lines = parse_lines(
        "".join(f"x 2019 http://a.org/ - - - - - 1 {number} f\n" for number in range(3500))
    )
    put_lines(store.rows, lines, "mine", act_time_ms=1)
    index, progress, given = (
        CdxIndex(store.rows, store.archive),
        AnswerProgress(),
        Parameters(asked.encode()),
    )
    if text := given.text("q"):
        xml = parse_xml_query(given, text)
        pieces = iter_xml(xml, index.iter_lines(xml.query, "mine", progress), "2020")
    else:
        query = parse_query(asked.encode(), Dialect.PYWB)
        count = index.iter_page_counts if query.counts_pages else index.iter_bytes
        pieces = count(query, "mine", progress)
    read = [progress.rows for _ in pieces]
    assert read[-1] == 3500
    assert all(rows - before <= 1000 for before, rows in zip([0, *read], read, strict=False))


def test_lines_of_other_archives_come_and_go(ask: Ask) -> None:
    line = "x 20190101000000 http://example.org/ text/html 200 AAAA - - 10 20 far/away.warc.gz"
    more = 'x 2018 {"url":"http://example.org/","offset":"5","filename":"far.warc.gz","lang":"el"}'
    assert ask("/mine", f" CDX N b a m s k r M S V g\n{line}\n{more}\n").body == "Added 2 records\n"
    assert times(ask("/mine?url=example.org")) == ["2018", "2019"]
    assert times(ask("/cdx?url=example.org&filter=filename:far")) == ["2018", "2019"]
    [found, _] = ask("/mine/cdx?url=example.org").lines
    assert json.loads(found.split(" ", 2)[2])["lang"] == "el"
    assert ask("/mine", line).body == "Added 1 records\n"
    assert ask("/mine/delete", f"{line}\n").body == "Deleted 1 records\n"
    assert times(ask("/cdx?url=example.org&filter=filename:far")) == ["2018"]
    assert ask("/mine", line).status == 200
    assert times(ask("/mine/cdx?url=example.org")) == ["2018", "2019"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("mime 200 DIGEST - 5 f", "mime 200 DIGEST - - - 5 f"),
        ("mime 200 sha1:ABCDEFGHIJKLMNOPQRSTUVWXYZ234567 - - 5 f",
         "mime 200 ABCDEFGHIJKLMNOPQRSTUVWXYZ234567 - - - 5 f"),
        ("mime 200 DIGEST - - 7 5 f", "mime 200 DIGEST - - 7 5 f"),
        ("mime 200 DIGEST - - 7 5 f 1 2 g", "mime 200 DIGEST - - 7 5 f"),
        ("- - - http://b.org/ - - 5 f", "- - - http://b.org/ - - 5 f"),
    ],
    ids=["9 columns", "10", "11", "14", "unknown"],
)  # fmt: skip
def test_forms_of_lines_of_other_archives(ask: Ask, line: str, found: str) -> None:
    lead = "org,a)/ 20200101000000 http://a.org/"
    assert ask("/mine", f"{lead} {line}\n").body == "Added 1 records\n"
    assert ask("/mine?url=a.org").lines == [f"{lead} {found}"]


@pytest.mark.parametrize(
    "url", ["http://a.org/", 'http://a.org/?","collection":"x"}', "http://a.org/\\"], ids=repr
)
@pytest.mark.parametrize("more", [{}, {"lang": "el", "collection": "x"}], ids=["", "more"])
def test_lines_of_other_archives_keep_their_collection(
    ask: Ask, url: str, more: dict[str, str]
) -> None:
    fields = {"url": url, "offset": "5", "filename": "f", **more}
    assert ask("/mine", f"x 2018 {json.dumps(fields)}").body == "Added 1 records\n"
    [line] = ask("/mine/cdx?url=a.org*&filter=filename:f").lines
    assert json.loads(line.split(" ", 2)[2]) == fields


@pytest.mark.parametrize(
    ("body", "token", "status"),
    [
        ("x 2019 http://a/ - - - - - 1 2 f", None, 401),
        ("x 2019 http://a/ - - - - - 1 2 f", "another-token-of-a-length", 401),
        ("x 2019 http://a/ - - - - - 1 2 f\nnonsense", TOKEN, 400),
        ("x 2019 http://a/ - - - - - 1 - f", TOKEN, 400),
        ("x 2019130 http://a/ - - - - - 1 2 f", TOKEN, 400),
        ("CDX N b a\nx 2019 http://a/ - - - - - 1 2 f", TOKEN, 400),
        ('x 2019 {"url": 5', TOKEN, 400),
        ("x 2019 http://a/ - - - - - 1 -5 f", TOKEN, 400),
        (f"x 2019 http://a/ - - - - - 1 {10**22} f", TOKEN, 400),
        ("x 2019 http://a/\0 - - - - - 1 2 f", TOKEN, 400),
        ('x 2019 {"url":"http://a/\\ud800","offset":"5","filename":"f"}', TOKEN, 400),
        ('x 2019 {"url":"http://a/","offset":"5","filename":"f","x":["\\ud800"]}', TOKEN, 400),
        ('x 2019 {"url":"http://a/","offset":"5","filename":"f\\n"}', TOKEN, 400),
        ('x 2019 {"url":' + "[" * 20_000 + "]" * 20_000 + "}", TOKEN, 400),
        ("\n" * 1_000_001, TOKEN, 400),
        ("", TOKEN, 200),
    ],
    ids=lambda value: repr(value)[:70],
)
def test_what_may_not_be_written(ask: Ask, body: str, token: str | None, status: int) -> None:
    assert ask("/mine", body, token).status == status
    assert times(ask("/mine/cdx?url=*.a")) == []


def test_other_methods(ask: Ask) -> None:
    assert ask("/cdx?url=a", method="PUT").status == 405
    assert ask("/default?url=a", method="DELETE").status == 405
    assert ask("/cdx?url=example.org", method="HEAD").body == ""


def test_what_is_no_collection_is_the_pages(ask: Ask) -> None:
    for path in ("/nosuch", "/search", "/search?q=a", "/suggest.js", "/a.page?x=1", "/nosuch?"):
        assert ask(path).body == "a page", path


@pytest.mark.parametrize(
    "asked",
    [
        "/cdx?url=%s",
        "/cdx?url=%s&filter=statuscode:200",
        "/cdx?url=%s&filter==mime:nothing",
        "/cdx?url=%s&collapse=digest",
        "/cdx?url=%s&sort=reverse&limit=-1",
        "/cdx?url=%s&closest=2020&output=json",
        "/cdx?url=%s&showNumPages=true",
        "/cdx?url=%s&limit=1",
        "/default?url=%s&output=cdxj",
        "/default?q=type:urlquery+url:%s",
        "/timemap/link/%s",
    ],
)
def test_answer_does_not_tell_of_what_rules_hide(landed: LandedStore, asked: str) -> None:
    rules: list[dict[str, object]] = [{"block": "http://example.org/"}]
    for ask in asking(landed, rules):
        hidden, unknown = (
            ask(asked % quote(url)) for url in ("http://example.org/", "http://nothing.org/")
        )
        assert hidden.status == unknown.status
        told, expected = dict(hidden.headers), dict(unknown.headers)
        for headers in (told, expected):
            del headers["date"], headers["content-length"]
        assert told == expected
        assert hidden.body.replace("example", "nothing") == unknown.body
