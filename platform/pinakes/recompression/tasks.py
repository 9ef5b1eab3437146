"""The port by which an act has its files written elsewhere: by jobs.

What tasks write lies in the act's folder aside until the act publishes it:

    .landing/ACT/WAVE/…         what one wave of files came to
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pinakes.acts.act import Act
from pinakes.acts.generations import Written
from pinakes.catalog.file_rows import FileEntry
from pinakes.errors import PinakesError
from pinakes.rewrite.recompress_file import Recompression

from .forms import StoredForm

_WAVE_BYTES = 1 << 38
"""At most so much is written before it is made current."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """What a task has made of one file: written, read back, and found to hold the same.

    `written` lies in `folder`, below the act's folder aside, and its sidecar beside it, under the
    names that they are to have.
    """

    archive_file: str
    folder: str
    written: Written
    sidecar_sha256: str
    result: Recompression


@dataclass(frozen=True, slots=True, kw_only=True)
class NotWritten:
    """A file that stays as it is, and why; `old_sha256` is of what was read, where it could be."""

    archive_file: str
    old_sha256: str | None
    problem: PinakesError


Outcome = WrittenFile | NotWritten


class Tasks(Protocol):
    """Writes files of a store in another compression.  Not for several threads."""

    def write(
        self, act: Act, wave: str, entries: Sequence[FileEntry], form: StoredForm
    ) -> Iterator[Outcome]:
        """Have each of these files written as its next generation; nothing is published.

        Each once, in no order.

        Raises:
            StoreUnavailable: where it could not be done; nothing is left to look at then.
        """
        ...

    def end_orphans(self, act: str) -> None:
        """End what a dead process of this act has left running."""
        ...


def waves(
    entries: Iterable[FileEntry], *, most_bytes: int = _WAVE_BYTES
) -> Iterator[list[FileEntry]]:
    """These files in order, in parts of so many bytes at most, or of one file."""
    wave: list[FileEntry] = []
    total = 0
    for entry in entries:
        if wave and total + size_of(entry) > most_bytes:
            yield wave
            wave, total = [], 0
        wave.append(entry)
        total += size_of(entry)
    if wave:
        yield wave


def size_of(entry: FileEntry) -> int:
    """The bytes that a file had when it landed."""
    return entry.facts.size if entry.facts is not None else 0


def each_once(outcomes: Iterable[Outcome], wanted: dict[str, FileEntry]) -> Iterator[Outcome]:
    """What a wave came to; each of its files is taken off `wanted`.

    Raises PinakesError for a file that was not asked for, or twice, or has no outcome.
    """
    for outcome in outcomes:
        if wanted.pop(outcome.archive_file, None) is None:
            raise PinakesError(
                "tasks have written this file twice, or unasked", file=outcome.archive_file
            )
        yield outcome
    if wanted:
        raise PinakesError(f"{len(wanted):,} files have no result from any task", file=min(wanted))
