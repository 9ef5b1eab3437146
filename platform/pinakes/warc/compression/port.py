"""What reading and writing need of a compression: the port of `gzip_members`, `bzip2_streams`, …

A file is a row of members (RFC 1952 §2.2); each can be read from its first byte, no matter what
is before it.  `members` picks the compression by these bytes, so nothing above knows which it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from pinakes.warc.source import Source


class Damage(Exception):
    """Inside this package: a member cannot be read further; becomes a finding or a stretch.

    `offset` is the place of the fault; `end` is where the member ends, if that is known, and
    proven where the member's form says so although none of its content may be readable.
    """

    def __init__(
        self,
        code: str,
        message: str,
        offset: int,
        end: int | None = None,
        *,
        is_end_proven: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.offset = offset
        self.end = end
        self.is_end_proven = is_end_proven


class WholeMember(NamedTuple):
    """The place of a member, and all of its content."""

    offset: int
    length: int
    data: bytes | bytearray


class Compression(Protocol):
    """A way in which the members of a file are compressed; an adapter is a module."""

    @property
    def NAME(self) -> str:  # noqa: N802 (constants of modules)
        """What `compression_of` calls it."""
        ...

    @property
    def UNIT(self) -> str:  # noqa: N802
        """What its standard calls a member, for messages: `gzip member`."""
        ...

    @property
    def START(self) -> bytes:  # noqa: N802
        """A regular expression of the first bytes of a member, at most `MEMBER_START_BYTES`."""
        ...

    @property
    def FORM_SHOWS_END(self) -> bool:  # noqa: N802
        """Whether `proven_end` can prove anything at all."""
        ...

    @property
    def ENDS_WITH_CRC32(self) -> bool:  # noqa: N802
        """Whether a member ends with the CRC-32 and the size of its content (RFC 1952 §2.3.1)."""
        ...

    def inflate(self, source: Source, offset: int, ends: dict[int, int]) -> Iterator[bytes]:
        """The content of the member at `offset` in bounded pieces; its end goes to `ends`.

        Raises:
            Damage: where reading cannot continue, after all readable bytes.
        """
        ...

    def first_bytes(self, source: Source, offset: int, count: int) -> bytes:
        """At most `count` first bytes of what may be a member; cheap if it is not one.

        Raises:
            Damage: there are none.
        """
        ...

    def proven_end(self, source: Source, offset: int) -> int | None:
        """Where the member at `offset` ends, by its form alone; None where that proves nothing."""
        ...

    def iter_whole(self, source: Source, offset: int) -> Iterator[WholeMember]:
        """Members from `offset` on, each inflated at once; ends before the first that is
        damaged, or has more than `IN_MEMORY_BYTES`."""
        ...

    def passes_over_bytes(self, source: Source, start: int, end: int) -> bool:
        """Whether the members of `[start, end)` have bytes between them that are no content."""
        ...

    def has_checksums(self, source: Source, start: int, end: int) -> bool:
        """Whether checksums cover the content of all members of `[start, end)`; of members that
        were read without damage."""
        ...

    def why_not_written(self, source: Source) -> str:
        """Why no member can be made that may stand in this file; nothing where one can."""
        ...

    def compress(self, source: Source, data: bytes) -> bytes:
        """The member of a content in memory, to stand in this file; the same for the same bytes."""
        ...

    def compress_pieces(
        self, source: Source, pieces: Iterable[bytes | memoryview]
    ) -> Iterator[bytes]:
        """The same of a content of any size; lazy, with the memory of a piece or some MiB."""
        ...
