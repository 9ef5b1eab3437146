"""Captures that are equal in their second digest and unequal in their first, strong one.

Either somebody has made two bodies of one SHA-1, or a declared digest is of something else
than the stored body (another framing, a lie).  The bodies tell: each is read and hashed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha1, sha256
from itertools import groupby
from operator import itemgetter

from pinakes.errors import PinakesError
from pinakes.index.external_sort import SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine, estimate_line_bytes
from pinakes.warc.digest import format_digest

from .bodies import BodyReader
from .compare import UnreadableBody, read_body
from .counting import Collision, capture_of
from .trust import second_digest

MOST_READ = 1000
"""Contents that are read for one second digest: what more than these claim is no digest."""


Noted = tuple[str, str, str, int, int, ManifestLine]


class SecondDigests:
    """Notes lines, and tells of collisions among them; a context manager.

    Memory: `space`, and `MOST_READ` lines.
    """

    def __init__(self, space: SortSpace) -> None:
        self._space = space
        self._noted: Spool[Noted] = Spool(space=space, item_bytes=_noted_bytes)
        self._last: tuple[str, str] | None = None
        self.unread = 0

    def __enter__(self) -> SecondDigests:
        return self

    def __exit__(self, *_: object) -> None:
        self._noted.close()

    def note(self, line: ManifestLine) -> None:
        """Take a line; those of one digest one behind the other."""
        second = second_digest(line)
        if second is not None and (second, line.digest) != self._last:
            self._last = (second, line.digest)
            self._noted.append(
                (second, line.digest, line.file, line.offset, line.inner_offset, line)
            )

    def collisions(self, bodies: BodyReader, problems: list[PinakesError]) -> Iterator[Collision]:
        """The second digests that bodies of several contents really have; lazy.

        `unread` is complete then.
        """
        ordered = sort_outside_memory(self._noted, space=self._space, item_bytes=_noted_bytes)
        for second, group in groupby(ordered, key=itemgetter(0)):
            contents: list[ManifestLine] = []
            for _, same in groupby(group, key=itemgetter(1)):
                if len(contents) == MOST_READ:
                    self.unread += 1
                else:
                    contents.append(next(same)[-1])
            collision = find_collision(second, contents, bodies, problems)
            if collision is not None:
                yield collision


def find_collision(
    second: str,
    contents: Iterable[ManifestLine],
    bodies: BodyReader,
    problems: list[PinakesError],
) -> Collision | None:
    """The collision of lines that differ in their first digest, if their bodies have `second`.

    What cannot be read goes to `problems`.
    """
    lines = list(contents)
    if len(lines) < 2:
        return None
    found: dict[bytes, ManifestLine] = {}
    for line in lines:
        state, strong = sha1(usedforsecurity=False), sha256()
        try:
            for piece in read_body(line, bodies):
                state.update(piece)
                strong.update(piece)
        except UnreadableBody as fault:
            problems.append(fault.problem)
            continue
        if format_digest("sha1", state.digest()) == second:
            # A first digest that was declared may lie, too.
            found.setdefault(strong.digest(), line)
    if len(found) < 2:
        return None
    return Collision(second, tuple(map(capture_of, found.values())))


def _noted_bytes(noted: Noted) -> int:
    return 160 + estimate_line_bytes(noted[-1])
