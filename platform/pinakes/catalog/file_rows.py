"""Archive files in the catalogue: facts, state, and claims.

Facts (`f`) are written with their act's time; present values (`l`) by check-and-put.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pinakes.hbase_schema.cells import C, encode_cell
from pinakes.hbase_schema.columns import column_suffix
from pinakes.hbase_schema.file_cells import (
    Claim,
    CurrentGeneration,
    FileFacts,
    FileStateCell,
    FirstDecision,
    GenerationFacts,
    InFlight,
    ReferencesKept,
)
from pinakes.hbase_schema.file_states import FileState, require_next
from pinakes.hbase_schema.generation_names import Generation
from pinakes.hbase_schema.name_keys import decode_file_key, encode_file_key, files_of
from pinakes.hbase_schema.ranges import KeyRange, prefix_range
from pinakes.hbase_schema.withdrawal_cells import WithdrawingRecords
from pinakes.row_store.cells import decode_stored, read_cell
from pinakes.row_store.port import Delete, Put, Row, RowStore, get_row

from .claims import Claimant, ClaimedCell

TABLE = "files"
INFLIGHT = "inflight"
LEASE_MS = 600_000
_FEW_FILES = 250
_FEW_NAMES = 50
_COLUMNS = (FileFacts.COLUMN, FirstDecision.COLUMN, ReferencesKept.COLUMN, b"l")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileEntry:
    """An archive file as the catalogue knows it; None for unknown values.

    `ending` is that of the current generation, where it landed with another (`generation_names`).
    `state_act` is the act that set its state.  `decided` is None until a dedupe run has
    decided on the file as it has landed now.  `withdrawing` are the ordinals of records that are
    withdrawn, and may still be there.  `references_kept`: its crawlers' revisits are found by what
    they refer to.
    """

    archive_file: str
    facts: FileFacts | None
    state: FileState | None
    generation: int
    claim: Claim | None
    decided: FirstDecision | None = None
    state_act: str | None = None
    withdrawing: frozenset[int] = frozenset()
    references_kept: bool = False
    ending: str | None = None

    @property
    def current(self) -> Generation:
        """Its current generation."""
        return Generation(self.archive_file, self.generation, self.ending)

    @property
    def stored_name(self) -> str:
        """The stored file of its current generation."""
        return self.current.name

    @property
    def unfinished_act(self) -> str | None:
        """The act that has claimed it and not released it; its process may have ended."""
        return self.claim.act if self.claim is not None and self.claim.expires_ms else None

    def is_claimed_by(self, verb: str) -> bool:
        """Whether its unfinished act is one of this verb."""
        return verb_of(self.unfinished_act or "") == verb

    @property
    def is_in_flight(self) -> bool:
        """Whether an act lands it or takes it out, or died while it did."""
        if self.state is None:
            return self.unfinished_act is not None
        return self.state.is_landing or self.state.is_leaving

    @property
    def holds_unkept_revisits(self) -> bool:
        """Whether it landed with revisits, and only its sidecar says what they refer to."""
        return (
            not self.references_kept and self.facts is not None and "revisit" in self.facts.records
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A claim that was taken: its cell, and whether it resumes an act.

    `took_over`: an act that died, or left it, had it before.
    """

    archive_file: str
    claim: Claim
    resumed: bool
    took_over: bool = False


def read_entry(store: RowStore, archive_file: str) -> FileEntry:
    """A file as the catalogue knows it.  One round trip."""
    row = get_row(store, TABLE, encode_file_key(archive_file), columns=_COLUMNS)
    return _entry(archive_file, row)


def read_entries(store: RowStore, archive_files: Sequence[str]) -> dict[str, FileEntry]:
    """These files as the catalogue knows them.  One round trip."""
    keys = {encode_file_key(name): name for name in archive_files}
    rows = store.get_rows(TABLE, list(keys), columns=_COLUMNS)
    return {name: _entry(name, rows.get(key)) for key, name in keys.items()}


def scan_entries(
    store: RowStore,
    crawl: str | None = None,
    *,
    folder: str = "",
    leave_out: Container[str] = (),
) -> Iterator[FileEntry]:
    """Yield the files of a crawl (or of a folder in it), or all, sorted by name; but for those to
    be left out."""
    key_range = files_of(crawl, folder) if crawl is not None else KeyRange()
    for row in store.scan(TABLE, key_range, columns=_COLUMNS):
        name = decode_file_key(row.key)
        if name not in leave_out:
            yield _entry(name, row)


def scan_entries_below(store: RowStore, name: str) -> Iterator[FileEntry]:
    """Yield the file of this name, and those whose names have it for a folder."""
    for row in store.scan(TABLE, prefix_range(encode_file_key(name)), columns=_COLUMNS):
        found = decode_file_key(row.key)
        if found == name or found.startswith(f"{name}/"):
            yield _entry(found, row)


def scan_file_rows(store: RowStore, crawl: str) -> Iterator[Row]:
    """The rows of a crawl's files, for `entry_of`, `generations_of` and `holdings_of_file`."""
    return store.scan(TABLE, files_of(crawl), columns=[b"f", b"l"])


def entry_of(row: Row) -> FileEntry:
    """The file of a row of `files`, of which columns `f` and `l` were read."""
    return _entry(decode_file_key(row.key), row)


def generations_of(row: Row) -> dict[int, GenerationFacts]:
    """Every generation of a file ever written, by number, from its row of `files`."""
    return {
        int(column_suffix(column)): decode_stored(
            GenerationFacts, TABLE, row.key, column, cell.value
        )
        for column, cell in row.cells.items()
        if column.startswith(GenerationFacts.COLUMN)
    }


def _entry(archive_file: str, row: Row | None) -> FileEntry:
    def read(cls: type[C]) -> C | None:
        return read_cell(cls, TABLE, row)

    state, generation = read(FileStateCell), read(CurrentGeneration)
    facts, decided = read(FileFacts), read(FirstDecision)
    is_stored = state is not None and state.state == FileState.STORED.value
    has_lost = is_stored and (generation is None or facts is None)
    is_of_this_landing = facts is not None and decided and decided.landing == facts.act
    kept = read(ReferencesKept)
    return FileEntry(
        archive_file=archive_file,
        facts=facts,
        # One that has lost what it was, or which generation is current, is not known.
        state=FileState(state.state) if state is not None and not has_lost else None,
        generation=generation.generation if generation is not None else 1,
        ending=generation.ending if generation is not None else None,
        claim=read(Claim),
        decided=decided if is_of_this_landing else None,
        state_act=state.act if state is not None else None,
        withdrawing=withdrawing_in(row, facts),
        references_kept=facts is not None and kept is not None and kept.landing == facts.act,
    )


def withdrawing_in(row: Row | None, facts: FileFacts | None) -> frozenset[int]:
    """The ordinals of records that are withdrawn, and may still be there; by the file's row."""
    cell = read_cell(WithdrawingRecords, TABLE, row)
    if cell is None or facts is None:
        return frozenset()
    ranges = (part.partition("-") for part in cell.records.split())
    found = (at for start, _, end in ranges for at in range(int(start), int(end or start) + 1))
    return frozenset(found) if cell.landing == facts.act else frozenset()


def set_withdrawing(store: RowStore, held: Held, facts: FileFacts, ordinals: Iterable[int]) -> None:
    """Note records that are withdrawn, and may still be there; none: they are gone."""
    key = encode_file_key(held.archive_file)
    column = WithdrawingRecords.COLUMN
    records = " ".join(_ranges(sorted(ordinals)))
    if not records:
        store.mutate(TABLE, [Delete(key, None, columns=(column,))])
        return
    cell = WithdrawingRecords(act=held.claim.act, landing=facts.act, records=records)
    store.mutate(TABLE, [Put(key, {column: encode_cell(cell)}, None)])


def _ranges(ordinals: Sequence[int]) -> Iterator[str]:
    for _, run in groupby(enumerate(ordinals), key=lambda numbered: numbered[1] - numbered[0]):
        (_, first), *more = run
        yield f"{first}-{more[-1][1]}" if more else f"{first}"


def put_first_decisions(
    store: RowStore, entries: Iterable[FileEntry], *, run: str, act_time_ms: int
) -> None:
    """Record this run as the first to decide on each file that no run has decided on."""
    puts = []
    for entry in entries:
        if entry.facts is not None and entry.decided is None:
            cell = FirstDecision(run=run, run_time_ms=act_time_ms, landing=entry.facts.act)
            cells = {FirstDecision.COLUMN: encode_cell(cell)}
            puts.append(Put(encode_file_key(entry.archive_file), cells, act_time_ms))
    store.mutate(TABLE, puts)


def put_references_kept(store: RowStore, held: Held, facts: FileFacts) -> None:
    """Note that all revisits of a file have rows by what they refer to."""
    cells = {ReferencesKept.COLUMN: encode_cell(ReferencesKept(landing=facts.act))}
    key = encode_file_key(held.archive_file)
    store.mutate(TABLE, [Put(key, cells, held.claim.act_time_ms)])


def take_claim(
    store: RowStore,
    archive_file: str,
    by: Claimant,
    *,
    act: str,
    after_ms: int = 0,
) -> Held:
    """Claim a file for an act, whose time is later than `after_ms`.

    A claim whose owner has died, or that has expired, is taken over; an act of the same verb
    resumes its act and act time, so that repeated writes go to the same cells.  An act of
    another verb does not resume it, and is later than it.

    Raises:
        Conflict: another process has it.
    """
    claim, resumed = _cell_of(archive_file).take(
        store,
        by,
        act=act,
        goes_on=lambda last: verb_of(last) == verb_of(act),
        after_ms=after_ms,
    )
    took_over = resumed or bool(claim.dead)
    return Held(archive_file=archive_file, claim=claim, resumed=resumed, took_over=took_over)


def _cell_of(archive_file: str) -> ClaimedCell:
    return ClaimedCell(
        table=TABLE,
        key=encode_file_key(archive_file),
        cell=Claim,
        holds_ms=LEASE_MS,
        what="it",
        file=archive_file,
    )


def verb_of(act: str) -> str:
    """The verb whose act it is."""
    return act.partition("-")[0]


def require_claim(store: RowStore, held: Held) -> None:
    """Raise Conflict unless the claim is still ours: it may have expired and been taken over."""
    _cell_of(held.archive_file).require(store, held.claim.token)


def renew_claim(store: RowStore, held: Held, now_ms: int) -> Held:
    """Extend the claim; Raises Conflict as `require_claim` does."""
    cell = _cell_of(held.archive_file)
    return replace(held, claim=cell.renew(store, held.claim, expires_ms=now_ms + LEASE_MS))


def leave_claim(store: RowStore, held: Held) -> None:
    """Leave what was begun of the file unfinished: the next process to claim it takes it over."""
    _cell_of(held.archive_file).renew(store, held.claim, expires_ms=1)


def release_claim(store: RowStore, held: Held) -> None:
    """Release the claim; its act time is kept, because the next act must be later."""
    _cell_of(held.archive_file).renew(store, held.claim, expires_ms=0)


def set_state(
    store: RowStore,
    held: Held,
    was: FileState | None,
    state: FileState,
    *,
    generation: int | None = None,
    ending: str | None = None,
) -> None:
    """Change the file's state from `was` to `state`, and set a current generation, if given.

    Raises:
        Conflict: `state` may not follow `was`.
    """
    require_next(was, state)
    act = held.claim.act
    cells = {FileStateCell.COLUMN: encode_cell(FileStateCell(state=state.value, act=act))}
    if generation is not None:
        current = CurrentGeneration(generation=generation, act=act, ending=ending)
        cells[CurrentGeneration.COLUMN] = encode_cell(current)
    store.mutate(TABLE, [Put(encode_file_key(held.archive_file), cells, None)])


def set_inflight(store: RowStore, held: Held, direction: str | None) -> None:
    """Hide the file's captures while it lands or leaves; None shows them again."""
    key = encode_file_key(held.archive_file)
    if direction is None:
        show_together(store, [held])
        return
    cell = InFlight(act=held.claim.act, direction=direction)
    store.mutate(INFLIGHT, [Put(key, {InFlight.COLUMN: encode_cell(cell)}, None)])


def show_together(store: RowStore, several: Iterable[Held]) -> None:
    """Show the captures of several files in one write."""
    store.mutate(INFLIGHT, [Delete(encode_file_key(held.archive_file), None) for held in several])


def scan_inflight(store: RowStore) -> set[str]:
    """The files whose captures are hidden from readers."""
    return {decode_file_key(row.key) for row in store.scan(INFLIGHT)}


def hidden_among(store: RowStore, archive_files: Collection[str]) -> set[str]:
    """Those of these files that are in flight.  One round trip for few, up to three for many.

    However many are in flight, only a few of them and the files given are read.
    """
    if len(archive_files) > _FEW_NAMES:
        some = list(store.scan(INFLIGHT, limit_rows=_FEW_FILES))
        if len(some) < _FEW_FILES:
            return {decode_file_key(row.key) for row in some}.intersection(archive_files)
    keys = {encode_file_key(name): name for name in archive_files}
    return {keys[key] for key in store.get_rows(INFLIGHT, list(keys))}
