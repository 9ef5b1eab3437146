"""Which of the files that have duplicates a run rewrites: those where it is worth while."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pinakes.catalog.file_rows import FileEntry
from pinakes.errors import InputRefused
from pinakes.hbase_schema.file_states import FileState

from .decided_records import Pair
from .rewriting_run import RewritingRun

# What a revisit takes, about: where a file would save too little is told before it is written.
_REVISIT_BYTES = 700


class Choice(NamedTuple):
    """Why a file is left as it is, but for want of room; None where it is not."""

    why_not: str | None
    size: int = 0
    """What its new generation takes, about; in bytes."""


def choose_file(run: RewritingRun, entry: FileEntry, pairs: Sequence[Pair]) -> Choice:
    """Whether a file with these duplicates, not moved by the run yet, is rewritten.

    Raises:
        InputRefused: where the catalogue has the file, and the archive has not.
    """
    if entry.state is not FileState.STORED:
        return Choice("not stored any more")
    name = entry.stored_name
    old_size = run.act.archive.size(name)
    if old_size is None:
        raise InputRefused("is lost: the catalogue has it, and the archive has not", file=name)
    saving = sum(max(line.length - _REVISIT_BYTES, 0) for line, _ in pairs)
    size = old_size - saving
    if saving < run.request.min_file_saving * old_size:
        return Choice("min-file-saving", size)
    if not run.room.could_ever_hold(size):
        return Choice("larger than max-extra-bytes", size)
    return Choice(None, size)
