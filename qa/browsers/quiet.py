"""For how long a page has asked for nothing more."""

from __future__ import annotations

import time
from typing import Any


class Quiet:
    """Told by readiness.js where a load stands, time and again."""

    def __init__(self) -> None:
        self._last: object = None
        self._since_s = 0.0

    def since(self, state: dict[str, Any]) -> float:
        """The seconds for which it has been as it is."""
        now = (state.get("asked"), state.get("pictures"), state.get("uri"))
        if now != self._last:
            self._last, self._since_s = now, time.monotonic()
        return time.monotonic() - self._since_s
