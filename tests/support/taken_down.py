"""Three crawls of a small site with requests and metadata, deduplicated; judged by zlib alone."""

from __future__ import annotations

import re
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

from judge import frame_contents
from scenes import COLLECTION, Scene, page, record, response, write_records

from pinakes.acts.actor import Actor
from pinakes.catalog.captures import get_captures, place_captures, scan_captures_of
from pinakes.catalog.payloads import read_body
from pinakes.dedupe.run.collection import Collection
from pinakes.deletion.requests import PROMOTE, WithdrawalReport, WithdrawalRequest
from pinakes.deletion.withdrawing import Withdrawer
from pinakes.index.urlkey import urlkey
from pinakes.warc.digest import Digest, hasher

_ID = re.compile(rb"\r\nWARC-Record-ID: (\S+)\r\n")
PAGES = 3


def uri(number: int) -> str:
    return f"http://example.org/{number}"


def record_id(crawl: int, number: int, kind: int = 0) -> str:
    return f"<urn:uuid:{kind:08d}-0000-4000-8000-{crawl * 1000 + number:012d}>"


def write_site(folder: Path, crawl: int, layout: str = "gzip") -> None:
    """Pages that never change, each in a file with its request and its metadata."""
    folder.mkdir(parents=True, exist_ok=True)
    members = []
    for number in range(PAGES):
        date = f"202{crawl}-01-01T00:00:{number:02d}Z"
        about = {
            "WARC-Target-URI": uri(number),
            "WARC-Date": date,
            "WARC-Concurrent-To": record_id(crawl, number),
        }
        cookie = f"GET /{number} HTTP/1.1\r\nCookie: secret-{crawl}-{number}\r\n\r\n".encode()
        request = {
            **about,
            "WARC-Record-ID": record_id(crawl, number, 1),
            "Content-Type": "application/http;msgtype=request",
        }
        metadata = {
            **about,
            "WARC-Record-ID": record_id(crawl, number, 2),
            "Content-Type": "application/warc-fields",
        }
        members += [
            record("request", request, cookie),
            response(uri(number), date, page(number), crawl * 1000 + number),
            record("metadata", metadata, f"via: secret-{crawl}-{number}\r\n".encode()),
        ]
    write_records(folder, "site", members, layout)


def write_parts(folder: Path, crawl: int, layout: str = "gzip") -> None:
    """A file beside: of each page a conversion, its further segment, and metadata of that."""
    folder.mkdir(parents=True, exist_ok=True)
    members = []
    for number in range(PAGES):
        ids = [record_id(crawl, number, kind) for kind in (0, 3, 4, 5)]
        for at, (kind, field) in enumerate(
            [
                ("conversion", "WARC-Refers-To"),
                ("continuation", "WARC-Segment-Origin-ID"),
                ("metadata", "WARC-Concurrent-To"),
            ]
        ):
            about = {
                "WARC-Target-URI": uri(number),
                "WARC-Date": f"202{crawl}-01-01T00:01:00Z",
                "WARC-Record-ID": ids[at + 1],
                field: ids[at],
                "Content-Type": "text/plain",
            }
            members.append(record(kind, about, f"words-{crawl}-{number}".encode()))
    write_records(folder, "texts", members[::-1], layout)


def land_site(scene: Scene, *crawls: int) -> None:
    """These crawls; the later ones' pages are revisits of the first one's."""
    for crawl in crawls:
        write_site(scene.crawls / f"c{crawl}", crawl, scene.layout)
        scene.land(crawl)
    scene.dedupe()


def put_back(scene: Scene, *names: str) -> None:
    """Copy files of `kept`, the archive as it was before, into the archive."""
    for name in names:
        path = scene.archive.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(scene.folder / "kept" / name, path)


def key_of(scene: Scene, number: int, crawl: int) -> str:
    found = scan_captures_of(scene.rows, urlkey(uri(number)), start_time=f"202{crawl}")
    return next(found).key.decode()


def withdraw(
    scene: Scene, *targets: str, references: str = PROMOTE, at: object = None
) -> list[WithdrawalReport]:
    options = {"at": at} if at is not None else {}
    work = Withdrawer(scene.rows, scene.archive, Actor(), software="tests", **options)  # type: ignore[arg-type]
    return list(work.withdraw(request(*targets, references=references)))


def request(*targets: str, references: str = PROMOTE) -> WithdrawalRequest:
    return WithdrawalRequest(targets=targets, reason="asked to", by="tester", references=references)


# --- by zlib alone


def members(data: bytes) -> Iterator[bytes]:
    if data[1:4] in (b"\xb5\x2f\xfd", b"\x2a\x4d\x18"):
        yield from frame_contents(data)
        return
    while data:
        inflater = zlib.decompressobj(31)
        yield inflater.decompress(data)
        data = inflater.unused_data


def holds_anywhere(folder: Path, words: bytes) -> list[str]:
    """The files below a folder that hold these bytes, as they are written or inflated."""
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and (
            words in path.read_bytes()
            or (
                path.name.endswith((".gz", ".zst"))
                and any(words in member for member in members(path.read_bytes()))
            )
        )
    ]


def records_by_id(path: Path) -> dict[bytes, bytes]:
    """Every record of a file by its id, in the order of the file."""
    found = {}
    for member in members(path.read_bytes()):
        named = _ID.search(member)
        assert named is not None
        found[named[1]] = member
    return found


# --- through the code under test


def current(scene: Scene, crawl: int) -> Path:
    files = Collection(scene.rows, scene.archive, COLLECTION)
    [name] = [name for name in files.entries if name.startswith(f"c{crawl}/site.")]
    generation, ending = files.entries[name].generation, name.rpartition("/")[2]
    stored = name if generation == 1 else f"c{crawl}/g{generation}/{ending}"
    return scene.archive.path_of(stored)


def sha256_of(body: bytes) -> str:
    return str(Digest("sha256", hasher("sha256")(body).digest()))


def bodies(scene: Scene, number: int) -> list[bytes]:
    captures = place_captures(scene.rows, scan_captures_of(scene.rows, urlkey(uri(number))))
    return [b"".join(read_body(scene.rows, scene.archive, placed)) for placed in captures]


_ACT = re.compile(rb"withdraw-[0-9T.]+-[0-9a-f]+")
STILL = ("claims open", "hidden", "aside")


def all_keys(scene: Scene) -> list[str]:
    return [key_of(scene, number, crawl) for number in range(3) for crawl in (1, 2, 3)]


def outcome(scene: Scene) -> dict[str, object]:
    """What a take-down leaves, without the name and the time of its act, which tombstones hold."""
    records = {
        crawl: {
            name: b"withdrawn" if b"Pinakes-Withdrawn" in record else _ACT.sub(b"ACT", record)
            for name, record in records_by_id(current(scene, crawl)).items()
        }
        for crawl in (1, 2, 3)
    }
    captures = get_captures(scene.rows, [key.encode() for key in all_keys(scene)])
    return {
        "files": sorted(file.name for file in scene.archive.list()),
        "still": [scene.state()[name] for name in STILL],
        "records": records,
        "bodies": [bodies(scene, number) for number in range(3)],
        "marks": {
            key: (c.dedupe and c.dedupe.refers_to_key, c.pinned) for key, c in captures.items()
        },
        "withdrawn": sorted(key for key, c in captures.items() if c.withdrawal is not None),
    }
