"""An archive file by its place: a path, `file://…`, `http://…`, `https://…` or `s3://…`.

A local file is read as `warc.opening` opens it.  Of a remote one only the bytes that are asked
for are fetched, where the server has ranges; see `http` for one that has none.

A file in a package (`warc.packages`) has the package's place and its own name in it, with `/`
between: `https://example.org/crawl.wacz/archive/data.warc.gz`.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO, cast
from urllib.parse import quote, unquote_to_bytes

from pinakes.archive_store.http.files import BUFFER_BYTES, HttpFile
from pinakes.archive_store.http.ranges import check_url
from pinakes.archive_store.s3.files import S3File, list_s3
from pinakes.archive_store.s3.server import parse_s3_url
from pinakes.errors import ConfigError, InputRefused
from pinakes.warc.file_names import base_name, is_package_name, is_remote, split_remote
from pinakes.warc.opening import is_file, open_file
from pinakes.warc.opening import size_of as local_size
from pinakes.warc.packages.datapackage import Declared
from pinakes.warc.packages.package import Package
from pinakes.warc.packages.paths import flat_name, open_package, split_member
from pinakes.warc.source import READ_BYTES, SeekableFile, Source

from .port import NotThere, PublishedFile
from .seeking import FIRST_AHEAD_BYTES

_FILE = "file://"
_S3 = "s3://"
# A request takes as long as reading some hundred kilobytes.
_REMOTE_READ_BYTES = 1 << 20
_AUTHORITY = re.compile(r"[^:]+://[^/?#]*")
# What may stand in a URL as it is; `%`, for what is encoded already.
_IN_URLS = "/?#[]@!$&'()*+,;=:%"


def local_path(place: str) -> Path:
    """The path that a place is, or names by `file://`."""
    if place.startswith(_FILE):
        return Path(os.fsdecode(unquote_to_bytes(place.removeprefix(_FILE))))
    return Path(place)


def is_folder_at(place: str) -> bool:
    """Whether a place is a folder: on disk, or a prefix in S3 that ends with `/`."""
    if is_remote(place):
        return is_listed(place) and _without_query(place)[0].endswith("/")
    return local_path(place).is_dir()


def is_listed(folder: str) -> bool:
    """Whether `list_folder` lists it: a prefix in S3, which is a folder if it ends with `/`."""
    return folder[:5].lower() == _S3


def list_folder(folder: str) -> Iterator[PublishedFile]:
    """Yield the files below a place that `is_listed`, sorted; `place_below` says where each is.

    Raises:
        ConfigError: the place cannot be listed.
        InputRefused: it may not be listed; `port.NotThere` if there are no files.
        StoreUnavailable: the server does not answer.
    """
    if not is_listed(folder):
        raise ConfigError("a web server does not list its files", file=folder)
    return list_s3(folder)


def place_below(folder: str, name: str) -> str:
    """The place of the file `name`, a relative path as it is written on disk, in a folder."""
    if is_remote(folder):
        path, query = _without_query(folder) if is_listed(folder) else (folder, "")
        return f"{path.rstrip('/')}/{quote(os.fsencode(name))}{query}"
    return str(local_path(folder) / name)


def check_folder(folder: str) -> str:
    """The folder; `Raises` ConfigError for what looks like a URL and cannot be asked for."""
    if is_listed(folder):
        parse_s3_url(folder)
    elif is_remote(folder):
        check_url(encoded_url(folder))
    return folder


def output_name(place: str) -> str:
    """The name of a new version of a file: its base name, or `flat_name` of one in a package."""
    if is_remote(place):
        split = split_remote(place)
        place = base_name(place) if split is None else f"{base_name(split[0])}/{split[1]}"
    return Path(flat_name(place)).name


def is_package_at(place: str) -> bool:
    """Whether a place is that of a package, by its name; on disk, also whether it is a file."""
    if is_remote(place):
        return is_package_name(base_name(place)) and split_remote(place) is None
    path = local_path(place)
    return is_package_name(path.name) and path.is_file()


def is_at(place: str) -> bool:
    """Whether a place is a URL, or the path of a file that is there."""
    return is_remote(place) or is_file(local_path(place))


def folder_of(place: str) -> str:
    """The folder or package that a file is in; of a URL outside a package, itself."""
    split = _split_place(place)
    if split is not None:
        return split[0]
    return place if is_remote(place) else str(local_path(place).parent)


def size_at(place: str) -> int | None:
    """The size of a file in bytes, or None if it cannot be opened.  `Raises` StoreUnavailable."""
    if not is_remote(place):
        return local_size(local_path(place))
    with suppress(InputRefused), file_at(place) as file:
        return file.seek(0, io.SEEK_END)
    return None


@contextmanager
def package_at(place: str) -> Iterator[Package]:
    """A package, open; `Raises` as `open_place`."""
    if not is_remote(place):
        with open_package(str(local_path(place))) as package:
            yield package
        return
    with _remote_file(place, BUFFER_BYTES) as file:
        buffered = io.BufferedReader(file, BUFFER_BYTES)
        with Package(cast("BinaryIO", buffered), place) as package:
            yield package


def declared_at(place: str) -> Declared | None:
    """What a package says of a file in it; None of any other.  `Raises` as `open_place`."""
    split = _split_place(place)
    if split is None:
        return None
    with package_at(split[0]) as package:
        return package.declared(split[1])


def wrong_documents_at(place: str) -> list[tuple[str, str]]:
    """What of a package's documents is not as the package says, or not compared, and why.

    None of any other file.  `Raises` as `open_place`.
    """
    split = _split_place(place)
    if split is None:
        return []
    with package_at(split[0]) as package:
        return list(package.wrong_documents(split[1]))


@contextmanager
def open_place(place: str, *, window_bytes: int | None = None) -> Iterator[Source]:
    """Open an archive file for reading; by default with windows for reading it from end to end.

    Raises:
        InputRefused: it is not a readable file; `port.NotThere` if a server says so.
        StoreUnavailable: the server does not answer.
    """
    name = place if is_remote(place) else str(local_path(place))
    window_bytes = window_bytes or (_REMOTE_READ_BYTES if is_remote(place) else READ_BYTES)
    with file_at(place, window_bytes=window_bytes) as file:
        yield Source(file, name=name, window_bytes=window_bytes)


@contextmanager
def file_at(place: str, *, window_bytes: int = _REMOTE_READ_BYTES) -> Iterator[SeekableFile]:
    """Open an archive file, unbuffered; `Raises` as `open_place`.

    `window_bytes`: how much of a remote one is read at a time.
    """
    if not is_remote(place):
        with open_file(local_path(place)) as file:
            yield file
        return
    with ExitStack() as stack:
        yield cast("SeekableFile", _enter_remote(place, window_bytes, stack))


def _enter_remote(place: str, window_bytes: int, stack: ExitStack) -> io.RawIOBase | BinaryIO:
    split = split_remote(place)
    # Of a URL with a query, the package is meant: what is after it is no part of the query.
    if split is None or "?" not in split[0]:
        try:
            return stack.enter_context(_remote_file(place, window_bytes))
        except NotThere:
            if split is None:
                raise
    package = stack.enter_context(package_at(split[0]))
    return stack.enter_context(package.opened(split[1]))


@contextmanager
def file_on_disk(place: str) -> Iterator[IO[bytes]]:
    """Open a local file, or a copy of any other, for a caller that needs its descriptor.

    `Raises` as `open_place`.
    """
    if not is_remote(place) and _split_place(place) is None:
        with open_file(local_path(place)) as file:
            yield cast("IO[bytes]", file)
        return
    with tempfile.TemporaryFile(prefix="pinakes-") as copy:
        with open_place(place) as source:
            for piece in source.pieces(0, source.size):
                copy.write(piece)
            source.check_unchanged()
        copy.seek(0)
        yield copy


@contextmanager
def _remote_file(place: str, window_bytes: int) -> Iterator[io.RawIOBase]:
    try:
        file = _open_remote(place, window_bytes)
    except ConfigError as error:
        raise InputRefused(f"cannot be read: {error.message}", file=place) from error
    with closing(file):
        yield file


def _split_place(place: str) -> tuple[str, str] | None:
    """The place of a package, and the name of a file in it; None for any other place."""
    return split_remote(place) if is_remote(place) else split_member(str(local_path(place)))


def _open_remote(place: str, window_bytes: int) -> HttpFile | S3File:
    if not is_listed(place):
        return HttpFile(encoded_url(place))
    # A caller with small windows has many files open.
    return S3File(place, most_ahead_bytes=max(FIRST_AHEAD_BYTES, 4 * window_bytes))


def _without_query(url: str) -> tuple[str, str]:
    path, mark, query = url.partition("?")
    return path, mark + query


def encoded_url(url: str) -> str:
    """The URL with what cannot stand in one, such as a space, percent-encoded."""
    match = _AUTHORITY.match(url)
    end = match.end() if match else 0
    return url[:end] + quote(os.fsencode(url[end:]), safe=_IN_URLS)
