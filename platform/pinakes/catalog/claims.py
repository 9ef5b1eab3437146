"""Claims: who works on a file, or on a whole collection, and until when.

A claim is one cell, changed only by check-and-put.  A claim whose owner has died, or that has
expired, is taken over; an act that resumes the previous act keeps its name and time, so that
repeated writes go to the same cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from pinakes.errors import Busy
from pinakes.hbase_schema.act_times import next_act_time
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_cells import Claim
from pinakes.row_store.cells import decode_stored
from pinakes.row_store.port import RowStore, get_row

_ATTEMPTS = 3


class Claimant(NamedTuple):
    """Who claims, and when.

    `token` is that of this one claim.  `is_gone(owner)`: whether that owner has ended.
    """

    owner: str
    token: str
    now_ms: int
    is_gone: Callable[[str], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedCell:
    """The cell of a claim, and its duration; `what` and `file` are for messages."""

    table: str
    key: bytes
    cell: type[Claim]
    holds_ms: int
    what: str
    file: str | None = None

    def read(self, store: RowStore) -> Claim | None:
        """The claim as stored, released or not; None if there never was one."""
        return self._decoded(self._value(store))

    def _decoded(self, value: bytes | None) -> Claim | None:
        if value is None:
            return None
        return decode_stored(self.cell, self.table, self.key, self.cell.COLUMN, value)

    def _value(self, store: RowStore) -> bytes | None:
        row = get_row(store, self.table, self.key, columns=[self.cell.COLUMN])
        return row.value(self.cell.COLUMN) if row is not None else None

    def take(
        self,
        store: RowStore,
        by: Claimant,
        *,
        act: str,
        goes_on: Callable[[str], bool],
        after_ms: int = 0,
    ) -> tuple[Claim, bool]:
        """Take the claim for an act later than `after_ms`.

        Also return whether it resumes an unfinished act; `goes_on(last)` says whether the act
        would complete an unfinished one of that name.

        Raises:
            Busy: another process holds the claim.
        """
        expires_ms = by.now_ms + self.holds_ms
        for _ in range(_ATTEMPTS):
            value = self._value(store)
            last = self._decoded(value)
            unfinished = last is not None and last.expires_ms != 0
            if last is not None and unfinished:
                self._require_gone(last, by)
            resumed = last is not None and unfinished and goes_on(last.act)
            dead = (*last.dead, last.token) if last is not None and unfinished else ()
            if last is not None and resumed:
                claim = replace(
                    last, owner=by.owner, token=by.token, expires_ms=expires_ms, dead=dead
                )
            else:
                earlier = after_ms if last is None else max(after_ms, last.act_time_ms)
                claim = self.cell(
                    owner=by.owner,
                    token=by.token,
                    act=act,
                    act_time_ms=next_act_time(by.now_ms, earlier),
                    expires_ms=expires_ms,
                    dead=dead,
                )
            # The token stored shows who has it, even if the answer was lost.
            if self._put(store, value, claim) or self.is_held(store, by.token):
                return claim, resumed
        raise Busy(f"another process is just claiming {self.what}; try again", file=self.file)

    def _require_gone(self, last: Claim, by: Claimant) -> None:
        if last.owner != by.owner and last.expires_ms > by.now_ms and not by.is_gone(last.owner):
            raise Busy(
                f"{last.owner} is working on {self.what} ({last.act}): wait, and run this again",
                file=self.file,
            )

    def _put(self, store: RowStore, expected: bytes | None, claim: Claim) -> bool:
        column, value = self.cell.COLUMN, encode_cell(claim)
        return store.check_and_put(self.table, self.key, column, expected=expected, value=value)

    def is_held(self, store: RowStore, token: str) -> bool:
        """Whether the claim is the one that was taken with this token."""
        claim = self.read(store)
        return claim is not None and claim.token == token

    def require(self, store: RowStore, token: str) -> None:
        """Raise Busy unless the claim is still ours: it may have expired and been taken over."""
        if not self.is_held(store, token):
            raise self._lost()

    def renew(self, store: RowStore, claim: Claim, *, expires_ms: int) -> Claim:
        """Set a new expiry for our claim; 0 releases it.

        Its act time is kept: the next act must be later.  Raises Busy if it is not ours.
        """
        value = self._value(store)
        now = self._decoded(value)
        renewed = replace(claim, expires_ms=expires_ms)
        if now is None or now.token != claim.token or not self._put(store, value, renewed):
            raise self._lost()
        return renewed

    def _lost(self) -> Busy:
        return Busy(f"another process has taken over {self.what}", file=self.file)
