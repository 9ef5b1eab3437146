"""Finds frequent keys in a stream with bounded memory.

Pure.  Counts of a fixed number of keys are kept; when there is no room for another key, all counts
are decremented and keys at zero removed (Misra and Gries, "Finding repeated elements", 1982).  So
a key that makes up more than one in `room` of the stream is found, for any number of keys.
"""

from __future__ import annotations

_ROOM_KEYS = 100_000


class Frequent:
    """Counts keys.  Memory: `room` keys, and the frequent ones."""

    def __init__(self, often: int, *, room: int = _ROOM_KEYS) -> None:
        """A key is frequent from its occurrence number `often` on."""
        self._often = often
        self._room = room
        self._counts: dict[bytes, int] = {}
        self._frequent: set[bytes] = set()

    def add(self, key: bytes) -> bool:
        """Add a key; return whether it was frequent before."""
        if key in self._frequent:
            return True
        count = self._counts.get(key, 0) + 1
        if count > self._often:
            self._counts.pop(key, None)
            self._frequent.add(key)
            return True
        if count == 1 and len(self._counts) >= self._room:
            self._lower()
        self._counts[key] = count
        return False

    def _lower(self) -> None:
        self._counts = {key: count - 1 for key, count in self._counts.items() if count > 1}
