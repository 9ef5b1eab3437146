"""Claims on files and leases of collections keep the same rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pinakes.acts.actor import LEASE_MS as LONG_LEASE_MS
from pinakes.acts.actor import (
    HeldLease,
    release_lease,
    renew_lease,
    require_lease,
    take_lease,
)
from pinakes.catalog.claims import Claimant
from pinakes.catalog.file_rows import (
    LEASE_MS,
    Held,
    release_claim,
    renew_claim,
    require_claim,
    take_claim,
)
from pinakes.errors import Conflict
from pinakes.hbase_schema.file_cells import Claim
from pinakes.hbase_schema.tables import declared_schema
from pinakes.row_store.sqlite.admin import EmbeddedSchemaAdmin
from pinakes.row_store.sqlite.store import EmbeddedRowStore

NOW = 1_700_000_000_000
Taken = Held | HeldLease


class Kind:
    """One of the two, by the same names."""

    def __init__(self, rows: EmbeddedRowStore, kind: str) -> None:
        self.rows = rows
        of_file = kind == "file"
        self.holds_ms = LEASE_MS if of_file else LONG_LEASE_MS
        self._name = "crawl/a.warc.gz" if of_file else "news"
        self._take: Callable[..., Any] = take_claim if of_file else take_lease
        self.require: Callable[..., Any] = require_claim if of_file else require_lease
        self.renew: Callable[..., Any] = renew_claim if of_file else renew_lease
        self.release: Callable[..., Any] = release_claim if of_file else release_lease

    def take(
        self, owner: str, *, act: str = "dedupe-1", now_ms: int = NOW, gone: tuple[str, ...] = ()
    ) -> Taken:
        return self._take(  # type: ignore[no-any-return]
            self.rows,
            self._name,
            Claimant(owner, f"{owner} {now_ms}", now_ms, lambda name: name in gone),
            act=act,
        )


def claim_of(taken: Taken) -> Claim:
    return taken.claim if isinstance(taken, Held) else taken.lease


@pytest.fixture(params=["file", "collection"])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kind]:
    EmbeddedSchemaAdmin(tmp_path / "rows.sqlite").apply(declared_schema())
    rows = EmbeddedRowStore(tmp_path / "rows.sqlite")
    yield Kind(rows, request.param)
    rows.close()


def test_one_at_a_time(kind: Kind) -> None:
    first = kind.take("a")
    with pytest.raises(Conflict, match="a is working on"):
        kind.take("b")
    kind.require(kind.rows, first)
    kind.release(kind.rows, first)
    second = kind.take("b", act="dedupe-2")
    assert not second.resumed
    assert claim_of(second).act == "dedupe-2"
    assert claim_of(second).act_time_ms > claim_of(first).act_time_ms


@pytest.mark.parametrize("how", ["gone", "run out", "its own"])
def test_an_unfinished_act_is_gone_on_with(kind: Kind, how: str) -> None:
    first = kind.take("a")
    late = NOW + kind.holds_ms if how == "run out" else NOW + 1
    second = kind.take(
        "a" if how == "its own" else "b",
        act="dedupe-2",
        now_ms=late,
        gone=("a",) if how == "gone" else (),
    )
    assert second.resumed
    assert claim_of(second).act == "dedupe-1"
    assert claim_of(second).act_time_ms == claim_of(first).act_time_ms
    for step in (kind.require, kind.release, lambda rows, held: kind.renew(rows, held, late)):
        with pytest.raises(Conflict, match="another process has taken"):
            step(kind.rows, first)
    kind.require(kind.rows, second)


def test_only_a_lease_is_gone_on_with_by_another_verb(kind: Kind) -> None:
    first = kind.take("a", act="dedupe-1")
    second = kind.take("b", act="remove-1", gone=("a",))
    assert second.resumed == isinstance(second, HeldLease)
    later = claim_of(second).act_time_ms > claim_of(first).act_time_ms
    assert later == (claim_of(second).act == "remove-1") == isinstance(second, Held)


def test_a_claim_whose_answer_was_lost_is_taken(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a store tries again, and finds what it has put there already."""
    put = kind.rows.check_and_put
    monkeypatch.setattr(kind.rows, "check_and_put", lambda *a, **k: put(*a, **k) and False)
    first = kind.take("a")
    kind.require(kind.rows, first)


def test_who_renews_is_not_taken_for_dead(kind: Kind) -> None:
    first = kind.take("a")
    kind.renew(kind.rows, first, NOW + kind.holds_ms - 1)
    with pytest.raises(Conflict, match="a is working on"):
        kind.take("b", now_ms=NOW + kind.holds_ms)
    # Given back by what was held before it was renewed.
    kind.release(kind.rows, first)
    assert not kind.take("b", now_ms=NOW + kind.holds_ms).resumed
