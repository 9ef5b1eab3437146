"""Cells of `crawls` about what crawlers report of captures before their files land.

Of the family `l`: they say what is now, and go when the crawl is committed or taken out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCapture:
    """`l:seen`: a full capture that a running crawl has, as its crawler says.

    `date` is as it will be in the record, or digits.  `size` is that of the stored body and
    `length` that of the compressed record, in bytes; `file` is the WACZ or archive file that it
    will be in.
    """

    COLUMN: ClassVar[bytes] = b"l:seen"
    VERSION: ClassVar[int] = 1

    url: str
    date: str
    mime: str | None = None
    status: int | None = None
    size: int | None = None
    length: int | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitFindings:
    """`l:found` of a crawl: what was found of it when `act` committed it.

    `landed` and `never_landed` count captures that its crawler reported.  `unresolved` are revisits
    by the crawler that refer to nothing in the store, `to_reported` those of them that refer to a
    capture that was reported.
    """

    COLUMN: ClassVar[bytes] = b"l:found"
    VERSION: ClassVar[int] = 1

    act: str
    landed: int = 0
    never_landed: int = 0
    unresolved: int = 0
    to_reported: int = 0
