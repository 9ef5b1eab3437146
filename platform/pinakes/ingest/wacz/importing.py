"""Importing one WACZ file: all of it is verified before any of it is visible.

    claim ─▶ fetch, hash ─▶ its content is ours ─▶ in the crawl's list ─▶ publish every file
          ─▶ unchanged? ─▶ show every file ─▶ list complete ─▶ out of the queue

Files are published in flight, so no one sees them, and a WACZ file that fails is taken back
whole.  Killed anywhere, the next import of it goes on: the acts of landing are resumed, and the
rows written again are the same.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from pinakes.acts.act import Act
from pinakes.acts.actor import Actor
from pinakes.archive_store.anew import write_anew
from pinakes.archive_store.http.fetching import Fetch
from pinakes.archive_store.located import (
    encoded_url,
    is_package_at,
    local_path,
    package_at,
    size_at,
)
from pinakes.archive_store.port import ArchiveStore
from pinakes.archive_store.trusted_places import TrustedPlaces
from pinakes.catalog.crawl_rows import ensure_crawl, require_open
from pinakes.catalog.file_rows import hidden_among, read_entry, scan_entries_below
from pinakes.catalog.wacz_rows import (
    LEASE_MS,
    HeldWacz,
    QueueEntry,
    fail_queued,
    finish_content,
    forget_content,
    forget_queued,
    leave_queued,
    put_wacz_file,
    read_wacz_file,
    renew_queued,
    take_content,
    take_queued,
    take_wacz_file,
)
from pinakes.deletion.file_removal import VERB as REMOVAL
from pinakes.deletion.file_removal import FileRemover
from pinakes.errors import Busy, ConfigError, Conflict, DigestMismatch, InputRefused
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import archive_file
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.hbase_schema.wacz_cells import QueuedWacz, WaczFile, WaczPlace
from pinakes.ingest.inputs import Input, LeftOut, unpacked
from pinakes.ingest.landed import Landed
from pinakes.ingest.landing import Lander, Published
from pinakes.row_store.port import RowStore
from pinakes.warc.file_names import is_remote
from pinakes.warc.packages.datapackage import DATAPACKAGE
from pinakes.warc.packages.package import most_unpacked_bytes

from .sources import open_regular

CRAWL_SOURCE = "wacz"
"""The `source` of crawls that an import has made."""
FAILURES = (InputRefused, DigestMismatch, Conflict, ConfigError)
"""What concerns one WACZ file, and not the stores."""
_PIECE_BYTES = 1 << 20
_LEFT_FREE_BYTES = 1 << 28


@dataclass(slots=True)
class Imported:
    """What has landed of a WACZ file; `known`: it was there, in this crawl and by this name."""

    crawl: str
    name: str
    sha256: str
    size: int
    known: bool = False
    files: list[Landed] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    """Archive files in it that have no bytes, and so nothing to land."""
    has_archives: bool = True
    """Whether there is any archive file in it, or it is one."""
    is_described: bool = True
    """Whether it has a `datapackage.json`, or is no package."""


class _Local(NamedTuple):
    """The bytes of a WACZ file on disk."""

    path: str
    sha256: str
    size: int
    require_unchanged: Callable[[], None]


class WaczImporter:
    """Imports WACZ files of one collection's queue.  Not for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        lander: Lander,
        actor: Actor,
        *,
        act: str,
        collection: str,
        trusted: TrustedPlaces,
        temp_dir: Path | None = None,
        on_retry: Callable[[], None] = lambda: None,
        beat: Callable[[], None] = lambda: None,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`beat` is called often.  `at` is called after each step: tests end the process there."""
        self._rows = rows
        self._archive = archive
        self._lander = lander
        self._actor = actor
        self._act = act
        self._collection = collection
        self._trusted = trusted
        self._temp_dir = temp_dir
        self._on_retry = on_retry
        self._beat = beat
        self._at = at

    def import_one(self, entry: QueueEntry) -> Imported | None:
        """Import one of the queue; None if another process has done that already.

        What fails is noted in the queue, and raised.

        Raises:
            Busy: another process is at it, or at another of the same content.
            InputRefused: it cannot be read, changes, or something in it cannot land.
            DigestMismatch: it is not what the manifest says.
            Conflict: its crawl is not open.
            StoreUnavailable: a store cannot be reached or is full.
        """
        held = take_queued(self._rows, entry, self._actor.claimant(), act=self._act)
        if held is None:
            return None
        self._at("claimed")
        try:
            return _OneImport(self, held).run()
        except Busy:
            leave_queued(self._rows, held)
            raise
        except FAILURES as problem:
            fail_queued(self._rows, held, problem.message)
            self._at("failed")
            raise


class _OneImport:
    """The import of one WACZ file."""

    def __init__(self, importer: WaczImporter, held: HeldWacz) -> None:
        self._of = importer
        self._held = held
        self._wacz: QueuedWacz = held.entry.wacz
        self._place: WaczPlace | None = None
        self._sha256 = ""
        self._published: list[Published] = []
        self._showing = False
        self._due_ms = 0

    def run(self) -> Imported:
        try:
            with self._on_disk() as local:
                self._require_declared(local)
                self._of._at("hashed")
                return self._import(local)
        except Busy:
            if self._place is not None and not self._showing:
                self._take_back()
            raise
        except FAILURES:
            if not self._showing:
                self._take_back()
            raise

    def _import(self, local: _Local) -> Imported:
        of = self._of
        place = take_content(
            of._rows,
            of._collection,
            local.sha256,
            self._held,
            now_ms=of._actor.now_ms(),
            is_gone=of._actor.is_gone,
        )
        of._at("content")
        imported = Imported(place.crawl, place.name, local.sha256, local.size)
        if place.queued is None:
            imported.known = True
            forget_queued(of._rows, self._held)
            return imported
        self._place, self._sha256 = place, local.sha256
        self._land(local, place, imported)
        return imported

    # What it is

    @contextmanager
    def _on_disk(self) -> Iterator[_Local]:
        wacz = self._wacz
        self._of._trusted.require(wacz.place, wacz.origin)
        if is_remote(wacz.place):
            with self._fetched() as local:
                yield local
            return
        path = local_path(wacz.place)
        with open_regular(wacz.place) as file:
            before = _identity(os.fstat(file.fileno()))
            sha256, size = self._hash(file)

            def require_unchanged() -> None:
                try:
                    same = before == _identity(path.stat()) and size == path.stat().st_size
                except OSError:
                    same = False
                if not same:
                    raise InputRefused(
                        "the file changed while it was read; try again when it no longer changes",
                        file=wacz.place,
                    )

            require_unchanged()
            yield _Local(str(path), sha256, size, require_unchanged)

    @contextmanager
    def _fetched(self) -> Iterator[_Local]:
        """A copy without a name: what dies leaves an empty folder behind, and no bytes."""
        of, wacz = self._of, self._wacz
        admit = partial(of._trusted.require, origin=wacz.origin or wacz.place)
        with (
            tempfile.TemporaryDirectory(prefix="pinakes-", dir=of._temp_dir) as folder,
            tempfile.TemporaryFile(prefix="pinakes-", dir=folder) as copy,
        ):
            free = shutil.disk_usage(folder).free - _LEFT_FREE_BYTES
            most = free if wacz.size is None else min(free, wacz.size)
            Fetch(
                encoded_url(wacz.place), admit=admit, most_bytes=most, reached=self._reached
            ).into(copy)
            copy.flush()
            copy.seek(0)
            sha256, size = self._hash(copy)
            link = Path(folder, Path(wacz.name).name)
            link.symlink_to(f"/proc/{os.getpid()}/fd/{copy.fileno()}")
            yield _Local(str(link), sha256, size, lambda: None)

    def _hash(self, file: IO[bytes]) -> tuple[str, int]:
        state, size = hashlib.sha256(), 0
        while piece := file.read(_PIECE_BYTES):
            state.update(piece)
            size += len(piece)
            self._reached(size)
        return state.hexdigest(), size

    def _require_declared(self, local: _Local) -> None:
        wacz = self._wacz
        if wacz.size not in (None, local.size):
            raise DigestMismatch(
                f"it has {local.size:,} bytes, and {wacz.size:,} in the manifest", file=wacz.place
            )
        if wacz.sha256 not in (None, local.sha256):
            raise DigestMismatch(
                f"its SHA-256 is {local.sha256}, and {wacz.sha256} in the manifest",
                file=wacz.place,
            )

    def _reached(self, position: int) -> None:
        """Keep every claim, a few times in each term."""
        of = self._of
        of._beat()
        now_ms = of._actor.now_ms()
        if now_ms < self._due_ms:
            return
        if self._due_ms:
            self._held = renew_queued(of._rows, self._held, now_ms)
            self._published = [of._lander.renew(published) for published in self._published]
        self._due_ms = now_ms + LEASE_MS // 4

    # How it lands

    def _land(self, local: _Local, place: WaczPlace, imported: Imported) -> None:
        of = self._of
        crawl, name = place.crawl, place.name
        facts = CrawlFacts(collection=of._collection, source=CRAWL_SOURCE)
        ensure_crawl(of._rows, crawl, facts, act=of._act, act_time_ms=of._actor.now_ms())
        require_open(of._rows, crawl)
        of._at("crawl")
        source = self._wacz.place
        listed = WaczFile(sha256=local.sha256, size=local.size, source=source, act=of._act)
        take_wacz_file(
            of._rows,
            of._collection,
            place,
            listed,
            now_ms=of._actor.now_ms(),
            is_gone=of._actor.is_gone,
        )
        of._at("listed")
        self._publish_all(local, crawl, name, imported)
        local.require_unchanged()
        of._at("published")
        self._showing = True
        self._published = [of._lander.renew(published) for published in self._published]
        imported.files += of._lander.finish_together(self._published)
        of._at("shown")
        self._published = []
        listed = replace(
            listed,
            files=len(imported.files),
            captures=sum(_captures_of(of._rows, file) for file in imported.files),
            landed_bytes=sum(file.size for file in imported.files),
        )
        put_wacz_file(of._rows, of._collection, crawl, name, listed)
        of._at("complete")
        finish_content(of._rows, of._collection, local.sha256, place)
        of._at("done")
        forget_queued(of._rows, self._held)
        of._at("forgotten")

    def _publish_all(self, local: _Local, crawl: str, name: str, imported: Imported) -> None:
        of = self._of
        left = LeftOut()
        inputs = list(unpacked(Input(local.path, name), left, documents=True))
        if left.refused:
            more = f" (and {len(left.refused) - 1} more)" if len(left.refused) > 1 else ""
            first = left.refused[0]
            inner = (first.file or "").removeprefix(local.path).lstrip("/")  # may be a copy of ours
            what = f"{inner}: {first.message}" if inner else first.message
            raise InputRefused(f"{what}{more}", file=self._wacz.place)
        self._look_inside(local, imported)
        room = most_unpacked_bytes(local.size)
        for place, path in inputs:
            if size_at(place) == 0:
                imported.empty.append(path)
                continue
            source = f"{self._wacz.place}{path.removeprefix(name)}"
            found = write_anew(
                lambda place=place, path=path, source=source: of._lander.publish(  # type: ignore[misc]
                    place,
                    archive_file(crawl, path),
                    of._collection,
                    self._reached,
                    source=source,
                    shows=False,
                ),
                source,
                on_retry=of._on_retry,
            )
            if isinstance(found, Published):
                self._published.append(found)
            else:
                imported.files.append(found)
            room -= found.result.size if isinstance(found, Published) else found.size
            if room < 0:
                raise InputRefused("what is in it is too large for its size", file=source)
            of._at("published one")

    def _look_inside(self, local: _Local, imported: Imported) -> None:
        if is_package_at(local.path):
            with package_at(local.path) as package:
                imported.has_archives = any(True for _ in package.archives())
                imported.is_described = DATAPACKAGE in package.members

    # How nothing of it stays

    def _take_back(self) -> None:
        """Take back what is in flight: no one has seen it, so nothing refers to it.

        An earlier attempt, which was killed, may have left files of what it found then.
        """
        of = self._of
        place = self._place
        crawl, name = (self._wacz if place is None else place).crawl, self._wacz.name
        name = name if place is None else place.name
        self._published = []
        act = Act(of._rows, of._archive, of._actor, of._actor.new_act(REMOVAL), at=of._at)
        remover = FileRemover(act)
        for entry in scan_entries_below(of._rows, f"{crawl}/{name}"):
            is_landing = entry.state is not None and entry.state.is_landing
            if (
                is_landing
                or entry.state is FileState.REFUSED
                or hidden_among(of._rows, [entry.archive_file])  # stored, and not shown yet
            ):
                remover.remove(act.claim(entry.archive_file))
        if place is not None:
            there = read_wacz_file(of._rows, of._collection, crawl, name)
            if there is not None and there.sha256 == self._sha256 and there.captures is None:
                put_wacz_file(of._rows, of._collection, crawl, name, None)
            forget_content(of._rows, of._collection, self._sha256)
        of._at("taken back")


def _captures_of(rows: RowStore, landed: Landed) -> int:
    if not landed.was_there:
        return landed.captures
    facts = read_entry(rows, landed.archive_file).facts
    return facts.captures if facts is not None else 0


def _identity(status: os.stat_result) -> tuple[int, ...]:
    """What changes with a file; its times, for who writes into it cannot set the second."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
