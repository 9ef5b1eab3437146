"""Logs that a store is being waited for: to standard error, unless configured otherwise.

Calls to a store that is down are repeated for minutes; the log says why nothing happens.
"""

from __future__ import annotations

import logging
import time

LOGGER = "pinakes.waiting"
NOTICE_AFTER_S = 5.0
_QUIET_S = 60.0


class Waiting:
    """Logs waits for one store, after some seconds and at most once a minute.

    Safe for several threads.
    """

    def __init__(self, store: str, retry_s: float) -> None:
        self._store = store
        self._retry_s = retry_s
        self._quiet_until_s = float("-inf")

    def tell(self, waited_s: float, why: str) -> None:
        """Log that a call has waited for so long, from NOTICE_AFTER_S on."""
        now_s = time.monotonic()
        if waited_s < NOTICE_AFTER_S or now_s < self._quiet_until_s:
            return
        self._quiet_until_s = now_s + _QUIET_S
        logging.getLogger(LOGGER).warning(
            "waiting for %s, for up to %g s: %s", self._store, self._retry_s, why
        )
