"""What an import of WACZ files is asked for, reports while it goes on, and came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pinakes.archive_store.http.ranges import require_no_user
from pinakes.archive_store.trusted_places import TrustedPlaces
from pinakes.catalog.wacz_rows import QueueEntry
from pinakes.errors import ConfigError, PinakesError
from pinakes.ingest.wacz.importing import Imported
from pinakes.ingest.wacz.queue import MissingCrawl
from pinakes.ingest.wacz.sources import WaczSource, is_manifest

from .events import Notice, Others, Skipped


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """What to import, as it was named, and whether to retry what has failed.

    Raises ConfigError where a URL holds a user, for names are kept, and for what `import_from`
    cannot be.
    """

    names: Sequence[str]
    collection: str = "default"
    import_from: str = ""
    """From where manifests may name WACZ files (`TrustedPlaces`)."""
    resume: bool = False
    accepts_damaged: bool = False
    compares: bool = False
    """Whether the first records of what was there are compared with the WACZ files: before what
    manifests do not name is taken out."""

    def __post_init__(self) -> None:
        _ = self.trusted
        for name in self.names:
            if "://" in name:  # of any scheme, also one that nothing is fetched by
                require_no_user(name)

    @property
    def trusted(self) -> TrustedPlaces:
        """From where manifests may name WACZ files."""
        try:
            return TrustedPlaces.parse(self.import_from)
        except ValueError as error:
            raise ConfigError(f"import_from should be {error}") from error

    @property
    def are_manifests(self) -> bool:
        """Whether all that is named are manifests, so that what they do not name is missing."""
        return bool(self.names) and all(map(is_manifest, self.names))


class WaczQueued(NamedTuple):
    """One that is in the queue, and in which state."""

    entry: QueueEntry
    state: str


class WaczImported(NamedTuple):
    """One that was imported just now."""

    entry: QueueEntry
    imported: Imported

    @property
    def is_well(self) -> bool:
        """Whether there are archive files in it, and records in each."""
        files = self.imported.files
        return self.imported.has_archives and all(one.was_there or one.records for one in files)

    @property
    def captures(self) -> int:
        return sum(file.captures for file in self.imported.files)


class WaczKnown(NamedTuple):
    """One that was there before, under this name."""

    place: str
    crawl: str
    name: str
    sha256: str | None


class WaczMissed(NamedTuple):
    """One that was not imported, and why; whether it is in the queue."""

    problem: PinakesError
    place: str | None
    is_queued: bool


ImportEvent = (
    WaczSource
    | WaczQueued
    | WaczImported
    | WaczKnown
    | WaczMissed
    | MissingCrawl
    | Skipped
    | Others
    | Notice
)
"""What an import reports; a source is what would be imported."""


@dataclass(slots=True, kw_only=True)
class ImportRun:
    """What one import did: WACZ files imported, with their `bytes` and `captures`, those that
    were there, failed (and stay in the queue), and were refused.

    `problems` say why those were not imported; only `Store.import_wacz` keeps them.
    """

    run: str
    imported: int = 0
    bytes: int = 0
    captures: int = 0
    were_there: int = 0
    failed: int = 0
    refused: int = 0
    is_well: bool = True
    """Whether all that was named is in the store, with records."""
    met_others: bool = False
    """Whether another process imports, too."""
    missing: dict[str, int] = field(default_factory=dict)
    """Crawls that manifests name no more, with their bytes."""
    removable: list[str] = field(default_factory=list)
    """Those of them that hold nothing else."""
    problems: list[PinakesError] = field(default_factory=list)
