"""Cells of `crawls` and `runs`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from .file_cells import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlFacts:
    """`f:facts` of a crawl.  `source` is what it came from: a hook's name, `wacz`, `files`."""

    COLUMN: ClassVar[bytes] = b"f:facts"
    VERSION: ClassVar[int] = 1

    collection: str
    source: str = "files"
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlState:
    """`l:state`: `open`, `committed`, `cancelled`, `removed` or `purged`.

    `cancelling` and `removing` while it is taken out: the same command ends it.
    """

    COLUMN: ClassVar[bytes] = b"l:state"
    VERSION: ClassVar[int] = 1

    state: str
    act: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease(Claim):
    """`l:lease` of a collection: a claim on all of it."""

    COLUMN: ClassVar[bytes] = b"l:lease"
    VERSION: ClassVar[int] = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """`f:facts` of a run: what was asked for, and by which version of Pinakes."""

    COLUMN: ClassVar[bytes] = b"f:facts"
    VERSION: ClassVar[int] = 1

    verb: str
    act_time_ms: int
    software: str
    arguments: tuple[str, ...] = ()
    collection: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """`l:state` of a run: `running`, `done`, `failed` or `stopped`."""

    COLUMN: ClassVar[bytes] = b"l:state"
    VERSION: ClassVar[int] = 1

    state: str
    message: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStep:
    """`l:step.NAME`: how far a step is, so that a run goes on where it stopped."""

    COLUMN: ClassVar[bytes] = b"l:step."
    VERSION: ClassVar[int] = 1

    state: str
    done: int = 0
    total: int | None = None
    output: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """`l:progress`: what the process that works on a run has counted by `at_ms`, its clock.

    Of an ingest `files` that landed and `known` ones, `records`, `bytes`, `refused`, `failed`,
    `mismatches`, `row_retries`, `archive_retries`.  `trouble` is the latest error.
    """

    COLUMN: ClassVar[bytes] = b"l:progress"
    VERSION: ClassVar[int] = 1

    owner: str
    at_ms: int
    crawl: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    trouble: str | None = None
