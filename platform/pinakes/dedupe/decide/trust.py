"""When equal digests are taken for equal bodies: `--compare sha256`.

A strong digest (SHA-256, SHA-512) of the stored body decides, where the second digest that landing
took anyway (SHA-1) says the same of two captures.  Where the two disagree, and for a seeded sample
of the digests, bytes are compared as if no digest were trusted.

Captures that are equal in their second digest alone: either a person has made two bodies of one
SHA-1, or a declared digest is of something else than the stored body (another framing, a lie).
The bodies decide: each is read and hashed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b, sha1, sha256
from itertools import groupby
from operator import itemgetter

from pinakes.errors import PinakesError
from pinakes.index.external_sort import SortSpace, Spool, sort_outside_memory
from pinakes.index.manifest import ManifestLine, estimate_entry_bytes
from pinakes.warc.digest import format_digest

from .bodies import BodyReader, UnreadableBody, read_body
from .counting import Collision, capture_of

STRONG_ALGORITHMS = ("sha256:", "sha512:")
_SECOND = "sha1:"
_WHOLE = 1 << 64

MOST_READ = 1000
"""Contents that are read for one second digest: what more than these claim is no digest."""
Noted = tuple[str, str, str, int, int, ManifestLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """What is believed without reading; `sample` is the part of the digests that is not."""

    sample: float = 0.001
    seed: str = ""

    def believes(self, digest: str) -> bool:
        """Whether lines of this digest may be taken for equal unread."""
        return is_strong(digest) and not self._is_sampled(digest)

    def agree(self, one: ManifestLine, other: ManifestLine) -> bool:
        """Whether two lines of a digest that is believed say the same in all they say.

        An equivalence: a line without second digest agrees with such lines only.
        """
        return (
            one.digest == other.digest
            and one.size == other.size
            and second_digest(one) == second_digest(other)
        )

    def _is_sampled(self, digest: str) -> bool:
        drawn = blake2b(f"{self.seed}\0{digest}".encode("utf-8", "surrogateescape"), digest_size=8)
        return int.from_bytes(drawn.digest(), "big") < self.sample * _WHOLE


def is_strong(digest: str) -> bool:
    """Whether no one can make two bodies of this digest."""
    return digest.startswith(STRONG_ALGORITHMS)


def second_digest(line: ManifestLine) -> str | None:
    """The second digest of a line whose first is strong: the first SHA-1 of its `also`.

    From the store that is the stored body's.  In a manifest made of archive files it is what
    the record declares: a claim, so that what it disagrees with is read, and nothing is equal
    or unequal for it.
    """
    if line.also is None or not is_strong(line.digest):
        return None
    first = line.also.partition(",")[0]
    if first.startswith(_SECOND):
        return first
    return next((text for text in line.also.split(",") if text.startswith(_SECOND)), None)


class SecondDigests:
    """Notes lines, and reports collisions among them; a context manager.

    Memory: `space`, and `MOST_READ` lines.
    """

    def __init__(self, space: SortSpace) -> None:
        self._space = space
        self._noted: Spool[Noted] = Spool(space=space, item_bytes=estimate_entry_bytes)
        self._last: tuple[str, str] | None = None
        self.unread = 0

    def __enter__(self) -> SecondDigests:
        return self

    def __exit__(self, *_: object) -> None:
        self._noted.close()

    def note(self, line: ManifestLine) -> None:
        """Take a line; those of one digest one after the other."""
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
        ordered = sort_outside_memory(
            self._noted, space=self._space, item_bytes=estimate_entry_bytes
        )
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
