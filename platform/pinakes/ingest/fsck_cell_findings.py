"""What fsck says of the cells and rows of one file that are not as they should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pinakes.hbase_schema.capture_cells import CaptureFacts, DigestEntry

from .fsck_compare import Difference
from .fsck_findings import FsckFinding
from .fsck_records import ReadRow

_EXAMPLES = 3
_WORDS = {
    "location": "lead to another place",
    "cell": "say otherwise than the file",
    "invented": "are of no record",
}


def still_here(name: str, count: int) -> FsckFinding:
    """Captures are noted as withdrawn, and their records are still in the file."""
    return FsckFinding(
        code="unfinished-act",
        file=name,
        message=f"{count} captures are withdrawn, and still here: `pinakes withdraw` them again; "
        "where that says that their member is damaged, take the crawl out",
    )


def told_rows(some: Sequence[Difference]) -> str:
    """How many rows, and cells of others, are missing."""
    captures = {one.key for one in some if one.column == CaptureFacts.COLUMN}
    digests = sum(1 for one in some if one.column == DigestEntry.COLUMN)
    others = sum(1 for one in some if one.key not in captures) - digests
    lost = f"{len(captures)} captures and {digests} digests have no row"
    return f"{lost}, {others} cells are missing" if others else lost


def told_differences(code: str, some: Sequence[Difference]) -> str:
    """How many cells are wrong, and the first."""
    shown = "; ".join(
        f"{one.column.decode('utf-8', 'replace')} of {_name(one.key)} {one.what}"
        for one in some[:_EXAMPLES]
    )
    more = f"; and {len(some) - _EXAMPLES:,} more" if len(some) > _EXAMPLES else ""
    return f"{len(some):,} cells {_WORDS[code]}: {shown}{more}"


def _name(key: bytes) -> str:
    text = key.decode("ascii", "backslashreplace")
    return text if len(text) <= 120 else f"{text[:90]}…{text[-27:]}"


class SidecarAmiss:
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
                    f"{name} of record {read.row.ordinal} is {there!r:.60}, the file says "
                    f"{said!r:.60}"
                )

    @property
    def code(self) -> str:
        """Of the finding."""
        return "location" if self.is_misplaced else "sidecar-differs"

    @property
    def message(self) -> str:
        """How many rows, in which fields, and the first."""
        names = ", ".join(sorted(self._fields))
        return f"{self.count:,} rows differ from their records in {names}: " + "; ".join(
            self._first
        )
