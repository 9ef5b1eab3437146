"""The same as browsertrix_writer.mjs, by Python's warcio, where there is no Node.js."""

from __future__ import annotations

import io
import sys
import urllib.error
import urllib.request
from pathlib import Path

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


def main() -> None:
    """Write the site's three pages into the collection that the options name."""
    site, *options = sys.argv[1:]
    crawls, _, _ = options[options.index("-v") + 1].partition(":")
    collection = options[options.index("--collection") + 1]
    archive = Path(crawls, "collections", collection, "archive")
    archive.mkdir(parents=True)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with (archive / "rec-0.warc.gz").open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for page in ("", "one.html", "gone.html"):
            try:
                answer = opener.open(site + page)
            except urllib.error.HTTPError as error:
                answer = error
            head = StatusAndHeaders(
                f"{answer.status} {answer.reason}", answer.headers.items(), protocol="HTTP/1.1"
            )
            body = io.BytesIO(answer.read())
            writer.write_record(
                writer.create_warc_record(site + page, "response", body, http_headers=head)
            )


main()
