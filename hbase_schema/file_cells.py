"""Cells of `files` and `inflight`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from .file_states import FileState


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFacts:
    """`f:facts`: an archive file as landed; crawl and path are its identity.

    A file with a known identity but another `size` or `sha256` is refused.  `format` is
    `warc` or `arc`, `compression` `gzip`, `zstd` or `none`; `records` counts by type,
    `errors` by code of finding; `damaged` counts damaged stretches.
    """

    COLUMN: ClassVar[bytes] = b"f:facts"
    VERSION: ClassVar[int] = 1

    size: int
    sha256: str
    collection: str
    format: str
    compression: str
    act: str
    source: str | None = None
    captures: int = 0
    damaged: int = 0
    records: Mapping[str, int] = field(default_factory=dict)
    errors: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileErrors:
    """`f:errors`: the first errors of a file, `OFFSET: CODE: message`; `more` were not kept."""

    COLUMN: ClassVar[bytes] = b"f:errors"
    VERSION: ClassVar[int] = 1

    lines: tuple[str, ...]
    more: int = 0


ACCEPTED = "accepted"
"""Why a generation is as it is, of which people have accepted that bytes are lost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationFacts:
    """`f:generation.N`: one written form of the file.

    `sha256` is that of its bytes; `inflated_sha256` would be that of the inflated stream and is
    not written yet (docs/adr/0005-proof.md); `checksum` is that of
    the archive store.  `why` is `landed`, `dedupe`, `restore`, `withdraw`, `purge`, `convert`,
    `zstd`, or `accepted`: bytes of it are lost, and a person goes on without (`fsck --accept`).
    `dropped` is the act that deleted its file, written before that; empty: none has.  Of
    a cell of version 1 it is not known (None).
    """

    COLUMN: ClassVar[bytes] = b"f:generation."
    VERSION: ClassVar[int] = 2

    file: str
    size: int
    sha256: str
    why: str
    act: str
    inflated_sha256: str | None = None
    checksum: str | None = None
    dropped: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActCounts:
    """`f:counts.ACT`: what an act did to the file: `records`, `bytes`, `removed_bytes` ….

    One cell per act, not a running sum: it would be unknown whether an addition that timed
    out was applied.
    """

    COLUMN: ClassVar[bytes] = b"f:counts."
    VERSION: ClassVar[int] = 1

    verb: str
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstDecision:
    """`f:decided`: the first dedupe run that decided on the file's captures.

    For dedupe, all files that one run decides on first landed at the same time; `run_time_ms`
    orders the runs of a collection.  `landing` is the act that landed the file: if the file
    was removed and landed again, an older cell does not count.
    """

    COLUMN: ClassVar[bytes] = b"f:decided"
    VERSION: ClassVar[int] = 1

    run: str
    run_time_ms: int
    landing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencesKept:
    """`f:references`: all revisits of the file that crawlers wrote have rows by what they name.

    Of a file without it, landed by an older version, the sidecar is asked.  `landing` is the act
    that landed the file: a later landing in its place is another.
    """

    COLUMN: ClassVar[bytes] = b"f:references"
    VERSION: ClassVar[int] = 1

    landing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """`l:claim`: who is working on the file, and until when.

    `token` is new for each attempt to take the claim: after a time-out, the stored token
    shows who has it.  A released claim has `expires_ms` 0 and keeps
    `act_time_ms`, the latest act's time, for `next_act_time`; so it outlives a purge.
    `dead` are the tokens of unfinished claims that were taken over before this one: the
    files written aside under them have still to be deleted.
    """

    COLUMN: ClassVar[bytes] = b"l:claim"
    VERSION: ClassVar[int] = 2

    owner: str
    token: str
    act: str
    act_time_ms: int
    expires_ms: int
    dead: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStateCell:
    """`l:state`: a `FileState`, and the act that brought the file into it."""

    COLUMN: ClassVar[bytes] = b"l:state"
    VERSION: ClassVar[int] = 1

    state: str
    act: str

    def __post_init__(self) -> None:
        FileState(self.state)  # ValueError: the cell has rotted


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentGeneration:
    """`l:generation`: the generation that readers use; changing it moves all records at once.

    `ending` is that of its stored file (`generation_names`), if the file landed with another.
    Version 1 had none.
    """

    COLUMN: ClassVar[bytes] = b"l:generation"
    VERSION: ClassVar[int] = 2

    generation: int
    act: str
    ending: str | None = None

    def __post_init__(self) -> None:
        if self.generation < 1 or (self.generation == 1 and self.ending is not None):
            raise ValueError(f"there is no generation {self.generation} with such a name")


@dataclass(frozen=True, slots=True, kw_only=True)
class InFlight:
    """`l:present` of `inflight`: the file is `landing` or `leaving`; hide its captures."""

    COLUMN: ClassVar[bytes] = b"l:present"
    VERSION: ClassVar[int] = 1

    act: str
    direction: str = "landing"
