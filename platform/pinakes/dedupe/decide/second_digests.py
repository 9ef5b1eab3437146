"""Captures that are equal in their second digest and unequal in their first, strong one.

Either somebody has made two bodies of one SHA-1, or a declared digest is of something else
than the stored body (another framing, a lie).  The bodies tell: each is read and hashed.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha1, sha256

from pinakes.errors import PinakesError
from pinakes.index.manifest import ManifestLine
from pinakes.warc.digest import format_digest

from .bodies import BodyReader
from .compare import UnreadableBody, read_body
from .counting import Collision, capture_of

MOST_READ = 1000
"""Contents that are read for one second digest: what more than these claim is no digest."""


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
