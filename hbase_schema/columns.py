"""Every column of every table, with its cell class.

A column `family:qualifier.` takes a suffix: the number of a generation, an act, a step, or
the id of an annotation or a sign-off.
"""

from __future__ import annotations

from types import MappingProxyType

from .capture_cells import (
    CaptureFacts,
    DedupeMark,
    DigestEntry,
    ExternalLine,
    ExtractedView,
    Location,
    Pin,
    QaVerdict,
)
from .cells import Cell
from .file_cells import (
    ActCounts,
    Claim,
    CurrentGeneration,
    FileErrors,
    FileFacts,
    FileStateCell,
    FirstDecision,
    GenerationFacts,
    InFlight,
    ReferencesKept,
)
from .qa_cells import Annotation, PairScores, PairVerdict, SignOff
from .run_cells import (
    CrawlFacts,
    CrawlState,
    Lease,
    RunFacts,
    RunProgress,
    RunState,
    RunStep,
    UnnamedCrawl,
)
from .seen_cells import CommitFindings, SeenCapture
from .text import check_name
from .wacz_cells import QueuedWacz, WaczFailure, WaczFile, WaczPlace
from .withdrawal_cells import Withdrawal, WithdrawingRecords, WithdrawnFile

CELLS: MappingProxyType[str, tuple[type[Cell], ...]] = MappingProxyType(
    {
        "captures": (
            CaptureFacts,
            ExternalLine,
            Location,
            Withdrawal,
            ExtractedView,
            DedupeMark,
            Pin,
            QaVerdict,
        ),
        "digests": (DigestEntry,),
        "files": (
            FileFacts,
            FileErrors,
            GenerationFacts,
            ActCounts,
            FirstDecision,
            ReferencesKept,
            Claim,
            FileStateCell,
            CurrentGeneration,
            WithdrawingRecords,
        ),
        "crawls": (
            CrawlFacts,
            WithdrawnFile,
            CrawlState,
            UnnamedCrawl,
            Lease,
            QueuedWacz,
            Claim,
            WaczFailure,
            WaczPlace,
            WaczFile,
            SeenCapture,
            CommitFindings,
        ),
        "runs": (RunFacts, SignOff, RunState, RunStep, RunProgress),
        "inflight": (InFlight,),
        "qa_pairs": (PairScores, PairVerdict, Annotation),
    }
)


def numbered_column(cell: type[Cell], number: int) -> bytes:
    """The column of generation `number`: `m:location.2`."""
    return b"%b%d" % (_open_column(cell), number)


def named_column(cell: type[Cell], name: str) -> bytes:
    """The column of an act, step or annotation: `f:counts.NAME`."""
    return _open_column(cell) + check_name(name, "a qualifier")


def column_suffix(column: bytes) -> str:
    """The number or name at the end of a column."""
    return column.partition(b".")[2].decode("ascii")


def _open_column(cell: type[Cell]) -> bytes:
    if not cell.COLUMN.endswith(b"."):
        raise ValueError(f"{cell.__name__} has one column, {cell.COLUMN!r}")
    return cell.COLUMN
