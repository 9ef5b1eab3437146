"""`GET /gzip/{file}`: records in Zstandard and bzip2, for clients that read gzip only."""

from __future__ import annotations

import bz2
import gzip
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone

import pytest
import zstandard
from archive_builders import dictionary
from landed_stores import LandedStore, page
from served_sites import exchange, served, status_of

from pinakes.access.archive_bytes import ArchiveBytes
from pinakes.access.asgi_site import AsgiSite, Route
from pinakes.access.rules import AccessRules, parse_rules
from pinakes.access.warc_server import WarcServer
from pinakes.acts.actor import Actor
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.file_rows import read_entry
from pinakes.recompression.forms import in_zstd
from pinakes.recompression.stored import StoredRecompressor
from pinakes.rewrite.recompress_file import Recompression
from pinakes.warc.compression.zstd_writer import FrameWriter, dictionary_frame
from pinakes.warc.source import IN_MEMORY_BYTES
from pinakes.warc.write import compress_member

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
LARGE = random.Random(1).randbytes(IN_MEMORY_BYTES + 99)
PAGES = [
    page("http://a.example/", b"first"),
    page("http://b.example/", LARGE),
    page("http://c.example/", b"last"),
]
CONTENTS = list(map(gzip.decompress, PAGES))


def zstd(*contents: bytes, known: zstandard.ZstdCompressionDict | None = None) -> bytes:
    writer = FrameWriter(3, known)
    start = b"" if known is None else dictionary_frame(known)
    return start + b"".join(map(writer.frame, contents))


FILES = {
    "a.warc.zst": zstd(*CONTENTS),
    "known.warc.zst": zstd(*CONTENTS, known=zstandard.ZstdCompressionDict(dictionary())),
    "a.warc.bz2": b"".join(map(bz2.compress, CONTENTS)),
    "a.warc.gz": b"".join(PAGES),
    "a.warc": b"".join(CONTENTS),
}
Ask = Callable[..., tuple[int, dict[str, str], bytes]]


@contextmanager
def asking(store: LandedStore, rules: AccessRules | None = None) -> Iterator[Ask]:
    async def no_pages(*_: object) -> None:
        raise AssertionError("not routed")

    files = ArchiveBytes(store.rows, store.archive, rules=rules or AccessRules(), now=lambda: NOW)
    route = Route(re.compile(rb"/gzip/.+"), WarcServer(files, in_gzip=True))
    with served(AsgiSite(no_pages, hosts=None, headers={}, routes=[route])) as address:

        def ask(
            name: str, method: str = "GET", **headers: str
        ) -> tuple[int, dict[str, str], bytes]:
            lines = [f"{method} /gzip/c/{name} HTTP/1.1", "Host: localhost", "Connection: close"]
            lines += [f"{key}: {value}" for key, value in headers.items()]
            raw = exchange(address, "\r\n".join([*lines, "", ""]).encode())
            head, _, body = raw.partition(b"\r\n\r\n")
            fields = (line.decode().partition(": ") for line in head.split(b"\r\n")[1:])
            return status_of(raw), {name.lower(): value for name, _, value in fields}, body

        yield ask


@pytest.mark.parametrize("name", FILES)
def test_each_record_comes_as_one_gzip_member(store: LandedStore, name: str) -> None:
    store.land("c", name, FILES[name])
    is_made = name.endswith(("zst", "bz2"))
    with asking(store) as ask:
        for row, content in zip(iter_sidecar(store.archive, f"c/{name}"), CONTENTS, strict=True):
            end = row.offset + row.length
            status, headers, body = ask(name, Range=f"bytes={row.offset}-{end - 1}")
            assert status == 206
            assert int(headers["content-length"]) == len(body)
            if not is_made:
                assert body == FILES[name][row.offset : end]
                continue
            assert body == compress_member(content, level=1)
            last = row.offset + len(body) - 1
            assert headers["content-range"] == f"bytes {row.offset}-{last}/*"


def test_a_file_that_the_store_compressed(store: LandedStore) -> None:
    store.land("c", "a.warc.gz", FILES["a.warc.gz"])
    facts = read_entry(store.rows, "c/a.warc.gz").facts
    assert facts is not None
    work = StoredRecompressor(store.rows, store.archive, Actor())
    form = in_zstd(3, zstandard.ZstdCompressionDict(dictionary()))
    [result] = work.recompress(facts.collection, ["c"], form)
    assert isinstance(result, Recompression)
    with asking(store) as ask:
        for row, content in zip(iter_sidecar(store.archive, result.target), CONTENTS, strict=True):
            place = f"bytes={row.offset}-{row.offset + row.length - 1}"
            status, _, body = ask("g2-gz/a.warc.zst", Range=place)
            assert (status, body) == (206, compress_member(content, level=1))
        assert ask("a.warc.gz", Range="bytes=0-1")[0] == 206
        for name in ("g2/a.warc.gz", "g2-gz/a.warc", "g3-gz/a.warc.zst", "a.warc.zst"):
            assert ask(name, Range="bytes=0-1")[0] == 404
        store.archive.delete("c/a.warc.gz")
        status, _, body = ask("a.warc.gz", Range="bytes=0-1")
        assert (status, b"c/g2-gz/a.warc.zst" in body) == (410, True)


@pytest.mark.parametrize("name", ["a.warc.zst", "a.warc.bz2", "known.warc.zst"])
def test_what_is_no_record_is_refused_and_says_so(store: LandedStore, name: str) -> None:
    store.land("c", name, FILES[name])
    first, second, third = iter_sidecar(store.archive, f"c/{name}")
    with asking(store) as ask:
        for method in ("GET", "HEAD"):
            assert ask(name, method)[0] == 400
        for start, end in [
            (first.offset + 1, second.offset),
            (first.offset, second.offset - 1),
            (first.offset, second.offset + 1),
            (second.offset + 4, third.offset),
        ]:
            status, _, body = ask(name, Range=f"bytes={start}-{end - 1}")
            assert (status, body[:27]) == (416, b"416 not the range of a reco")
        both = ask(name, Range=f"bytes={first.offset}-{third.offset - 1}")
        assert (both[0], gzip.decompress(both[2])) == (206, b"".join(CONTENTS[:2]))


def test_a_damaged_record_is_not_sent_in_part(store: LandedStore) -> None:
    store.land("c", "a.warc.zst", FILES["a.warc.zst"])
    _, second, third = iter_sidecar(store.archive, "c/a.warc.zst")
    path = store.folder / "archive" / "c" / "a.warc.zst"
    data = bytearray(path.read_bytes())
    data[third.offset - 2] ^= 1  # its checksum, behind 4 MiB that can be read
    path.write_bytes(data)
    with asking(store) as ask:
        status, _, body = ask("a.warc.zst", Range=f"bytes={second.offset}-{third.offset - 1}")
    assert status == 500
    assert b"checksum" in body


def test_rules_hold_and_entity_tags_are_others(store: LandedStore) -> None:
    store.land("c", "a.warc.zst", FILES["a.warc.zst"])
    first, second, _ = iter_sidecar(store.archive, "c/a.warc.zst")
    asked = f"bytes={first.offset}-{second.offset - 1}"
    with asking(store) as ask:
        tag = ask("a.warc.zst", Range=asked)[1]["etag"]
        assert tag.endswith('-gzip"')
        assert ask("a.warc.zst", Range=asked, **{"If-None-Match": tag})[0] == 304
    rules = parse_rules([{"block": "a.example"}])
    with asking(store, rules) as ask:
        assert ask("a.warc.zst", Range=asked)[0] == 404


def test_a_file_of_one_record_comes_whole(store: LandedStore) -> None:
    """The range of its only record is all of the file."""
    data = zstd(CONTENTS[0])
    store.land("c", "one.warc.zst", data)
    with asking(store) as ask:
        status, _, body = ask("one.warc.zst", Range=f"bytes=0-{len(data) - 1}")
    assert (status, gzip.decompress(body)) == (206, CONTENTS[0])
