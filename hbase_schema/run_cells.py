"""Cells of `crawls` and `runs`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from .file_cells import Claim


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlFacts:
    """`f:facts` of a crawl.  `source` is its origin: the name of a hook, `wacz`, `files`, or
    `reports` of one that its crawler's reports have begun."""

    COLUMN: ClassVar[bytes] = b"f:facts"
    VERSION: ClassVar[int] = 1

    collection: str
    source: str = "files"
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlState:
    """`l:state`: `open`, `committed`, `cancelled`, `removed` or `purged`.

    `cancelling`, `removing` and `purging` while it is removed: the same command completes it.
    """

    COLUMN: ClassVar[bytes] = b"l:state"
    VERSION: ClassVar[int] = 1

    state: str
    act: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnnamedCrawl:
    """`l:unnamed` of a crawl: the manifests that were last imported no longer name it.

    `size` is that of its WACZ files, in bytes.
    """

    COLUMN: ClassVar[bytes] = b"l:unnamed"
    VERSION: ClassVar[int] = 1

    act: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease(Claim):
    """`l:lease` of a collection: a claim on all of it."""

    COLUMN: ClassVar[bytes] = b"l:lease"
    VERSION: ClassVar[int] = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFacts:
    """`f:facts` of a run: its parameters, and the version of Pinakes."""

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
    """`l:step.NAME`: the progress of a step, so that a run continues where it stopped."""

    COLUMN: ClassVar[bytes] = b"l:step."
    VERSION: ClassVar[int] = 1

    state: str
    done: int = 0
    total: int | None = None
    output: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """`l:progress`: the counts of the process that works on a run, at `at_ms` of its clock.

    For an ingest: `files` that landed, `known` files, `records`, `bytes`, `refused`, `failed`,
    `mismatches`, `row_retries`, `archive_retries`.  `trouble` is the latest error.
    """

    COLUMN: ClassVar[bytes] = b"l:progress"
    VERSION: ClassVar[int] = 1

    owner: str
    at_ms: int
    crawl: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    trouble: str | None = None
