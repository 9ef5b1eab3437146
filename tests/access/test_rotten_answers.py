"""What `serve` gives out of a stored file in which one bit is not what it was.

The right bytes, or no whole answer: an error, or fewer bytes than the head has promised.
"""

from __future__ import annotations

import gzip
import random
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import zstandard
from landed_stores import LandedStore, in_one_member, page
from rotten import FORMS, flips
from served_sites import exchange, served, status_of

from pinakes.access.archive_bytes import ArchiveBytes
from pinakes.access.asgi_site import AsgiSite, Route
from pinakes.access.checked_bytes import PIECE_BYTES
from pinakes.access.pages.capture_page import record_bytes
from pinakes.access.readable import ReadableCaptures
from pinakes.access.rules import AccessRules
from pinakes.access.warc_server import WarcServer
from pinakes.catalog.captures import place_captures, scan_captures_of
from pinakes.catalog.file_records import iter_sidecar
from pinakes.errors import DigestMismatch
from pinakes.index.urlkey import urlkey
from pinakes.warc.source import IN_MEMORY_BYTES

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
PAGES = [
    page(f"http://{name}.example/", random.Random(name).randbytes(300).hex().encode())
    for name in "abc"
]


class Got(NamedTuple):
    """An answer: its status, its body, and whether that has the length that was promised."""

    status: int
    body: bytes
    is_whole: bool


Ask = Callable[..., Got]


async def no_pages(*_: Any) -> None:
    raise AssertionError


@pytest.fixture
def ask(store: LandedStore) -> Iterator[Ask]:
    files = ArchiveBytes(store.rows, store.archive, rules=AccessRules(), now=lambda: NOW)
    routes = [
        Route(re.compile(rb"/warc/.+"), WarcServer(files)),
        Route(re.compile(rb"/gzip/.+"), WarcServer(files, in_gzip=True)),
    ]
    with served(AsgiSite(no_pages, hosts=None, headers={}, routes=routes)) as address:

        def asked(path: str, span: tuple[int, int] | None = None) -> Got:
            lines = [f"GET {path} HTTP/1.1", "Host: localhost", "Connection: close"]
            lines += [f"Range: bytes={span[0]}-{span[1] - 1}"] if span else []
            raw = exchange(address, "\r\n".join([*lines, "", ""]).encode())
            head, _, body = raw.partition(b"\r\n\r\n")
            [length] = re.findall(rb"content-length: (\d+)", head)
            return Got(status_of(raw), body, len(body) == int(length))

        yield asked


def content_of(name: str, body: bytes, route: str) -> bytes:
    """The record in an answer, by other means than our reader."""
    if name.endswith(".gz") or (route == "gzip" and name.endswith(".zst")):
        return gzip.decompress(body)
    if name.endswith(".zst"):
        return zstandard.ZstdDecompressor().decompress(body)
    return body


@pytest.mark.parametrize("route", ["warc", "gzip"])
@pytest.mark.parametrize(("name", "made"), FORMS.values(), ids=FORMS)
def test_no_rotten_record_is_given_out(
    store: LandedStore, ask: Ask, name: str, made: Callable[[bytes], bytes], route: str
) -> None:
    store.land("one", name, *map(made, map(gzip.decompress, PAGES)))
    _, second, _ = iter_sidecar(store.archive, f"one/{name}")
    path, file = f"/{route}/one/{name}", store.folder / "archive/one" / name
    whole, span = file.read_bytes(), (second.offset, second.offset + second.length)
    right = gzip.decompress(PAGES[1])[: -4 if name.endswith(".warc") else None]

    def is_right(got: Got) -> bool:
        return got.status == 206 and content_of(name, got.body, route) == right

    assert is_right(ask(path, span))
    refused, has_none = 0, name == "a.warc" or made is FORMS["zstd-without-checksum"][1]
    for rotten in flips(whole, 24, *span):
        file.write_bytes(rotten)
        got = ask(path, span)
        if got.status == 500:
            refused += 1
            assert b"one/a.warc" in got.body
            assert b"damaged" in got.body
        else:
            # Some bits of the head of a member, its time say, mean nothing for its content.
            found = content_of(name, got.body, route)
            # Without a checksum nothing covers heads here but the SHA-256 of the file.
            assert found == right or (has_none and found[-600:] == right[-600:])
    assert refused > 12
    file.write_bytes(whole)
    assert is_right(ask(path, span))


@pytest.mark.parametrize("body_bytes", [1000, 3 * PIECE_BYTES], ids=["one-piece", "pieces"])
@pytest.mark.parametrize("record_only", [False, True], ids=["whole-file", "record"])
def test_an_answer_of_wrong_bytes_has_no_end(
    store: LandedStore, ask: Ask, body_bytes: int, record_only: bool
) -> None:
    """Of one piece there is no answer but the error; of several, the last is not sent."""
    store.land(
        "one", "a.warc.gz", page("http://a.example/", random.Random(1).randbytes(body_bytes))
    )
    file = store.folder / "archive/one/a.warc.gz"
    whole = file.read_bytes()
    span = (0, len(whole)) if record_only else None
    store.land("one", "b.warc.gz", *PAGES)
    got = ask("/warc/one/a.warc.gz", span)
    assert (got.is_whole, got.body) == (True, whole)
    for rotten in flips(whole, 4, 200):
        file.write_bytes(rotten)
        got = ask("/warc/one/a.warc.gz", span)
        if body_bytes == 1000:
            assert got.status == 500
        else:
            assert got.status in (200, 206)
            assert not got.is_whole
            assert len(whole) - len(got.body) <= PIECE_BYTES


def test_a_part_of_a_record_is_proven_with_all_of_it(store: LandedStore, ask: Ask) -> None:
    store.land("one", "a.warc.gz", *PAGES)
    _, second, _ = iter_sidecar(store.archive, "one/a.warc.gz")
    file = store.folder / "archive/one/a.warc.gz"
    whole, at = file.read_bytes(), second.offset + second.length - 20
    file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    assert ask("/warc/one/a.warc.gz", (second.offset, second.offset + 50)).status == 500
    # What begins elsewhere is no record: whoever asks puts the bytes together.
    inside = (second.offset + 1, second.offset + second.length)
    assert ask("/warc/one/a.warc.gz", inside).status == 206


def test_records_that_share_a_member_are_all_proven(store: LandedStore, ask: Ask) -> None:
    store.land("one", "a.warc", *map(gzip.decompress, PAGES))  # another file with the same pages
    store.land("one", "a.warc.gz", in_one_member(*PAGES), PAGES[0])
    rows = list(iter_sidecar(store.archive, "one/a.warc.gz"))
    assert [row.offset for row in rows[:3]] == [0, 0, 0]
    span = (0, rows[0].length)
    assert ask("/warc/one/a.warc.gz", span).status == 206
    file = store.folder / "archive/one/a.warc.gz"
    whole = file.read_bytes()
    for rotten in flips(whole, 6, 20, span[1]):
        file.write_bytes(rotten)
        assert ask("/warc/one/a.warc.gz", span).status == 500


def test_without_a_sidecar_the_whole_file_is_compared(store: LandedStore, ask: Ask) -> None:
    for name in ("a", "b"):
        store.land("one", f"{name}.warc.gz", *PAGES)
        (store.folder / f"archive/one/{name}.warc.gz.sidecar.parquet").unlink()
    file = store.folder / "archive/one/b.warc.gz"
    file.write_bytes(next(flips(file.read_bytes(), 1, 700)))
    assert ask("/warc/one/a.warc.gz", (0, len(PAGES[0]))).status == 206
    assert ask("/warc/one/b.warc.gz", (0, len(PAGES[0]))).status == 500


def test_two_files_that_were_swapped_are_not_taken_for_each_other(
    store: LandedStore, ask: Ask
) -> None:
    for name in ("a", "b"):
        store.land(
            "one",
            f"{name}.warc.gz",
            page(f"http://{name}.example/", b"b" * (99 if name == "a" else 9)),
        )
    folder = store.folder / "archive/one"
    for ending in ("", ".sidecar.parquet"):
        first, second = (folder / f"{name}.warc.gz{ending}" for name in ("a", "b"))
        was = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(was)
    length = (folder / "a.warc.gz").stat().st_size
    assert ask("/warc/one/a.warc.gz", (0, length)).status == 500
    assert not ask("/warc/one/a.warc.gz").is_whole  # that of b is shorter


@pytest.mark.parametrize("body_bytes", [1000, IN_MEMORY_BYTES + 1000], ids=["small", "large"])
def test_a_download_of_a_record_ends_with_an_error(store: LandedStore, body_bytes: int) -> None:
    store.land(
        "one", "a.warc.gz", page("http://a.example/", random.Random(1).randbytes(body_bytes))
    )
    captures = ReadableCaptures(store.rows, store.archive)
    [placed] = place_captures(store.rows, scan_captures_of(store.rows, urlkey("http://a.example/")))
    file: Path = store.folder / "archive/one/a.warc.gz"
    whole = file.read_bytes()
    assert b"".join(record_bytes(captures, placed)) == whole
    file.write_bytes(next(flips(whole, 1, 900)))
    got: list[bytes] = []
    with pytest.raises(DigestMismatch, match="damaged"):
        got.extend(map(bytes, record_bytes(captures, placed)))
    assert sum(map(len, got)) < len(whole)
    assert bool(got) == (body_bytes > PIECE_BYTES)
