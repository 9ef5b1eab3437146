"""A packaged site as the records of an archive: answers by URL, and the pages worth a look."""

from __future__ import annotations

import mimetypes
import posixpath
import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from bench.qa_training.packages import SHARED

_HTML = frozenset({".html", ".htm", ".xhtml"})
_SIZES = range(2_500, 600_000)
_NOT_PAGES = re.compile(r"(^|/)(node_modules|bower_components|_static|genindex|search|modindex)")
_PICTURE = re.compile(rb"<img\b|background-image", re.IGNORECASE)
_MOST_PICTURES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The answer that a response record holds."""

    body: bytes
    media_type: str
    status: int = 200

    @property
    def head(self) -> bytes:
        """The HTTP head, as it would stand in a WARC record (RFC 9112 §4)."""
        return f"HTTP/1.1 {self.status} x\r\nContent-Type: {self.media_type}\r\n\r\n".encode(
            "latin-1", "replace"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page, and what it was answered: variants are made of it by other records."""

    url: str
    records: Mapping[str, Recorded | None]
    """By URL; None for what the archive lacks."""

    @property
    def html(self) -> Recorded:
        """The page's own record."""
        own = self.records[self.url]
        assert own is not None
        return own

    def of_type(self, *begins: str) -> list[str]:
        """URLs of what is there with such a media type, in order, without the page."""
        return sorted(
            url
            for url, record in self.records.items()
            if record is not None and url != self.url and record.media_type.startswith(begins)
        )

    def other(self, records: Mapping[str, Recorded | None]) -> Page:
        """The page with these records in place of its own."""
        return replace(self, records={**self.records, **records})

    def with_html(self, body: bytes, media_type: str | None = None) -> Page:
        """The page with another body."""
        own = replace(self.html, body=body, media_type=media_type or self.html.media_type)
        return self.other({self.url: own})


class PackagedSite:
    """The files under a package's folder, each at the path it has there."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.host = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".example"
        self._folder = folder

    def record(self, url: str) -> Recorded | None:
        """What the archive has at a URL; None for a miss."""
        parts = urlsplit(url)
        if parts.hostname != self.host:
            return None
        path = self._file(unquote(parts.path).lstrip("/"))
        if path is not None and path.is_dir():
            path = path / "index.html"
        if path is None or not path.is_file():
            return None
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return Recorded(body=path.read_bytes(), media_type=kind)

    def _file(self, name: str) -> Path | None:
        """Follow links step by step: absolute ones begin in the package, or in a shared one."""
        if ".." in Path(name).parts:
            return None
        path = self._folder
        for number, part in enumerate(Path(name).parts):
            path = path / part
            if path.is_symlink():
                target = str(path.readlink())
                where = path.parent / target if not target.startswith("/") else None
                if where is not None and where.exists() and self._has(where):
                    continue
                rest = Path(*Path(name).parts[number + 1 :])
                return self._shared((where or Path(target)), rest)
            if not path.exists():
                return self._shared(Path("/") / name, Path())
        return path

    def _has(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self._folder.resolve())

    def _shared(self, target: Path, rest: Path) -> Path | None:
        text = posixpath.normpath(str(target))
        if "/usr/" in text:
            text = text[text.index("/usr/") :]
        name = Path(text.lstrip("/")) / rest
        for folder in (self._folder, *sorted((self._folder.parent / SHARED).glob("*"))):
            if (folder / name).exists():
                return folder / name
        return None

    @cached_property
    def pages(self) -> list[str]:
        """URLs of its pages, those that show pictures and those that do not in turn."""
        files = sorted(self._pages())
        random.Random(f"pages of {self.name}").shuffle(files)
        with_pictures = [f for f in files if 1 <= self._pictures(f) <= _MOST_PICTURES]
        others = [f for f in files if f not in set(with_pictures)]
        front = [f for f in files if f.name.startswith("index.")]
        front.sort(key=lambda f: (len(f.parts), str(f)))
        mixed = front[:1]
        for number in range(40):
            mixed += with_pictures[2 * number : 2 * number + 2] + others[number : number + 1]
        found = dict.fromkeys(mixed)
        return [
            f"http://{self.host}/{quote(str(file.relative_to(self._folder)))}" for file in found
        ]

    def _pages(self) -> Iterator[Path]:
        for path in self._folder.rglob("*"):
            if path.suffix in _HTML and path.is_file() and not path.is_symlink():
                name = str(path.relative_to(self._folder))
                if not _NOT_PAGES.search(name) and path.stat().st_size in _SIZES:
                    yield path

    def _pictures(self, file: Path) -> int:
        return len(_PICTURE.findall(file.read_bytes()))
