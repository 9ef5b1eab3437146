"""Sorting and keeping beyond memory: the same answer as within it, and nothing left behind."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.index import external_sort
from pinakes.index.external_sort import SortSpace, Spool, estimate_bytes, sort_outside_memory

SPACES = [SortSpace(), SortSpace(memory_bytes=0), SortSpace(memory_bytes=2000)]


def one(_: object) -> int:
    return 1


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@given(st.lists(st.tuples(st.integers(0, 9), st.text(max_size=3))), st.integers(0, 12))
def test_equals_sorted_and_keeps_the_order_of_equals(
    items: list[tuple[int, str]], memory_items: int
) -> None:
    space = SortSpace(memory_bytes=memory_items)
    done = sort_outside_memory(items, key=lambda item: item[0], space=space, item_bytes=one)
    assert list(done) == sorted(items, key=lambda item: item[0])


@pytest.mark.parametrize("space", SPACES)
def test_without_a_key_items_sort_themselves(space: SortSpace) -> None:
    words = [f"{number * 7919 % 1000:04d}" for number in range(1000)]
    assert list(sort_outside_memory(words, space=space)) == sorted(words)


def test_runs_are_merged_in_levels_and_stay_stable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_sort, "_FAN_IN", 3)
    items = [(number * 31 % 17, number) for number in range(400)]
    gc.collect()  # what other tests left open does not count
    before = open_files()
    done = sort_outside_memory(
        items, key=lambda item: item[0], space=SortSpace(memory_bytes=1), item_bytes=one
    )
    first = next(done)
    # Two items a run, 200 runs: five levels of at most two files.
    assert open_files() - before <= 10
    assert [first, *done] == sorted(items, key=lambda item: item[0])
    assert open_files() == before


def test_run_files_are_unnamed_and_in_the_given_folder(tmp_path: Path) -> None:
    space = SortSpace(memory_bytes=1, folder=tmp_path)
    done = sort_outside_memory(range(1000, 0, -1), space=space)
    assert next(done) == 1
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError):
        list(sort_outside_memory(range(9), space=SortSpace(memory_bytes=1, folder=tmp_path / "no")))


def test_files_are_closed_when_dropped_half_way() -> None:
    gc.collect()  # what other tests left open does not count
    before = open_files()
    done = sort_outside_memory(range(1000, 0, -1), space=SortSpace(memory_bytes=100))
    next(done)
    assert open_files() > before
    del done
    gc.collect()
    assert open_files() == before


def test_files_are_closed_when_the_input_fails() -> None:
    def failing() -> Iterator[int]:
        yield from range(1000, 0, -1)
        raise ValueError("the source broke")

    gc.collect()  # what other tests left open does not count
    before = open_files()
    with pytest.raises(ValueError, match="the source broke"):
        list(sort_outside_memory(failing(), space=SortSpace(memory_bytes=100)))
    assert open_files() == before


class Item:
    """Knows how many of its kind are alive."""

    alive = highest = 0

    def __init__(self, number: int) -> None:
        self.number = number
        Item.alive += 1
        Item.highest = max(Item.highest, Item.alive)

    def __del__(self) -> None:
        Item.alive -= 1

    def __reduce__(self) -> tuple[type[Item], tuple[int]]:
        return Item, (self.number,)


def test_little_is_held_at_a_time() -> None:
    count = 40_000
    items = (Item(number * 7919 % count) for number in range(count))
    done = sort_outside_memory(
        items, key=lambda item: item.number, space=SortSpace(memory_bytes=4000), item_bytes=one
    )
    assert [item.number for item in done] == list(range(count))
    # Ten runs: a batch while gathering, a block of each while merging.
    assert Item.highest < 12_000


@pytest.mark.parametrize("space", SPACES)
def test_a_spool_is_read_in_order_and_again(space: SortSpace) -> None:
    with Spool[tuple[int, str]](space=space) as spool:
        assert not spool
        kept = [(number, "x" * (number % 50)) for number in range(500)]
        for item in kept:
            spool.append(item)
        assert spool
        assert list(spool) == kept
        assert list(zip(spool, spool, strict=True)) == [(item, item) for item in kept]


def test_closed_spool_frees_its_file() -> None:
    gc.collect()  # what other tests left open does not count
    before = open_files()
    with Spool[int](space=SortSpace(memory_bytes=1)) as spool:
        for number in range(100):
            spool.append(number)
        assert open_files() == before + 1
    assert open_files() == before


def test_the_estimate_grows_with_text() -> None:
    assert estimate_bytes(("a" * 1000, 1, None)) > 1000
    assert estimate_bytes("") < 200
