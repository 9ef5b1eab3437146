"""How many records of archive files and crawls there are of each kind."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pinakes.index.selection import Entry

TABLES = ("types", "statuses", "media_types", "hosts", "sizes")
_SIZE_LIMITS = (0, 10**3, 10**4, 10**5, 10**6, 10**7)
SIZE_CLASSES = ("empty", "to 1 kB", "to 10 kB", "to 100 kB", "to 1 MB", "to 10 MB", "over 10 MB")


@dataclass(slots=True)
class Count:
    """Records, and the bytes that they take in their files."""

    records: int = 0
    bytes: int = 0


def _counts() -> defaultdict[str, Count]:
    return defaultdict(Count)


@dataclass(slots=True)
class RecordCounts:
    """What there is of each kind.  Memory: a count for each host and media type."""

    files: int = 0
    all: Count = field(default_factory=Count)
    types: dict[str, Count] = field(default_factory=_counts)
    statuses: dict[str, Count] = field(default_factory=_counts)
    media_types: dict[str, Count] = field(default_factory=_counts)
    hosts: dict[str, Count] = field(default_factory=_counts)
    sizes: dict[str, Count] = field(default_factory=_counts)
    """Of captures, by the size of their bodies."""

    def add_file(self, entries: Iterable[Entry]) -> None:
        """Count the records of one more file."""
        self.files += 1
        for entry in entries:
            # A member that several records share is counted with the first.
            taken = 0 if entry.inner_offset else entry.length
            for count in self._counts_of(entry):
                count.records += 1
                count.bytes += taken

    def _counts_of(self, entry: Entry) -> Iterable[Count]:
        yield self.all
        yield self.types[entry.type]
        if entry.type not in ("response", "resource", "revisit"):
            return
        yield self.statuses["none" if entry.status is None else str(entry.status)]
        yield self.media_types[entry.media_type or "none"]
        yield self.hosts[entry.host or "none"]
        yield self.sizes[_size_class(entry.size)]

    def as_json(self) -> dict[str, object]:
        """Everything counted."""
        tables = {name: _plain(getattr(self, name)) for name in TABLES}
        return {"files": self.files, "records": self.all.records, "bytes": self.all.bytes, **tables}


def _size_class(size: int) -> str:
    return SIZE_CLASSES[bisect_left(_SIZE_LIMITS, size)]


def ordered(table: Mapping[str, Count]) -> list[tuple[str, Count]]:
    """The most frequent first."""
    return sorted(table.items(), key=lambda item: (-item[1].records, item[0]))


def _plain(table: Mapping[str, Count]) -> dict[str, dict[str, int]]:
    return {
        name: {"records": count.records, "bytes": count.bytes} for name, count in ordered(table)
    }
