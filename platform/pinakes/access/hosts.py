"""Which Host headers are answered.  Pure.

Bound to loopback, a site answers only requests for loopback's names: a page of another site whose
name was made to point here (DNS rebinding) gets no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

# RFC 9110 §7.2: an address in brackets or a name, in any case, and a port.
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?", re.IGNORECASE)


class AcceptedHosts:
    """The names, in any case; of None, any name."""

    def __init__(self, names: Iterable[str] | None) -> None:
        self._names = None if names is None else frozenset(name.lower() for name in names)
        # Browsers and programs send the same few.
        self.accepts = lru_cache(maxsize=256)(self._accepts)

    def _accepts(self, text: str) -> bool:
        """Whether a Host header of this text names one of them."""
        text = text.strip(" \t")  # RFC 9110 §5.5
        found = _HOST.fullmatch(text)
        if self._names is None or not found:
            return self._names is None and bool(text)
        return found[1].lower() in self._names
