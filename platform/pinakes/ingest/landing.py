"""Landing one archive file: rows first, then the file, then both visible.

    claim, in flight ─▶ one pass: rows, copy, checksum ─▶ compared ─▶ published ─▶ stored
    └───────────────────────── publish ─────────────────────────────┘ └─── finish ──┘

The file's captures stay hidden (`inflight`) until its state is `stored`.  A landing that dies at
any point is completed by the next landing of the same file, which takes over its act and act
time and so writes the same cells; `fsck` completes those that are not run again.  A file whose
rows will be loaded later is `loading`, which fsck never completes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pinakes.acts.actor import Actor
from pinakes.acts.dead_writers import clear_dead_asides
from pinakes.acts.generations import COPY, SIDECAR, aside_token, publish_pair
from pinakes.archive_store.located import declared_at, file_at, open_place, wrong_documents_at
from pinakes.archive_store.names import check_file_name
from pinakes.archive_store.port import ArchiveStore, AsideFile
from pinakes.catalog.crawl_rows import require_open
from pinakes.catalog.file_counts import put_landed_counts
from pinakes.catalog.file_records import read_generations
from pinakes.catalog.file_rows import (
    LEASE_MS,
    FileEntry,
    Held,
    read_entry,
    release_claim,
    renew_claim,
    require_claim,
    set_inflight,
    set_state,
    show_together,
)
from pinakes.catalog.row_deletion import delete_rows, rows_of_records
from pinakes.catalog.sidecar import read_sidecar, sidecar_name
from pinakes.catalog.stored_bytes import how_bytes_differ
from pinakes.catalog.withdrawals import BytesWithdrawn, require_not_withdrawn
from pinakes.errors import Conflict, DigestMismatch, InputRefused
from pinakes.hbase_schema.file_cells import FileFacts
from pinakes.hbase_schema.file_states import FileState
from pinakes.hbase_schema.name_keys import crawl_of
from pinakes.row_store.port import RowStore
from pinakes.warc.compression.members import why_unread
from pinakes.warc.file_names import was_archive_name
from pinakes.warc.packages.datapackage import DATAPACKAGE, WRONG_SHA256, why_not_that_of
from pinakes.warc.packages.package import WRONG_CRC32
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.source import Source

from .copying import CopyingFile, Writers, check_same_file, direct_writer
from .landed import Landed, write_facts, write_rows
from .row_sink import RowSinks, stored_rows

VERB = "ingest"
_GOING = (FileState.LEAVING, FileState.LEFT, FileState.REMOVED)
Reached = Callable[[int], None]


def _unwatched(position: int) -> None:
    """No one wants to know how far a file is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """A file published in the archive store, still in flight; its claim is held.

    `rows_stored` is False if its rows must be loaded before it is finished.  `is_stored`: an act
    that died had finished it, but for showing it and releasing the claim.
    """

    held: Held
    result: Landed
    rows_stored: bool
    is_stored: bool = False


class Lander:
    """Lands files into one pair of stores.  Not for several threads."""

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        actor: Actor,
        *,
        sinks: RowSinks | None = None,
        writers: Writers = direct_writer,
        accepts_damaged: bool = False,
        at: Callable[[str], None] = lambda step: None,
    ) -> None:
        """`accepts_damaged`: also members of packages that none of their checksums fits.

        `sinks` take the captures' rows instead of the row store itself, and `writers` the
        copy instead of the archive store's file (see `overlapped`).

        `at` is called after each step, with its name: tests end the process there.
        """
        self._rows = rows
        self._sinks = sinks or stored_rows(rows)
        self._archive = archive
        self._writers = writers
        self._actor = actor
        self._accepts_damaged = accepts_damaged
        self._at = at

    def land(
        self, place: str, archive_file: str, collection: str, reached: Reached = _unwatched
    ) -> Landed:
        """Land one file of an existing crawl.  Raises as `publish` does."""
        published = self.publish(place, archive_file, collection, reached)
        return published if isinstance(published, Landed) else self.finish(published)

    def publish(
        self,
        place: str,
        archive_file: str,
        collection: str,
        reached: Reached = _unwatched,
        *,
        source: str | None = None,
        shows: bool = True,
    ) -> Published | Landed:
        """Land the file at a path or URL, except for showing it; its facts if it was there.

        One that an act had finished before it died is shown at once; not so if `shows` is false.

        `finish` shows it once its rows are in the row store.  Until then the caller keeps the
        claim (`renew`); a dropped file is taken over by the next landing of it, or withdrawn
        by fsck.  `reached` is called often, with how far the file has been read.  `source` is
        noted as where it is from, if what is at `place` is a copy.

        Raises:
            InputRefused: other bytes are known by this name; the store refuses the name;
                records of these very bytes were withdrawn; or the file is not a regular
                file, is empty, changes, or is an unsupported container.
            Busy: another process is landing it.
            Conflict: the crawl is not open.
            StoreUnavailable: a store cannot be reached or is full.
            DigestMismatch: the stored bytes are not the bytes read; it has landed, and its
                stored file is missing.
        """
        check_input(place, archive_file)
        entry = read_entry(self._rows, archive_file)
        if _is_finished(entry):
            return self._compare_known(place, entry, reached)
        if entry.state is None and not entry.is_in_flight and entry.facts is not None:
            # Its state is lost; what it was still holds.
            _require_known(place, entry, reached)
        held = self._actor.claim(self._rows, archive_file, act=self._actor.new_act(VERB))
        held = clear_dead_asides(self._rows, self._archive, held)
        self._at("claimed")
        # Another process may have finished it before our claim, or died after `stored`.
        entry = read_entry(self._rows, archive_file)
        if entry.state is FileState.STORED:
            if shows:
                self._show([held])
            landed = self._compare_known(place, entry, self._keeping(held, reached))
            if shows:
                return landed
            return Published(held=held, result=landed, rows_stored=True, is_stored=True)
        try:
            require_open(self._rows, crawl_of(archive_file))
        except Conflict:
            release_claim(self._rows, held)
            raise
        try:
            return self._publish_claimed(
                place, held, collection, entry.state, reached, source or place
            )
        except BytesWithdrawn:
            self._end_without_trace(held)
            raise
        except (InputRefused, DigestMismatch):
            self._withdraw(held)
            raise

    def _compare_known(self, place: str, entry: FileEntry, reached: Reached) -> Landed:
        facts = _require_known(place, entry, reached)
        stored = read_generations(self._rows, entry.archive_file).get(entry.generation)
        why = how_bytes_differ(self._archive, entry.stored_name, stored)
        if why is not None:
            raise DigestMismatch(
                f"it has landed, and the stored file is not as it was stored ({why}): keep this "
                "copy, and see `pinakes fsck`",
                file=entry.stored_name,
            )
        return Landed(entry.archive_file, size=facts.size, sha256=facts.sha256, was_there=True)

    def _publish_claimed(
        self,
        place: str,
        held: Held,
        collection: str,
        state: FileState | None,
        reached: Reached,
        source_place: str,
    ) -> Published:
        set_inflight(self._rows, held, FileState.LANDING)
        # Else it is of a landing that died, and its rows are not loaded yet.
        if state is not FileState.LOADING:
            set_state(self._rows, held, state, FileState.LANDING)
            state = FileState.LANDING
        self._at("in flight")
        result = Landed(held.archive_file)
        token = held.claim.token
        with (
            file_at(place) as file,
            self._archive.create_aside(aside_token(token, COPY)) as copy,
            self._archive.create_aside(aside_token(token, SIDECAR)) as sidecar,
            self._writers(copy.file) as writer,
            self._sinks(held) as sink,
        ):
            copying = CopyingFile(file, writer, self._keeping(held, reached))
            source = Source(copying, name=place)
            write_rows(
                sink,
                source,
                sidecar.file,
                held=held,
                collection=collection,
                result=result,
                sha256=copying.finish,
            )
            rows_stored = sink.finish()
            following = FileState.LANDING if rows_stored else FileState.LOADING
            if state is not following:
                set_state(self._rows, held, state, following)
            self._at("rows")
            result.sha256 = copying.finish()
            result.size = copying.copied_bytes
            source.check_unchanged()
            check_same_file(place, copying)
            _note_declared(place, copying, result, accepts_damaged=self._accepts_damaged)
            held = renew_claim(self._rows, held, self._actor.now_ms())
            if copy.crc32() != copying.crc32:
                raise DigestMismatch(
                    "what was stored is not what was read: check the disk", file=held.archive_file
                )
            self._at("copied")
            try:
                require_not_withdrawn(self._rows, result.sha256, place)
            except BytesWithdrawn:
                self._delete_rows(held, sidecar, collection)
                raise
            write_facts(self._rows, source_place, held=held, collection=collection, result=result)
            self._at("facts")
            require_claim(self._rows, held)
            name = held.archive_file
            if not publish_pair(
                self._archive, copy, sidecar, name, sha256=result.sha256, at=self._at
            ):
                raise InputRefused(
                    "the store has another file of this name, which is not in the catalogue: "
                    "`pinakes fsck` describes it",
                    file=name,
                )
        return Published(held=held, result=result, rows_stored=rows_stored)

    def _keeping(self, held: Held, reached: Reached) -> Reached:
        """`reached`, which also renews the claim a few times in each term."""
        term_ms = LEASE_MS // 4
        due_ms = self._actor.now_ms() + term_ms

        def beat(position: int) -> None:
            nonlocal due_ms
            reached(position)
            now_ms = self._actor.now_ms()
            if now_ms >= due_ms:
                renew_claim(self._rows, held, now_ms)
                due_ms = now_ms + term_ms

        return beat

    def renew(self, published: Published) -> Published:
        """Extend the claim by `LEASE_MS`, some minutes.

        Raises:
            Conflict: another process has taken it over, and lands the file again.
        """
        held = renew_claim(self._rows, published.held, self._actor.now_ms())
        return replace(published, held=held)

    def finish(self, published: Published) -> Landed:
        """Count and show a published file, all of whose rows are in the row store.

        Raises:
            Conflict: another process has taken it over.
        """
        return self.finish_together([published])[0]

    def finish_together(self, several: Sequence[Published]) -> list[Landed]:
        """The same of several, which are shown at once: before that, none of them is.

        At once is one write of the row store: on HBase, one call.
        """
        held = [self._store(published).held for published in several]
        self._show(held)
        return [published.result for published in several]

    def _store(self, published: Published) -> Published:
        if not published.rows_stored:
            published = self.renew(published)
        held, result = published.held, published.result
        claim, name = held.claim, held.archive_file
        if not published.is_stored:
            put_landed_counts(
                self._rows, name, result, act=claim.act, act_time_ms=claim.act_time_ms
            )
            was = FileState.LANDING if published.rows_stored else FileState.LOADING
            set_state(self._rows, held, was, FileState.STORED, generation=1)
            self._at("stored")
        return published

    def _show(self, several: Sequence[Held]) -> None:
        show_together(self._rows, several)
        self._at("visible")
        for held in several:
            release_claim(self._rows, held)

    def _delete_rows(self, held: Held, sidecar: AsideFile, collection: str) -> None:
        sidecar.checksum()
        with sidecar.open() as file:
            rows = rows_of_records(read_sidecar(file), held.archive_file, collection)
            times = {held.archive_file: held.claim.act_time_ms}
            delete_rows(self._rows, rows, times)
        self._at("rows deleted")

    def _end_without_trace(self, held: Held) -> None:
        """End a refused landing whose rows are deleted."""
        for was, state in pairwise((FileState.LANDING, *_GOING)):
            set_state(self._rows, held, was, state)
        self._show([held])

    def _withdraw(self, held: Held) -> None:
        """Undo a refused landing as far as readers see it; fsck deletes its rows."""
        try:
            set_state(self._rows, held, FileState.LANDING, FileState.REFUSED)
            release_claim(self._rows, held)
        except Conflict:
            return


def check_input(place: str, archive_file: str) -> None:
    """Raise InputRefused for what no store would let land: by name, or since it cannot be read,
    is empty, an unsupported container, or neither by name nor by content an archive file.
    `Raises` StoreUnavailable, too."""
    check_file_name(archive_file)
    check_file_name(sidecar_name(archive_file))  # which is longer
    with open_place(place) as probe:
        if not probe.size:
            raise InputRefused("the file is empty", file=place)
        reason = why_unread(bytes(probe.view(0, 4)))
        if reason:
            raise InputRefused(reason, file=place)
        if not (was_archive_name(archive_file) or _has_record(probe)):
            raise InputRefused("is no archive file: no record is in it", file=place)


def _has_record(source: Source) -> bool:
    return any(isinstance(item, Record) for item in iter_records(source, digests=()))


def _note_declared(
    place: str, copying: CopyingFile, result: Landed, *, accepts_damaged: bool
) -> None:
    """Note where a package says of this member what it is not.

    One of two checksums is no reason to refuse it: js-wacz 0.1.6 declares another SHA-256 of what
    it wrote.

    Raises:
        DigestMismatch: neither the CRC-32 nor the SHA-256 is that of its bytes.
    """
    declared = declared_at(place)
    if declared is None:
        documents = list(wrong_documents_at(place))
        for name, why in documents:
            result.note(0, "package-digest", f"{name}: {why}")
        twice = {name for name, why in documents if why == WRONG_CRC32}
        twice &= {name for name, why in documents if why == WRONG_SHA256}
        if twice and not accepts_damaged:
            raise _damaged_member(place, f"{min(twice)}: ")
        return
    if declared.crc32 != copying.crc32:
        result.note(0, "package-digest", WRONG_CRC32)
    if not declared.is_readable:
        what = f"the {DATAPACKAGE} cannot be read, so no SHA-256 was compared"
        result.note(0, "package-digest", what)
    wrong = why_not_that_of(declared.sha256, result.sha256)
    if wrong is not None:
        result.note(0, "package-digest", wrong)
    if wrong == WRONG_SHA256 and declared.crc32 != copying.crc32 and not accepts_damaged:
        raise _damaged_member(place)


def _damaged_member(place: str, what: str = "") -> DigestMismatch:
    return DigestMismatch(
        f"{what}damaged: neither the CRC-32 of the ZIP file nor the SHA-256 in {DATAPACKAGE} is "
        "that of its bytes (--accept-damaged lands it as it is)",
        file=place,
    )


def _require_known(place: str, entry: FileEntry, reached: Reached) -> FileFacts:
    """Raise InputRefused where the file at a place has other bytes than one that is known."""
    facts = entry.facts
    with open_place(place) as source:
        source.watch(reached)
        sha256, size = source.sha256(), source.size
    if facts is None or (size, sha256) != (facts.size, facts.sha256):
        raise InputRefused(
            f"other bytes are known as {entry.archive_file}: give the file another name, "
            "or land it in another crawl",
            file=place,
        )
    return facts


def _is_finished(entry: FileEntry) -> bool:
    """Whether a file has landed, and its landing has run to its end."""
    return entry.state is FileState.STORED and not entry.is_claimed_by(VERB)
