"""Cells of what was taken down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawal:
    """`m:withdrawn` of a capture: its record was withdrawn, and a tombstone stands for it.

    `asked` is what the act was asked to withdraw: a capture, a digest or a URL; `by` is who asked.
    Written before the record is replaced, so that no reader gives out what is to go.
    """

    COLUMN: ClassVar[bytes] = b"m:withdrawn"
    VERSION: ClassVar[int] = 1

    act: str
    act_time_ms: int
    reason: str
    by: str
    asked: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawingRecords:
    """`l:withdrawing` of an archive file: records that are withdrawn, and may still be there.

    `records` are their numbers in the file, as ranges: `3-5 9`.  Written before the captures are
    noted, deleted once no generation holds them.  `landing` is the act that landed the file: one
    that lands later in its place is another.
    """

    COLUMN: ClassVar[bytes] = b"l:withdrawing"
    VERSION: ClassVar[int] = 1

    act: str
    landing: str
    records: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawnFile:
    """`f:withdrawn` of a SHA-256: records of the archive file that landed with it were withdrawn.

    The same bytes are not landed again, under any name.
    """

    COLUMN: ClassVar[bytes] = b"f:withdrawn"
    VERSION: ClassVar[int] = 1

    archive_file: str
    act: str
