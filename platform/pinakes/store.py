"""A store from Python, for researchers and notebooks: captures, payloads, manifest lines.

Reads only.  Layer: above `profile`; exported as `pinakes.open_store`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pinakes.catalog.captures import Placed, place_captures, scan_captures_of
from pinakes.catalog.payloads import read_body
from pinakes.config import load_configuration
from pinakes.dedupe.run.collection import Collection
from pinakes.index.manifest import ManifestLine
from pinakes.index.urlkey import urlkey
from pinakes.profile import Stores, open_stores


class Store:
    """An open store; get one from `open_store`."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores

    def captures(self, url: str, *, start: str = "", stop: str = "") -> Iterator[Placed]:
        """The captures of a URL, in order of time; lazy.

        `url` is any spelling that has the same urlkey; `start` and `stop` (exclusive) are
        the first digits of a time, such as `2024` or `20240229`.  A capture has its facts in
        `.capture.facts`, and its place in `.file` and `.location`.
        """
        rows = self._stores.rows
        found = scan_captures_of(rows, urlkey(url), start_time=start, stop_time=stop)
        return place_captures(rows, found)

    def payload(self, capture: Placed) -> Iterator[bytes]:
        """The stored body of a capture, in pieces; a revisit's is its original's.

        Raises:
            UnresolvedReference: the original of a revisit is not in the store.
        """
        return read_body(self._stores.rows, self._stores.archive, capture)

    def manifest(self, collection: str) -> Iterator[ManifestLine]:
        """A manifest line per capture of a collection, from the sidecars."""
        return Collection(self._stores.rows, self._stores.archive, collection).lines()


@contextmanager
def open_store(folder: str | Path) -> Iterator[Store]:
    """Open the embedded store in a folder; `Raises` ConfigError if there is none."""
    configuration = load_configuration(
        options={"profile": "embedded", "store": str(folder)}, environment={}, folder=Path("/")
    )
    with open_stores(configuration) as stores:
        yield Store(stores)
