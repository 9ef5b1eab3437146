"""Work with many files under claims: what is reported, and what is left for the next act."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
from scenes import COLLECTION, Scene, make_scene

from pinakes.acts.act import Act
from pinakes.acts.actor import LEASE_MS, Actor, read_lease
from pinakes.acts.many_files import AsItIs, change_file, iter_batches, rewrite_file
from pinakes.catalog.claims import Claimant
from pinakes.catalog.file_rows import Held, read_entry, take_claim
from pinakes.errors import Busy, DigestMismatch, StoreUnavailable
from pinakes.warc.file_progress import FileProgress, no_advance

NAME = "c1/part-0.warc.gz"


class File(NamedTuple):
    archive_file: str
    size: int
    takes_bytes: int


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        ([], []),
        ([3], [[3]]),
        ([30], [[30]]),
        ([4, 6, 1], [[4, 6], [1]]),
        ([30, 4, 6, 30, 10], [[30], [4, 6], [30], [10]]),
    ],
    ids=str,
)
def test_batches_of_ten_bytes(sizes: list[int], batches: list[list[int]]) -> None:
    files = (File("name", 0, size) for size in sizes)
    found = iter_batches(files, lambda size: size <= 10)
    assert [[file.takes_bytes for file in batch] for batch in found] == batches


@pytest.fixture
def landed(tmp_path: Path) -> Iterator[Scene]:
    with make_scene(tmp_path, (1,)) as scene:
        scene.land(1)
        yield scene


@pytest.fixture
def act(landed: Scene) -> Act:
    return Act.begin(landed.rows, landed.archive, Actor(), "zstd", COLLECTION)


def is_claimed(act: Act) -> bool:
    claim = read_entry(act.rows, NAME).claim
    return claim is not None and claim.expires_ms != 0


def test_report_and_released_claim(act: Act) -> None:
    def work(held: Held) -> str:
        assert is_claimed(act)
        return held.archive_file

    result = change_file(act, NAME, work)
    assert (result.report, result.is_lost, is_claimed(act)) == (NAME, False, False)


def test_check_that_leaves_the_file_as_it_is(act: Act) -> None:
    def work(held: Held) -> str:
        raise AsItIs("no smaller")

    result = change_file(act, NAME, work)
    assert (result.report, result.is_lost, is_claimed(act)) == ("no smaller", False, False)


def test_problem_of_one_file_is_its_result(act: Act) -> None:
    problem = DigestMismatch("damaged", file=NAME)

    def work(held: Held) -> str:
        raise problem

    result = change_file(act, NAME, work)
    assert (result.report, result.is_lost, is_claimed(act)) == (problem, False, False)


def test_claim_is_left_after_an_error_that_is_not_of_one_file(act: Act) -> None:
    """So that the next one knows that the file may be half done, in whatever process it is."""

    def work(held: Held) -> str:
        raise StoreUnavailable("no answer")

    with pytest.raises(StoreUnavailable):
        change_file(act, NAME, work)
    assert is_claimed(act)
    elsewhere = Act(act.rows, act.archive, Actor(), act.name)
    assert change_file(elsewhere, NAME, lambda held: held.took_over).report is True
    assert not is_claimed(act)


def test_file_of_another_act_is_busy(act: Act) -> None:
    Actor().claim(act.rows, NAME, act="ingest-x")
    result = change_file(act, NAME, lambda held: "done")
    assert (type(result.report), result.is_lost) == (Busy, False)


def test_claim_that_is_taken_over_meanwhile_is_lost(act: Act) -> None:
    def work(held: Held) -> str:
        other = Claimant("other", "other", held.claim.expires_ms, lambda owner: False)
        take_claim(act.rows, NAME, other, act="ingest-1")
        raise DigestMismatch("damaged", file=NAME)

    result = change_file(act, NAME, work)
    assert (type(result.report), result.is_lost) == (Busy, True)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowActor(Actor):
    """Each time it is asked, another quarter of an hour has gone by."""

    asked: list[int]

    def now_ms(self) -> int:
        self.asked.append(1)
        return 1_700_000_000_000 + len(self.asked) * 900_000


def test_lease_is_kept_while_a_large_file_is_rewritten(landed: Scene) -> None:
    act = Act.begin(landed.rows, landed.archive, SlowActor(asked=[]), "zstd", COLLECTION)

    def work(held: Held, file: File, done: FileProgress) -> int:
        for offset in range(0, 100, 10):
            done.reached(offset)
        return act.actor.now_ms()

    ended_ms = rewrite_file(act, File(NAME, 100, 100), work, no_advance).report
    lease = read_lease(landed.rows, COLLECTION)
    assert lease is not None
    assert isinstance(ended_ms, int)
    assert ended_ms - 1_700_000_000_000 > LEASE_MS
    assert lease.expires_ms > ended_ms
