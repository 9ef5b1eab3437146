"""What exports have written of each crawl: the hash `pinakes:exported`, and what was done since."""

from __future__ import annotations

import json
from typing import NamedTuple

from pinakes.catalog.crawl_rows import COMMITTED
from pinakes.errors import Conflict, MalformedRecord

from .keys import CANCELED, COMMITTED_CRAWLS, OPEN_CRAWLS, keys_of, parse_counts
from .server import SharedServer

EXPORTED = b"pinakes:exported"
RUNS = "a crawler writes to it; `pinakes redis import` takes what it adds"
ENDED = "a crawler has committed or cancelled it there, and here it is open"
STALE = (
    "a crawler writes to it; others do not see what was exported of an earlier crawl of this name"
)


class Mark(NamedTuple):
    """What stands in `pinakes:exported` of a crawl that we have written: what was there then.

    `state` is its state here, `opening` stands for the act that brought it there; "" where an
    older version has written.
    """

    collection: str
    spelling: str
    digests: int
    waczs: int
    counts: dict[str, int]
    state: str = ""
    opening: str = ""

    def is_of_earlier(self, opening: str) -> bool:
        """Whether another crawl of this name was written than the one that is open now."""
        return self.opening not in ("", opening)


def read_marks(server: SharedServer) -> dict[str, Mark]:
    """The crawls that exports have written.  Raises Conflict if something else stands there."""
    marks = {}
    for crawl, value in server.read_hash(EXPORTED).items():
        try:
            mark = Mark(**json.loads(value))
            marks[crawl.decode("ascii")] = mark
        except (ValueError, TypeError) as error:
            raise Conflict(
                f"{server.name}: the key {EXPORTED.decode()} holds something else"
            ) from error
    return marks


def has_changed(server: SharedServer, crawl: str, mark: Mark) -> bool:
    """Whether a crawler has written to the keys of a crawl since they were exported.

    A crawler adds to what is there.  So a key that is gone, as when a server evicts, is none's
    writing.
    """
    keys = keys_of(crawl)
    digests, waczs = server.ask([("HLEN", keys.hashes), ("LLEN", keys.waczs)])
    counts = read_counts(server, crawl)
    return (
        digests not in (0, mark.digests)
        or waczs not in (0, mark.waczs)
        or counts not in ({}, mark.counts)
    )


def why_left(server: SharedServer, crawl: str, mark: Mark | None, opening: str) -> str | None:
    """Why an export leaves an open crawl as it is: its crawler does not wait; None if it has none.

    Where no export has written the crawl, all that is there is a crawler's.  Where one has written
    it as committed, an earlier crawl had its name, and that it stands committed there is ours,
    unless a crawler has written to it and runs no more.
    """
    sets = (OPEN_CRAWLS, COMMITTED_CRAWLS, CANCELED)
    runs, is_committed, is_canceled = server.ask([("SISMEMBER", key, crawl) for key in sets])
    writes = mark is not None and has_changed(server, crawl, mark)
    is_ours = mark is not None and mark.state == COMMITTED and (runs or not writes)
    if is_canceled or (is_committed and not is_ours):
        return ENDED
    if mark is not None:
        return (STALE if mark.is_of_earlier(opening) else RUNS) if writes else None
    kinds = server.kinds(list(keys_of(crawl))).values()
    return RUNS if runs or any(kind != "none" for kind in kinds) else None


def read_counts(server: SharedServer, crawl: str) -> dict[str, int]:
    """What is counted of a crawl.  Raises Conflict where that are no numbers."""
    key = keys_of(crawl).counts
    try:
        return parse_counts(server.read_hash(key))
    except MalformedRecord as error:
        words = f"{server.name}: {key.decode('utf-8', 'backslashreplace')}: {error.message}"
        raise Conflict(words) from error
