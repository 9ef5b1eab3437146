"""What fsck says of the cells and rows of one file that are not as they should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pinakes.counts import count_of
from pinakes.hbase_schema.capture_cells import CaptureFacts, DigestEntry

from .compare import CellDifference, shown
from .findings import FsckFinding
from .records import ReadRow

_EXAMPLES = 3
_WORDS = {
    "location": "wrong places",
    "cell": "not as the file says",
    "invented": "of no record",
}


def still_here(name: str, count: int) -> FsckFinding:
    """Captures are noted as withdrawn, and their records are still in the file."""
    return FsckFinding(
        code="unfinished-act",
        file=name,
        message=f"withdrawn, and still here: {count_of(count, 'capture')}: `pinakes withdraw` "
        "again; where that says that their member is damaged, take the crawl out",
    )


def describe_rows(some: Sequence[CellDifference]) -> str:
    """How many rows, and cells of others, are missing."""
    captures = {one.key for one in some if one.column == CaptureFacts.COLUMN}
    digests = sum(1 for one in some if one.column == DigestEntry.COLUMN)
    others = sum(1 for one in some if one.key not in captures) - digests
    lost = rows_missing(len(captures), digests)
    return f"{lost}, and {count_of(others, 'cell')}" if others else lost


def rows_missing(captures: int, digests: int) -> str:
    """Which rows are missing."""
    return f"without a row: {count_of(captures, 'capture')}, {count_of(digests, 'digest')}"


def describe_differences(code: str, some: Sequence[CellDifference]) -> str:
    """How many cells are wrong, and the first."""
    examples = "; ".join(
        f"{one.column.decode('utf-8', 'replace')} of {_name(one.key)} {one.what}"
        for one in some[:_EXAMPLES]
    )
    more = f"; and {len(some) - _EXAMPLES:,} more" if len(some) > _EXAMPLES else ""
    return f"{_WORDS[code]}: {count_of(len(some), 'cell')}: {examples}{more}"


def _name(key: bytes) -> str:
    text = key.decode("ascii", "backslashreplace")
    return text if len(text) <= 120 else f"{text[:90]}…{text[-27:]}"


class SidecarProblems:
    """What is wrong with the rows of a sidecar."""

    def __init__(self) -> None:
        self.count = 0
        self.is_misplaced = False
        self._first: list[str] = []
        self._fields: Counter[str] = Counter()

    def note(self, batch: Sequence[ReadRow]) -> None:
        for read in batch:
            if not read.wrong:
                continue
            self.count += 1
            self.is_misplaced = self.is_misplaced or read.is_misplaced
            self._fields.update(read.wrong)
            if len(self._first) < _EXAMPLES:
                name = read.wrong[0]
                there, said = getattr(read.stands, name), getattr(read.row, name)
                self._first.append(
                    f"{name} of record {read.row.ordinal} is {shown(there, name)}, the file says "
                    f"{shown(said, name)}"
                )

    @property
    def code(self) -> str:
        """Of the finding."""
        return "location" if self.is_misplaced else "sidecar-differs"

    @property
    def message(self) -> str:
        """How many rows, in which fields, and the first."""
        names = ", ".join(sorted(self._fields))
        rows = count_of(self.count, "row")
        return f"not as the file says in {names}: {rows}: " + "; ".join(self._first)
