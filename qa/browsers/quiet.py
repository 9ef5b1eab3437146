"""How long a page has sent no request."""

from __future__ import annotations

import time
from typing import Any


class Quiet:
    """Takes the states of a load that readiness.js gives."""

    def __init__(self) -> None:
        self._last: object = None
        self._since_s = 0.0

    def since(self, state: dict[str, Any]) -> float:
        """Seconds since the state last changed."""
        now = (state.get("asked"), state.get("pictures"), state.get("uri"))
        if now != self._last:
            self._last, self._since_s = now, time.monotonic()
        return time.monotonic() - self._since_s
