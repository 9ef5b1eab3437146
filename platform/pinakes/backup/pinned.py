"""Keeps a store pinned while this process works, renewed by a thread."""

from __future__ import annotations

import threading
from contextlib import suppress
from types import TracebackType

from pinakes.acts.actor import PIN_MS, Actor, pinned_since_ms, release_pin, renew_pin
from pinakes.errors import Conflict, PinakesError
from pinakes.row_store.port import RowStore

_RENEW_S = PIN_MS / 1000 / 6


class Pinned:
    """A context manager; work done under the pin is valid only once `release` has returned."""

    def __init__(self, rows: RowStore, actor: Actor, act: str) -> None:
        """Pin the store now; `Raises` Conflict if another process pins it."""
        self._rows = rows
        self._actor = actor
        self._pin = actor.pin(rows, act=act)
        self.watermark_ms = self._pin.act_time_ms
        self.pinned_ms = pinned_since_ms(rows)
        self._problem: PinakesError | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="pin", daemon=True)

    def _keep(self) -> None:
        while not self._end.wait(_RENEW_S):
            try:
                self._pin = renew_pin(self._rows, self._pin, self._actor.now_ms())
            except PinakesError as problem:
                self._problem = problem
                return

    def __enter__(self) -> Pinned:
        self._thread.start()
        return self

    def release(self) -> None:
        """Unpin the store.

        Raises:
            Conflict: the pin did not hold all the time; start over.
        """
        self._stop()
        if self._problem is not None or self._actor.now_ms() >= self._pin.expires_ms:
            raise Conflict(
                "the store was not pinned for long enough: run the backup again"
            ) from self._problem
        release_pin(self._rows, self._pin)

    def _stop(self) -> None:
        self._end.set()
        self._thread.join()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()
        if error is not None:
            with suppress(PinakesError):
                release_pin(self._rows, self._pin)
