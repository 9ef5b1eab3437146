"""Ask a running replay tool for some of the revisits, and compare with the bodies of before.

Which ones is a matter of their names alone: those with the smallest hashes of
file and ordinal, so that a second validation asks for the same.  Asks `id_` (raw) replay, as
pywb, OpenWayback and their like offer it: the body as archived, without rewriting.
"""

from __future__ import annotations

import hashlib
import heapq
import http.client
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from pinakes.errors import ConfigError, StoreUnavailable
from pinakes.warc.dates import format_14
from pinakes.warc.http.message import Dechunker
from pinakes.warc.record import Record
from pinakes.warc.source import Source

SAMPLE_RECORDS = 100
_PIECE_BYTES = 1 << 16
_SAFE = "/:?&=%#+,;@!$'()*~[]|"


class Sampled(NamedTuple):
    """A capture as replay must give it; `key` decides whether it is of the sample."""

    key: str
    file: str
    ordinal: int
    offset: int
    target_uri: str
    second: str
    status: int | None
    media_type: str | None
    bodies: tuple[str, ...]
    """SHA-256 of the stored body, and of the de-chunked one."""


class ReplaySample:
    """Keeps the captures to be asked for, while two folders are compared."""

    def __init__(self, *, size: int = SAMPLE_RECORDS) -> None:
        self._size = size
        self._heap: list[tuple[int, Sampled]] = []

    def offer(self, old: Record, new: Record, source: Source) -> None:
        """A record that became a revisit: as it was, as it is, and in which file."""
        text = f":{source.name.rpartition('/')[2]}:{new.ordinal}"
        key = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        rank = -int(key[:15], 16)
        if len(self._heap) == self._size and rank <= self._heap[0][0]:
            return
        moment = old.date
        if moment is None or old.target_uri is None or old.http is None:
            return
        dechunked = old.dechunked_digest("sha256")
        bodies = [old.payload_digest("sha256").hex, *([dechunked.hex] if dechunked else [])]
        sampled = Sampled(
            key,
            source.name,
            new.ordinal,
            new.offset,
            old.target_uri,
            format_14(moment),
            old.http.status,
            old.http.media_type,
            tuple(bodies),
        )
        push = heapq.heappush if len(self._heap) < self._size else heapq.heappushpop
        push(self._heap, (rank, sampled))

    def __iter__(self) -> Iterator[Sampled]:
        return (sampled for _, sampled in sorted(self._heap, reverse=True))


def ask_replay(prefix: str, sample: Iterable[Sampled]) -> Iterator[tuple[Sampled, str]]:
    """Yield each capture that is not replayed as it was, and how.

    `prefix` is a collection's: `http://127.0.0.1:8080/collection`.

    Raises:
        ConfigError: where the prefix is no http(s) URL.
        StoreUnavailable: where nothing answers.
    """
    base = urlsplit(prefix)
    if base.scheme not in ("http", "https") or not base.hostname:
        raise ConfigError(f"--replay {prefix}: give a URL such as http://127.0.0.1:8080/all")
    secure = base.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    for sampled in sample:
        uri = quote(sampled.target_uri, safe=_SAFE)
        path = f"{base.path.rstrip('/')}/{sampled.second}id_/{uri}"
        connection = kind(base.hostname, base.port)
        try:
            connection.request("GET", path, headers={"Accept-Encoding": "identity, gzip, br"})
            problem = _compare(connection.getresponse(), sampled)
        except (OSError, http.client.HTTPException) as error:
            raise StoreUnavailable(f"{prefix} does not answer: {error}") from error
        finally:
            connection.close()
        if problem is not None:
            yield sampled, problem


def _compare(answer: http.client.HTTPResponse, sampled: Sampled) -> str | None:
    plain, dechunked = hashlib.sha256(), hashlib.sha256()
    dechunker = Dechunker()
    while piece := answer.read(_PIECE_BYTES):
        plain.update(piece)
        for part in dechunker.feed(piece):
            dechunked.update(part)
    if answer.status != sampled.status:
        return f"status {answer.status}, and it was {sampled.status}"
    seen = {plain.hexdigest(), dechunked.hexdigest() if dechunker.finished else ""}
    if not seen & set(sampled.bodies):
        return "another body"
    media_type = (answer.headers.get("Content-Type") or "").split(";")[0].strip().lower() or None
    if media_type != sampled.media_type:
        return f"Content-Type {media_type}, and it was {sampled.media_type}"
    return None
