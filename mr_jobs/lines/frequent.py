"""Keys that come often in one task, told while they come, with little memory.

Pure.  Counts are kept of so many keys; when there is no room for another, all go down by one
and those at nothing leave (Misra and Gries, "Finding repeated elements", 1982).  So what makes
up more than one in `room` of all that comes is found, whatever the number of keys.
"""

from __future__ import annotations

_ROOM_KEYS = 100_000


class Frequent:
    """Counts keys; memory: `room` of them, and those that are frequent."""

    def __init__(self, often: int, *, room: int = _ROOM_KEYS) -> None:
        """A key that has come `often` times is frequent from then on."""
        self._often = often
        self._room = room
        self._counts: dict[bytes, int] = {}
        self._frequent: set[bytes] = set()

    def add(self, key: bytes) -> bool:
        """Whether the key had come often before this time."""
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
