"""Queries of pywb's and OutbackCDX's documents, and drawn ones, get the same lines from ours.

The same captures are in all servers: real archives, landed, and drawn lines, posted.  What
differs is named here, and explained in docs/cdx-server.md, "Where answers differ".
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl

import pytest
from cdx_judges import (
    DIALECTS,
    OUTBACKCDX_EXAMPLES,
    PYWB_EXAMPLES,
    Judge,
    Query,
    ask,
    captures_of,
    drawn_cdxj,
    drawn_queries,
    judges,
    paged_path,
)
from cdx_likeness import (
    COLLECTION,
    ORDER,
    TOKEN,
    Difference,
    Line,
    explained,
    land,
    lines_of,
    serving,
    urlkey_by_outbackcdx,
)
from wayback_server import installed_tools, wayback

from pinakes.index.urlkey import urlkey

# OutbackCDX is built from sources that not every machine can fetch: not for `make test`.
pytestmark = [pytest.mark.slow, pytest.mark.large]
COUNT = 1000
SEED = 20
DRAWN = drawn_cdxj(600, seed=SEED)
# Of a host where no two captures have one second: nothing is open in their order.
UNTIED = sorted(
    {
        line.split("{")[0]: line.replace("org,drawn)", "org,untied)").replace(
            "//drawn.org", "//untied.org"
        )
        for line in DRAWN
        if line.startswith("org,drawn)")
    }.values()
)


class Servers(NamedTuple):
    pywb: Judge
    outbackcdx: Judge
    ours_as_pywb: Judge
    ours_as_outbackcdx: Judge
    lines: list[str]
    folder: Path


@pytest.fixture(scope="module")
def servers(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("like")
    lines = land(shared_data / "archives", folder / "store", [*DRAWN, *UNTIED], scratch=folder)
    with (
        judges(lines, folder / "judges") as (pywb, outbackcdx),
        serving(folder / "store") as (ours_as_pywb, ours_as_outbackcdx),
    ):
        yield Servers(pywb, outbackcdx, ours_as_pywb, ours_as_outbackcdx, lines, folder)


def _without(query: Query, name: str, value: str = "") -> Query:
    return tuple(pair for pair in query if pair[0] != name or not re.match(value, pair[1]))


def _no_method(line: Line) -> Line:
    # Of `output=text`, the tenth column.
    return {name: value for name, value in line.items() if name not in ("method", "9")}


def _no_unknown_status(line: Line) -> Line:
    names = ("status", "statuscode")
    return {n: v for n, v in line.items() if n not in names or str(v) not in ("0", "-")}


def _plain_digest(line: Line) -> Line:
    digest = line.get("digest")
    is_plain = digest is None or re.fullmatch("[A-Z2-7]{32}", str(digest))
    return line if is_plain else {**line, "digest": "another"}


def _no_blank(line: Line) -> Line:
    return {n: v.replace(" ", "%20") if isinstance(v, str) else v for n, v in line.items()}


def _as_cdxj(query: Query) -> Query:
    return tuple(("output", "cdxj") if pair == ("output", "text") else pair for pair in query)


def _without_to(query: Query) -> Query:
    return _without(query, "to") if ("sort", "reverse") in query else query


def _without_collapse(query: Query) -> Query:
    if ("sort", "closest") not in query:
        return query
    return tuple(pair for pair in query if not pair[0].startswith("collapse"))


PYWB = (
    Difference(name="fuzzy", instead=lambda query: (*query, ("allowFuzzy", "0"))),
    Difference(name="pages", instead=lambda query: _without(query, "page")),
    Difference(name="method", mend=_no_method),
    Difference(name="blank", instead=_as_cdxj),
)
OUTBACKCDX = (
    Difference(name="no status", mend=_no_unknown_status),
    Difference(name="other digests", mend=_plain_digest),
    Difference(
        name="filter of other digests",
        instead=lambda query: _without(query, "filter", "[~!]*digest:"),
    ),
    Difference(name="blank", mend=_no_blank),
    Difference(name="reverse to", instead=_without_to),
    Difference(name="closest collapsed", instead=_without_collapse),
)


def compare(
    queries: Iterable[Query], theirs: Judge, ours: Judge, known: Sequence[Difference]
) -> Counter[str]:
    """How many answers are the same, and how many differ for which reasons."""
    counts: Counter[str] = Counter()
    unexplained = []
    for query in queries:
        names = explained(query, theirs, ours, known)
        if names is None:
            unexplained.append(query)
        else:
            counts[" + ".join(names) or "same"] += 1
    print(f"{theirs.name}: {dict(counts.most_common())}")
    assert not unexplained, "\n".join(map(str, unexplained))
    return counts


def test_documented_queries_of_pywb(servers: Servers) -> None:
    queries = [query for query in PYWB_EXAMPLES if ("output", "link") not in query]
    counts = compare(queries, servers.pywb, servers.ours_as_pywb, PYWB)
    assert sum(counts.values()) == len(queries) > 20


def test_documented_queries_of_outbackcdx(servers: Servers) -> None:
    queries = [query for query in OUTBACKCDX_EXAMPLES if query[0][0] != "q"]
    counts = compare(queries, servers.outbackcdx, servers.ours_as_outbackcdx, OUTBACKCDX)
    assert sum(counts.values()) == len(queries) > 6


def test_drawn_queries_of_pywb(servers: Servers) -> None:
    queries = drawn_queries("pywb", captures_of(servers.lines), count=COUNT, seed=SEED)
    counts = compare(queries, servers.pywb, servers.ours_as_pywb, PYWB)
    assert counts["same"] > COUNT / 2
    assert {ORDER, "method"} <= counts.keys()


def test_drawn_queries_of_outbackcdx(servers: Servers) -> None:
    queries = drawn_queries("outbackcdx", captures_of(servers.lines), count=COUNT, seed=SEED)
    counts = compare(queries, servers.outbackcdx, servers.ours_as_outbackcdx, OUTBACKCDX)
    assert counts["same"] > COUNT / 2
    happened = set(" + ".join(counts).split(" + "))  # every difference that is named happens
    assert {each.name for each in OUTBACKCDX} <= happened


def test_urlkeys_are_those_of_outbackcdx(servers: Servers) -> None:
    urls = {known.url for known in captures_of(servers.lines)}
    other = {url for url in urls if urlkey_by_outbackcdx(servers.outbackcdx, url) != urlkey(url)}
    # It splits the query where an escaped `&` was.
    assert [url for url in other if "%26" not in url] == []
    assert len(urls) > 400


AB = "url=untied.org/dir/ab"
SAME = {
    "pywb": [
        "",
        "url=",
        AB,
        f"{AB}&output=json",
        f"{AB}&output=text",
        f"{AB}&output=pdf",
        "url=none.example",
        "url=none.example&output=json",
        "url=none.example&output=text",
        "url=none.example&output=link",
        f"{AB}&matchType=near",
        f"{AB}&matchType=",
        f"{AB}&limit=0",
        f"{AB}&limit=",
        f"{AB}&limit=1000000000000",
        f"{AB}&limit=1&limit=2",
        f"{AB}&from=",
        f"{AB}&from=2012&to=2011",
        f"{AB}&from=20101",
        f"{AB}&closest=&sort=closest",
        f"{AB}&closest=2010",
        f"{AB}&sort=closest",
        f"{AB}&sort=reverse&closest=2010",
        f"{AB}&reverse=true",
        f"{AB}&filter=",
        f"{AB}&filter=!none:x",
        f"{AB}&filter==status:",
        f"{AB}&filter=~s:30",
        f"{AB}&fl=",
        f"{AB}&fl=url,url&output=text",
        f"{AB}&fl=none,url&output=text",
        f"{AB}&fl=none,url&output=json",
        f"{AB}&fl=urlkey,timestamp",
        f"{AB}&collapseTime=4",
        f"{AB}&none=1",
        "url=*",
        "url=*.untied.org/dir*",
        "url=untied.org/d*&matchType=prefix",
        "url=untied.org/dir/a?*",
        "url=untied.org/dir/&matchType=prefix",
        "url=untied.org/d*&from=2010&sort=reverse&limit=9",
        "url=untied.org/d*&closest=20100101000000",
        "url=UNTIED.org:80/dir/ab",
        "url=https://www.untied.org/dir/ab",
        "url=http://[::1",
        "url=%FF%00",
        f"{AB}%23fragment",
    ],
    "outbackcdx": [
        AB,
        f"{AB}&output=json",
        f"{AB}&output=jsondict",
        f"{AB}&output=cdxj",
        "url=none.example",
        "url=none.example&output=json",
        "url=none.example&output=jsondict",
        "url=none.example&output=cdxj",
        f"{AB}&limit=0",
        f"{AB}&limit=1000000000000",
        f"{AB}&from=2012&to=2011",
        f"{AB}&closest=20100101000000",
        f"{AB}&sort=closest&closest=20100101000000",
        f"{AB}&sort=REVERSE",
        f"{AB}&matchType=EXACT",
        f"{AB}&filter=~url:(",
        f"{AB}&filter=!statuscode:200",
        f"{AB}&fl=url,url",
        f"{AB}&fl=original,statuscode&output=json",
        f"{AB}&collapse=timestamp:4",
        f"{AB}&collapseToLast=timestamp:4",
        "urlkey=org,untied)/dir/ab",
        "urlkey=org,untied)/dir&matchType=prefix",
        "url=untied.org/d*&matchType=prefix",
        "url=untied.org/dir&matchType=range&limit=30",
        "url=UNTIED.org:80/dir/ab",
        "url=https://www.untied.org/dir/ab",
        "url=http://[::1",
        "url=%FF%00",
    ],
}
OTHERS = {
    # What is asked: what they answer (status, lines), and what ours does.
    "pywb": [
        (f"{AB}&output=cdx", (400, None), (200, 8)),
        (f"{AB}&output=jsondict", (400, None), (200, 8)),
        (f"{AB}&matchType=PREFIX", (400, None), (200, 8)),
        (f"{AB}&matchType=range&limit=2", (400, None), (200, 2)),
        (f"{AB}&limit=abc", (500, None), (400, None)),
        (f"{AB}&limit=-2", (200, 0), (200, 2)),
        (f"{AB}&limit=100000000000000000000", (200, 8), (400, None)),
        (f"{AB}&from=x", (200, 0), (400, None)),
        (f"{AB}&closest=abc", (200, 8), (400, None)),
        (f"{AB}&sort=up", (200, 8), (400, None)),
        (f"{AB}&filter=~url:(", (500, None), (400, None)),
        (f"{AB}&filter=url:none", (200, 8), (200, 0)),
        (f"{AB}&filter=url:none&allowFuzzy=0", (200, 0), (200, 0)),
        (f"{AB}&collapse=timestamp:4", (200, 8), (200, 3)),
        (f"{AB}&page=1&pageSize=4", (200, 8), (200, 4)),
        (f"{AB}&page=x", (200, 8), (400, None)),
        ("urlkey=org,untied)/dir/ab", (400, None), (200, 8)),
    ],
    "outbackcdx": [
        ("", (200, None), (400, None)),
        ("url=", (200, 0), (400, None)),
        (f"{AB}&urlkey=x", (500, None), (200, 8)),
        (f"{AB}&limit=", (500, None), (200, 8)),
        (f"{AB}&limit=abc", (500, None), (400, None)),
        (f"{AB}&limit=-2", (200, 0), (200, 2)),
        (f"{AB}&limit=1&limit=2", (500, None), (200, 2)),
        (f"{AB}&from=x", (500, None), (400, None)),
        (f"{AB}&matchType=near", (500, None), (400, None)),
        (f"{AB}&matchType=", (500, None), (200, 8)),
        (f"{AB}&output=pdf", (200, 8), (400, None)),
        (f"{AB}&sort=up", (500, None), (400, None)),
        (f"{AB}&sort=closest&closest=2010", (500, None), (200, 8)),
        (f"{AB}&filter=", (500, None), (400, None)),
        (f"{AB}&filter=none:x", (500, None), (200, 0)),
        (f"{AB}&filter==status:200", (500, None), (200, 5)),
        (f"{AB}&filter=url:(", (500, None), (400, None)),
        (f"{AB}&filter=status:0", (200, 2), (200, 0)),
        (f"{AB}&fl=", (200, 1), (200, 8)),
        (f"{AB}&fl=none", (200, 1), (200, 8)),
        (f"{AB}&collapse=none", (200, 1), (200, 1)),
        (f"{AB}&collapse=timestamp:x", (500, None), (400, None)),
        (f"{AB}&collapse=timestamp:99", (200, 1), (200, 8)),
        (f"{AB}&page=1&pageSize=4", (200, 8), (200, 4)),
        (f"{AB}&collapseTime=4", (200, 8), (200, 7)),
        ("url=untied.org/d*&from=2010&limit=2", (500, None), (200, 2)),
        ("url=untied.org/d*&sort=reverse&limit=2", (500, None), (200, 2)),
        ("url=untied.org/dir/a?*&limit=1&fl=url", (200, 1), (200, 1)),
        ("url=*.untied.org/dir*", (200, 0), (200, 56)),
        ("url=*", (200, 9), (200, 0)),
    ],
}


def pairs_of(servers: Servers, dialect: str) -> tuple[Judge, Judge]:
    if dialect == "pywb":
        return servers.pywb, servers.ours_as_pywb
    return servers.outbackcdx, servers.ours_as_outbackcdx


@pytest.mark.parametrize("dialect", DIALECTS)
def test_answers_to_odd_queries_are_the_same(servers: Servers, dialect: str) -> None:
    theirs, ours = pairs_of(servers, dialect)
    for text in SAME[dialect]:
        one, other = (ask(server.port, f"{server.path}?{text}") for server in (theirs, ours))
        assert one.status == other.status, text
        if one.status == 200:
            # Ours says of text that it is UTF-8.
            assert one.content_type == other.content_type.removesuffix("; charset=utf-8"), text
            query = tuple(parse_qsl(text))
            lines = [list(map(_no_unknown_status, lines_of(a, query))) for a in (one, other)]
            assert lines[0] == lines[1], text


@pytest.mark.parametrize("dialect", DIALECTS)
def test_odd_queries_that_are_answered_otherwise(servers: Servers, dialect: str) -> None:
    for text, *wanted in OTHERS[dialect]:
        found = []
        for server in pairs_of(servers, dialect):
            answer = ask(server.port, f"{server.path}?{text}")
            lines = None if answer.status != 200 or "html" in answer.content_type else answer.lines
            if answer.body[:1] == b"[":
                lines = json.loads(answer.body)
            found.append((answer.status, None if lines is None else len(lines)))
            assert b"Traceback" not in answer.body
        assert found == wanted, text


def test_answers_of_other_forms(servers: Servers) -> None:
    """Bytes and types of what has no lines."""
    for query, words in (
        ("q=type:urlquery+url:untied.org", None),
        ("q=url:http%253A%252F%252Funtied.org%252Fdir%252Fab+limit:3+offset:2", None),
        ("q=type:prefixquery+url:untied.org/dir", b"<numcaptures>"),
        ("q=type:prefixquery+url:untied.org/&count=2&start_page=2", b"<numreturned>2<"),
        ("q=type:urlquery+url:untied.org/dir/ab+date:20100101000000", b"<closest>"),
        ("q=url:none.example", b"Resource Not In Archive"),
        ("q=type:none+url:untied.org", b"Unsupported query type"),
        ("q=url:untied.org+limit:0", b"Resource Not In Archive"),
    ):
        one, other = (
            ask(server.port, f"{server.path}?{query}")
            for server in (servers.outbackcdx, servers.ours_as_outbackcdx)
        )
        assert one.content_type == other.content_type, query
        bodies = [
            re.sub(
                rb"<enddate>[0-9]{14}</enddate>",
                b"",
                answer.body.replace(b"<httpresponsecode>0<", b"<httpresponsecode>-<"),
            )
            for answer in (one, other)
        ]
        assert bodies[0] == bodies[1], query
        assert (words or b"<capturedate>") in bodies[0], query


def test_pages_are_together_the_same(servers: Servers) -> None:
    query: Query = (("url", "*.drawn.org"), ("filter", "!status:302"), ("fl", "urlkey,timestamp"))
    whole = servers.pywb.ask(query).lines
    found = []
    for server, path in ((servers.pywb, paged_path()), (servers.ours_as_pywb, None)):
        sized = (*query, ("pageSize", "2" if path else "50"))
        counted = json.loads(server.ask((*sized, ("showNumPages", "true")), path=path).body)
        assert counted["pages"] > 1
        # pywb's pages are of blocks, before filters: some have no line.
        pages = [
            server.ask((*sized, ("page", str(page))), path=path).lines
            for page in range(counted["pages"])
        ]
        assert server.ask(sized, path=path).lines == pages[0]
        found.append([line for page in pages for line in page])
    assert found[0] == found[1] == whole
    assert len(whole) > 50


def test_originals_are_those_of_pywb_or_older(servers: Servers) -> None:
    both = 0
    for domain in ("com", "org", "us", "net"):
        query: Query = (
            ("url", domain), ("matchType", "domain"), ("resolveRevisits", "1"), ("output", "json"),
        )  # fmt: skip
        theirs, ours = (
            {
                (line["filename"], line["offset"]): line
                for line in lines_of(server.ask(query), query)
            }
            for server in (servers.pywb, servers.ours_as_pywb)
        )
        assert theirs.keys() == ours.keys()
        for place, line in ours.items():
            one, other = (
                side.get((found[place]["orig.filename"], found[place]["orig.offset"]))
                for found, side in ((theirs, theirs), (ours, ours))
            )
            if other is None:
                assert line["orig.filename"] == "-" or line["mime"] != "warc/revisit"
            elif one is not None and other["offset"] != "0":  # a member of several records
                both += 1
                assert one["digest"] == other["digest"] == line["digest"]
                assert str(other["timestamp"]) <= str(one["timestamp"])
                assert line["mime"] == other["mime"]
    assert both


POSTED = [
    (b"", ""),
    (b" CDX N b a m s k r M S V g\n", ""),
    (b"- 20200101000000 http://n.org/ a/b 200 %(d)s - - 10 20 f\n", ""),
    (b"- 20200101000000 http://n.org/ a/b 200 %(d)s - - 10 20 f", ""),
    (b"- 20200101000000 http://n.org/9 a/b 200 sha1:%(d)s - 22 f\n", ""),
    (b"- 20200101000000 http://n.org/10 a/b 200 %(d)s - - 25 f\n", ""),
    (b"- 20200101000000 http://n.org/14 a/b 200 %(d)s - - 10 20 f 1 2 g\n", ""),
    (b"none\n- 20200101000000 http://n.org/bad a/b 200 %(d)s - - 10 20 f\n", ""),
    (b"none\n- 20200101000000 http://n.org/skip a/b 200 %(d)s - - 10 23 f\n", "?badLines=skip"),
    (
        (b'n 20200101000000 {"url":"http://n.org/j","mime":"a/b","status":"200","digest":"%(d)s",'
        b'"length":"5","offset":"24","filename":"f"}\n'),
        "",
    ),
    (b"- 20200101000000 http://n.org/r a/b 302 %(d)s http://x.org/ - 10 20 f\n", ""),
    (b"- 20200101000000 http://n.org/short a/b 200 %(d)s\n", ""),
]  # fmt: skip


def test_lines_come_and_go_as_in_outbackcdx(servers: Servers) -> None:
    pair = servers.outbackcdx, servers.ours_as_outbackcdx
    authorized = {"Authorization": f"Bearer {TOKEN}"}
    values = {b"d": b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"}

    def exchange(path: str, body: bytes | None = None) -> list[tuple[int, bytes]]:
        answers = [ask(each.port, path, body=body, headers=authorized) for each in pair]
        return [(a.status, a.body if a.status == 200 else b"") for a in answers]

    for path in ("/posted", "/posted/delete"):
        for body, more in POSTED:
            one, other = exchange(path + more, body % values)
            if path == "/posted" or not more:  # it knows no badLines=skip in delete
                assert one == other, (path, body)
        # A blank line, which files of lines often end with, is nothing wrong here.
        assert [status for status, _ in exchange(path, b"\n")] == [400, 200]
        one, other = exchange("/posted?url=n.org&matchType=prefix")
        assert one[1].splitlines() == other[1].splitlines(), path
        assert (len(one[1].splitlines()) == 7) is (path == "/posted")


LINK = re.compile(r'<([^>]*)>((?:; *[a-z]+="[^"]*")*)(?:,\s*|\s*\Z)')


def parsed_timemap(body: bytes) -> list[tuple[str, dict[str, str]]]:
    """The links of RFC 6690's format: nothing stands between them."""
    found, at, text = [], 0, body.decode("ascii")
    while at < len(text):
        match = LINK.match(text, at)
        assert match, text[at : at + 100]
        found.append((match[1], dict(re.findall(r'([a-z]+)="([^"]*)"', match[2]))))
        at = match.end()
    return found


def test_timemaps_have_the_mementos_of_waybacks(servers: Servers) -> None:
    root = servers.folder / "wayback"
    root.mkdir()
    index = servers.folder / "judges" / "lines.cdxj"
    (root / "config.yaml").write_text(f"collections:\n  {COLLECTION}: {index}\n")
    with wayback(installed_tools(), root) as port:
        for url in ("http://untied.org/dir/ab", "http://untied.org/dir/a?q=1", "http://none.org/"):
            theirs = ask(port, f"/{COLLECTION}/timemap/link/{url}")
            ours = ask(servers.ours_as_pywb.port, f"/{COLLECTION}/timemap/link/{url}")
            if not ours.body:
                assert theirs.status in (200, 404)
                continue
            assert ours.content_type == theirs.content_type
            both = [parsed_timemap(answer.body) for answer in (theirs, ours)]
            dates = [
                [values["datetime"] for _, values in links if values["rel"] == "memento"]
                for links in both
            ]
            assert dates[0] == dates[1]
            assert len(dates[0]) > 5
            originals = [
                [target for target, v in links if v["rel"] == "original"] for links in both
            ]
            assert originals[0] == originals[1] == [url]
            [(itself, values)] = [link for link in both[1] if link[1]["rel"] == "self"]
            assert itself.endswith(f"/{COLLECTION}/timemap/link/{url}")
            assert values["type"] == "application/link-format"
