"""pywb in proxy mode gives the same answers, URL by URL, out of the same archives.

What differs, and is meant to (docs/qa/replay.md, "Compared with pywb"):

- fault: pywb shows as much of a cut record as there is, and for a lost original another
  capture, or an error page of its own;
- pywb cuts: a body stored decoded, under the Content-Length of the coded one, it cuts to that;
- pywb breaks off: it promises the captured Content-Length, and the body is shorter;
- pywb errs: a page of its own; it takes `itmss:` for the scheme of the redirect's own URL;
- several in one second: of one urlkey; either is right.
"""

from __future__ import annotations

import http.client
import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urljoin, urlsplit

import pytest
from browsing import Browsing, Client, Response, browsing
from pywb_proxy import index_files, pywb_proxy
from wayback_server import installed_tools

from pinakes.catalog.captures import CaptureRow, decode_capture
from pinakes.hbase_schema.capture_keys import decode_capture_key
from pinakes.index.urlkey import urlkey
from pinakes.warc.dates import parse_digits_date

pytestmark = pytest.mark.browsers
pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
_SAFE = "/:?&=%#+,;@!$'()*~[]|"


class Compared(NamedTuple):
    """One URL, asked for at the moment of a capture of it."""

    uri: str
    ours: Response
    theirs: Response | None
    problem: str | None
    alone: bool

    @property
    def verdict(self) -> str:
        """`same`, or how it differs."""
        if self.ours.outcome == "fault":
            return "fault"
        if self.theirs is None:
            return "pywb breaks off"
        if self.is_same:
            return "same"
        if not self.alone:
            return "several in one second"
        ours, theirs = self.ours, self.theirs
        if ours.status == theirs.status and ours.body.startswith(theirs.body):
            return "pywb cuts"
        if theirs.status >= 400 and "memento-datetime" not in theirs.fields:
            return "pywb errs"
        return "DIFFERS"

    @property
    def is_same(self) -> bool:
        assert self.theirs is not None
        places = [said.fields.get("location") for said in (self.ours, self.theirs)]
        return self.ours[::2] == self.theirs[::2] and places[0] == places[1]


@pytest.fixture(scope="module")
def archives(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The real archives that three readers read alike, under names of their own."""
    folder = tmp_path_factory.mktemp("archives")
    found = []
    with (shared_data / "archives" / "manifest.jsonl").open() as lines:
        for number, line in enumerate(map(json.loads, lines)):
            if line.get("readers_agree") and line.get("container") in ("plain", "gzip"):
                path = folder / f"{number:03d}-{Path(line['path']).name}"
                path.symlink_to(shared_data / "archives" / line["file"])
                found.append(path)
    return found


@pytest.fixture(scope="module")
def ours(archives: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browsing]:
    with browsing(tmp_path_factory.mktemp("ours")) as made:
        for path in archives:
            made.store.land("c", path.name, path.read_bytes())
        yield made


@pytest.fixture(scope="module")
def theirs(archives: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    tools = installed_tools()
    root = tmp_path_factory.mktemp("pywb")
    index_files(tools, root, archives)
    with pywb_proxy(tools, root) as client:
        yield client


def captures(at: Browsing) -> list[CaptureRow]:
    """What a browser could ask for: GET over http or https, with a date."""
    rows = at.store.rows.scan("captures", columns=[b"m", b"d"])
    return [
        capture
        for capture in map(decode_capture, rows)
        if capture is not None
        and capture.facts.method in (None, "GET")
        and capture.facts.target_uri.lower().startswith(("http://", "https://"))
        and not capture.time.startswith("0000")
    ]


def plain(uri: str) -> str:
    """A URL as a browser would ask for it."""
    parts = urlsplit(uri)
    return quote(parts._replace(path=parts.path or "/", fragment="").geturl(), safe=_SAFE)


def follow(ask: Callable[[str], Response | None], uri: str) -> Response | None:
    """The answer behind redirects within one urlkey: pywb passes most of those over itself."""
    said = ask(uri)
    for _ in range(3):
        if said is None or not 300 <= said.status < 400:
            break
        target = plain(urljoin(uri, said.fields.get("location", "")))
        if target == uri or urlkey(target) != urlkey(uri) or target[:4] != "http":
            break
        uri = target
        said = ask(uri)
    return said


def ask_ours(at: Browsing, uri: str, moment: datetime) -> tuple[Response, str | None]:
    at.session.end_page()
    at.session.begin_page(uri, moment)
    said = follow(at.client.ask, uri)
    assert said is not None
    return said, at.last().problem


def ask_theirs(client: Client, uri: str, moment: datetime) -> Response | None:
    fields = {
        "Accept-Datetime": moment.strftime("%a, %d %b %Y %H:%M:%S GMT"),
        "Accept-Encoding": "gzip, br",
        "Connection": "close",
    }
    try:
        return follow(lambda asked: client.ask(asked, fields=fields), uri)
    except (http.client.IncompleteRead, TimeoutError):
        return None


@pytest.fixture(scope="module")
def compared(ours: Browsing, theirs: Client) -> list[Compared]:
    found = captures(ours)
    seconds = Counter((decode_capture_key(c.key).urlkey, c.time[:14]) for c in found)
    result = {}
    for capture in found:
        key = decode_capture_key(capture.key).urlkey, capture.time[:14]
        moment = parse_digits_date(capture.time[:14])
        assert moment is not None
        uri = plain(capture.facts.target_uri)
        if (uri, moment) in result:
            continue
        said, problem = ask_ours(ours, uri, moment)
        answer = ask_theirs(theirs, uri, moment)
        result[uri, moment] = Compared(uri, said, answer, problem, seconds[key] == 1)
    return list(result.values())


def shown(said: Response | None) -> str:
    if said is None:
        return "-"
    names = ("content-encoding", "location", "memento-datetime")
    fields = {name: said.fields[name] for name in names if name in said.fields}
    return f"{said.status} {fields} {len(said.body)} {said.body[:24]!r}"


def test_pywb_answers_alike(compared: list[Compared]) -> None:
    verdicts = Counter(one.verdict for one in compared)
    print(dict(verdicts))
    for one in compared:
        if one.verdict != "same":
            print(one.verdict, one.uri, shown(one.ours), shown(one.theirs), one.problem)
    assert verdicts["DIFFERS"] == 0
    assert verdicts["same"] > 900
