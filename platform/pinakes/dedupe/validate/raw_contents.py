"""What the members and records of an archive file hold, one after the other."""

from __future__ import annotations

from collections.abc import Iterator

from .raw_units import FED_BYTES, HEADER_BYTES, VERSION, Unit, Units, header_in


class RawContents:
    """What unit after unit holds; `at` is where the next one begins."""

    def __init__(self, units: Units, at: int) -> None:
        self.at = at
        self._units = units
        self._pieces: Iterator[bytes] = iter(())
        self._ready = b""
        self._taken = self._position = self._no_header_to = 0
        self._is_member = False

    def peek(self, size: int) -> bytes:
        """The next bytes; fewer where the unit ends, none where the file does."""
        while self.between_units():
            if not self._goes_on():
                return b""
        while len(self._ready) - self._taken < size and (piece := next(self._pieces, b"")):
            self._ready, self._taken = self._ready[self._taken :] + piece, 0
        return self._ready[self._taken : self._taken + size]

    def skip(self, size: int) -> None:
        """Of what was peeked at."""
        self._taken += size
        self._position += size

    def take(self, size: int) -> bytes:
        """The next bytes; fewer only where the file ends."""
        found = b""
        while len(found) < size and (piece := self.peek(size - len(found))):
            self.skip(len(piece))
            found += piece
        return found

    def between_units(self) -> bool:
        """Whether nothing is left of the unit that was begun."""
        while self._taken == len(self._ready):
            piece = next(self._pieces, None)
            if piece is None:
                return True
            self._ready, self._taken = piece, 0
        return False

    def header(self) -> bytes:
        """Of a record that begins here, blank line included; nothing of what is none."""
        start = self.peek(len(VERSION))
        if not start or not VERSION.startswith(start):
            return b""
        if self._position + HEADER_BYTES // 2 <= self._no_header_to:
            return b""
        header = header_in(self.peek(FED_BYTES))
        if header is None:
            header = header_in(self.peek(HEADER_BYTES)) or self._header_over_units()
        return header or b""

    def _header_over_units(self) -> bytes | None:
        """It may go on in the next members."""
        while (found := header_in(self._ready[self._taken :])) is None:
            more = next(self._pieces, None)
            if more is None and self._goes_on():
                continue
            if more is None or len(self._ready) - self._taken > HEADER_BYTES:
                self._no_header_to = self._position + len(self._ready) - self._taken
                return None
            self._ready, self._taken = self._ready[self._taken :] + more, 0
        return found if found.startswith(VERSION) else None

    def begin(self) -> bool:
        """Go on to the next unit, if none is begun; False where that begins with no record."""
        while self.between_units() and self.at < self._units.source.size:
            unit = self._begin_unit()
            start = b"" if self.between_units() else self.peek(len(VERSION))
            holds_record = unit.is_sound and VERSION.startswith(start)
            if not (holds_record and (start or unit.is_member)):
                return False
        return True

    def _goes_on(self) -> bool:
        """Whether what was begun can go on in the next unit, a member then."""
        if not self._is_member or self.at == self._units.source.size:
            return False
        if not self._units.at(self.at).is_member:
            return False
        self._begin_unit()
        return True

    def _begin_unit(self) -> Unit:
        unit = self._units.at(self.at)
        self._pieces = self._units.content(self.at, unit)
        self.at, self._is_member = unit.end, unit.is_member
        return unit
