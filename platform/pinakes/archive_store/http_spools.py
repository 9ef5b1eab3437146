"""What servers without ranges sent whole: the files read last, in temporary files.

For several threads; a fork shares the files, and no position in them.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from typing import IO
from urllib.parse import urlsplit

from pinakes.waiting import LOGGER


class Spools:
    """At most `most_files` files; for one more, the least recently read is closed."""

    def __init__(self, most_files: int) -> None:
        self._most_files = most_files
        self._kept: OrderedDict[int, IO[bytes]] = OrderedDict()
        self._told: set[str] = set()
        self._lock = threading.Lock()

    def tell(self, url: str) -> None:
        """Log, once for each server, that it sends whole files."""
        parts = urlsplit(url)
        server = f"{parts.scheme}://{parts.netloc}"
        with self._lock:
            if server in self._told:
                return
            self._told.add(server)
        logging.getLogger(LOGGER).warning(
            "%s has no byte ranges and sends files whole: each is fetched into a temporary file "
            "(TMPDIR), %d are kept at a time, and others are fetched again when they are read",
            server,
            self._most_files,
        )

    def keep(self, owner: int, spool: IO[bytes]) -> None:
        """Keep the file of `owner`, and close those beyond `most_files`."""
        with self._lock:
            self._kept[owner] = spool
            while len(self._kept) > self._most_files:
                self._kept.popitem(last=False)[1].close()

    def read(self, owner: int, start: int, wanted: memoryview) -> int | None:
        """Read into `wanted`; the number of bytes, or None if the file has been closed."""
        with self._lock:
            spool = self._kept.get(owner)
            if spool is None:
                return None
            self._kept.move_to_end(owner)
            data = os.pread(spool.fileno(), wanted.nbytes, start)
        wanted[: len(data)] = data
        return len(data)

    def drop(self, owner: int) -> None:
        """Close the file of `owner`, if it is here."""
        with self._lock:
            spool = self._kept.pop(owner, None)
        if spool is not None:
            spool.close()
