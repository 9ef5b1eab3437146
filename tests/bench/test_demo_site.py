"""The demo's site is the same everywhere, and both crawlers find all of it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

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
