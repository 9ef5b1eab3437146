"""What crawlers leave, as inputs and crawl ids."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from packages import write_package

from pinakes.errors import ConfigError, InputRefused
from pinakes.ingest.hooks import hand_over
from pinakes.ingest.inputs import Input

# The lines and blank lines of heritrix3's CrawlSummaryReport.java.
CRAWL_REPORT = """\
crawl name: basic
crawl status: Finished
duration: 1m2s3ms

seeds crawled: 1
seeds uncrawled: 0

hosts visited: 1

URIs processed: 4
URI successes: 3
URI failures: 1
"""


def _touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")


def test_heritrix(tmp_path: Path) -> None:
    launch = tmp_path / "my job" / "20260101120000"
    warcs = launch / "warcs"
    _touch(warcs / "WEB-1.warc.gz", warcs / "WEB-2.warc.gz.open", launch / "logs" / "crawl.log")
    (tmp_path / "my job" / "latest").symlink_to("20260101120000")
    found = hand_over("heritrix", [str(tmp_path / "my job")])
    assert found.crawl == "my-job-20260101120000"
    assert found.description is None
    assert [item.name for item in found.inputs] == ["WEB-1.warc.gz"]
    assert [Path(place).name for place in found.left.unfinished] == ["WEB-2.warc.gz.open"]
    assert hand_over("heritrix", [str(launch)]).crawl == found.crawl
    _touch(launch / "reports" / "crawl-report.txt")
    (launch / "reports" / "crawl-report.txt").write_text(CRAWL_REPORT)
    found = hand_over("heritrix", [str(tmp_path / "my job")])
    assert found.description == (
        "crawl name: basic; crawl status: Finished; duration: 1m2s3ms; URI successes: 3"
    )


def test_browsertrix_collection(tmp_path: Path) -> None:
    collection = tmp_path / "collections" / "news-1"
    _touch(collection / "archive" / "rec-0.warc.gz", collection / "pages" / "pages.jsonl")
    # What --combineWARC and --generateWACZ add holds the same records once more.
    _touch(collection / "news-1_0.warc.gz", collection / "news-1.wacz")
    _touch(collection / "warc-cdx" / "rec-0.warc.gz.cdx", collection / "logs" / "a.log")
    found = hand_over("browsertrix", [str(collection)])
    assert (found.crawl, [item.name for item in found.inputs]) == ("news-1", ["rec-0.warc.gz"])


def _webhook(path: Path, **changes: object) -> str:
    body = {
        "event": "crawlFinished",
        "orgId": "o",
        "itemId": "manual-2026:1",
        "state": "complete",
        "resources": [
            {"name": "x/data.warc.gz", "path": "https://h/data?sig", "hash": "", "size": 1}
        ],
        **changes,
    }
    path.write_text(json.dumps(body))
    return str(path)


def test_browsertrix_webhook(tmp_path: Path) -> None:
    found = hand_over("browsertrix", [_webhook(tmp_path / "w.json")])
    assert found.crawl == "manual-2026-1"
    assert found.description == "Browsertrix crawlFinished: complete"
    # Of a URL only the name is used, beside the webhook: never a path out of that folder.
    assert found.inputs == [Input(str(tmp_path / "data.warc.gz"), "data.warc.gz")]


def test_a_package_of_a_webhook_is_opened(tmp_path: Path) -> None:
    resources = [{"name": "x/crawl.wacz", "path": "https://h/crawl.wacz?sig"}]
    path = write_package(tmp_path / "crawl.wacz")
    found = hand_over("browsertrix", [_webhook(tmp_path / "w.json", resources=resources)])
    names = ["crawl.wacz/archive/a.warc.gz", "crawl.wacz/documents.warc"]
    assert found.inputs == [Input(str(path.parent / name), name) for name in names]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"event": "crawlStarted"}, "of crawlStarted", id="started"),
        pytest.param({"resources": None}, "not a webhook", id="no-resources"),
        pytest.param({"resources": [{"path": "/x"}]}, "not a webhook", id="no-name"),
    ],
)
def test_other_webhooks_are_refused(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(InputRefused, match=message):
        hand_over("browsertrix", [_webhook(tmp_path / "w.json", **changes)])


def test_wget(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("n-00000.warc.gz", "n-00001.warc.gz", "n-meta.warc.gz")]
    _touch(*files)
    found = hand_over("wget", [str(file) for file in files])
    assert (found.crawl, len(found.inputs)) == ("n", 3)
    _touch(tmp_path / "other.warc")
    assert hand_over("wget", [str(tmp_path)]).crawl == ""


class _Pages(BaseHTTPRequestHandler):
    """A page that links to four more, of some bytes that do not compress."""

    def do_GET(self) -> None:
        body = b"".join(b'<a href="/%d">' % n for n in range(4)) + random.Random(1).randbytes(3000)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.mark.slow
def test_what_wget_itself_leaves(tmp_path: Path) -> None:
    if shutil.which("wget") is None:
        pytest.skip("wget is not installed: `make tools` does it")
    options = ["--no-proxy", "-q", "-r", "--warc-file=news", "--warc-max-size=4k", "--warc-cdx"]
    with ThreadingHTTPServer(("127.0.0.1", 0), _Pages) as server:
        Thread(target=server.serve_forever).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        subprocess.run(["wget", *options, url], cwd=tmp_path, check=False)
        server.shutdown()
    found = hand_over("wget", [str(tmp_path)])
    names = [item.name for item in found.inputs]
    assert found.crawl == "news"
    assert names[:2] == ["news-00000.warc.gz", "news-00001.warc.gz"]
    assert names[-1] == "news-meta.warc.gz"
    assert sorted(path.name for path in tmp_path.glob("news*")) == [*names, "news.cdx"]


@pytest.mark.parametrize("hook", ["heritrix", "browsertrix"])
def test_where_there_is_no_crawl(tmp_path: Path, hook: str) -> None:
    with pytest.raises(InputRefused):
        hand_over(hook, [str(tmp_path)])
    with pytest.raises(ConfigError):
        hand_over(hook, ["a", "b"])
