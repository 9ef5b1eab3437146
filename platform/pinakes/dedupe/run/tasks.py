"""The port by which a run has its work on archive files done elsewhere: by jobs.

What tasks write lies in the run's folder aside until the run publishes it:

    .landing/RUN/WAVE/…         what one wave of files came to
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pinakes.acts.generations import Written
from pinakes.dedupe.decide.counting import Decisions
from pinakes.dedupe.validate.file_pairs import Discrepancy
from pinakes.dedupe.write.refs import RefsCount
from pinakes.errors import PinakesError
from pinakes.index.manifest import ManifestLine

from .decided_records import Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOutcome:
    """What a task has made of one file.

    `written` lies in `folder`, below the run's folder aside, and its sidecar beside it, under
    the names that they are to have; None where the file stays as it is: `problem` says why.
    """

    archive_file: str
    folder: str = ""
    written: Written | None = None
    sidecar_sha256: str = ""
    count: RefsCount = field(default_factory=RefsCount)
    problem: PinakesError | None = None


class Tasks(Protocol):
    """Names of archive files are those in the catalogue; `generations` has those that are not
    read as they landed."""

    def decide(
        self,
        lines: Iterable[ManifestLine],
        generations: Mapping[str, str],
        decisions: Decisions,
        *,
        compare: bool,
    ) -> Iterator[ManifestLine]:
        """The duplicates among the lines of a collection, decided; in no order.

        `decisions` is complete when they have been drawn.
        """
        ...

    def write(self, wave: str, pairs: Iterable[Pair], generations: Mapping[str, str]) -> None:
        """Have these duplicates, file by file, replaced; nothing is published.

        Raises:
            StoreUnavailable: where it could not be done; nothing is left to look at then.
        """
        ...

    def validate(self, wave: str, generations: Mapping[str, str]) -> Iterator[Discrepancy]:
        """Read what `write` has left once more, beside the files as they are; what is amiss.

        Every record is compared, and every reference followed to its original's body.
        """
        ...

    def outcomes(self, wave: str) -> Iterator[FileOutcome]:
        """What `write` came to, once it has returned: each of its files once."""
        ...
