"""Crawl an edition of the demo's site over loopback into a WARC file.

    python -m demo.crawl EDITION FOLDER      EDITION is 1 or 2

By GNU wget where it is installed, else by http.client under warcio's recorder: real HTTP, real
WARC, on a bare machine too.  The server is the crawler's proxy, so that URLs carry
the site's name and no port.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from bench.site_server import serving
from demo.pages import HOST, edition


class Links(HTMLParser):
    """Collects what a page links to and what it shows."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self.base = base
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note each href and src, as a whole URL."""
        named = [value for name, value in attrs if name in ("href", "src") and value]
        self.found.extend(urljoin(self.base, value) for value in named)


def by_wget(proxy: str, warc: Path) -> None:
    """Crawl with GNU wget, following links."""
    run = ["wget", "--no-config", "-e", "use_proxy=on", "-e", f"http_proxy={proxy}", "--quiet"]
    run += ["--recursive", "--level=inf", "--page-requisites", "--delete-after"]
    run += ["--no-warc-keep-log", f"--warc-file={warc}", f"--directory-prefix={warc}.part"]
    subprocess.run([*run, f"{HOST}/"], check=True)
    shutil.rmtree(f"{warc}.part", ignore_errors=True)


def by_warcio(proxy: str, warc: Path) -> None:
    """Crawl with http.client, recorded by warcio, following links."""
    from warcio.capture_http import capture_http  # must come before http.client

    import http.client  # isort: skip

    todo, seen = [f"{HOST}/"], {f"{HOST}/"}
    with capture_http(f"{warc}.warc.gz", gzip=True, warc_version="1.0"):
        connection = http.client.HTTPConnection(urlsplit(proxy).netloc)
        while todo:
            url = todo.pop(0)
            connection.request("GET", url, headers={"Host": urlsplit(HOST).netloc})
            answer = connection.getresponse()
            body = answer.read()
            if answer.headers.get_content_type() == "text/html":
                links = Links(url)
                links.feed(body.decode())
                todo.extend(
                    new := [link for link in dict.fromkeys(links.found) if link not in seen]
                )
                seen.update(new)
        connection.close()


def main() -> None:
    """Crawl the edition named, into the folder named."""
    number, folder = int(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True)
    has_wget = shutil.which("wget") is not None
    crawl, how = (by_wget, "GNU wget") if has_wget else (by_warcio, "http.client and warcio")
    with serving(edition(number).get) as proxy:
        crawl(proxy, folder / f"library-{number}")
    (warc,) = folder.glob("*.warc.gz")
    print(f"crawled {HOST}/ by {how} into {warc} ({warc.stat().st_size:,} bytes)")


if __name__ == "__main__":
    main()
