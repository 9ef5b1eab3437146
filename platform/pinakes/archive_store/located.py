"""An archive file by its place: a path, `file://…`, `http://…`, `https://…` or `s3://…`.

A local file is read as `warc.source` reads it.  Of a remote one only the bytes that are asked
for are fetched, where the server has ranges; see `http` for one that has none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast
from urllib.parse import quote, unquote, unquote_to_bytes

from pinakes.errors import ConfigError, InputRefused
from pinakes.warc.source import READ_BYTES, SeekableFile, Source, open_source

from .http import HttpFile
from .http_ranges import check_url
from .port import StoredFile
from .s3 import S3File, list_s3
from .s3_server import parse_s3_url
from .seeking import FIRST_AHEAD_BYTES

_FILE = "file://"
_S3 = "s3://"
_REMOTE = ("http://", "https://", _S3)
# A request takes as long as reading some hundred kilobytes.
_REMOTE_READ_BYTES = 1 << 20
_AUTHORITY = re.compile(r"[^:]+://[^/?#]*")
# What may stand in a URL as it is; `%`, for what is encoded already.
_IN_URLS = "/?#[]@!$&'()*+,;=:%"


def is_remote(place: str) -> bool:
    """Whether a place is on a server; else it is a path, or `file://` and one."""
    return place[:8].lower().startswith(_REMOTE)


def local_path(place: str) -> Path:
    """The path that a place is, or names by `file://`."""
    if place.startswith(_FILE):
        return Path(os.fsdecode(unquote_to_bytes(place.removeprefix(_FILE))))
    return Path(place)


def is_listed(folder: str) -> bool:
    """Whether `list_folder` lists it: a prefix in S3, which is a folder if it ends with `/`."""
    return folder[:5].lower() == _S3


def list_folder(folder: str) -> Iterator[StoredFile]:
    """Yield the files below a place that `is_listed`, sorted; `place_below` says where each is.

    Raises:
        ConfigError: it is no such place.
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


def base_name(name: str) -> str:
    """The last part of a path or URL."""
    return Path(unquote(re.split("[?#]", name)[0]) if is_remote(name) else name).name


def check_folder(folder: str) -> str:
    """The folder; `Raises` ConfigError for what looks like a URL and cannot be asked for."""
    if is_listed(folder):
        parse_s3_url(folder)
    elif is_remote(folder):
        check_url(_encoded(folder))
    return folder


@contextmanager
def open_place(place: str, *, window_bytes: int | None = None) -> Iterator[Source]:
    """Open an archive file for reading; by default with windows for reading it from end to end.

    Raises:
        InputRefused: it is not a readable file; `port.NotThere` if a server says so.
        StoreUnavailable: the server does not answer.
    """
    if not is_remote(place):
        with open_source(local_path(place), window_bytes=window_bytes or READ_BYTES) as source:
            yield source
        return
    window_bytes = window_bytes or _REMOTE_READ_BYTES
    try:
        file = _open_remote(place, window_bytes)
    except ConfigError as error:
        raise InputRefused(f"cannot be read: {error.message}", file=place) from error
    with closing(file):
        yield Source(cast("SeekableFile", file), name=place, window_bytes=window_bytes)


def _open_remote(place: str, window_bytes: int) -> HttpFile | S3File:
    if not is_listed(place):
        return HttpFile(_encoded(place))
    # Whoever has small windows has many files open.
    return S3File(place, most_ahead_bytes=max(FIRST_AHEAD_BYTES, 4 * window_bytes))


def _without_query(url: str) -> tuple[str, str]:
    path, mark, query = url.partition("?")
    return path, mark + query


def _encoded(url: str) -> str:
    """The URL with what cannot stand in one, such as a space, percent-encoded."""
    match = _AUTHORITY.match(url)
    end = match.end() if match else 0
    return url[:end] + quote(os.fsencode(url[end:]), safe=_IN_URLS)
