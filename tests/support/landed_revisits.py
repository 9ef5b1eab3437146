"""Crawls that were deduplicated as files, and landed as that: their revisits are ours.

Records are built by hand, and judged by zlib alone.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from judge import content
from purged import body, date, paths_now, record_id, uri
from scenes import Scene
from store_chain import call
from warc_sets import in_frames

PAGES = (1, 2, 3)
OURS, BY_CRAWLER = b"\r\nPinakes-Replaced: ", b"\r\nPinakes-Revisit: "
CRAWLS = (1, 2, 3)


class Form(NamedTuple):
    """How a page is written: lines of the WARC header, and the block."""

    version: str = "WARC/1.1"
    payload_digest: Callable[[bytes], str] | None = lambda data: f"sha1:{_base32(data)}"
    block_digest: bool = False
    lower_case: bool = False
    head: bytes = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    encode: Callable[[bytes], bytes] = lambda data: data
    pack: Callable[[list[bytes]], bytes] = lambda raws: b"".join(
        gzip.compress(raw, mtime=0) for raw in raws
    )
    ending: str = ".warc.gz"
    pack_again: Callable[[list[bytes]], bytes] | None = None
    """How another tool has packed the files of revisits since."""


def _base32(data: bytes) -> str:
    return base64.b32encode(hashlib.sha1(data).digest()).decode()


def _chunked(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data)


FORMS: Mapping[str, Form] = {
    "as most crawlers write": Form(),
    "WARC/1.0": Form(version="WARC/1.0"),
    "no payload digest": Form(payload_digest=None),
    "block digest": Form(block_digest=True),
    "names in lower case": Form(lower_case=True, block_digest=True),
    "chunked": Form(head=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", encode=_chunked),
    "gzip coding": Form(
        head=b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n",
        encode=lambda data: gzip.compress(data, mtime=0),
    ),
    "sha256": Form(payload_digest=lambda data: f"sha256:{hashlib.sha256(data).hexdigest()}"),
    "digest of something else": Form(payload_digest=lambda data: f"sha1:{_base32(b'else' + data)}"),
    "head of bare line feeds": Form(head=b"HTTP/1.1 200 OK\nContent-Type: text/html\n\n"),
    "not compressed": Form(pack=b"".join, ending=".warc"),
    "Zstandard": Form(pack=in_frames, ending=".warc.zst"),
    "one member": Form(pack_again=lambda raws: gzip.compress(b"".join(raws), mtime=0)),
}


def raw_page(form: Form, crawl: int, number: int) -> bytes:
    """Page `number` of a crawl: one record, with the line ends that close it."""
    stored = form.encode(body(number))
    block = form.head + stored
    lines = [
        ("WARC-Type", "response"),
        ("WARC-Target-URI", uri(number)),
        ("WARC-Date", date(crawl, number)),
        ("WARC-Record-ID", record_id(crawl, number)),
        ("Content-Type", "application/http; msgtype=response"),
        ("X-Of-A-Crawler", f"{crawl}; {number} %41"),
    ]
    if form.payload_digest is not None:
        lines.append(("WARC-Payload-Digest", form.payload_digest(stored)))
    if form.block_digest:
        lines.append(("WARC-Block-Digest", f"sha1:{_base32(block)}"))
    lines.append(("Content-Length", str(len(block))))
    named = ((name.lower() if form.lower_case else name, value) for name, value in lines)
    head = "".join(f"{name}: {value}\r\n" for name, value in named)
    return f"{form.version}\r\n{head}\r\n".encode() + block + b"\r\n\r\n"


class Deduplicated(NamedTuple):
    """The pages of crawls as they were captured, by record id, and the files with revisits."""

    captured: Mapping[bytes, bytes]
    paths: Mapping[int, Path]


def deduplicate(folder: Path, form: Form) -> Deduplicated:
    """Write a file of each crawl, and `dedupe` them into a folder."""
    before, after = folder / "before", folder / "after"
    before.mkdir(parents=True)
    captured = {}
    for crawl in CRAWLS:
        raws = [raw_page(form, crawl, number) for number in PAGES]
        captured |= {
            record_id(crawl, number).encode(): raw for number, raw in zip(PAGES, raws, strict=True)
        }
        (before / f"{crawl}{form.ending}").write_bytes(form.pack(raws))
    done = call("dedupe", before, "-o", after, "--min-saving-bytes", "none")
    assert done.exit_code == 0, done
    paths = {crawl: after / f"{crawl}{form.ending}" for crawl in CRAWLS}
    if form.pack_again is not None:
        for crawl in CRAWLS[1:]:
            paths[crawl].write_bytes(form.pack_again(list(records_of(paths[crawl]).values())))
    return Deduplicated(captured, paths)


def land_file(scene: Scene, crawl: int, path: Path) -> None:
    folder = scene.crawls / f"c{crawl}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / path.name).write_bytes(path.read_bytes())
    scene.land(crawl)


def land_all(scene: Scene, made: Deduplicated, order: tuple[int, ...] = CRAWLS) -> None:
    """Land the crawls in this order: two thirds of their records are revisits."""
    for crawl in order:
        land_file(scene, crawl, made.paths[crawl])
    now = records_now(scene)
    assert sum(OURS in record for record in now.values()) == 6


def found_by_fsck(scene: Scene) -> str:
    """What `fsck --full` says, if it finds anything."""
    done = call("fsck", "--full", "--store", scene.folder / "store")
    return "" if done.exit_code == 0 else done.out + done.err


def restored_now(scene: Scene, folder: Path) -> dict[bytes, bytes]:
    """What `restore` makes of the store's files."""
    names = folder / "now"
    names.mkdir()
    for number, path in enumerate(paths_now(scene)):
        ending = path.name[path.name.index(".warc") :]
        (names / f"{number}{ending}").write_bytes(path.read_bytes())
    done = call("restore", names, "-o", folder / "restored")
    assert done.exit_code == 0, done
    return _records_in(sorted((folder / "restored").iterdir()))


# --- by zlib alone

_ID = re.compile(rb"\r\nWARC-Record-ID: (\S+)\r\n", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\nContent-Length: (\d+)\r\n", re.IGNORECASE)


def records_of(path: Path) -> dict[bytes, bytes]:
    """Every record of a file by its id, inflated, with the line ends that close it."""
    data, found = content(path.read_bytes()), {}
    while data:
        head = data[: data.index(b"\r\n\r\n") + 4]
        named, length = _ID.search(head), _LENGTH.search(head)
        assert named is not None
        assert length is not None
        size = len(head) + int(length[1]) + 4
        found[named[1]], data = data[:size], data[size:]
    return found


def records_now(scene: Scene) -> dict[bytes, bytes]:
    """The records of the store's files as they are now."""
    return _records_in(paths_now(scene))


def _records_in(paths: Iterable[Path]) -> dict[bytes, bytes]:
    return {name: record for path in paths for name, record in records_of(path).items()}
