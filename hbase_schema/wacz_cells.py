"""Cells of WACZ files in `crawls`: of one to be imported, of its content, of a crawl's list.

All are of the family `l`: they say what is now, and go with what they describe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedWacz:
    """`l:queued`: a WACZ file to be imported.  The row is deleted when that is done.

    `place` is its path or URL, `name` its path within the crawl; `sha256` (lower-case hex) and
    `size` are what a manifest says of it.  `origin` is that manifest's path or URL.
    """

    COLUMN: ClassVar[bytes] = b"l:queued"
    VERSION: ClassVar[int] = 1

    place: str
    name: str
    crawl: str
    act: str
    sha256: str | None = None
    size: int | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaczFailure:
    """`l:failed` of a queued WACZ file: why it was not imported the last time, and how often."""

    COLUMN: ClassVar[bytes] = b"l:failed"
    VERSION: ClassVar[int] = 1

    act: str
    why: str
    attempts: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WaczPlace:
    """`l:wacz` of a SHA-256 in a collection: the crawl that has, or gets, this WACZ file.

    `queued` is the row of the queue by which it is imported, as hex; None once that is done.
    """

    COLUMN: ClassVar[bytes] = b"l:wacz"
    VERSION: ClassVar[int] = 1

    crawl: str
    name: str
    act: str
    queued: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaczFile:
    """`l:file` of a name in a crawl: a WACZ file that the crawl has, or gets.

    `files`, `captures` and `landed_bytes` count what has landed of it; they are None until all
    of it is visible.
    """

    COLUMN: ClassVar[bytes] = b"l:file"
    VERSION: ClassVar[int] = 1

    sha256: str
    size: int
    source: str
    act: str
    files: int | None = None
    captures: int | None = None
    landed_bytes: int | None = None
