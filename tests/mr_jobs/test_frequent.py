"""What comes often is found, whatever else comes, with a bounded number of counts."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pinakes.mr_jobs.lines.frequent import Frequent


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
