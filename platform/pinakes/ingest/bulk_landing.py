"""Landing many files with one bulk load of their rows: for existing collections.

    publish ─▶ publish ─▶ ... ─▶ load all their rows ─▶ finish ─▶ finish ─▶ ...
    └────── rows to the spool ─────┘

Files are published in the archive store one by one, as usual; their captures and digests are
written to local files (`row_spool`), and each batch of them is loaded into the row store by its
own tools.  Then each file is finished and shown.  Until then it is `loading` and its claim is
kept: after any interruption, the same ingest, in bulk or not, takes over the act with its time,
and writes the same cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pinakes.acts.actor import Actor
from pinakes.catalog.file_rows import LEASE_MS
from pinakes.errors import Conflict, PinakesError
from pinakes.row_store.bulk_text import BulkTable

from .landed import Landed
from .landing import Lander, Published
from .row_spool import RowSpool

RENEW_EVERY_S = LEASE_MS / 1000 / 5


class Loader(Protocol):
    """Loads files of rows into the row store; `meanwhile` is called now and then."""

    def __call__(
        self, parts: Mapping[BulkTable, Sequence[Path]], meanwhile: Callable[[], None]
    ) -> None: ...


class BulkLanding:
    """Lands files in batches.  Not for several threads."""

    def __init__(
        self,
        lander: Lander,
        actor: Actor,
        spool: RowSpool,
        load: Loader,
        *,
        done: Callable[[Landed], None],
        missed: Callable[[PinakesError], None],
        batch_bytes: int,
        batch_files: int = 2000,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """The lander's sinks are the spool's.  A batch is loaded when it has `batch_bytes` of
        spooled rows, or `batch_files`.  `done` is called with each file that has landed,
        `missed` with the reason why a published one has not."""
        self._lander = lander
        self._actor = actor
        self._spool = spool
        self._load = load
        self._done = done
        self._missed = missed
        self._batch_bytes = batch_bytes
        self._batch_files = batch_files
        self._at = at
        self._waiting: dict[str, Published] = {}
        self._bytes = 0
        self._renewed_ms = actor.now_ms()

    def land(self, place: str, archive_file: str, collection: str) -> None:
        """Publish one file and spool its rows; load the batch if it is full.

        Raises:
            as `Lander.publish` does, and StoreUnavailable if a load fails.
        """
        if archive_file in self._waiting:
            self.flush()  # land the first of two files with one name, to compare
        self._renew_in_time()
        published = self._lander.publish(place, archive_file, collection)
        if isinstance(published, Landed):
            self._done(published)
        else:
            self.take(published)

    @property
    def waiting(self) -> int:
        """Number of files waiting for a load."""
        return len(self._waiting)

    def take(self, published: Published) -> None:
        """Finish a file with the next load; another lander with the same spool published it."""
        self._renew_in_time()
        if published.rows_stored:
            self._done(self._lander.finish(published))
            return
        self._waiting[published.held.archive_file] = published
        self._bytes += self._spool.size_bytes(_token(published))
        if self._bytes >= self._batch_bytes or len(self._waiting) >= self._batch_files:
            self.flush()

    def flush(self) -> None:
        """Load the waiting rows, and finish their files."""
        self._renew()
        if not self._waiting:
            return
        tokens = [_token(published) for published in self._waiting.values()]
        self._load(self._spool.parts(tokens), self._renew_in_time)
        self._at("loaded")
        for name in list(self._waiting):
            self._renew_in_time()
            published = self._waiting.pop(name, None)
            if published is None:
                continue  # taken over just now, and reported
            try:
                landed = self._lander.finish(published)
            except Conflict as problem:
                self._missed(problem)
            else:
                self._done(landed)
        self._spool.clear()
        self._bytes = 0

    def _renew_in_time(self) -> None:
        if self._actor.now_ms() - self._renewed_ms >= RENEW_EVERY_S * 1000:
            self._renew()

    def _renew(self) -> None:
        """Renew the claims of the waiting files.  Two round trips per file."""
        self._renewed_ms = self._actor.now_ms()
        for name, published in list(self._waiting.items()):
            try:
                self._waiting[name] = self._lander.renew(published)
            except Conflict as problem:
                # The new owner writes the same cells, so a load running now that has them too
                # does no harm.
                del self._waiting[name]
                self._spool.drop(_token(published))
                self._missed(problem)


def _token(published: Published) -> str:
    return published.held.claim.token
