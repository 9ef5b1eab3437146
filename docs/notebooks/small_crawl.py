"""Six crawls of a small site that never was, for the notebooks: the same bytes on every machine."""

from __future__ import annotations

import gzip
import io
import random
from pathlib import Path
from uuid import UUID

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

SITE = "http://town.example"
MONTHS = ("2024-01", "2024-02", "2024-03", "2024-04", "2024-05", "2024-06")
NEWS = (
    "The market hall opens.",
    "The café on the market is open, too.",
    "The market hall is closed: the roof.",
)


def write_crawls(folder: Path) -> list[Path]:
    """Write a WARC file for each month."""
    paths = []
    for number, month in enumerate(MONTHS, 1):
        path = folder / f"town-{month}.warc.gz"
        path.write_bytes(b"".join(_members(number, month)))
        paths.append(path)
    return paths


def _site(number: int, month: str) -> dict[str, tuple[str, str, bytes, dict[str, str]]]:
    """Path → status, media type, stored body and further header fields, as of a crawl."""
    html, here = "text/html; charset=utf-8", ("200 OK", "text/html; charset=utf-8")
    news = "".join(f"<p>{text}\n" for text in NEWS[: (number + 1) // 2])
    coded = {"Content-Encoding": "gzip", "Transfer-Encoding": "chunked"}
    packed = gzip.compress(news.encode("cp1252"), 0, mtime=0)
    logo = random.Random(number > 3).randbytes(20_000)  # noqa: S311 the same on every machine
    gone = ("410 Gone", html, b"<p>The old hall is gone.", {})
    return {
        "/": (*here, f"<p>The town in {month}. <a href=/news>News</a>".encode(), {}),
        "/news": (
            "200 OK",
            "text/html; charset=iso-8859-1",
            b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed),
            coded,
        ),
        "/about": (*here, b"<p>A town on a river. " + b"It is old. " * 200, {}),
        "/old-hall": gone if number > 4 else (*here, b"<p>The old hall.", {}),
        "/logo.png": ("200 OK", "image/png", logo, {}),
        "/print/logo.png": ("200 OK", "image/png", logo, {}),
    }


def _members(number: int, month: str) -> list[bytes]:
    """The records of a crawl, each in a gzip member that no version of zlib makes smaller."""
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=False, warc_version="WARC/1.1")
    members = []

    def add(second: int, kind: str, uri: str, body: bytes, head: StatusAndHeaders | None) -> None:
        fixed = {
            "WARC-Record-ID": f"<urn:uuid:{UUID(int=number << 32 | len(members))}>",
            "WARC-Date": f"{month}-15T12:00:{second:02d}Z",
        }
        payload = io.BytesIO(body)
        record = writer.create_warc_record(
            uri, kind, payload, http_headers=head, warc_headers_dict=fixed
        )
        out.seek(0)
        out.truncate()
        writer.write_record(record)
        members.append(gzip.compress(out.getvalue(), 0, mtime=0))

    add(0, "warcinfo", "", b"software: small_crawl\r\n", None)
    for second, (path, (status, media_type, body, fields)) in enumerate(
        _site(number, month).items()
    ):
        asked = StatusAndHeaders(f"GET {path} HTTP/1.1", [("Host", SITE[7:])], is_http_request=True)
        add(second, "request", SITE + path, b"", asked)
        answer = [("Content-Type", media_type), *fields.items()]
        add(second, "response", SITE + path, body, StatusAndHeaders(status, answer, "HTTP/1.1"))
    return members
