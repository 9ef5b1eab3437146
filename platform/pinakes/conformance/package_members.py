"""Check a WACZ file against its specification: its members, what it says of them, its index.

    archive/…   indexes/…   pages/pages.jsonl   datapackage.json   datapackage-digest.json

Each member is read once, to its end.  Memory: the names of the members, and what
`datapackage.json` says of them.  The archive files in it are checked as all others, by `check`.
Source: WACZ 1.1.1, the headings of which are numbered here as they follow each other.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import BinaryIO, NamedTuple

from pinakes.warc.file_names import is_archive_name
from pinakes.warc.packages.datapackage import DATAPACKAGE, LONGEST_DATAPACKAGE
from pinakes.warc.packages.package import Package

from .rules import Hit

ARCHIVES, INDEXES, PAGES = "archive/", "indexes/", "pages/pages.jsonl"
DIGEST = "datapackage-digest.json"
_PIECE_BYTES = 1 << 20
_LONGEST_LINE = 1 << 24
_INDEX_ENDS = (".cdx", ".cdxj", ".cdx.gz", ".cdxj.gz")


class MemberHit(NamedTuple):
    """A broken rule, and the member that breaks it; nothing: the package as a whole."""

    member: str
    hit: Hit


def check_package(package: Package) -> Iterator[MemberHit]:
    """Yield what a package breaks.

    Raises:
        InputRefused: a member cannot be read.
    """
    members = package.members
    yield from check_layout(members)
    sums = {}
    for name in sorted(members):
        with package.opened(name) as file:
            sums[name] = _sum_of(file)
        if sums[name].crc32 != members[name].CRC:
            message = (
                f"{members[name].CRC:08x} is stated, {sums[name].crc32:08x} is that of its bytes"
            )
            yield MemberHit(name, Hit("package-crc", message))
    yield from check_description(package, sums)
    yield from check_digest(package, sums)
    if PAGES in members:
        with package.opened(PAGES) as file:
            yield from check_pages(file)
    for name in sorted(members):
        if name.startswith(INDEXES) and name.endswith(_INDEX_ENDS):
            with package.opened(name) as file:
                yield from check_index(name, file, members)


class _Sum(NamedTuple):
    size: int
    crc32: int
    sha256: str


def _sum_of(file: BinaryIO) -> _Sum:
    size, crc32, sha256 = 0, 0, hashlib.sha256()
    while piece := file.read(_PIECE_BYTES):
        size += len(piece)
        crc32 = zlib.crc32(piece, crc32)
        sha256.update(piece)
    return _Sum(size, crc32, sha256.hexdigest())


def check_layout(members: Mapping[str, zipfile.ZipInfo]) -> Iterator[MemberHit]:
    """What has to be there, and stored as it is (§5.2, §5.4)."""
    archives = [name for name in members if name.startswith(ARCHIVES) and is_archive_name(name)]
    if not archives:
        yield MemberHit("", Hit("package-archive-missing", f"no WARC file below {ARCHIVES}"))
    if not any(name.startswith(INDEXES) and name.endswith(_INDEX_ENDS) for name in members):
        yield MemberHit("", Hit("package-index-missing", f"no CDXJ file below {INDEXES}"))
    if PAGES not in members:
        yield MemberHit("", Hit("package-pages-missing", f"no {PAGES}"))
    for name in sorted(members):
        is_compressed = name.startswith(ARCHIVES) or name.endswith(".gz")
        if is_compressed and members[name].compress_type != zipfile.ZIP_STORED:
            message = "compressed in the ZIP file: readers cannot go to a record"
            yield MemberHit(name, Hit("package-compression", message))


def check_description(package: Package, sums: Mapping[str, _Sum]) -> Iterator[MemberHit]:
    """`datapackage.json`, against every member (§5.2.4)."""
    if DATAPACKAGE not in sums:
        yield MemberHit("", Hit("package-description-missing", f"no {DATAPACKAGE}"))
        return
    found = _json_of(package, DATAPACKAGE)
    resources = found.get("resources") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(resources, list):
        message = "no JSON object with a list of resources"
        yield MemberHit(DATAPACKAGE, Hit("package-description-form", message))
        return
    if found.get("profile") != "data-package" or not isinstance(found.get("wacz_version"), str):
        message = 'profile is "data-package", and wacz_version is given'
        yield MemberHit(DATAPACKAGE, Hit("package-description-form", message))
    named = set()
    for resource in resources:
        path = resource.get("path") if isinstance(resource, dict) else None
        if not isinstance(path, str):
            what = f"a resource without a path: {resource!r:.80}"
            yield MemberHit(DATAPACKAGE, Hit("package-description-form", what))
        elif path not in sums:
            what = f"{path!r:.200} is named, and not in the package"
            yield MemberHit(DATAPACKAGE, Hit("package-resource-missing", what))
        else:
            named.add(path)
            yield from check_resource(path, resource, sums[path])
    for name in sorted(sums.keys() - named - {DATAPACKAGE, DIGEST}):
        yield MemberHit(name, Hit("package-resource-unlisted", f"{DATAPACKAGE} does not name it"))


def check_resource(path: str, resource: Mapping[str, object], found: _Sum) -> Iterator[MemberHit]:
    """What is said of a member that is there; in `stats`, too, as first versions of WACZ do."""
    stats = resource.get("stats")
    said = {**(stats if isinstance(stats, dict) else {}), **resource}
    stated, size, right = str(said.get("hash") or ""), said.get("bytes"), f"sha256:{found.sha256}"
    if stated.lower() not in (right, found.sha256):
        message = f"{stated[:100] or 'none'} is stated, {right} is that of its bytes"
        yield MemberHit(path, Hit("package-resource-hash", message))
    if size != found.size:
        message = (
            f"{'no' if size is None else repr(size)[:100]} bytes are stated, it has {found.size}"
        )
        yield MemberHit(path, Hit("package-resource-bytes", message))


def check_digest(package: Package, sums: Mapping[str, _Sum]) -> Iterator[MemberHit]:
    """`datapackage-digest.json` (§5.2.5)."""
    if DATAPACKAGE not in sums:
        return
    if DIGEST not in sums:
        yield MemberHit("", Hit("package-digest-missing", f"no {DIGEST}"))
        return
    found = _json_of(package, DIGEST)
    path, stated = (
        (found.get("path"), found.get("hash")) if isinstance(found, dict) else (None, None)
    )
    right = f"sha256:{sums[DATAPACKAGE].sha256}"
    if path != DATAPACKAGE or not isinstance(stated, str) or stated.lower() != right:
        message = f"{stated!r:.100} of {path!r:.100} is stated, {right} is that of {DATAPACKAGE}"
        yield MemberHit(DIGEST, Hit("package-digest-wrong", message))


def _json_of(package: Package, name: str) -> object:
    """None where it is no JSON, or too long to be read."""
    with package.opened(name) as file:
        data = file.read(LONGEST_DATAPACKAGE + 1)
    if len(data) > LONGEST_DATAPACKAGE:
        return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def check_pages(file: BinaryIO) -> Iterator[MemberHit]:
    """Each line of `pages.jsonl`, but a first that names the format (§5.2.3)."""
    for number, line in enumerate(_lines(file), start=1):
        page = _object_of(line)
        if number == 1 and "format" in page and "url" not in page:
            continue
        if not isinstance(page.get("url"), str) or not isinstance(page.get("ts"), str):
            message = f"line {number} is no JSON object with a url and a ts: {line[:80]!r}"
            yield MemberHit(PAGES, Hit("package-page", message))


def check_index(
    name: str, file: BinaryIO, members: Mapping[str, zipfile.ZipInfo]
) -> Iterator[MemberHit]:
    """Each line of an index: it names a place that is in a file of the package (§5.2.2)."""
    try:
        for number, line in enumerate(_lines(_inflated(name, file)), start=1):
            why = _why_misplaced(line, members)
            if why is not None:
                message = f"line {number} {why}: {line[:80]!r}"
                yield MemberHit(name, Hit("package-index-line", message))
    except (EOFError, OSError, zlib.error) as error:
        message = f"cannot be read to its end: {error}"
        yield MemberHit(name, Hit("package-index-line", message))


def _inflated(name: str, file: BinaryIO) -> BinaryIO:
    return gzip.GzipFile(fileobj=file) if name.endswith(".gz") else file  # type: ignore[return-value]


def _why_misplaced(line: bytes, members: Mapping[str, zipfile.ZipInfo]) -> str | None:
    if line.startswith(b"!"):  # what pywb's ZipNum begins with
        return None
    found = _object_of(line[line.find(b"{") :])
    file, offset, length = (found.get(key) for key in ("filename", "offset", "length"))
    if not isinstance(file, str) or not str(offset).isdigit() or not str(length).isdigit():
        return "has no filename, offset and length"
    # Writers name the file alone, or its path in the package.
    info = members.get(f"{ARCHIVES}{file}") or members.get(file)
    if info is None:
        return "names a file that is not in the package"
    if int(str(offset)) + int(str(length)) > info.file_size:
        return "names a place after the end of its file"
    return None


def _object_of(line: bytes) -> dict[str, object]:
    """What a line of JSON holds; nothing where it is no object."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines that are not blank, of 16 MiB at most."""
    while line := file.readline(_LONGEST_LINE):
        if line.strip():
            yield line
