"""What backups are made of and into, by profile: the wiring of `backup` and `restore-backup`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from pinakes.archive_store.local import LocalArchiveStore
from pinakes.archive_store.port import ArchiveStore
from pinakes.backup.embedded import EmbeddedRestorer, EmbeddedSnapshots
from pinakes.backup.port import RowsRestorer, Snapshots
from pinakes.config import Configuration
from pinakes.errors import ConfigError, MissingExtra
from pinakes.profile import schema_of


@contextmanager
def open_backup(place: str, configuration: Configuration) -> Iterator[ArchiveStore]:
    """The place of a backup: a folder, there or not yet."""
    if "://" in place:
        raise ConfigError("a backup goes to a folder", file=place)
    yield LocalArchiveStore(Path(place))


@contextmanager
def open_snapshots(configuration: Configuration) -> Iterator[Snapshots]:
    """Who holds the store's rows and files at a moment."""
    _require_embedded(configuration)
    yield EmbeddedSnapshots(configuration.store)


@contextmanager
def open_restorer(configuration: Configuration) -> Iterator[RowsRestorer]:
    """Who makes the rows of an empty store."""
    _require_embedded(configuration)
    schema = schema_of(configuration)
    yield EmbeddedRestorer(folder=configuration.store, schema=schema, token=uuid4().hex)


def _require_embedded(configuration: Configuration) -> None:
    if configuration.profile != "embedded":
        raise MissingExtra("backups of the cluster profile are not built yet")
