"""An archive file by its place: a path, `file://…`, `http://…` or `https://…`.

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

_FILE = "file://"
_REMOTE = ("http://", "https://")
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


def place_below(folder: str, name: str) -> str:
    """The place of the file `name`, a relative path as it is written on disk, in a folder."""
    if is_remote(folder):
        return f"{folder.rstrip('/')}/{quote(os.fsencode(name))}"
    return str(local_path(folder) / name)


def base_name(name: str) -> str:
    """The last part of a path or URL."""
    return Path(unquote(re.split("[?#]", name)[0]) if is_remote(name) else name).name


def check_folder(folder: str) -> str:
    """The folder; `Raises` ConfigError for what looks like a URL and cannot be asked for."""
    if is_remote(folder):
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
    try:
        file = HttpFile(_encoded(place))
    except ConfigError as error:
        raise InputRefused(f"cannot be read: {error.message}", file=place) from error
    with closing(file):
        window_bytes = window_bytes or _REMOTE_READ_BYTES
        yield Source(cast("SeekableFile", file), name=place, window_bytes=window_bytes)


def _encoded(url: str) -> str:
    """The URL with what cannot stand in one, such as a space, percent-encoded."""
    match = _AUTHORITY.match(url)
    end = match.end() if match else 0
    return url[:end] + quote(os.fsencode(url[end:]), safe=_IN_URLS)
