"""Two CDX servers by others over the same captures, asked the same: pywb's and OutbackCDX.

They are asked in their own dialects (`DIALECTS`), by the example queries of their documents and
by drawn ones.  What they answer is kept as it came; `Answer.lines` leaves out only what pywb says
of the index that a line is from.

    with judges(cdxj_lines, folder) as (pywb, outbackcdx):
        for query in drawn_queries("pywb", captures_of(cdxj_lines), count=1000, seed=20):
            pywb.ask(query).lines
"""

from __future__ import annotations

import gzip
import http.client
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from types import MappingProxyType
from urllib.parse import urlencode

import pytest
from verbs_here import call_here

from bench.peers.cdx_servers import CdxServer, PeerAbsent, outbackcdx, warcserver
from pinakes.index.urlkey import urlkey

Query = tuple[tuple[str, str], ...]
"""The parameters of a query, in their order."""
DIALECTS = ("pywb", "outbackcdx")
BLOCK_LINES = 25
"""Lines of a block of the index that pywb pages through; pages are of so many blocks."""
PAGED = "paged"
SMALLER_BYTES = 1_000_000
_SOURCE = re.compile(rb', "source": "[^"]*", "source-coll": "[^"]*"')
_CDX_11 = ("url", "mime", "status", "digest", "redirect", "robotflags", "length", "offset")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    """By names in lower case."""
    body: bytes

    @property
    def content_type(self) -> str:
        """Of what type the body is."""
        return self.headers.get("content-type", "")

    @property
    def lines(self) -> list[bytes]:
        """The body's lines, without pywb's `source` and `source-coll`."""
        return [_SOURCE.sub(b"", line) for line in self.body.splitlines()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A server that answers queries at a URL path of a port of loopback."""

    name: str
    port: int
    path: str

    def ask(self, query: Query, *, path: str | None = None) -> Answer:
        """What it answers; on a connection of its own, where pywb's answers do not wait 40 ms."""
        return ask(self.port, f"{path or self.path}?{urlencode(query)}")


def ask(
    port: int,
    target: str,
    *,
    body: bytes | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Answer:
    """GET a target from a port of loopback; with a body, POST it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET" if body is None else "POST", target, body, dict(headers))
        answer = connection.getresponse()
        return Answer(
            status=answer.status,
            headers={name.lower(): value for name, value in answer.getheaders()},
            body=answer.read(),
        )
    finally:
        connection.close()


def _judge(server: CdxServer) -> Judge:
    return Judge(name=server.name, port=server.port, path=server.path)


@contextmanager
def judges(cdxj: Sequence[str], folder: Path) -> Iterator[tuple[Judge, Judge]]:
    """pywb's server and OutbackCDX over these CDXJ lines, which are sorted and differ.

    pywb has them besides as a paged index, at `paged_path()`.  OutbackCDX keys its rows by
    file and offset, too (`--index-version 4`): by default it keeps one capture a URL and second.

    Skips the test where one of them is not installed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    native, plain = folder / "lines.cdxj", folder / "lines.cdx"
    native.write_text("".join(f"{line}\n" for line in cdxj))
    plain.write_text("".join(f"{cdx_11(line)}\n" for line in cdxj))
    paged = _write_paged(cdxj, folder / PAGED)
    with ExitStack() as stack:
        try:
            one = stack.enter_context(
                warcserver(native, folder / "pywb", others={PAGED: f"zipnum+{paged}"})
            )
            other = stack.enter_context(
                outbackcdx(plain, folder / "outbackcdx", options=["--index-version", "4"])
            )
        except PeerAbsent as why:
            pytest.skip(str(why))
        yield _judge(one), _judge(other)


def paged_path() -> str:
    """The path of pywb's paged index."""
    return f"/{PAGED}/index"


def cdx_11(line: str) -> str:
    """A CDXJ line as CDX with 11 columns, their spaces escaped."""
    urlkey, time, fields = line.split(" ", 2)
    values = json.loads(fields)
    columns = [(values.get(name) or "-").replace(" ", "%20") for name in _CDX_11]
    return " ".join([urlkey, time, *columns, values["filename"]])


def _write_paged(cdxj: Sequence[str], folder: Path) -> Path:
    """Write a ZipNum cluster: lines in blocks, each a gzip member, and the first key of each."""
    folder.mkdir()
    index: list[str] = []
    with (folder / "cdx.gz").open("wb") as blocks:
        for number, first in enumerate(range(0, len(cdxj), BLOCK_LINES), 1):
            offset = blocks.tell()
            text = "".join(f"{line}\n" for line in cdxj[first : first + BLOCK_LINES])
            length = blocks.write(gzip.compress(text.encode(), mtime=0))
            key = " ".join(cdxj[first].split(" ")[:2])
            index.append(f"{key}\tcdx\t{offset}\t{length}\t{number}\n")
    (folder / "cluster.loc").write_text(f"cdx\t{folder / 'cdx.gz'}\n")
    (folder / "cluster.idx").write_text("".join(index))
    return folder / "cluster.idx"


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A capture that queries are drawn about."""

    url: str
    time: str
    mime: str
    status: str
    digest: str


def captures_of(
    cdxj: Iterable[str], *, schemes: tuple[str, ...] = ("http://", "https://")
) -> list[Known]:
    """What CDXJ lines of URLs with these beginnings say: not dns:, metadata://…"""
    found = []
    for line in cdxj:
        _, time, fields = line.split(" ", 2)
        values = json.loads(fields)
        if values["url"].startswith(schemes):
            names = ("url", "mime", "status", "digest")
            known = {name: values.get(name, "") for name in names}
            found.append(Known(time=time, **known))
    return found


_KINDS = (
    ("text/html", "200"),
    ("text/html", "404"),
    ("image/png", "200"),
    ("unk", "302"),
    ("warc/revisit", "200"),
    ("warc/revisit", ""),
)


def smaller_archives(archives: Path) -> list[Path]:
    """The smaller WARC and ARC files in a folder."""
    return sorted(
        path
        for form in ("*.warc", "*.warc.gz", "*.arc", "*.arc.gz")
        for path in archives.rglob(form)
        if path.stat().st_size < SMALLER_BYTES
    )


def archives_cdxj(archives: Path, scratch: Path) -> list[str]:
    """Sorted CDXJ lines of the smaller archive files in a folder, by `pinakes cdx`; each once."""
    listed = scratch / "listed"
    listed.write_text("".join(f"{path}\n" for path in smaller_archives(archives)))
    done = call_here(scratch, "cdx", "--files-from", str(listed))
    return sorted(set(done.stdout.splitlines()), key=str.encode)


def drawn_cdxj(count: int, *, seed: int) -> list[str]:
    """Sorted CDXJ lines of made-up captures: few hosts, deep histories, ties, revisits."""
    chance = random.Random(seed)
    lines: set[str] = set()
    while len(lines) < count:
        host = chance.choice(
            ["drawn.org", "a.drawn.org", "b.a.drawn.org", "drawn-b.org", "dra.org"]
        )
        path = chance.choice(["/", "/dir", "/dir/", "/dir/a", "/dir/a?q=1", "/dir/ab", "/e.html"])
        time = datetime(2009, 12, 30, tzinfo=timezone.utc) + timedelta(
            seconds=chance.choice([0, 1, 2, 86_400, 31_536_000]) * chance.randrange(1, 4)
        )
        mime, status = chance.choice(_KINDS)
        number = chance.randrange(12)
        url = f"http://{host}{path}"
        fields = {
            "url": url,
            "mime": mime,
            "status": status,
            "digest": "ABCDEFGHIJKL"[number] * 32,
            "length": str(300 + number),
            "offset": str(chance.randrange(10**6)),
            "filename": f"drawn-{number % 3}.warc.gz",
        }
        kept = {name: value for name, value in fields.items() if value}
        lines.add(f"{urlkey(url)} {time:%Y%m%d%H%M%S} {json.dumps(kept)}")
    return sorted(lines)


def plain_queries(captures: Sequence[Known], *, count: int, seed: int) -> Iterator[Query]:
    """Queries that both dialects have: a URL, how it matches, and a limit."""
    chance = random.Random(seed)
    for _ in range(count):
        capture = chance.choice(captures)
        query = [("url", capture.url), ("matchType", chance.choice(MATCH_TYPES))]
        if chance.random() < 0.5:
            query.append(("limit", str(chance.choice([1, 2, 5, 100]))))
        yield tuple(query)


MATCH_TYPES = ("exact", "exact", "prefix", "host", "domain")


def drawn_queries(
    dialect: str, captures: Sequence[Known], *, count: int, seed: int
) -> Iterator[Query]:
    """Queries of one of the `DIALECTS`, about these captures; the same ones for the same seed."""
    chance = random.Random(f"{dialect} {seed}")
    draw = {"pywb": _pywb_query, "outbackcdx": _outbackcdx_query}[dialect]
    for _ in range(count):
        yield draw(chance, chance.choice(captures))


def _pywb_query(chance: random.Random, capture: Known) -> Query:
    # Else it asks again without the filter where that leaves nothing.
    query = [*_url_and_match(chance, capture), ("allowFuzzy", "0")]
    exact = _is_exact(query)
    if chance.random() < 0.3:
        query += _some(chance, [("from", _time(chance, capture)), ("to", _time(chance, capture))])
    if exact and chance.random() < 0.3:
        query += [("closest", _time(chance, capture, shortest=14)), ("sort", "closest")]
    elif chance.random() < 0.2:
        query.append(("sort", "reverse"))
    if chance.random() < 0.4:
        query.append(("limit", str(chance.choice([1, 2, 3, 10, 1000]))))
    for _ in range(chance.choice([0, 0, 1, 1, 2])):
        operator = chance.choice(["", "=", "~", "!", "!=", "!~"])
        query.append(("filter", f"{operator}{_field_and_value(chance, capture, '~' in operator)}"))
    if chance.random() < 0.3:
        name = chance.choice(["fl", "fields"])
        query.append((name, ",".join(chance.sample(PYWB_FIELDS, chance.randint(1, 5)))))
    if chance.random() < 0.5:
        query.append(("output", chance.choice(["cdxj", "json", "text"])))
    return tuple(query)


PYWB_FIELDS = ("urlkey", "timestamp", *(name for name in _CDX_11 if name[0] != "r"), "filename")
OUTBACKCDX_FIELDS = [*PYWB_FIELDS, "original", "mimetype", "statuscode", "redirecturl"]


def _outbackcdx_query(chance: random.Random, capture: Known) -> Query:
    query = _url_and_match(chance, capture)
    exact = _is_exact(query)
    order = chance.random()
    if exact and order < 0.3:
        query += [("closest", _time(chance, capture, shortest=14)), ("sort", "closest")]
    elif exact:
        if order < 0.5:
            query.append(("sort", "reverse"))
        if order > 0.4 and chance.random() < 0.4:
            query += _some(
                chance, [("from", _time(chance, capture)), ("to", _time(chance, capture))]
            )
    if chance.random() < 0.4:
        query.append(("limit", str(chance.choice([1, 2, 3, 10, 1000]))))
    for _ in range(chance.choice([0, 0, 1, 1, 2])):
        # `~` is a part of the value here, and none a regular expression over all of it.
        operator = chance.choice(["", "!", "~", "~!"])
        query.append(
            ("filter", f"{operator}{_field_and_value(chance, capture, '~' not in operator)}")
        )
    if chance.random() < 0.3:
        name = chance.choice(["collapse", "collapseToFirst", "collapseToLast"])
        field = chance.choice(["urlkey", "digest", "timestamp:4", "timestamp:8", "status"])
        query.append((name, field))
    if chance.random() < 0.3:
        query.append(("fl", ",".join(chance.sample(OUTBACKCDX_FIELDS, chance.randint(1, 5)))))
    if chance.random() < 0.5:
        query.append(("output", chance.choice(["json", "cdxj", "jsondict"])))
    return tuple(query)


def _url_and_match(chance: random.Random, capture: Known) -> list[tuple[str, str]]:
    """A URL as it was captured, or the beginning of one, and how it is to match."""
    host = capture.url.split("/")[2]
    asterisk = chance.random()
    if asterisk < 0.1:
        return [("url", f"{_beginning(chance, capture.url)}*")]
    if asterisk < 0.2:
        return [("url", f"*.{host}")]
    match = chance.choice([None, *MATCH_TYPES])
    if match is None:
        return [("url", capture.url)]
    url = _beginning(chance, capture.url) if match == "prefix" else capture.url
    return [("url", url), ("matchType", match)]


def _is_exact(query: list[tuple[str, str]]) -> bool:
    url, match = query[0][1], dict(query).get("matchType")
    return match == "exact" or (match is None and not (url.startswith("*.") or url.endswith("*")))


def _beginning(chance: random.Random, url: str) -> str:
    slash = url.index("/", 8) if "/" in url[8:] else len(url)
    return url[: chance.randint(slash, len(url))] if slash < len(url) else url


def _some(chance: random.Random, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return chance.sample(pairs, chance.randint(1, len(pairs)))


def _time(chance: random.Random, capture: Known, *, shortest: int = 4) -> str:
    return capture.time[: chance.choice([n for n in (4, 6, 8, 10, 12, 14) if n >= shortest])]


def _field_and_value(chance: random.Random, capture: Known, is_expression: bool) -> str:
    field = chance.choice(["mime", "status", "digest", "url", "urlkey", "timestamp", "filename"])
    value = {
        "mime": capture.mime,
        "status": capture.status,
        "digest": capture.digest,
        "url": capture.url,
        "urlkey": "org,drawn",
        "timestamp": capture.time,
        "filename": "drawn-1",
    }[field]
    if not is_expression:
        return f"{field}:{value[: chance.choice([2, 4, 100])]}"
    text = re.escape(value)
    forms = [text, f"{re.escape(value[:3])}.*", f".*{re.escape(value[-3:])}", ".*", "[2-4].*", ""]
    return f"{field}:{chance.choice(forms)}"


PYWB_EXAMPLES: tuple[Query, ...] = (
    (("url", "http://example.com/*"), ("page", "1"), ("filter", "mime:text/html"), ("limit", "10")),
    (("url", "example.com"),),
    (("url", "example.com"), ("from", "2014"), ("to", "2014")),
    (("url", "http://example.com/path/*"),),
    (("url", "http://example.com/path/"), ("matchType", "prefix")),
    (("url", "*.example.com"),),
    (("url", "example.com"), ("matchType", "domain")),
    (("url", "example.com"), ("matchType", "host")),
    (("url", "example.com"), ("sort", "reverse")),
    (("url", "example.com"), ("sort", "closest"), ("closest", "20140101000000")),
    (("url", "example.com"), ("output", "cdxj")),
    (("url", "example.com"), ("output", "json")),
    (("url", "example.com"), ("output", "link")),
    (("url", "example.com"), ("output", "text")),
    (("url", "example.com/*"), ("filter", "=mime:text/html"), ("filter", "!=status:200")),
    (("url", "example.com"), ("matchType", "domain"), ("filter", r"~url:.*\.php$")),
    (("url", "example.com"), ("filter", "mime:html")),
    (("url", "example.com"), ("filter", "=mime:text/html")),
    (("url", "example.com"), ("filter", "~mime:.*/html$")),
    (("url", "example.com"), ("filter", "!mime:html")),
    (("url", "example.com"), ("filter", "!=mime:text/html")),
    (("url", "example.com"), ("filter", "!~mime:.*/html")),
    (("url", "example.com"), ("filter", "!~text/.*")),
    (("url", "example.com"), ("fields", "urlkey,timestamp")),
)
"""The examples of pywb's docs/manual/cdxserver_api.rst; those of paging are PAGED_EXAMPLES."""
PAGED_EXAMPLES: tuple[Query, ...] = (
    (("url", "example.com/*"), ("showNumPages", "true")),
    (("url", "example.com/*"), ("pageSize", "2"), ("showNumPages", "true")),
    (("url", "example.com/*"), ("pageSize", "2"), ("page", "0")),
    (("url", "example.com/*"), ("pageSize", "2"), ("page", "100")),
    (("url", "example.com/*"), ("showPagedIndex", "true"), ("output", "json")),
)
OUTBACKCDX_EXAMPLES: tuple[Query, ...] = (
    (("url", "example.org"),),
    (("url", "example.org"), ("output", "json")),
    (("q", "type:urlquery url:http%3A%2F%2Fexample.org%2F"),),
    (("url", "http://example.org/abc"), ("matchType", "prefix")),
    (("url", "example.org"), ("matchType", "domain"), ("limit", "5")),
    (("url", "http://example.org/abc"), ("matchType", "range"), ("limit", "10")),
    (("url", "example.org"), ("sort", "reverse")),
    (("url", "example.org"), ("sort", "closest"), ("closest", "20030402172120")),
)
"""The examples of OutbackCDX's README.md, "Querying"."""
