"""A run of one collection: what only another one has is a miss, though the store has it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import comparing  # noqa: F401
import pytest
from harmed_site import picture
from ingest_processes import call
from landed_stores import page

pytest.importorskip("selenium", reason="the extra qa is not here: make dev-qa")
pytest.importorskip("cryptography", reason="the extra qa is not here: make dev-qa")
SITE = "http://example.org"
DATE = "2020-01-02T03:04:05Z"
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
PNG = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"


def test_what_only_another_collection_has_is_named_as_missing(tmp_path: Path) -> None:
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            pytest.skip(f"for want of {program}: `make browsers` installs it")
    html = b"<p>words<img src=/ours.png><img src=/theirs.png>"
    crawls = {
        "news": [
            page(f"{SITE}/", html, date=DATE, head=HTML),
            page(f"{SITE}/ours.png", picture(1), date=DATE, head=PNG),
        ],
        "reading-room": [page(f"{SITE}/theirs.png", picture(2), date=DATE, head=PNG)],
    }
    assert call(tmp_path, "init").returncode == 0
    for crawl, records in crawls.items():
        (tmp_path / crawl).mkdir()
        (tmp_path / crawl / "a.warc.gz").write_bytes(b"".join(records))
        landed = call(tmp_path, "ingest", crawl, "--crawl", crawl, "--collection", crawl)
        assert landed.returncode == 0, landed.stderr
    done = call(tmp_path, "qa", "run", "news", "-o", "qa")
    assert done.returncode == 0, done.stderr
    [line] = (tmp_path / "qa" / "pairs.jsonl").read_text().splitlines()
    found = json.loads(line)
    assert found["other"]["outcome"] == "complete"
    assert found["other"]["missed"] == found["reference"]["missed"] == [f"{SITE}/theirs.png"]
