"""Tells people that a store is waited for, by `logging`: to standard error, unless told otherwise.

A store that is away is asked again for minutes; whoever looks should not have to guess why
nothing goes on.
"""

from __future__ import annotations

import logging
import time

LOGGER = "pinakes.waiting"
NOTICE_AFTER_S = 5.0
_QUIET_S = 60.0


class Waiting:
    """What is said of one store: when a call has waited for some seconds, once a minute at most.

    For several threads.
    """

    def __init__(self, store: str, patience_s: float) -> None:
        self._store = store
        self._patience_s = patience_s
        self._quiet_until_s = float("-inf")

    def tell(self, waited_s: float, why: str) -> None:
        """A call has waited for so long; nothing is said of less than NOTICE_AFTER_S."""
        now_s = time.monotonic()
        if waited_s < NOTICE_AFTER_S or now_s < self._quiet_until_s:
            return
        self._quiet_until_s = now_s + _QUIET_S
        logging.getLogger(LOGGER).warning(
            "waiting for %s, for up to %g s: %s", self._store, self._patience_s, why
        )
