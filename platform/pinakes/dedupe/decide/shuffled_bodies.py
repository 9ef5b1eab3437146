"""Bodies that come with their lines, one after another, to be compared where they arrive.

A job reads each archive file once, in order of offset, and sends the bodies to where those of
one digest are compared: the reader cannot go back to a file.  What may be wanted again
(a representative, a body unequal to it) is kept in a temporary file until it is dropped.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pinakes.errors import InputRefused, PinakesError
from pinakes.index.external_sort import DEFAULT_SPACE
from pinakes.index.manifest import ManifestLine, place_of

from .bodies import Piece
from .contents import number_contents
from .counting import ResolveCount

Place = tuple[str, int, int]
_PIECE_BYTES = 1 << 20


class ShuffledBody(NamedTuple):
    """A line and its body; drawing that raises InputRefused or MalformedRecord where it could
    not be read."""

    line: ManifestLine
    pieces: Iterator[bytes]


class _Kept(NamedTuple):
    """Where a body is in the temporary file, or why there is none."""

    offset: int
    size: int
    fault: PinakesError | None = None


class ShuffledBodies:
    """A `BodyReader` over one digest's arrivals, no two of one place; a context manager."""

    def __init__(self, arrivals: Iterable[ShuffledBody]) -> None:
        self._arrivals = arrivals
        self._file = tempfile.TemporaryFile(prefix="pinakes-")  # noqa: SIM115
        self._end = 0
        self._kept: dict[Place, _Kept] = {}
        self._arriving: ShuffledBody | None = None
        self._dropped = False

    def __enter__(self) -> ShuffledBodies:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def lines(self) -> Iterator[ManifestLine]:
        """The lines as they arrive; a body that was not dropped by then is kept."""
        for arrival in self._arrivals:
            self._arriving, self._dropped = arrival, False
            yield arrival.line
            self._settle()

    def drop(self, line: ManifestLine) -> None:
        """This line's body will not be asked for again."""
        place = place_of(line)
        if self._arriving is not None and place == place_of(self._arriving.line):
            self._dropped = True
        elif self._kept.pop(place, None) is not None and not self._kept:
            self._truncate(0)

    def open_body(self, line: ManifestLine) -> Iterable[Piece]:
        """See `BodyReader`."""
        place, arriving = place_of(line), self._arriving
        if arriving is not None and place == place_of(arriving.line):
            if place not in self._kept:
                return self._first_reading(arriving)
            self._take_rest(arriving)
        return self._read(place)

    def _first_reading(self, arriving: ShuffledBody) -> Iterator[Piece]:
        """The pieces as they come, kept on the way."""
        place, begin = place_of(arriving.line), self._end
        self._kept[place] = _Kept(begin, 0)
        try:
            for piece in arriving.pieces:
                self._append(place, piece)
                yield piece
        except (PinakesError, OSError) as error:
            self._kept[place] = _Kept(begin, 0, _fault(arriving.line, error))
            raise

    def _append(self, place: Place, piece: bytes) -> None:
        self._file.seek(self._end)
        self._file.write(piece)
        self._end += len(piece)
        begin = self._kept[place].offset
        self._kept[place] = _Kept(begin, self._end - begin)

    def _take_rest(self, arriving: ShuffledBody) -> None:
        """Keep what has not been drawn."""
        place = place_of(arriving.line)
        if place not in self._kept:
            self._kept[place] = _Kept(self._end, 0)
        begin = self._kept[place].offset
        try:
            for piece in arriving.pieces:
                self._append(place, piece)
        except (PinakesError, OSError) as error:
            self._kept[place] = _Kept(begin, 0, _fault(arriving.line, error))

    def _settle(self) -> None:
        arriving, self._arriving = self._arriving, None
        if arriving is None:
            return
        place = place_of(arriving.line)
        if not self._dropped:
            self._take_rest(arriving)
            return
        kept = self._kept.pop(place, None)
        if kept is not None:
            self._truncate(kept.offset)

    def _truncate(self, end: int) -> None:
        self._file.truncate(end)
        self._end = end

    def _read(self, place: Place) -> Iterator[Piece]:
        at, size, fault = self._kept[place]
        if fault is not None:
            raise fault
        end = at + size
        while at < end:
            self._file.seek(at)
            piece = self._file.read(min(_PIECE_BYTES, end - at))
            at += len(piece)
            yield piece


def _fault(line: ManifestLine, error: PinakesError | OSError) -> PinakesError:
    if isinstance(error, PinakesError):
        return error
    return InputRefused(str(error), file=line.file, offset=line.offset)


def number_shuffled(
    arrivals: Iterable[ShuffledBody],
    *,
    count: ResolveCount,
) -> Iterator[ManifestLine]:
    """Give the captures of one digest, arriving in order of place, their extensions.

    As `number_contents` does, with each body drawn once.  Disk: the representative, and what
    is unequal to it.
    """
    with ShuffledBodies(arrivals) as bodies:
        standing: ManifestLine | None = None
        for line in number_contents(bodies.lines(), bodies, count, DEFAULT_SPACE):
            is_new = standing is None or line.hash_extension != standing.hash_extension
            if line.hash_extension is None or not is_new:
                bodies.drop(line)
            else:
                if standing is not None:
                    bodies.drop(standing)
                standing = line
            yield line
