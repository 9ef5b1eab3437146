"""Landing many files with one load of their rows: for back collections.

    publish ─▶ publish ─▶ ... ─▶ load all their rows ─▶ finish ─▶ finish ─▶ ...
    └────── rows to the spool ─────┘

Files come to lie in the archive store one by one, as ever; their captures and digests are
written to local files (`row_spool`), and once there is a batch of them loaded into the row
store by its own tools.  Then each file is finished, and shown.  Up to there it is `loading`,
and its claim is kept: whatever ends this, the same ingest again, in bulk or not, takes the act
over, with its time, and writes the same cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from pinakes.catalog.file_rows import LEASE_MS
from pinakes.errors import Conflict, PinakesError
from pinakes.row_store.bulk_text import BulkTable

from .acts import Actor
from .landed import Landed
from .landing import Lander, Published
from .row_spool import RowSpool

RENEW_EVERY_S = LEASE_MS / 1000 / 5


class Loader(Protocol):
    """Brings files of rows into the row store; `meanwhile` is called every now and then."""

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
        """The lander's sinks are the spool's.  A batch is loaded when it has so many bytes of
        spooled rows, or so many files.  `done` is called with each file that has landed,
        `missed` with why one has not that was published."""
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

    def land(self, path: Path, archive_file: str, collection: str) -> None:
        """Land one file up to its rows, and a batch of them when there is one.

        Raises:
            as `Lander.publish` does, and StoreUnavailable where a load fails.
        """
        if archive_file in self._waiting:
            self.flush()  # of two files of one name the first lands, and is compared with
        self._renew_in_time()
        published = self._lander.publish(path, archive_file, collection)
        if isinstance(published, Landed):
            self._done(published)
        else:
            self.take(published)

    @property
    def waiting(self) -> int:
        """How many files wait for a load."""
        return len(self._waiting)

    def take(self, published: Published) -> None:
        """Finish a file with the next load; another lander of the same spool has published it."""
        self._renew_in_time()
        if published.rows_stored:
            self._done(self._lander.finish(published))
            return
        self._waiting[published.held.archive_file] = published
        self._bytes += self._spool.size_bytes(_token(published))
        if self._bytes >= self._batch_bytes or len(self._waiting) >= self._batch_files:
            self.flush()

    def flush(self) -> None:
        """Load the rows that wait, and finish their files."""
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
                continue  # taken over just now, and told
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
        """Keep the claims of what waits.  Two round trips a file."""
        self._renewed_ms = self._actor.now_ms()
        for name, published in list(self._waiting.items()):
            try:
                self._waiting[name] = self._lander.renew(published)
            except Conflict as problem:
                # Whoever has it lands it with the same cells, so it does no harm that a load
                # that goes on just now has them too.
                del self._waiting[name]
                self._spool.drop(_token(published))
                self._missed(problem)


def _token(published: Published) -> str:
    return published.held.claim.token
