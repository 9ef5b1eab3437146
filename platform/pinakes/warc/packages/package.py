"""Archive files inside a WACZ package, a ZIP file: `crawl.wacz/archive/data.warc.gz`.

A package is read as a folder is.  A member that is stored is read where it is in the ZIP file;
one that is deflated is inflated into a temporary file first.  A package may hold packages.

What is no archive file and no index (pages, `datapackage.json`, logs) can be read as one archive
file more, `crawl.wacz/documents.warc`: a resource record for each, the same bytes every time.

Source: WACZ 1.1.1 §4.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import re
import shutil
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime, timezone
from types import MappingProxyType
from typing import IO, BinaryIO, cast

from pinakes.errors import InputRefused
from pinakes.warc.file_names import base_name, is_archive_name, is_package_name

from .datapackage import (
    DATAPACKAGE,
    LONGEST_DATAPACKAGE,
    Declared,
    read_resources,
    sha256_of,
    why_not_that_of,
)
from .documents import write_document
from .zip_members import PartialFile, refuse_stray_bytes, start_of, whole_name

DOCUMENTS = "documents.warc"
WRONG_CRC32 = "the CRC-32 of the ZIP file is that of other bytes"
_INDEXES = "indexes/"
_OF_FORMAT = re.compile(r"(?:datapackage(?:-digest)?\.json|(?:pages|logs)/[^/]+)\Z")
"""Members that a WACZ file has by its format, besides archive files and indexes."""
_ENCRYPTED = 1
_PIECE_BYTES = 1 << 20
_MOST_UNPACKED_BYTES = 1 << 30
_MOST_TIMES = 100
_MOST_LEVELS = 8
# What `zipfile` raises for a file that is not what it says.
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    EOFError,
    ValueError,
    OSError,
    zlib.error,
    struct.error,
)


OnRefused = Callable[[InputRefused], None]


def most_unpacked_bytes(size: int) -> int:
    """What a package of this size may hold, unpacked; one with more is a bomb."""
    return max(_MOST_UNPACKED_BYTES, _MOST_TIMES * size)


class Package:
    """A package over an open file; a context manager, which leaves the file open."""

    def __init__(self, file: BinaryIO, name: str, *, outer: Package | None = None) -> None:
        """`outer` is the package that it is in.

        Raises InputRefused if it is not a whole ZIP file, or has members that are not safe.
        """
        self._file = file
        self._name = name
        self._level: int = 1 if outer is None else outer._level + 1
        if self._level > _MOST_LEVELS:
            raise InputRefused(f"a package in more than {_MOST_LEVELS - 1} others", file=name)
        try:
            self._zip = zipfile.ZipFile(file)
        except _ZIP_ERRORS as error:
            raise InputRefused(f"not a readable ZIP file: {error}", file=name) from error
        self._members: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            whole = whole_name(info)
            if whole.endswith("/") and "\0" not in whole:
                if info.file_size:
                    raise InputRefused(f"a folder that has bytes: {whole!r}", file=name)
                continue
            if not _is_plain(whole):
                raise InputRefused(f"the name of a member is no path: {whole!r}", file=name)
            if info.filename in self._members:
                raise InputRefused(f"two members are named {info.filename!r}", file=name)
            self._members[info.filename] = info
        refuse_stray_bytes(file, self._zip, name)
        size = file.seek(0, os.SEEK_END)
        self._most_bytes: int = most_unpacked_bytes(size) if outer is None else outer._most_bytes
        self._refuse_bomb()

    def _refuse_bomb(self) -> None:
        infos = self._members.values()
        unpacked = sum(i.file_size for i in infos if i.compress_type != zipfile.ZIP_STORED)
        if unpacked > self._most_bytes:
            why = f"its members unpack to {unpacked:,} bytes, too many for its size"
            raise InputRefused(why, file=self._name)

    def __enter__(self) -> Package:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    @property
    def members(self) -> Mapping[str, zipfile.ZipInfo]:
        """Its own members, but folders, by name."""
        return MappingProxyType(self._members)

    def archives(
        self, *, documents: bool = False, on_refused: OnRefused | None = None
    ) -> Iterator[str]:
        """The names of archive files, sorted; also of those in packages inside.

        `documents`: and of `documents.warc`, where there is anything in it.  `on_refused` is
        called with what is wrong with a package inside; without it, that is raised.
        """
        for name in sorted(self._members):
            if is_archive_name(name):
                yield name
            elif is_package_name(name):
                for inner in self._readable(name, on_refused):
                    for below in inner.archives(documents=documents, on_refused=on_refused):
                        yield f"{name}/{below}"
        if documents and self._documents():
            yield self._documents_name

    def others(
        self, *, on_refused: OnRefused | None = None, of_format: bool = True
    ) -> Iterator[str]:
        """The names of members that are neither archive files nor indexes.

        Without `of_format`, not those either that a WACZ file has by its format: its description,
        pages and logs.
        """
        yield from (name for name in self._documents() if of_format or not _OF_FORMAT.match(name))
        for name in filter(is_package_name, sorted(self._members)):
            for inner in self._readable(name, on_refused):
                below = inner.others(on_refused=on_refused, of_format=of_format)
                yield from (f"{name}/{other}" for other in below)

    def _readable(self, name: str, on_refused: OnRefused | None) -> Iterator[Package]:
        """The package inside, if it can be read."""
        with ExitStack() as stack:
            try:
                inner = stack.enter_context(self._inner(name))
            except InputRefused as refusal:
                if on_refused is None:
                    raise
                on_refused(refusal)
                return
            yield inner

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """A member, for reading at any place.

        Raises:
            InputRefused: the package has no member of this name, or it cannot be read.
        """
        if name in self._members:
            with self._opened(self._members[name]) as file:
                yield file
        elif name == self._documents_name and self._documents():
            with tempfile.TemporaryFile(prefix="pinakes-") as spooled:
                for document in self._documents():
                    info = self._members[document]
                    place = f"{base_name(self._name)}/{document}"
                    with self._opened(info) as file:
                        write_document(spooled, place, _date(info), file)
                yield self._part(spooled, 0, spooled.tell())
        else:
            package, below = self._split(name)
            with self._inner(package) as inner, inner.opened(below) as file:
                yield file

    def wrong_documents(self, name: str) -> Iterator[tuple[str, str]]:
        """Of `documents.warc`, at any depth: what is not as the package says, or cannot be
        compared, and why.  Reads all of it.  Of an archive file: nothing."""
        if name in self._members:
            return
        if name != self._documents_name:
            package, below = self._split(name)
            with self._inner(package) as inner:
                yield from inner.wrong_documents(below)
            return
        resources = self._resources() or {}
        for document in self._documents():
            info = self._members[document]
            crc32, sha256 = 0, hashlib.sha256()
            with self._opened(info) as file:
                while piece := file.read(_PIECE_BYTES):
                    crc32 = zlib.crc32(piece, crc32)
                    sha256.update(piece)
            if crc32 != info.CRC:
                yield document, WRONG_CRC32
            why = why_not_that_of(sha256_of(resources, document), sha256.hexdigest())
            if why is not None:
                yield document, why

    def declared(self, name: str) -> Declared | None:
        """What is said of a member; None of the documents, which are no member."""
        if name in self._members:
            resources = self._resources()
            sha256 = sha256_of(resources or {}, name)
            return Declared(self._members[name].CRC, sha256, resources is not None)
        if name == self._documents_name:
            return None
        package, below = self._split(name)
        with self._inner(package) as inner:
            return inner.declared(below)

    def lacks(self) -> list[str]:
        """The archive files that `datapackage.json` names, and that are not there."""
        return sorted(
            path
            for path in self._resources() or {}
            if is_archive_name(path) and path not in self._members
        )

    def _documents(self) -> list[str]:
        """The members that `documents.warc` holds."""
        return [
            name
            for name in sorted(self._members)
            if not (is_archive_name(name) or is_package_name(name) or name.startswith(_INDEXES))
        ]

    @property
    def _documents_name(self) -> str:
        """`documents.warc`, or the first like it that no member has."""
        stem = DOCUMENTS.removesuffix(".warc")
        names = itertools.chain([DOCUMENTS], (f"{stem}-{n}.warc" for n in itertools.count(2)))
        return next(name for name in names if name not in self._members)

    def _split(self, name: str) -> tuple[str, str]:
        for member in self._members:
            if is_package_name(member) and name.startswith(f"{member}/"):
                return member, name[len(member) + 1 :]
        raise InputRefused(f"there is no {name} in this package", file=self._name)

    @contextmanager
    def _inner(self, name: str) -> Iterator[Package]:
        with (
            self._opened(self._members[name]) as file,
            Package(file, f"{self._name}/{name}", outer=self) as inner,
        ):
            yield inner

    @contextmanager
    def _opened(self, info: zipfile.ZipInfo) -> Iterator[BinaryIO]:
        name = f"{self._name}/{info.filename}"
        if info.flag_bits & _ENCRYPTED:
            raise InputRefused("the member is encrypted", file=name)
        with ExitStack() as stack:
            try:
                if info.compress_type == zipfile.ZIP_STORED:
                    part = self._part(
                        self._file, start_of(self._file, self._zip, info), info.file_size
                    )
                else:
                    spooled = stack.enter_context(tempfile.TemporaryFile(prefix="pinakes-"))
                    with self._zip.open(info) as inflated:
                        shutil.copyfileobj(inflated, spooled, _PIECE_BYTES)
                    part = self._part(spooled, 0, spooled.tell())
            except _ZIP_ERRORS as error:
                raise InputRefused(f"cannot be read: {error}", file=name) from error
            yield part

    def _part(self, file: IO[bytes], start: int, size: int) -> BinaryIO:
        return cast("BinaryIO", PartialFile(file, start, size, package=self._file))

    def _resources(self) -> dict[str, object] | None:
        """Of `datapackage.json`, by path; None where that cannot be understood."""
        info = self._members.get(DATAPACKAGE)
        if info is None:
            return {}
        if info.file_size > LONGEST_DATAPACKAGE:
            return None
        with self._opened(info) as file:
            return read_resources(file)


def _is_plain(name: str) -> bool:
    """Whether a member's name is a relative path without `..`."""
    parts = name.split("/")
    return "\\" not in name and "\0" not in name and all(p not in ("", ".", "..") for p in parts)


def _date(info: zipfile.ZipInfo) -> str:
    """The member's time, which has no time zone, taken as UTC."""
    try:
        time = datetime(*info.date_time, tzinfo=timezone.utc)
    except ValueError:
        time = datetime(1980, 1, 1, tzinfo=timezone.utc)  # what ZIP files have for none
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")
