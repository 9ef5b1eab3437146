"""Judgements and sign-offs in the store: kept, none overwritten, and named when not saved."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from review_scene import RUN, Review, pairs_of, result, reviewing, rows_in, write_sample

from pinakes.errors import Conflict, InputRefused, StoreUnavailable
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.qa_cells import Annotation, SignOff
from pinakes.qa.results import Verdict
from pinakes.qa.review.board import LOOK_AGAIN_S, Board
from pinakes.qa.review.judgement import BlindTo, By, Judgement, Label, Role, Statement
from pinakes.qa.review.judgement_rows import (
    SignOffState,
    put_judgement,
    put_signoff,
    read_judgements,
    read_signoffs,
    scan_judgements,
    scan_settled,
)
from pinakes.qa.review.visible_pair import PairFilter
from pinakes.row_store.port import Put
from pinakes.row_store.sqlite.store import EmbeddedRowStore

KEY = pairs_of([result(1)])[0].key
REJECT = Statement(label=Label.REJECT, faults=("layout", "video"), note="π \ud800 \u202e\n")


@pytest.fixture
def rows(tmp_path: Path) -> Iterator[EmbeddedRowStore]:
    with rows_in(tmp_path) as made:
        yield made


@pytest.fixture
def review(tmp_path: Path) -> Iterator[Review]:
    with reviewing(tmp_path) as made:
        yield made


def judgement(number: int, author: str = "Ada", **given: Any) -> Judgement:
    values = {"statement": REJECT, "at_ms": 0, **given}
    return Judgement(id=f"{number:032x}", author=author, **values)


def test_what_was_saved_is_read(rows: EmbeddedRowStore) -> None:
    blind = (BlindTo.OTHERS, BlindTo.MACHINE)
    saved = put_judgement(rows, KEY, judgement(1, role=Role.LEAD, blind_to=blind), now_ms=1000)
    assert saved.at_ms == 1000
    assert read_judgements(rows, KEY).judgements == (saved,)
    assert [row.key for row in scan_judgements(rows, RUN)] == [KEY]


def test_none_overwrites_another(rows: EmbeddedRowStore) -> None:
    """More than a cell has versions, by a clock that stands still, and then goes back."""
    for number in range(25):
        put_judgement(rows, KEY, judgement(number), now_ms=1000)
    put_judgement(rows, KEY, judgement(99), now_ms=10)
    found = read_judgements(rows, KEY).judgements
    assert [int(one.id, 16) for one in found] == [*range(25), 99]
    assert [one.at_ms for one in found] == list(range(1000, 1026))


def test_saved_again_it_is_one(rows: EmbeddedRowStore) -> None:
    first = put_judgement(rows, KEY, judgement(1), now_ms=1000)
    assert put_judgement(rows, KEY, judgement(1), now_ms=2000) == first
    with pytest.raises(Conflict, match="other content"):
        put_judgement(rows, KEY, judgement(1, author="Bo"), now_ms=2000)
    assert read_judgements(rows, KEY).judgements == (first,)


@pytest.mark.parametrize(
    "id", ["", "x" * 32, "AB" * 16, "../" + "a" * 30, "a" * 65, "a" * 32 + "\n"]
)
def test_what_is_no_id(rows: EmbeddedRowStore, id: str) -> None:  # noqa: A002
    with pytest.raises(InputRefused, match="hexadecimal"):
        put_judgement(rows, KEY, replace(judgement(1), id=id), now_ms=1)
    assert read_judgements(rows, KEY).judgements == ()


def test_what_cannot_be_read_is_counted(rows: EmbeddedRowStore) -> None:
    put_judgement(rows, KEY, judgement(1), now_ms=1)
    cells = {
        Annotation.COLUMN + b"a": b"no json",
        Annotation.COLUMN + b"b": encode_cell(Annotation(author="x", label="bad")),
        Annotation.COLUMN + b"c": encode_cell(Annotation(author="x", label="accept", role="x")),
        Annotation.COLUMN + b"d": b'{"v":1,"author":"old","label":"accept","note":"n"}',
    }
    rows.mutate("qa_pairs", [Put(KEY, cells, 5)])
    found = read_judgements(rows, KEY)
    assert found.unreadable == 3
    assert [one.author for one in found.judgements] == ["Ada", "old"]


def test_many_at_once(rows: EmbeddedRowStore) -> None:
    def work(author: int) -> None:
        for number in range(10):
            one = judgement(100 * author + number, author=str(author))
            put_judgement(rows, KEY, one, now_ms=1000)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = read_judgements(rows, KEY).judgements
    assert sorted(int(one.id, 16) for one in found) == sorted(
        100 * author + number for author in range(4) for number in range(10)
    )


def test_what_is_settled_of_a_run(rows: EmbeddedRowStore) -> None:
    """By as many as each pair goes to."""
    pairs = pairs_of(result(number) for number in range(40))
    one, two = (next(p.key for p in pairs if p.judgements_needed == count) for count in (1, 2))
    for key in (one, two):
        put_judgement(rows, key, judgement(1), now_ms=1)
    found = {key: (what.label, what.by) for key, what in scan_settled(rows, RUN)}
    assert found == {one: (Label.REJECT, By.ONE)}
    put_judgement(rows, two, judgement(2, author="Bo"), now_ms=1)
    assert {key: what.by for key, what in scan_settled(rows, RUN)} == {
        one: By.ONE, two: By.AGREEMENT
    }  # fmt: skip


def test_signing_is_kept_as_versions(rows: EmbeddedRowStore) -> None:
    first = SignOff(author="Ida", state="to patch", note="n", counts={"pairs": 3})
    second = SignOff(author="Ida", state="accepted", role="lead")
    put_signoff(rows, RUN, "a" * 32, first, now_ms=1000)
    put_signoff(rows, RUN, "b" * 32, second, now_ms=1000)
    again = put_signoff(rows, RUN, "a" * 32, first, now_ms=3000)
    found = read_signoffs(rows, RUN)
    assert [(one.at_ms, one.cell) for one in found] == [(1000, first), (1001, second)]
    assert again == found[0]
    assert read_signoffs(rows, "another") == []


@pytest.mark.parametrize("given", [{"author": "Bo"}, {"state": "rejected"}, {"note": "m"}], ids=str)
def test_signed_again_it_is_one_whatever_was_judged_since(
    rows: EmbeddedRowStore, given: dict[str, Any]
) -> None:
    first = SignOff(author="Ida", state="to patch", note="n", counts={"settled": 3})
    signed = put_signoff(rows, RUN, "a" * 32, first, now_ms=1000)
    later = replace(first, counts={"settled": 4}, role="lead")
    assert put_signoff(rows, RUN, "a" * 32, later, now_ms=2000) == signed
    with pytest.raises(Conflict, match="other content"):
        put_signoff(rows, RUN, "a" * 32, replace(first, **given), now_ms=2000)
    assert read_signoffs(rows, RUN) == [signed]


@pytest.mark.parametrize("id", ["", "b", "../" * 8, "A" * 32])
def test_an_id_that_is_none_signs_no_run(rows: EmbeddedRowStore, id: str) -> None:  # noqa: A002
    """Known or not."""
    cell = SignOff(author="Ida", state="accepted")
    for _ in range(2):
        with pytest.raises(InputRefused):
            put_signoff(rows, RUN, id, cell, now_ms=1000)
        put_signoff(rows, RUN, "a" * 32, cell, now_ms=1000)
    assert len(read_signoffs(rows, RUN)) == 1


class Failing:
    """A store whose n-th call fails, before or after it is done."""

    def __init__(self, rows: Any, name: str, *, done: bool) -> None:
        self._rows, self._name, self._done = rows, name, done

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._rows, name)
        if name != self._name:
            return method

        def fail(*arguments: Any, **given: Any) -> Any:
            if self._done:
                method(*arguments, **given)
            raise StoreUnavailable("the store is away")

        return fail


def board_over(review: Review, rows: Any, **given: Any) -> Board:
    return Board(RUN, review.pairs, rows, now_ms=review.clock.now_ms, clock=review.clock.now_s,
                 **given)  # fmt: skip


@pytest.mark.parametrize(
    ("call", "done"), [("get_rows", False), ("mutate", False), ("mutate", True)]
)
def test_a_store_that_is_lost_is_no_success(review: Review, call: str, done: bool) -> None:
    pair = review.one()
    board = board_over(review, Failing(review.rows, call, done=done))
    ada = board.viewer("Ada")
    with pytest.raises(StoreUnavailable):
        board.judge(pair.id, ada, "a" * 32, REJECT)
    there = read_judgements(review.rows, pair.key).judgements
    assert bool(there) == done
    # Nobody knows: it is saved again, and is one.
    again = review.board.judge(pair.id, ada, "a" * 32, REJECT)
    assert again is not None
    assert [one.id for one in again.history] == ["a" * 32]


def test_a_store_that_forgets_is_no_success(review: Review) -> None:
    class Forgetting(Failing):
        def __getattr__(self, name: str) -> Any:
            return (lambda *_: None) if name == "mutate" else getattr(self._rows, name)

    board = board_over(review, Forgetting(review.rows, "", done=False))
    with pytest.raises(StoreUnavailable, match="cannot be read back"):
        board.judge(review.one().id, board.viewer("Ada"), "a" * 32, REJECT)


def test_a_store_that_was_moved_away_is_no_success(review: Review, tmp_path: Path) -> None:
    (tmp_path / "store" / "rows.sqlite").rename(tmp_path / "elsewhere")
    with pytest.raises(StoreUnavailable, match="moved or removed"):
        review.board.judge(review.one().id, review.board.viewer("Ada"), "a" * 32, REJECT)
    with pytest.raises(StoreUnavailable, match="moved or removed"):
        review.board.sign(review.board.viewer("Ida"), "a" * 32, SignOffState.ACCEPTED, "")


def test_an_old_list_says_that_it_is_old(review: Review) -> None:
    failing = Failing(review.rows, "", done=False)
    board = board_over(review, failing)
    viewer = board.viewer("Ada")
    assert board.listed(viewer, PairFilter(), offset=0, limit=1).problem is None
    failing._name = "scan"
    review.clock.wait(LOOK_AGAIN_S + 1)
    listed = board.listed(viewer, PairFilter(), offset=0, limit=1)
    assert (listed.total, listed.problem) == (100, "the store is away")
    assert board.summary()[1] == "the store is away"
    failing._name = ""
    assert board.listed(viewer, PairFilter(), offset=0, limit=1).problem is None


def test_a_store_that_never_answered_is_an_error(review: Review) -> None:
    board = board_over(review, Failing(review.rows, "scan", done=False))
    with pytest.raises(StoreUnavailable):
        board.listed(board.viewer(None), PairFilter(), offset=0, limit=1)


def test_what_another_process_saved_is_seen_after_a_while(review: Review) -> None:
    pair, viewer = review.one(), review.board.viewer("Bo")

    def reviewed() -> int:
        return review.board.listed(viewer, PairFilter(state="reviewed"), offset=0, limit=9).total

    assert reviewed() == 0
    put_judgement(review.rows, pair.key, judgement(1), now_ms=1)
    assert reviewed() == 0
    review.clock.wait(LOOK_AGAIN_S + 1)
    assert reviewed() == 1
    put_judgement(review.rows, pair.key, judgement(2, author="Cy"), now_ms=1)
    looked = review.board.look(pair.id, viewer)  # a pair is read when it is looked at
    assert looked is not None
    assert looked.seen.judged_by == 2


def test_a_board_begun_again_knows_all(review: Review) -> None:
    pair = review.one()
    review.board.judge(pair.id, review.board.viewer("Ada"), "a" * 32, REJECT)
    begun = board_over(review, review.rows).look(pair.id, review.board.viewer("Ada"))
    assert begun is not None
    assert begun.seen.own is not None
    assert begun.seen.own.statement == REJECT
    assert begun.seen.own.at_ms == review.clock.at_ms


def test_who_signs(review: Review) -> None:
    board = review.board
    with pytest.raises(InputRefused, match="only a lead may sign"):
        board.sign(board.viewer("Ada"), "a" * 32, SignOffState.ACCEPTED, "")
    signed = board.sign(board.viewer("IDA"), "a" * 32, SignOffState.TO_PATCH, "n")
    assert signed.cell.role == "lead"
    assert signed.cell.counts["pairs"] == 100
    assert [one.cell.state for one in board.signoffs()] == ["to patch"]
    without = board_over(review, review.rows)
    assert without.may_sign(without.viewer("Ada"))
    assert not without.may_sign(without.viewer(None))


@pytest.mark.parametrize("left", [0, 20])
def test_a_part_of_the_sample_is_no_estimate(tmp_path: Path, left: int) -> None:
    """However much of that part is reviewed; who signs has seen it."""
    results = [result(number) for number in range(100)]
    write_sample(tmp_path / RUN, results)
    with reviewing(tmp_path, results[: 100 - left]) as review:
        ida = review.board.viewer("Ida")
        for number, pair in enumerate(review.pairs):
            review.board.judge(pair.id, ida, f"{number:032x}", REJECT)
        summary, _ = review.board.summary()
        [estimate] = summary.estimates.values()
        signed = review.board.sign(ida, "a" * 32, SignOffState.ACCEPTED, "")
    assert signed.cell.counts["pages_left"] == left
    if left:
        assert estimate.share is None
        assert estimate.wanting == (
            "80 of 100 pages; 20 (20 pairs) are not judged yet; continue with `pinakes qa run`"
        )
    else:
        assert (estimate.share, estimate.wanting) == (1, None)


@pytest.mark.parametrize("role", ["Ida", "Ada"], ids=["by a lead", "by a reviewer"])
def test_what_somebody_is_unsure_of_is_not_left_out(tmp_path: Path, role: str) -> None:
    """All hundred of the audit are judged, and the hard ones settled by nobody."""
    results = [result(number, Verdict.SIMILAR) for number in range(100)]
    with reviewing(tmp_path, results) as review:
        ida, unsure = review.board.viewer("Ida"), review.board.viewer(role)
        accept = Statement(label=Label.ACCEPT)
        for number, pair in enumerate(review.pairs):
            said, viewer = (Statement(label=Label.UNSURE), unsure) if number < 40 else (accept, ida)
            review.board.judge(pair.id, viewer, f"{number:032x}", said)
        [estimate] = review.board.summary()[0].estimates.values()
    assert estimate.share is None
    assert estimate.wanting == "40 of 100 audited pairs that were judged are not settled"


def test_a_lost_answer_to_a_sign_off(review: Review) -> None:
    """Somebody judges before it is sent again; so the counts would be others."""
    ida = review.board.viewer("Ida")
    signed = review.board.sign(ida, "a" * 32, SignOffState.ACCEPTED, "n")
    review.board.judge(review.one().id, review.board.viewer("Ada"), "b" * 32, REJECT)
    review.clock.wait(LOOK_AGAIN_S + 1)
    assert review.board.sign(ida, "a" * 32, SignOffState.ACCEPTED, "n") == signed
    assert signed.cell.counts["settled"] == 0
    with pytest.raises(Conflict):
        review.board.sign(ida, "a" * 32, SignOffState.REJECTED, "n")
    assert review.board.signoffs() == [signed]


def test_the_summary_counts_what_was_judged(review: Review) -> None:
    for number, pair in enumerate(review.pairs):
        said = REJECT if pair.is_alarm else Statement(label=Label.ACCEPT)
        for author in ("Ada", "Bo")[: pair.judgements_needed]:
            review.clock.wait(1)
            found = review.board.judge(
                pair.id,
                review.board.viewer(author),
                f"{author}{number:030}".encode().hex()[:32],
                said,
            )
            assert found is not None
    summary, _ = review.board.summary()
    assert summary.standings == {"settled": 100}
    assert (summary.queued, summary.queue_done) == (100, 100)
    assert {v: part.pairs for v, part in summary.verdicts.items()} == {
        "dissimilar": 25, "uncertain": 25, "differs-by-browser": 0, "similar": 50
    }  # fmt: skip
    assert summary.against == {
        ("dissimilar", "reject"): 25, ("uncertain", "reject"): 25, ("similar", "accept"): 50
    }  # fmt: skip
    assert (summary.faults["layout"].pairs, summary.faults["layout"].weight) == (50, 250)
    assert sum(map(sum, summary.histogram.values())) == 100
    doubles = sum(pair.judgements_needed == 2 for pair in review.pairs)
    assert (summary.agreement.pairs, summary.agreement.kappa) == (doubles, 1.0)
    assert summary.reviewers == {"Ada": 100, "Bo": doubles}
    [estimate] = summary.estimates.values()
    assert estimate.share == pytest.approx(0.5)
    assert estimate.pages == 500
    assert review.board.summary()[0] is summary  # nothing was judged since
