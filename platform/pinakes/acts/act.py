"""One act on the files of a collection, from its lease to its end.

    lease ─▶ noted as a run ─▶ of each file: claimed, cleared of dead writers, changed, released
          ─▶ state of the run ─▶ lease released

An act that dies, or is left, keeps its lease: the next of its verb resumes it, with its name and
time, and so writes the same cells.  Each step can be done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from pinakes.archive_store.anew import write_anew
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_records import possible_names, read_current, require_as_stored
from pinakes.catalog.file_rows import (
    FileEntry,
    Held,
    leave_claim,
    read_entry,
    release_claim,
    verb_of,
)
from pinakes.catalog.leftovers import require_nothing_more
from pinakes.catalog.run_rows import DONE, put_run, read_run, set_run_state
from pinakes.errors import ONE_FILE_ONLY, Conflict, DigestMismatch, PinakesError
from pinakes.hbase_schema.run_cells import RunFacts, RunState
from pinakes.row_store.port import RowStore

from .actor import (
    Actor,
    HeldLease,
    leave_lease,
    read_lease,
    release_lease,
    renew_lease,
    require_lease,
)
from .dead_writers import clear_dead_asides
from .generations import (
    Annotate,
    At,
    Check,
    Contents,
    MarksOf,
    Written,
    as_it_was,
    unwatched,
    write_generation,
)
from .moving import move_to_generation, publish_taken, take_back_generation

_RENEW_MS = 60_000


class Act:
    """An act on one pair of stores.  Not for several threads.

    As a context manager it ends the act: one that raises an error of ours, or that was `left`, is
    left unfinished; any other is done.
    """

    def __init__(
        self,
        rows: RowStore,
        archive: ArchiveStore,
        actor: Actor,
        name: str,
        *,
        lease: HeldLease | None = None,
        at: At = unwatched,
    ) -> None:
        """`lease` is None where another process holds it for the act, or it works without one."""
        self.rows = rows
        self.archive = archive
        self.actor = actor
        self.name = name
        self.at = at
        self._lease = lease
        self._renewed_ms = actor.now_ms()
        self._is_left = False
        self._state: str | None = None

    @classmethod
    def begin(
        cls,
        rows: RowStore,
        archive: ArchiveStore,
        actor: Actor,
        verb: str,
        collection: str,
        *,
        name: str | None = None,
        resumes: Callable[[str], bool] = lambda act: True,
        hint: Callable[[str], str] = lambda act: "",
        at: At = unwatched,
    ) -> Act:
        """Take a collection's lease for a new act of a verb, or for one of its own that died.

        `resumes(act)`: whether this would complete an unfinished one of the verb; `hint(act)` says
        how to complete another.  `name` is that of a new act; None: one is made.

        Raises:
            Conflict: an act of another verb works on the collection, or did not finish.
        """
        lease = read_lease(rows, collection)
        if lease is not None and lease.expires_ms:
            is_own = lease.act.startswith(f"{verb}-") and resumes(lease.act)
            if not is_own:
                raise Conflict(
                    f"{lease.act} is working on the collection {collection}, or did not finish: "
                    f"complete it first{hint(lease.act)}"
                )
        held = actor.lease(rows, collection, act=name or actor.new_act(verb))
        act = cls(rows, archive, actor, held.lease.act, lease=held, at=at)
        at("leased")
        return act

    @property
    def lease(self) -> HeldLease:
        """The lease of its collection; only where this process holds it."""
        if self._lease is None:
            raise ValueError("another process holds the lease")
        return self._lease

    @property
    def verb(self) -> str:
        """The verb whose act it is."""
        return verb_of(self.name)

    @property
    def collection(self) -> str:
        """What it works on."""
        return self.lease.collection

    @property
    def time_ms(self) -> int:
        """When it began, later than all acts before it: cells have this time."""
        return self.lease.lease.act_time_ms

    @property
    def is_resumed(self) -> bool:
        """Whether it goes on with an act of a process that died, or left it."""
        return self.lease.resumed

    # --- the run

    def note(self, *, software: str, arguments: tuple[str, ...] = ()) -> None:
        """Note it as a run: what it was asked for."""
        facts = RunFacts(
            verb=self.verb,
            act_time_ms=self.time_ms,
            software=software,
            arguments=arguments,
            collection=self.collection,
        )
        put_run(self.rows, self.name, facts)

    def noted(self) -> RunFacts | None:
        """What it was asked for, as noted; None if it was not."""
        return read_run(self.rows, self.name)

    # --- files

    def claim(self, archive_file: str) -> Held:
        """Claim a file; what dead writers wrote aside for it is deleted.

        Raises:
            Conflict: another act has it, or the lease is lost.
            DigestMismatch: as `clear_dead_asides`.
        """
        self.keep()
        after_ms = self.time_ms if self._lease is not None else 0
        held = self.actor.claim(self.rows, archive_file, act=self.name, after_ms=after_ms)
        return clear_dead_asides(self.rows, self.archive, held)

    @contextmanager
    def claimed(self, archive_file: str) -> Iterator[Held]:
        """Hold a file's claim, and release it; after an error that is not of this file alone it is
        left, so that the next act that claims it takes over what was begun."""
        held = self.claim(archive_file)
        try:
            yield held
        except ONE_FILE_ONLY:
            release_claim(self.rows, held)
            raise
        except PinakesError:
            leave_claim(self.rows, held)
            raise
        release_claim(self.rows, held)

    def wait_until_unpinned(self) -> None:
        """Return once no backup needs the bytes of the archive to stay."""
        self.actor.wait_until_unpinned(self.rows)

    def rewrite(
        self,
        held: Held,
        parts: Callable[[], tuple[Contents, Check]],
        *,
        annotate: Annotate = as_it_was,
        marks: MarksOf = lambda row: {},
        why: str | None = None,
        is_mended: bool = False,
        note: Callable[[], None] = lambda: None,
    ) -> Written:
        """Write the next generation of a file whose claim is held, and make it current.

        `parts` gives the contents and the check of one attempt: there are several where a server
        that takes part in writing is lost.  `why` is noted with the generation; None: the verb.
        `is_mended`: the old one may be damaged.  `note` is called when the new one is published,
        and readers see no change yet.  Raises as `write_generation` and `move_to_generation`.
        """
        entry = read_entry(self.rows, held.archive_file)
        self._require_nothing_later(held, entry)
        stored_sha256 = None if is_mended else read_current(self.rows, entry).sha256

        def write() -> Written:
            contents, check = parts()
            return write_generation(
                self.archive,
                self.archive,
                entry.current,
                contents,
                stored_sha256=stored_sha256,
                token=held.claim.token,
                check=check,
                annotate=annotate,
                require_spare=lambda name: require_nothing_more(
                    self.rows, self.archive, name, entry.stored_name, act=self.name
                ),
                at=self.at,
            )

        written = write_anew(write, held.archive_file)
        note()
        move_to_generation(
            self.rows, self.archive, held, written, why=why or self.verb, marks=marks, at=self.at
        )
        return written

    def take(
        self,
        held: Held,
        written: Written,
        *,
        folder: str,
        sidecar_sha256: str,
        marks: Callable[[], MarksOf] = lambda: lambda row: {},
    ) -> None:
        """Make current what a task has written in `folder` of the folder aside of this act.

        `marks` is asked when it is published, its sidecar too.

        Raises:
            Conflict: another act has moved the file.
            DigestMismatch: what it was written from is not what was stored; or as `publish_taken`.
        """
        entry = read_entry(self.rows, held.archive_file)
        self._require_nothing_later(held, entry)
        old = entry.current
        if (old.number + 1, old.name) != (written.generation, written.old_name):
            raise Conflict("another act has moved this file's records", file=held.archive_file)
        require_as_stored(old.name, written.old_sha256, read_current(self.rows, entry).sha256)
        publish_taken(
            self.rows,
            self.archive,
            written,
            token=self.name,
            folder=folder,
            sidecar_sha256=sidecar_sha256,
            at=self.at,
        )
        move_to_generation(
            self.rows, self.archive, held, written, why=self.verb, marks=marks(), at=self.at
        )

    def take_back(self, held: Held) -> None:
        """Delete what an act has left of a generation of a file that it did not make current.

        Raises DigestMismatch where that alone holds a record whole: the claim is left.
        """
        try:
            take_back_generation(self.rows, self.archive, held)
        except PinakesError:
            leave_claim(self.rows, held)
            raise

    def _require_nothing_later(self, held: Held, entry: FileEntry) -> None:
        """Raise DigestMismatch where a later generation of a file is there that no act which died
        can have left: the rows are older than the files."""
        if held.took_over or (self._lease is not None and self.is_resumed):
            return
        for name in possible_names(entry.archive_file, entry.generation + 1):
            if self.archive.size(name) is not None:
                raise DigestMismatch(
                    "a later generation than the catalogue knows is there, and stays: see "
                    "`pinakes fsck`; nothing of this file was changed",
                    file=name,
                )

    # --- the lease

    def keep(self) -> None:
        """Renew the lease where it is time, so that a long act is not taken for a dead one.

        Raises Conflict where it is not ours any more.
        """
        now_ms = self.actor.now_ms()
        if self._lease is not None and now_ms - self._renewed_ms > _RENEW_MS:
            self._renewed_ms = now_ms
            renew_lease(self.rows, self._lease, now_ms)

    def require(self) -> None:
        """Raise Conflict unless the lease is still ours."""
        require_lease(self.rows, self.lease)

    def leave(self) -> None:
        """Leave it unfinished at its end: the next of its verb goes on with it."""
        self._is_left = True

    def conclude(self, state: str) -> None:
        """Note this state of the run at its end, instead of `done`."""
        self._state = state

    def __enter__(self) -> Act:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None and not self._is_left:
            if self._state is not None or self.noted() is not None:
                set_run_state(self.rows, self.name, RunState(state=self._state or DONE))
                self.at("ended")
            release_lease(self.rows, self.lease)
            self.at("lease released")
        elif error is None or isinstance(error, PinakesError):
            leave_lease(self.rows, self.lease)
