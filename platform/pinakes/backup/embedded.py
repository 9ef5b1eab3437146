"""Snapshots and restoring of the embedded profile: one SQLite file, and hard links.

    STORE/backups/ACT/rows/rows.sqlite      the rows, copied under one transaction
    STORE/backups/ACT/rows.sha256           their SHA-256, for a backup that goes on later
    STORE/backups/ACT/archive/…             hard links to the archive files
    STORE/backups/ACT.part/                 the same, incomplete

A published file is never changed, so a link preserves it; without hard links it is copied, and
the store stays pinned until that is done.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pinakes.archive_store.local.files import lock_alone, make_folder, sha256_of, translated
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.local.whole_files import put_in_place
from pinakes.archive_store.port import ASIDE, ArchiveStore
from pinakes.errors import ConfigError, Conflict
from pinakes.hbase_schema.tables import Schema
from pinakes.row_store.port import RowStore
from pinakes.row_store.sqlite.admin import EmbeddedSchemaAdmin
from pinakes.row_store.sqlite.backup import copy_rows
from pinakes.row_store.sqlite.store import EmbeddedRowStore

from .contents import ARCHIVE, ROWS, FileLine
from .copying import copy_listed

ROWS_FILE = "rows.sqlite"
BACKUPS = "backups"
_ROWS_SHA256 = "rows.sha256"


class EmbeddedSnapshots:
    """`Snapshots` of a store in a folder."""

    def __init__(self, folder: Path, *, at: Callable[[str], None] = lambda step: None) -> None:
        """`at` is called after each step, with its name: tests end the process there."""
        self._store = folder
        self._folder = folder / BACKUPS
        self._at = at

    def take(self, act: str, unpin: Callable[[], None]) -> None:
        part = self._folder / f"{act}.part"
        make_folder(part / ROWS)
        make_folder(part / ARCHIVE)

        def hold_files() -> None:
            self._at("rows fixed")
            self._link_files(part / ARCHIVE)
            self._at("files held")
            unpin()
            self._at("unpinned")

        copy_rows(self._store / ROWS_FILE, part / ROWS / ROWS_FILE, fixed=hold_files)
        (part / _ROWS_SHA256).write_text(sha256_of(part / ROWS / ROWS_FILE))
        self._at("rows held")
        with translated(act):
            put_in_place(part, self._folder / act)
        self._at("snapshot taken")

    def _link_files(self, folder: Path) -> None:
        store = LocalArchiveStore(self._store / ARCHIVE)
        made: set[Path] = set()
        for stored in store.list():
            link = folder / stored.name
            if link.parent not in made:
                link.parent.mkdir(parents=True, exist_ok=True)
                made.add(link.parent)
            # A link would be linked to, and may lead nowhere from here.
            file = os.path.realpath(store.path_of(stored.name))
            with translated(stored.name):
                try:
                    os.link(file, link)
                except FileNotFoundError:
                    continue  # an old sidecar that was being replaced
                except OSError:
                    shutil.copyfile(file, link)

    def is_taken(self, act: str) -> bool:
        return (self._folder / act).is_dir()

    def has_sound_rows(self, act: str) -> bool:
        noted = self._folder / act / _ROWS_SHA256
        with translated(act):
            rows = sha256_of(self._folder / act / ROWS / ROWS_FILE)
            return noted.exists() and noted.read_bytes() == rows.encode()

    def acts(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        return sorted({path.name.removesuffix(".part") for path in self._folder.iterdir()})

    def archive(self, act: str) -> ArchiveStore:
        taken = act if self.is_taken(act) else f"{act}.part"
        return LocalArchiveStore(self._folder / taken / ARCHIVE)

    def rows(self, act: str) -> ArchiveStore:
        return LocalArchiveStore(self._folder / act / ROWS)

    def drop(self, act: str) -> None:
        part = self._folder / f"{act}.part"
        with translated(act):
            if self.is_taken(act):
                # Renamed as incomplete first: deletion may be interrupted.
                shutil.rmtree(part, ignore_errors=True)
                (self._folder / act).rename(part)
            shutil.rmtree(part, ignore_errors=True)


@contextmanager
def restoring_alone(folder: Path) -> Iterator[None]:
    """Hold a folder, which is made, against every other process that restores into it.

    Raises Conflict where one does.
    """
    make_folder(folder)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        lock_alone(descriptor, folder, doing="restoring here")
        yield
    finally:
        os.close(descriptor)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedRestorer:
    """`RowsRestorer` of a store in a folder, which is invisible until it finishes."""

    folder: Path
    schema: Schema
    token: str
    """For files written aside."""

    @property
    def _aside(self) -> Path:
        return self.folder / f"{ROWS_FILE}.restoring"

    def require_empty(self) -> None:
        if not self.folder.exists():
            return
        names = {path.name for path in self.folder.iterdir()}
        begun = self._aside.exists()
        if (self.folder / ROWS_FILE).exists() or (names - {ASIDE} and not begun):
            raise ConfigError(
                "a backup can only be restored into an empty store: choose another folder",
                file=str(self.folder),
            )

    def restore(
        self,
        backup: ArchiveStore,
        lines: Sequence[FileLine],
        require_ours: Callable[[RowStore], None],
    ) -> None:
        # Copied again: rows that a restoring had begun to settle cannot be compared.
        if self._aside.exists():
            with closing(self.open()) as rows:
                require_ours(rows)
            for log in ("wal", "shm"):
                self._aside.with_name(f"{self._aside.name}-{log}").unlink(missing_ok=True)
        here = LocalArchiveStore(self.folder)
        [line] = [line for line in lines if line.name == f"{ROWS}/{ROWS_FILE}"]
        copy_listed(backup, line, here, self._aside.name, token=self.token)

    def open(self) -> EmbeddedRowStore:
        admin = EmbeddedSchemaAdmin(self._aside)
        try:
            version = admin.describe().version
            if version is not None and version < self.schema.version:
                admin.apply(self.schema)
        finally:
            admin.close()
        return EmbeddedRowStore(self._aside, self.schema)

    def finish(self) -> None:
        # After every connection is closed, there is no log next to it.
        if self._aside.with_name(f"{self._aside.name}-wal").exists():
            raise Conflict("another process has the rows open", file=str(self._aside))
        with translated(str(self._aside)):
            with suppress(OSError):
                (self.folder / ASIDE).rmdir()
            put_in_place(self._aside, self.folder / ROWS_FILE)
