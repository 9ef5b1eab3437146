"""`validate`: nothing was lost, nothing altered, every reference resolves.

Asks `raw_proof` whether an archive file as it is gives back every byte of what it was; then
walks both, side by side, paired by ordinal.  Where bytes differ, the walk names the record:
what was not rewritten is equal in its inflated bytes, those between and after records
included; what was, gives back its header and HTTP head byte for byte.  A reference leads to
an earlier full record whose stored body has the same SHA-256.  Restoring is the same walk the
other way round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple, Protocol

from pinakes.dedupe.references.outcomes import KEPT, RESTORED, REWRITTEN
from pinakes.dedupe.references.values import (
    ALGORITHM,
    FULL_TYPES,
    FoundReferences,
    body_of,
    full_of,
)
from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import DamagedStretch, Record
from pinakes.warc.revisit import is_ours
from pinakes.warc.source import Source

from .raw_proof import compare_raw
from .stretches import (
    FileStretch,
    check_http_head,
    check_replaced,
    equal_inflated,
    equal_tails,
    equal_written,
    is_damaged,
)

DISCREPANCIES = {
    "missing": "a record of before is not there after",
    "surplus": "a record is there after that was not before",
    "altered": "a record that was not rewritten has other bytes",
    "between": "there are other bytes between this record and the next",
    "header": "the revisit does not give back the header it replaced",
    "http-head": "the revisit's HTTP head is not the old record's",
    "checksum": "the revisit carries another checksum than the old record has",
    "not-full": "what became a revisit was no response or resource",
    "damage": "a stretch that is no record has other bytes",
    "bytes": "the file's bytes do not come back from here on, whatever its records say",
    "second-reader": "warcio reads other bytes here than we do",
    "replay": "the replay tool gives another answer than was captured",
}


class Discrepancy(NamedTuple):
    """One thing that is not as it was; `code` is one of `DISCREPANCIES` or `OUTCOMES`."""

    code: str
    file: str
    ordinal: int
    offset: int
    message: str


@dataclass(slots=True)
class FilesComparison:
    """What the walk over a pair of files (or many) found."""

    records: int = 0
    rewritten: int = 0
    restored: int = 0
    read_twice: int = 0
    types: Counter[str] = field(default_factory=Counter)
    discrepancies: list[Discrepancy] = field(default_factory=list)


class SecondReader(Protocol):
    """Reads some of the records again, by other means."""

    def differs(self, record: Record, source: Source) -> bool | None:
        """Whether the other reader sees another record here; None where it did not look."""


class RevisitSampler(Protocol):
    """Takes note of some of the records that became revisits."""

    def offer(self, old: Record, new: Record, source: Source) -> None:
        """A record that became a revisit: as it was, as it is, and in which file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observers:
    """Who else looks at the records: see the two protocols."""

    second_reader: SecondReader | None = None
    sampler: RevisitSampler | None = None


_NO_OBSERVERS = Observers()


def compare_files(
    before: Source,
    after: Source,
    references: FoundReferences | None,
    found: FilesComparison,
    *,
    observers: Observers = _NO_OBSERVERS,
    bodies: Sequence[str] | None = None,
    is_proven: bool = False,
) -> None:
    """Compare two archive files; references and full records go to `references`.

    Without these nothing is hashed but what `bodies` is given for, as in `compare_raw`: where
    references lead is asked elsewhere, or was before.

    `is_proven`: `compare_raw` has found no difference of just these bytes in this run.

    Memory: two records of each.  Cost: `before` is read and inflated twice, `after` once and
    what was rewritten of it twice; where `is_proven`, each once.
    """
    number = references.add_file(after.name) if references is not None else 0
    difference = None if is_proven else compare_raw(before, after, bodies).difference
    known = len(found.discrepancies)
    pairs = _Pairs(before, after, number, references, found, observers, proven=difference is None)
    digests = () if references is None else (ALGORITHM,)
    both = zip_longest(_stretches(before, digests), _stretches(after, digests))
    for ordinal, (old, new) in enumerate(both):
        for code in pairs.compare(old, new):
            offset = new.item.offset if new is not None else 0
            found.discrepancies.append(
                Discrepancy(code, after.name, ordinal, offset, DISCREPANCIES[code])
            )
    if difference is not None and len(found.discrepancies) == known:
        found.discrepancies.append(
            Discrepancy("bytes", after.name, 0, difference.after, DISCREPANCIES["bytes"])
        )


def _stretches(source: Source, digests: Sequence[str]) -> Iterator[FileStretch]:
    """Every item with where the next one begins; memory of two records."""
    # A second window: one that went back for the bytes after a record would be read
    # again and again.
    window = source.again()
    previous: Item | None = None
    for item in iter_records(source, digests=digests):
        if previous is not None:
            yield FileStretch(window, previous, _end(previous, item.offset))
        previous = item
    if previous is not None:
        yield FileStretch(window, previous, source.size)


def _end(item: Item, next_offset: int) -> int:
    shared = isinstance(item, Record) and item.offset == next_offset
    return item.offset + item.length if shared else next_offset  # type: ignore[union-attr]


class _Pairs:
    """Compares the records of one pair of files."""

    def __init__(
        self,
        before: Source,
        after: Source,
        number: int,
        references: FoundReferences | None,
        found: FilesComparison,
        observers: Observers,
        *,
        proven: bool,
    ) -> None:
        """`proven`: every byte comes back, and only references are left to ask for."""
        self._before = before
        self._after = after
        self._number = number
        self._references = references
        self._found = found
        self._proven = proven
        self._second_reader = observers.second_reader
        self._sampler = observers.sampler
        self._written: tuple[int, int, bool] = (-1, -1, False)

    def compare(self, old: FileStretch | None, new: FileStretch | None) -> Iterator[str]:
        if old is None or new is None:
            yield "surplus" if old is None else "missing"
        elif isinstance(old.item, DamagedStretch) or isinstance(new.item, DamagedStretch):
            alike = type(old.item) is type(new.item)
            if not (self._reads_damage(old, new) or (alike and equal_written(old, new))):
                yield "damage"
        else:
            self._found.records += 1
            self._found.types[new.item.type] += 1
            if not (self._proven or equal_tails(old, new)):
                yield "between"
            yield from self._compare_records(old, old.item, new, new.item)

    def _reads_damage(self, old: FileStretch, new: FileStretch) -> bool:
        """Whether bytes that are as they were are damaged, and read otherwise.

        Where a cut member ends, and what can be read of it, depends on the bytes after it.
        """
        return self._proven and is_damaged(old.item) and is_damaged(new.item)

    def _compare_records(
        self, old_stretch: FileStretch, old: Record, new_stretch: FileStretch, new: Record
    ) -> Iterator[str]:
        if old.header.raw == new.header.raw:
            if not (self._proven or self._is_unaltered(old_stretch, old, new_stretch, new)):
                yield "altered"
            self._add(new)
        elif new.type == "revisit" and is_ours(new.header):
            self._found.rewritten += 1
            yield from self._check_rewritten(old_stretch, old, new)
        elif old.type == "revisit" and is_ours(old.header):
            self._found.restored += 1
            if self._references is not None:
                body = body_of(new)
                self._references.add_full(*full_of(new, body, stays=True))
                self._references.add_reference(self._number, old, RESTORED, body)
            yield from check_http_head(new, old)
            if not self._proven:
                yield from check_replaced(new_stretch, new, old)
        else:
            if not self._reads_damage(old_stretch, new_stretch):
                yield "altered"
            self._add(new)
        yield from self._read_again(old_stretch, new_stretch, new)

    def _is_unaltered(
        self, old_stretch: FileStretch, old: Record, new_stretch: FileStretch, new: Record
    ) -> bool:
        return self._equal_written(old_stretch, new_stretch) or equal_inflated(
            old_stretch, old, new_stretch, new
        )

    def _equal_written(self, old: FileStretch, new: FileStretch) -> bool:
        """`equal_written`, asked once for all records of a member."""
        places = (old.item.offset, new.item.offset)
        if self._written[:2] != places:
            self._written = (*places, equal_written(old, new))
        return self._written[2]

    def _add(self, record: Record) -> None:
        if self._references is None:
            return
        if record.type in FULL_TYPES:
            self._references.add_full(*full_of(record, body_of(record), stays=True))
        elif record.type == "revisit":
            self._references.add_reference(self._number, record, KEPT)

    def _check_rewritten(self, stretch: FileStretch, old: Record, new: Record) -> Iterator[str]:
        if old.type not in FULL_TYPES:
            yield "not-full"
            return
        if self._references is not None:
            body = body_of(old)
            self._references.add_full(*full_of(old, body, stays=False))
            self._references.add_reference(self._number, new, REWRITTEN, body)
        if self._sampler is not None:
            self._sampler.offer(old, new, self._after)
        yield from check_http_head(old, new)
        if not self._proven:
            yield from check_replaced(stretch, old, new)

    def _read_again(
        self, old_stretch: FileStretch, new_stretch: FileStretch, new: Record
    ) -> Iterator[str]:
        if self._second_reader is None:
            return
        differs = self._second_reader.differs(new, self._after)
        if differs is not None:
            self._found.read_twice += 1
        # What others make of bytes that are as they were is no fault of the rewriting.
        if differs and not self._equal_written(old_stretch, new_stretch):
            yield "second-reader"
