"""The demo's site is the same everywhere, and both crawlers find all of it."""

import http.client
import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from warcio.archiveiterator import ArchiveIterator

from bench.site_changes import is_changed, served_body
from bench.site_server import serving
from demo.pages import HOST, edition

ROOT = Path(__file__).parents[2]
PATHS = {"without-wget": ""}
if shutil.which("wget"):
    PATHS["with-wget"] = os.environ["PATH"]


def test_editions_differ_where_the_demo_says():
    first, second = edition(1), edition(2)
    changed = {path for path in first if first[path] != second[path]}
    added = set(second) - set(first)
    assert changed == {"/", "/shelf/1.html", *(f"/scroll/{n}.html" for n in range(7, 37, 7))}
    assert added == {"/scroll/37.html", "/picture/37.png"}
    assert set(first) <= set(second)


def test_some_pictures_lie_under_two_urls():
    files = edition(1)
    assert files["/picture/1.png"] == files["/picture/13.png"]
    assert files["/picture/1.png"] != files["/picture/2.png"]


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_a_crawl_holds_every_file_of_the_edition(path, tmp_path):
    run = [sys.executable, "-m", "demo.crawl", "2", str(tmp_path / "crawl")]
    subprocess.run(run, cwd=ROOT, check=True, env={"PATH": path}, stdout=subprocess.DEVNULL)
    (warc,) = (tmp_path / "crawl").iterdir()
    with warc.open("rb") as stream:
        found = {
            record.rec_headers.get_header("WARC-Target-URI").strip("<>"): record.raw_stream.read()
            for record in ArchiveIterator(stream)
            if record.rec_type == "response"
        }
    found.pop(f"{HOST}/robots.txt", None)  # wget asks for it, a plain client does not
    expected = {HOST + url: body for url, body in edition(2).items() if url != "/robots.txt"}
    assert found == expected


# --- A seventh of the pages changes between two crawls, always the same seventh


PAGES = [f"/doc/page-{n}.html" for n in range(7000)]


def test_first_crawl_serves_files_as_they_are():
    assert not any(is_changed(page, 1) for page in PAGES)


def test_about_one_page_in_seven_changes_in_the_second_crawl():
    changed = sum(is_changed(page, 2) for page in PAGES)
    assert 900 < changed < 1100


@pytest.mark.parametrize("path", ["/a.png", "/a.css", "/a.js", "/html"])
def test_only_pages_change(path):
    assert not any(is_changed(f"/{n}{path}", 2) for n in range(200))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(
            b"<body>x</BODY></html>",
            b"<body>x<p>Revised for crawl 2.</p>\n</BODY></html>",
            id="inside-body",
        ),
        pytest.param(b"fragment", b"fragment<p>Revised for crawl 2.</p>\n", id="no-body"),
    ],
)
def test_changed_page_gets_one_line(body, expected):
    page = next(page for page in PAGES if is_changed(page, 2))
    assert served_body(body, page, 2) == expected


def test_unchanged_page_is_served_byte_for_byte():
    page = next(page for page in PAGES if not is_changed(page, 2))
    assert served_body(b"<body></body>", page, 2) == b"<body></body>"


# --- The bench's server answers known paths over one connection, and nothing else


def test_serves_known_paths_and_keeps_the_connection():
    with serving({"/page.html": b"<p>hello</p>"}.get) as base:
        connection = http.client.HTTPConnection(urlsplit(base).netloc)
        answers = []
        for path in ("/page.html", f"{base}/page.html", "/../page.html", "/etc/passwd"):
            connection.request("GET", path)
            answer = connection.getresponse()
            answers.append((answer.status, answer.headers["Content-Type"], answer.read()))
        connection.close()
    page_answer = (200, "text/html; charset=utf-8", b"<p>hello</p>")
    assert answers[:2] == [page_answer, page_answer]
    assert [status for status, _, _ in answers[2:]] == [404, 404]
