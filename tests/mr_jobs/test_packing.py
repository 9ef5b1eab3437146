"""Packs hold gigabytes, keep the order, and lose nothing."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.config import load_configuration
from pinakes.mr_jobs.driver.listing import LINE_BYTES, lines_bytes, pack_files, reduces_for
from pinakes.mr_jobs.lines.frequent import Frequent


@given(st.lists(st.integers(0, 200)), st.integers(1, 300))
def test_each_file_is_in_one_pack_of_bounded_size(sizes: list[int], pack_bytes: int) -> None:
    files = [(f"f{number}", size) for number, size in enumerate(sizes)]
    packs = list(pack_files(files, pack_bytes=pack_bytes))
    assert [name for pack in packs for name in pack] == [name for name, _ in files]
    known = dict(files)
    for pack in packs:
        assert len(pack) == 1 or sum(known[name] for name in pack) <= pack_bytes
    for pack, after in pairwise(packs):
        # Two packs side by side do not fit into one: else there would be too many maps.
        assert sum(known[name] for name in [*pack, after[0]]) > pack_bytes


@pytest.mark.parametrize(
    ("size", "tasks"), [(0, 1), (1, 1), (LINE_BYTES, 1), (LINE_BYTES + 1, 2), (1 << 50, 10_000)]
)
def test_reduce_tasks_go_by_the_bytes_of_lines(size: int, tasks: int) -> None:
    assert reduces_for(size) == tasks


def test_manifest_bytes_are_counted_on_disk(tmp_path: Path) -> None:
    for number, name in enumerate(("part-0", "part-1", "_SUCCESS"), 1):
        (tmp_path / name).write_bytes(b"x" * number)
    configuration = load_configuration(environment={}, folder=tmp_path)
    names = [str(tmp_path / "part-0"), f"file://{tmp_path}/part-*", str(tmp_path / "none")]
    assert lines_bytes(names, configuration) == 1 + 3


# --- What comes often is found, whatever else comes, with a bounded number of counts


@given(st.lists(st.integers(0, 6), max_size=60), st.integers(1, 4), st.integers(1, 5))
def test_frequent_items_are_found_and_counts_hold(keys: list[int], often: int, room: int) -> None:
    frequent = Frequent(often, room=room)
    said = set()
    seen: Counter[int] = Counter()
    for key in keys:
        seen[key] += 1
        if frequent.add(b"%d" % key):
            assert seen[key] > often
            said.add(key)
    # Counts go down only when `room` others are there: at most one time in so many keys.
    lost = len(keys) // (room + 1)
    assert {key for key, count in seen.items() if count > often + lost} <= said
