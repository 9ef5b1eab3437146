"""When equal digests are taken for equal bodies: `--compare sha256`.

Pure.  A strong digest (SHA-256, SHA-512) of the stored body decides, where the second digest
that landing took anyway (SHA-1) says the same of two captures.  Where the two disagree, and for
a seeded sample of the digests, bytes are compared as if nobody trusted anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from pinakes.index.manifest import ManifestLine

STRONG_ALGORITHMS = ("sha256:", "sha512:")
_SECOND = "sha1:"
_WHOLE = 1 << 64


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
    """Whether nobody can make two bodies of this digest."""
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
