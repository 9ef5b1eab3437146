"""Small stores at several moments of their life, whose every captured record is known."""

from __future__ import annotations

import base64
import gzip
import hashlib
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import zstandard
from rot_judge import Known
from store_chain import ANY_SAVING, call

BODIES, URIS = 6, 5
CRAWLS = ("c1", "c2", "c3")
GZIP, ZSTD, PLAIN = "gzip", "zstd", "plain"
COMPRESSIONS = (GZIP, ZSTD, PLAIN)
MOMENTS = ("landed", "deduplicated", "later-landed", "twice", "dropped")
_ENDINGS = {GZIP: ".warc.gz", ZSTD: ".warc.zst", PLAIN: ".warc"}


class Scene(NamedTuple):
    """A folder for each moment: `store`, as it was then; and `backup`, of the first dedupe."""

    folder: Path
    truth: dict[str, Known]

    def store(self, moment: str) -> Path:
        return self.folder / moment / "store"


def build_scene(folder: Path, compression: str, seed: int) -> Scene:
    """Land three crawls, deduplicate between, drop old generations; keep each moment."""
    truth: dict[str, Known] = {}
    sources = _write_sources(folder / "sources", compression, seed, truth)
    store = folder / "work" / "store"
    scene = Scene(folder, truth)

    def keep(moment: str) -> None:
        shutil.copytree(store.parent, folder / moment)

    def act(*words: object) -> None:
        answer = call(*words, "--store", store)
        assert answer.exit_code == 0, (words, answer)

    act("init")
    for crawl in CRAWLS[:2]:
        act("ingest", sources / crawl, "--crawl", crawl)
    keep("landed")
    act("dedupe", "--all", *ANY_SAVING)
    act("backup", folder / "backup")
    keep("deduplicated")
    act("ingest", sources / CRAWLS[2], "--crawl", CRAWLS[2])
    keep("later-landed")
    act("dedupe", "--all", *ANY_SAVING)
    keep("twice")
    act("dedupe", "--all", "--drop-old", "--grace", "0", *ANY_SAVING)
    keep("dropped")
    shutil.rmtree(store.parent)
    return scene


def _write_sources(folder: Path, compression: str, seed: int, truth: dict[str, Known]) -> Path:
    dice = random.Random(f"{seed} {compression}")
    bodies = [dice.randbytes(200) + b"<p>some words</p>" * 20 for _ in range(BODIES)]
    pack = _packer(compression, bodies, has_dictionary=seed % 2 == 0)
    for year, crawl in enumerate(CRAWLS, start=2020):
        (folder / crawl).mkdir(parents=True)
        number = 0
        for file in range(2):
            prefix, members = pack(None), []
            for _ in range(5):
                body = dice.choice(bodies)
                record_id, known = _capture(dice, crawl, year, number, body)
                truth[record_id] = known
                members.append(pack(known.record))
                number += 1
            name = f"{file}{_ENDINGS[compression]}"
            (folder / crawl / name).write_bytes(prefix + b"".join(members))
    return folder


def _packer(
    compression: str, bodies: list[bytes], *, has_dictionary: bool
) -> Callable[[bytes | None], bytes]:
    """What makes a member of a record; of None, what a file begins with."""
    if compression == GZIP:
        return lambda record: gzip.compress(record, mtime=0) if record is not None else b""
    if compression == PLAIN:
        return lambda record: record or b""
    if not has_dictionary:
        writer = zstandard.ZstdCompressor(write_checksum=True)
        return lambda record: writer.compress(record) if record is not None else b""
    samples: list[bytes | bytearray | memoryview] = [
        _block(number, bodies[number % BODIES]) for number in range(300)
    ]
    held = zstandard.train_dictionary(2048, samples)
    writer = zstandard.ZstdCompressor(dict_data=held, write_checksum=True)
    head = b"\x5d\x2a\x4d\x18" + len(held.as_bytes()).to_bytes(4, "little") + held.as_bytes()
    return lambda record: writer.compress(record) if record is not None else head


def _block(number: int, body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Number: %d\r\n\r\n" % number + body


def _capture(
    dice: random.Random, crawl: str, year: int, number: int, body: bytes
) -> tuple[str, Known]:
    block = _block(number, body)
    digest = base64.b32encode(hashlib.sha1(body).digest()).decode()
    record_id = f"urn:uuid:00000000-0000-4000-8000-{year}{number:08d}"
    uri = f"http://example.org/{dice.randrange(URIS)}"
    date = f"{year}-01-01T00:{number // 60:02d}:{number % 60:02d}Z"
    lines = (
        "WARC/1.1",
        "WARC-Type: response",
        f"WARC-Record-ID: <{record_id}>",
        f"WARC-Target-URI: {uri}",
        f"WARC-Date: {date}",
        "Content-Type: application/http; msgtype=response",
        f"WARC-Payload-Digest: sha1:{digest}",
        f"Content-Length: {len(block)}",
        *("", ""),
    )
    record = "\r\n".join(lines).encode() + block + b"\r\n\r\n"
    return record_id, Known(crawl, uri.encode(), date.encode(), body, record)
