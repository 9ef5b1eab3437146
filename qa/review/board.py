"""A run under review: its pairs, and their judgements.

Pairs are read once; judgements are in the store, where other processes may write them, and are
read again every few seconds, those of a pair that is opened at once.  A judgement is in the store
when `judge` returns.  Safe for several threads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pinakes.errors import InputRefused, PinakesError, StoreUnavailable
from pinakes.hbase_schema.qa_cells import SignOff
from pinakes.qa.run.run_folder import Extent
from pinakes.row_store.port import RowStore

from .judgement import Judgement, Role, Statement, clean_name, same_author
from .judgement_rows import (
    JudgedRow,
    SignOffState,
    StoredSignOff,
    put_judgement,
    put_signoff,
    read_judgements,
    read_signoffs,
    scan_judgements,
)
from .reviewed_pair import ReviewedPair
from .summary import ReviewProgress, Summary, progress, summarise
from .visible_pair import STATES, PairFilter, Viewer, VisiblePair, visible_pair

LOOK_AGAIN_S = 5.0


class Listed(NamedTuple):
    """A part of a list, the list's length, and why it may be stale (None: it is not).

    `held` has the number of pairs in each state, by its name, that match all else of the filter.
    """

    pairs: list[VisiblePair]
    total: int
    problem: str | None
    held: Mapping[str, int]


class PairHistory(NamedTuple):
    """A pair, and its judgements that the viewer may see, the oldest first."""

    seen: VisiblePair
    history: tuple[Judgement, ...]
    unreadable: int


@dataclass(frozen=True, slots=True)
class _Known:
    """Judgements as read: by row key; when; and how often they changed."""

    rows: dict[bytes, JudgedRow]
    at_s: float
    edition: int


class Board:
    """The pairs of one run.  `leads` are the names of reviewers who settle disputes.

    `extent` is how much of the sample these pairs are; None if unknown.
    `is_there` says whether the store is still in its place: an embedded store that was moved
    accepts writes, which the next process would not find.
    """

    def __init__(
        self,
        run: str,
        pairs: Sequence[ReviewedPair],
        rows: RowStore,
        *,
        leads: Collection[str] = (),
        extent: Extent | None = None,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        clock: Callable[[], float] = time.monotonic,
        is_there: Callable[[], bool] = lambda: True,
    ) -> None:
        self.run = run
        self.pairs = pairs
        self._by_id = {pair.id: pair for pair in pairs}
        self._rows = rows
        self._leads = frozenset(map(same_author, map(clean_name, leads)))
        self._extent = extent
        self._now_ms = now_ms
        self._clock = clock
        self._is_there = is_there
        self._lock = threading.Lock()
        self._known: _Known | None = None
        self._summary: tuple[int, Summary] | None = None

    def viewer(self, name: str | None) -> Viewer:
        """The viewer of that name.  `Raises` InputRefused for an invalid name."""
        if name is None:
            return Viewer()
        author = clean_name(name)
        is_lead = same_author(author) in self._leads
        return Viewer(author=author, role=Role.LEAD if is_lead else Role.REVIEWER)

    def may_sign(self, viewer: Viewer) -> bool:
        """Whether the viewer may sign: leads; if there are none, everybody with a name."""
        return viewer.author is not None and (viewer.role is Role.LEAD or not self._leads)

    def listed(self, viewer: Viewer, wanted: PairFilter, *, offset: int, limit: int) -> Listed:
        """The pairs that match a filter, in the viewer's order.

        Raises:
            StoreUnavailable: the store could not be read yet.
        """
        known, problem = self._look()
        seen = (visible_pair(pair, self._said(known, pair), viewer) for pair in self.pairs)
        rest = list(filter(replace(wanted, state="").matches, seen))
        fitting = sorted(filter(wanted.matches, rest), key=lambda pair: pair.order)
        held = {name: sum(map(is_in, rest)) for name, is_in in STATES.items()}
        return Listed(fitting[offset : offset + limit], len(fitting), problem, held)

    def look(self, id: str, viewer: Viewer) -> PairHistory | None:  # noqa: A002
        """The current state of a pair; None if unknown.  `Raises` StoreUnavailable."""
        pair = self._by_id.get(id)
        if pair is None:
            return None
        return self._history(pair, read_judgements(self._rows, pair.key), viewer)

    def judge(
        self,
        id: str,  # noqa: A002
        viewer: Viewer,
        judgement_id: str,
        statement: Statement,
    ) -> PairHistory | None:
        """Save a judgement; the pair's state after it, None if unknown.

        Raises:
            InputRefused: the viewer has no name.
            Conflict, StoreUnavailable: it is not saved, or that is unknown.
        """
        pair = self._by_id.get(id)
        if pair is None:
            return None
        if viewer.author is None:
            raise InputRefused("a judgement needs the reviewer's name")
        self._check_store()
        before = read_judgements(self._rows, pair.key)
        again = next((one for one in before.judgements if one.id == judgement_id), None)
        blind_to = (
            again.blind_to
            if again is not None
            else visible_pair(pair, before.judgements, viewer).blind_to
        )
        judgement = Judgement(
            id=judgement_id,
            author=viewer.author,
            statement=statement,
            at_ms=0,
            role=viewer.role,
            blind_to=blind_to,
        )
        put_judgement(self._rows, pair.key, judgement, now_ms=self._now_ms())
        after = read_judgements(self._rows, pair.key)
        if not any(one.id == judgement_id for one in after.judgements):
            raise StoreUnavailable("the judgement was written but cannot be read back")
        self._check_store()
        self._learn(after)
        return self._history(pair, after, viewer)

    def sign(self, viewer: Viewer, id: str, state: SignOffState, note: str) -> StoredSignOff:  # noqa: A002
        """Sign the run.  `Raises` as `judge`; InputRefused for a viewer who may not."""
        if viewer.author is None or not self.may_sign(viewer):
            raise InputRefused("only a lead may sign this run")
        self._check_store()
        summary, _ = self.summary()
        cell = SignOff(
            author=viewer.author,
            state=state.value,
            note=note or None,
            role=viewer.role.value,
            counts=summary.counts,
        )
        signed = put_signoff(self._rows, self.run, id, cell, now_ms=self._now_ms())
        self._check_store()
        return signed

    def signoffs(self) -> list[StoredSignOff]:
        """All sign-offs, the oldest first.  `Raises` StoreUnavailable."""
        return read_signoffs(self._rows, self.run)

    def summary(self) -> tuple[Summary, str | None]:
        """The figures, and why they may be stale.  Computed again after each judgement."""
        known, problem = self._look()
        made = self._summary
        if made is None or made[0] != known.edition:
            summary = summarise(self.pairs, self._judged(known), seed=self.run, extent=self._extent)
            self._summary = made = known.edition, summary
        return made[1], problem

    def progress(self) -> ReviewProgress:
        """How far the review is.  `Raises` StoreUnavailable."""
        known, _ = self._look()
        return progress(self.pairs, self._judged(known))

    def unreadable(self) -> int:
        """How many judgements cannot be read: written by another version, or damaged."""
        known, _ = self._look()
        return sum(row.unreadable for row in known.rows.values())

    def _history(self, pair: ReviewedPair, row: JudgedRow, viewer: Viewer) -> PairHistory:
        self._learn(row)
        seen = visible_pair(pair, row.judgements, viewer)
        me = same_author(viewer.author) if viewer.author is not None else None
        history = tuple(
            one for one in row.judgements if not seen.others_hidden or same_author(one.author) == me
        )
        return PairHistory(seen, history, row.unreadable)

    def _check_store(self) -> None:
        if not self._is_there():
            raise StoreUnavailable("the store was moved or removed: nothing can be saved")

    @staticmethod
    def _judged(known: _Known) -> dict[bytes, tuple[Judgement, ...]]:
        return {key: row.judgements for key, row in known.rows.items()}

    @staticmethod
    def _said(known: _Known, pair: ReviewedPair) -> tuple[Judgement, ...]:
        row = known.rows.get(pair.key)
        return row.judgements if row is not None else ()

    def _learn(self, row: JudgedRow) -> None:
        with self._lock:
            known = self._known
            if known is not None and known.rows.get(row.key, JudgedRow(row.key, ())) != row:
                rows = {**known.rows, row.key: row}
                self._known = _Known(rows, known.at_s, known.edition + 1)

    def _look(self) -> tuple[_Known, str | None]:
        with self._lock:
            known = self._known
            if known is not None and self._clock() - known.at_s < LOOK_AGAIN_S:
                return known, None
            try:
                rows = {row.key: row for row in scan_judgements(self._rows, self.run)}
            except PinakesError as error:
                if known is None:
                    raise
                return known, str(error)
            is_new = known is None or known.rows != rows
            edition = (known.edition if known is not None else 0) + is_new
            self._known = _Known(rows, self._clock(), edition)
            return self._known, None
