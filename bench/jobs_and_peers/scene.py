"""The files that every tool gets, and where things lie in them."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from bench.jobs_and_peers import records as make
from bench.jobs_and_peers.records import Archive, Made

PAGE = b"<html><body><p>The same at both times.</p>" + make.noise(900, "page").hex().encode()
PACKED = b"<html><body>" + b"<p>A page that was sent compressed.</p>\n" * 40 + b"</body></html>"
NEW = b"<html><body>" + b"<p>A page that came later.</p>\n" * 50 + b"</body></html>"
PICTURE = b"\x89PNG\r\n\x1a\n" + make.noise(3000, "picture")
GZIP = "Content-Encoding: gzip"
CHUNKS = "Transfer-Encoding: chunked"


def at(minute: int, month: int = 3) -> str:
    """A date of the first or the second crawl."""
    return f"2024-{month:02d}-01T10:{minute:02d}:00Z"


@dataclass(frozen=True)
class Scene:
    """Files in a folder of their own: two crawls, and what is odd or old."""

    folder: Path
    made: dict[str, Path] = field(default_factory=dict)

    @cached_property
    def page(self) -> Made:
        """An HTML page, plain."""
        return make.response(2, "http://example.org/", at(0), PAGE)

    @cached_property
    def packed(self) -> Made:
        """A page compressed by its server, and in chunks."""
        body = gzip.compress(PACKED, mtime=0)
        url, head = "http://example.org/packed", (GZIP, CHUNKS)
        stored = make.chunked(body, 100)
        return make.response(4, url, at(1), stored, head=head, decoded=PACKED, digest=False)

    @cached_property
    def picture(self) -> Made:
        """A picture."""
        url = "http://example.org/picture.png"
        return make.response(5, url, at(2), PICTURE, media_type="image/png")

    @cached_property
    def found(self) -> Made:
        """The answer to a POST."""
        body = b'{"found": ["warc"], "of": "a search"}' * 20
        url = "http://example.org/search"
        return make.response(7, url, at(4), body, media_type="application/json")

    @cached_property
    def resource(self) -> Made:
        """A record that is no HTTP message."""
        url, text = "http://example.org/notes.txt", b"Notes about this crawl.\n" * 20
        return make.other(10, "resource", url, at(5), text, "text/plain")

    @cached_property
    def spring(self) -> Archive:
        """The first crawl."""
        info = b"software: bench.jobs_and_peers\r\nformat: WARC File Format 1.1\r\n"
        missing = make.response(6, "http://example.org/missing", at(3), b"not found\n", status=404)
        form = "application/x-www-form-urlencoded"
        about = b"fetchTimeMs: 12\r\n"
        listed = (
            make.other(1, "warcinfo", None, at(0), info, make.WARCINFO),
            self.page,
            make.request(3, self.page),
            self.packed,
            self.picture,
            missing,
            self.found,
            make.request(8, self.found, method="POST", body=b"q=warc", media_type=form),
            make.other(9, "metadata", "http://example.org/", at(0), about, make.WARCINFO),
            self.resource,
        )
        return Archive(name="spring.warc.gz", records=listed)

    @cached_property
    def autumn(self) -> Archive:
        """The second crawl: two answers as before, and a new one."""
        url = "http://example.org/picture.png"
        listed = (
            make.other(21, "warcinfo", None, at(0, 9), b"software: bench\r\n", make.WARCINFO),
            make.response(22, "http://example.org/", at(0, 9), PAGE),
            make.response(23, url, at(1, 9), PICTURE, media_type="image/png"),
            make.response(24, "http://example.org/new", at(2, 9), NEW),
        )
        return Archive(name="autumn.warc.gz", records=listed)

    @cached_property
    def again(self) -> Archive:
        """A page and a revisit of it."""
        first = make.response(31, "http://example.org/news", at(0), NEW)
        info = make.other(30, "warcinfo", None, at(0), b"software: bench\r\n", make.WARCINFO)
        return Archive(name="again.warc.gz", records=(info, first, make.revisit(32, first, at(9))))

    @cached_property
    def newer(self) -> Archive:
        """The first crawl, of WARC 1.1."""
        listed = tuple(replace(record, version="1.1") for record in self.spring.records)
        return Archive(name="newer.warc.gz", records=listed)

    @cached_property
    def wrong(self) -> Archive:
        """A record whose body is not what its digest says."""
        url = "http://example.org/wrong"
        record = make.response(41, url, at(0), PAGE, declared=b"something else")
        return Archive(name="wrong.warc.gz", records=(record,))

    @cached_property
    def undated(self) -> Archive:
        """A record without the WARC-Date that each must have (ISO 28500:2017, section 5.4)."""
        record = make.response(51, "http://example.org/undated", "", PAGE)
        return Archive(name="undated.warc.gz", records=(record,))

    @cached_property
    def damaged(self) -> bytes:
        """The first crawl, with bytes of the picture's member overwritten."""
        data = bytearray(self.spring.data)
        start = self.spring.offset(self.picture) + 400
        data[start : start + 60] = b"\xff" * 60
        return bytes(data)

    @cached_property
    def arc(self) -> bytes:
        """Two pages in an ARC file."""
        return make.arc(
            (uri, timestamp, b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + body)
            for uri, timestamp, body in ARC_PAGES
        )

    def write(self) -> None:
        """Write every file, once."""
        for archive in (
            *(self.spring, self.autumn, self.again, self.newer, self.wrong, self.undated),
            Archive(name="picture_alone.warc.gz", records=(self.picture,)),
            Archive(name="orphan.warc.gz", records=self.again.records[-1:]),
            Archive(name="orphan.warc.gz", records=self.again.records[-1:]),
        ):
            self._put(archive.name.partition(".")[0], archive.name, archive.data)
        self._folder("both", self.spring, self.autumn)
        fewer = replace(self.spring, records=self.spring.records[:-1])
        self._folder("lost", fewer, self.autumn)
        self._put("damaged", "damaged.warc.gz", self.damaged)
        self._put("plain", "plain.warc", self.spring.raw)
        self._put("one_member", "one-member.warc.gz", gzip.compress(self.spring.raw, mtime=0))
        frames = b"".join(make.zstd_frame(record.raw) for record in self.spring.records)
        self._put("zstd", "spring.warc.zst", frames)
        self._put("arc", "old.arc.gz", self.arc)
        (self.folder / "notes.txt").write_bytes(self.resource.payload)
        (self.folder / "notes.txt").write_bytes(self.resource.payload)
        self._put("wacz", "crawl.wacz", make.wacz(self.spring))
        self._put("tampered", "tampered.wacz", make.wacz(self.spring, tampered=True))

    def _put(self, key: str, name: str, data: bytes) -> None:
        path = self.folder / name
        path.write_bytes(data)
        self.made[key] = path

    def _folder(self, key: str, *archives: Archive) -> None:
        folder = self.made[key] = self.folder / key
        folder.mkdir()
        for archive in archives:
            (folder / archive.name).write_bytes(archive.data)

    def words(self) -> dict[str, str]:
        """What a command's {words} stand for: files by their names, offsets and a digest."""
        more = {
            "page_at": self.spring.offset(self.page),
            "packed_at": self.spring.offset(self.packed),
            "picture_at": self.spring.offset(self.picture),
            "picture_sha1": make.sha1(PICTURE),
            "revisit_at": self.again.offsets[-1],
        }
        named = {name: str(path) for name, path in self.made.items()}
        return named | {name: str(value) for name, value in more.items()}


ARC_PAGES = (
    ("http://example.org/old", "20010301100000", b"<p>old</p>" * 30),
    ("http://example.org/older", "20010301100001", b"<p>older</p>" * 30),
)
