"""The WACZ files that an import is given: one, a folder of them, or a manifest's.

    item.wacz, a.warc.gz                   itself
    folder/                                its WACZ files; if it has none, its archive files
    manifest.json                          {"resources": [{"name", "path", "hash", "size",
                                           "crawlId"}, …]}

A manifest is a multi-WACZ's, the JSON of a Browsertrix webhook, or of its API (`replay.json`).
It is read twice, a piece at a time: whole, before any of it is believed; then entry by entry.

Sources: WACZ multi-wacz-package profile; browsertrix `models.py` (`CrawlFinishedBody`,
`CrawlFileOut`); a path that is local and absent is looked for next to the manifest, as by `hooks`.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast
from urllib.parse import urljoin

from pinakes.archive_store.http.fetching import Fetch
from pinakes.archive_store.http.ranges import require_no_user
from pinakes.archive_store.located import encoded_url, is_folder_at, local_path
from pinakes.archive_store.trusted_places import TrustedPlaces
from pinakes.errors import ConfigError, InputRefused
from pinakes.ingest.hooks import crawl_id
from pinakes.ingest.inputs import Input, LeftOut, iter_files
from pinakes.warc.digest import parse_digest
from pinakes.warc.file_names import base_name, is_archive_name, is_package_name, is_remote

from .json_entries import iter_items

_LIST = "resources"
_MOST_MANIFEST_BYTES = 1 << 32
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_FINISHED = ("crawlFinished", "uploadFinished")


@dataclass(frozen=True, slots=True, kw_only=True)
class WaczSource:
    """A WACZ file (or an archive file without one) to be imported into a crawl.

    `name` is its path in the crawl; `sha256` in hex and `size` are declared; `origin` is the
    manifest that names it.
    """

    place: str
    name: str
    crawl: str
    sha256: str | None = None
    size: int | None = None
    origin: str | None = None


def is_manifest(place: str) -> bool:
    """Whether a place is that of a manifest, by its name."""
    return base_name(place).lower().endswith(".json") and not is_folder_at(place)


def iter_sources(
    place: str,
    left: LeftOut,
    beside: LeftOut,
    trusted: TrustedPlaces,
    temp_dir: Path | None = None,
) -> Iterator[WaczSource | InputRefused]:
    """Yield what a place stands for, lazily; of a manifest also what is wrong with an entry.

    What is no archive file in a folder is noted in `left`, archive files that are among WACZ
    files in `beside`.

    Raises:
        InputRefused: it is nothing of that kind; or the manifest is no JSON, or names places
            that are not trusted.
    """
    if is_folder_at(place) and not is_remote(place):
        yield from _of_folder(place, left, beside)
    elif is_manifest(place):
        with _manifest(place, trusted, temp_dir) as file:
            crawl = _check(file, place, trusted)
            file.seek(0)
            for entry in _entries(file, place):
                try:
                    yield _source(entry, place, crawl)
                except InputRefused as refusal:
                    yield refusal
    else:
        name = base_name(place)
        yield WaczSource(
            place=place if is_remote(place) else str(local_path(place).absolute()),
            name=_wacz_name(name, place),
            crawl=crawl_of_name(_stem(name)),
        )


def crawl_of_name(name: str) -> str:
    """The crawl of this name; of one that cannot name a crawl, one like it, and no other's."""
    crawl = crawl_id(name)
    if crawl == name:
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{crawl[:91]}-{mark}"


@contextmanager
def open_regular(place: str) -> Iterator[BinaryIO]:
    """A file on disk, a package too; `Raises` InputRefused if it cannot be read."""
    path = local_path(place)
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a FIFO would be waited for
            raise InputRefused("not a regular file", file=place)
        file = path.open("rb")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputRefused(f"cannot be read: {reason}", file=place) from error
    with file:
        yield file


def _of_folder(place: str, left: LeftOut, beside: LeftOut) -> Iterator[WaczSource]:
    folder = local_path(place).absolute()
    if any(is_package_name(item.name) for item in iter_files([str(folder)], LeftOut())):
        for item in iter_files([str(folder)], left):
            if is_package_name(item.name):
                yield _found(item, crawl_of_name(_stem(item.name)))
            else:
                beside.add_other(item.place)
        return
    crawl = crawl_of_name(os.path.basename(os.path.realpath(folder)))
    yield from (_found(item, crawl) for item in iter_files([str(folder)], left))


def _found(item: Input, crawl: str) -> WaczSource:
    return WaczSource(place=item.place, name=item.name, crawl=crawl)


@contextmanager
def _manifest(place: str, trusted: TrustedPlaces, temp_dir: Path | None) -> Iterator[BinaryIO]:
    if not is_remote(place):
        with open_regular(place) as file:
            yield file
        return
    with tempfile.TemporaryFile(prefix="pinakes-", dir=temp_dir) as copy:
        admit = partial(trusted.require, origin=place)
        Fetch(encoded_url(place), admit=admit, most_bytes=_MOST_MANIFEST_BYTES).into(copy)
        copy.seek(0)
        yield cast("BinaryIO", copy)


def _check(file: BinaryIO, place: str, trusted: TrustedPlaces) -> str | None:
    """The crawl that a manifest names for all its entries, once all of it has been read.

    Raises InputRefused where it is no manifest, or names a place that is not trusted.
    """
    texts: dict[str, str] = {}
    has_list = False
    for name, value in iter_items(file, _LIST, place=place):
        if name != _LIST and isinstance(value, str):
            texts[name] = value
        elif name == _LIST and isinstance(value, list):
            has_list = True  # its beginning
        elif name == _LIST and (path := _path(value)) is not None:
            trusted.require(_place(path, _named(value), place), _origin(place))
    event = texts.get("event")
    if event is not None and event not in _FINISHED:
        raise InputRefused(f"a webhook of {event}, not of a finished crawl", file=place)
    if not has_list:
        raise InputRefused(f"not a manifest: it lists no {_LIST}", file=place)
    return texts.get("itemId") if event is not None else None


def _entries(file: BinaryIO, place: str) -> Iterator[object]:
    values = (value for name, value in iter_items(file, _LIST, place=place) if name == _LIST)
    next(values)  # its beginning
    return values


def _source(entry: object, manifest: str, crawl: str | None) -> WaczSource:
    path = _path(entry)
    if path is None or not isinstance(entry, dict):
        raise InputRefused(f"an entry without a path: {entry!r:.100}", file=manifest)
    named = _named(entry)
    place = _place(path, named, manifest)
    if is_remote(place):
        try:
            require_no_user(place)  # before it is kept
        except ConfigError as error:
            raise InputRefused(f"it names {error}", file=manifest) from error
    name = base_name(named or place)
    if not (is_package_name(name) or is_archive_name(name)):
        name = _wacz_name(base_name(place), place)
    own = entry.get("crawlId") or crawl
    if isinstance(own, str) and not _is_text(own):
        raise InputRefused(f"its crawl in the manifest is no text: {own!r:.100}", file=place)
    return WaczSource(
        place=place,
        name=name,
        crawl=crawl_of_name(own if isinstance(own, str) else _stem(name)),
        sha256=_sha256(entry.get("hash"), place),
        size=_size(entry.get("size", entry.get("bytes")), place),
        origin=_origin(manifest),
    )


def _origin(manifest: str) -> str:
    """The manifest's place, wherever the process works by then."""
    return manifest if is_remote(manifest) else os.path.abspath(local_path(manifest))


def _path(entry: object) -> str | None:
    path = entry.get("path") if isinstance(entry, dict) else None
    return path if isinstance(path, str) and path else None


def _named(entry: object) -> str:
    name = entry.get("name") if isinstance(entry, dict) else None
    return name if isinstance(name, str) else ""


def _place(path: str, name: str, manifest: str) -> str:
    """The place that a manifest means by a path."""
    for text in (path, name):
        if "\0" in text or not _is_text(text):
            raise InputRefused(f"it names {text!r:.100}, which is no path", file=manifest)
    if _SCHEME.match(path):
        if not path.lower().startswith(("http://", "https://", "file://")):
            raise InputRefused(f"it names {path!r:.100}, which cannot be fetched", file=manifest)
        return path
    if is_remote(manifest):
        return urljoin(manifest, path)
    # Without Path, which keeps the parts of all that it has seen.
    beside = os.path.dirname(os.path.abspath(local_path(manifest)))
    place = os.path.join(beside, path)
    if os.path.isabs(path) and name and not os.path.exists(place):
        return os.path.join(beside, base_name(name))
    return place


def _is_text(name: str) -> bool:
    """Whether a file can have such a name: JSON has halves of characters, too."""
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def _sha256(text: object, place: str) -> str | None:
    """The declared SHA-256 in hex; None if there is none."""
    if text in (None, ""):
        return None
    digest = parse_digest(text) if isinstance(text, str) else None
    if digest is None or digest.algorithm != "sha256":
        raise InputRefused(f"its hash in the manifest is no SHA-256: {text!r:.100}", file=place)
    return digest.hex


def _size(value: object, place: str) -> int | None:
    """The declared size in bytes; None if there is none."""
    if value is not None and (type(value) is not int or value < 0):
        raise InputRefused(f"its size in the manifest is no number: {value!r:.100}", file=place)
    return value


def _wacz_name(name: str, place: str) -> str:
    if not (is_package_name(name) or is_archive_name(name)):
        raise InputRefused("not a WACZ, an archive file, a folder or a manifest", file=place)
    return name


def _stem(name: str) -> str:
    """A name without what says that it is a WACZ or an archive file."""
    if is_package_name(name):
        return name[: -len(".wacz")]
    return re.sub(r"\.(warc|arc|wat|wet)(\.\w+)?\Z", "", name, flags=re.IGNORECASE)
