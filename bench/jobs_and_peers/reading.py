"""Turn what tools print and write into values that can be compared; nothing of theirs is used."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace

from bench.jobs_and_peers.attempts import Attempt, Ran
from bench.jobs_and_peers.records import record_id
from bench.jobs_and_peers.scene import Scene

_RECORD_ID = re.compile(rb"(?mi)^WARC-Record-ID: ?<urn:uuid:[0-]{8}-0000-4000-8000-(\d+)>")

WARCINFOS = (1, 21, 30)
Read = Callable[[Ran], object]


def json_field(name: str, number: bool = False) -> Read:
    """A field of each line of JSON that has it."""

    def read(ran: Ran) -> object:
        lines = map(json.loads, ran.stdout.splitlines())
        values = [line[name] for line in lines if name in line]
        return [int(value) for value in values] if number else values

    return read


def matches(pattern: str, number: bool = False) -> Read:
    """The groups of each match in what was printed, joined."""

    def read(ran: Ran) -> object:
        found = re.finditer(pattern.encode(), ran.stdout, re.MULTILINE)
        texts = [b"".join(match.groups()).decode() for match in found]
        return [int(text) for text in texts] if number else texts

    return read


def total(pattern: str) -> Read:
    """The sum of the numbers that a pattern finds in what was printed."""
    return lambda ran: sum(map(int, re.findall(pattern.encode(), ran.stdout)))


def behind(one: Attempt, note: str) -> Attempt:
    """The attempt, read for whether all captures behind the damaged record are named."""

    def read(ran: Ran) -> object:
        found = one.read(ran)
        assert isinstance(found, list)
        archive = ran.scene.spring
        at = archive.records.index(ran.scene.picture) + 1
        behind = zip(archive.records[at:], archive.offsets[at:], strict=True)
        named = [
            offset in found or f"<{record_id(record.number)}>" in found
            for record, offset in behind
            if record.kind in ("response", "resource")
        ]
        return all(named) or f"{sum(named)} of {len(named)} captures behind the damage"

    return replace(one, read=read, note=note)


def printed(ran: Ran) -> object:
    """The bytes printed."""
    return ran.stdout


def headers(ran: Ran) -> object:
    """The lines printed that say something, in any order."""
    return {line.strip() for line in ran.stdout.splitlines()} - {b""}


def stripped(ran: Ran) -> object:
    """The bytes printed, without line ends behind them."""
    return ran.stdout.rstrip(b"\r\n")


def found_by_exit(ran: Ran) -> object:
    """Of each command, whether its exit code says that something is not as it should be."""
    return [code != 0 for code in ran.codes]


def inflated(data: bytes) -> bytes:
    """All gzip members; or the bytes, where they are not compressed."""
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def members(data: bytes) -> list[bytes]:
    """Each gzip member, inflated."""
    found = []
    while data:
        inflate = zlib.decompressobj(31)
        found.append(inflate.decompress(data) + inflate.flush())
        data = inflate.unused_data
    return found


def written(name: str) -> Callable[[Ran], bytes]:
    """The bytes of the only file that a pattern matches, in the folder of the commands."""

    def read(ran: Ran) -> bytes:
        (path,) = ran.out.glob(name)
        return path.read_bytes()

    return read


def output(ran: Ran) -> bytes:
    """What was printed, as a file."""
    return ran.stdout


def record_numbers(of: Callable[[Ran], bytes]) -> Read:
    """The numbers of the records in an archive file, a leading warcinfo left out."""

    def read(ran: Ran) -> object:
        numbers = [int(text) for text in _RECORD_ID.findall(inflated(of(ran)))]
        return [number for number in numbers if number not in WARCINFOS]

    return read


def whole(of: Callable[[Ran], bytes]) -> Read:
    """The inflated bytes."""
    return lambda ran: inflated(of(ran))


def number_of_members(of: Callable[[Ran], bytes]) -> Read:
    """How many gzip members there are, each with the start of a record."""

    def read(ran: Ran) -> object:
        return [member[:5] for member in members(of(ran))]

    return read


def holds(piece: Callable[[Scene], bytes], of: Callable[[Ran], bytes]) -> Read:
    """Whether a piece lies in a file, inflated."""
    return lambda ran: piece(ran.scene) in inflated(of(ran))


def packaged(name: str) -> Read:
    """The archive file within a WACZ, whose list of files has to name it by its hash."""

    def read(ran: Ran) -> object:
        with zipfile.ZipFile(ran.out / name) as package:
            (inside,) = (one for one in package.namelist() if one.startswith("archive/"))
            data = package.read(inside)
            listed = json.loads(package.read("datapackage.json"))["resources"]
        hashes = {one["path"]: one["hash"] for one in listed}
        right = hashes[inside] == f"sha256:{hashlib.sha256(data).hexdigest()}"
        return data if right else "another hash in datapackage.json"

    return read


def arc_pages(of: Callable[[Ran], bytes]) -> Read:
    """URL and body of each response in a WARC file."""

    def read(ran: Ran) -> object:
        answers = [one for one in _records(inflated(of(ran))) if b"WARC-Type: response" in one]
        return [
            (_field(one, b"WARC-Target-URI"), one.rstrip().rpartition(b"\r\n\r\n")[2])
            for one in answers
        ]

    return read


def _records(data: bytes) -> list[bytes]:
    return re.split(rb"(?m)^WARC/1\.[01]\r\n", data)[1:]


def _field(record: bytes, name: bytes) -> str:
    match = re.search(rb"(?mi)^" + name + rb": ?(.*?)\r$", record)
    return match[1].decode() if match else ""


def _revisits(ran: Ran, files: str) -> list[tuple[str, str]]:
    """The date of each revisit in some files, and of what it refers to."""
    return [
        (_field(one, b"WARC-Date"), _field(one, b"WARC-Refers-To-Date"))
        for path in sorted(ran.out.glob(files))
        for one in _records(inflated(path.read_bytes()))
        if b"WARC-Type: revisit" in one
    ]


def count_revisits(files: str) -> Read:
    """How many revisits there are in some files."""
    return lambda ran: len(_revisits(ran, files))


def refer_to_earlier(files: str) -> Read:
    """Whether there are revisits, and each refers to an earlier capture."""

    def read(ran: Ran) -> object:
        dates = _revisits(ran, files)
        return bool(dates) and all(original < date for date, original in dates)

    return read


def bodies_below(ran: Ran) -> object:
    """Whether some file has the picture, and some the page."""
    found = [path.read_bytes() for path in ran.out.rglob("*") if path.is_file()]
    return ran.scene.picture.payload in found and ran.scene.page.payload in found


def archives_below(ran: Ran) -> object:
    """How many archive files there are."""
    return sum(path.is_file() for path in ran.out.rglob("*.warc*"))


def cdxj(of: Callable[[Ran], bytes] = output) -> Read:
    """Urlkey, timestamp, offset and length of the answers to GET in a CDXJ."""

    def read(ran: Ran) -> object:
        found = []
        for line in io.BytesIO(of(ran)):
            urlkey, timestamp, named = line.decode().split(" ", 2)
            values = json.loads(named)
            found.append((urlkey, timestamp, int(values["offset"]), int(values["length"])))
        return plain_captures(found)

    return read


def cdx11(of: Callable[[Ran], bytes] = output) -> Read:
    """The same of a CDX with 11 columns."""

    def read(ran: Ran) -> object:
        head, *lines = of(ran).decode().splitlines()
        if head != " CDX N b a m s k r M S V g":
            raise ValueError(f"another head: {head}")
        rows = [line.split(" ") for line in lines]
        return plain_captures([(row[0], row[1], int(row[9]), int(row[8])) for row in rows])

    return read


def plain_captures(lines: list[tuple[str, str, int, int]]) -> list[tuple[str, str, int, int]]:
    """The lines of answers to GET: indexers differ in the rest, and other rows ask for that."""
    return sorted(line for line in lines if "search" not in line[0] and "notes" not in line[0])


def cdxj_key(piece: str) -> Read:
    """The urlkeys in a CDXJ with this piece in them."""
    return lambda ran: [
        line.split(" ")[0] for line in ran.stdout.decode().splitlines() if piece in line
    ]


def cdxj_value(uri: str, name: str) -> Read:
    """A value of a URL's line in a CDXJ, without the label of a digest."""

    def read(ran: Ran) -> object:
        (line,) = (line for line in ran.stdout.decode().splitlines() if uri in line)
        return str(json.loads(line.split(" ", 2)[2])[name]).removeprefix("sha1:")

    return read
