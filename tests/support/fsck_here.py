"""What `fsck` finds in a store, and mends if asked to."""

from __future__ import annotations

from typing import Protocol

from pinakes.acts.actor import Actor
from pinakes.archive_store.port import ArchiveStore
from pinakes.ingest.fsck.check import Fsck
from pinakes.ingest.fsck.findings import CODES, FsckFinding
from pinakes.row_store.port import RowStore


class Stored(Protocol):
    """A scene, a landed store, or stores that were opened."""

    @property
    def rows(self) -> RowStore: ...
    @property
    def archive(self) -> ArchiveStore: ...


def look(store: Stored, *, repair: bool = False, **depth: bool) -> list[FsckFinding]:
    """Every finding; `repair` mends what can be, one after the other."""
    found = []
    for finding in Fsck(store.rows, store.archive, Actor(), **depth).findings():
        assert finding.code in CODES
        found.append(finding)
        if repair and finding.mend is not None:
            finding.mend()
    return found


def codes(store: Stored, *, repair: bool = False, full: bool = True) -> list[str]:
    """The codes of what a full check finds."""
    return [finding.code for finding in look(store, repair=repair, full=full)]


def fsck_lines(store: Stored) -> list[str]:
    """What a full check says, a line a finding."""
    found = look(store, full=True)
    return [f"{finding.file}: {finding.code}: {finding.message}" for finding in found]
