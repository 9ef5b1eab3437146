"""Checks originals by reading them, before a crawler refers to them.

A crawler that is given an original drops the body that it has just fetched: so the original has to
be there, with the bytes that it had.  What was read is known for some minutes, since crawlers ask
for the same few bodies again and again.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from pinakes.archive_store.port import ArchiveReader
from pinakes.errors import PinakesError
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.hbase_schema.cells import decode_cell
from pinakes.row_store.port import RowStore

from .captures import get_captures, place_captures
from .originals import Original
from .payloads import UNSOUND, open_placed, open_record

KEPT_S = 600.0
"""How long it is known of an original whether it was sound."""
_MOST_KEPT = 1 << 16


class SoundOriginals:
    """Reads originals.  Blocks; safe for several threads.

    `on_damage` gets the error of each that is not what it was, each time that it is read.
    """

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveReader,
        *,
        on_damage: Callable[[PinakesError], None],
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rows = rows
        self._archive = archive
        self._on_damage = on_damage
        self._now_s = now_s
        self._known: OrderedDict[tuple[str, int, int], tuple[bool, float]] = OrderedDict()
        self._lock = threading.Lock()

    def is_sound(self, original: Original) -> bool:
        """Whether its record is in its file, and has the bytes that it had when it landed.

        Reads it, unless that was done within `KEPT_S`.  Raises what stores raise that cannot be
        asked.
        """
        location = original.location
        place = (original.filename, location.offset, location.inner_offset)
        with self._lock:
            is_sound, until_s = self._known.get(place, (False, 0.0))
        if self._now_s() < until_s:
            return is_sound
        is_sound = self._read(original)
        with self._lock:
            self._known[place] = (is_sound, self._now_s() + KEPT_S)
            self._known.move_to_end(place)
            if len(self._known) > _MOST_KEPT:
                self._known.popitem(last=False)
        return is_sound

    def _read(self, original: Original) -> bool:
        landed = decode_cell(CaptureFacts, original.copy.value)
        try:
            with open_record(
                self._archive, original.filename, original.location, landed=landed, rows=self._rows
            ):
                return True
        except UNSOUND:
            return self._read_again(original)

    def _read_again(self, original: Original) -> bool:
        """The same by its row as it is now: the file may have moved to another generation."""
        captures = get_captures(self._rows, [original.copy.key]).values()
        try:
            for placed in place_captures(self._rows, captures):
                with open_placed(self._rows, self._archive, placed):
                    return True
        except UNSOUND as error:
            self._on_damage(error)
        return False
