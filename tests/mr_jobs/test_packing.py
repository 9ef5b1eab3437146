"""Packs hold gigabytes, keep the order, and lose nothing."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pinakes.mr_jobs.packing import pack_files


@given(st.lists(st.integers(0, 200)), st.integers(1, 300))
def test_every_file_is_in_one_pack_and_none_is_larger_than_need_be(
    sizes: list[int], pack_bytes: int
) -> None:
    files = [(f"f{number}", size) for number, size in enumerate(sizes)]
    packs = list(pack_files(files, pack_bytes=pack_bytes))
    assert [name for pack in packs for name in pack] == [name for name, _ in files]
    known = dict(files)
    for pack in packs:
        assert len(pack) == 1 or sum(known[name] for name in pack) <= pack_bytes
    for pack, after in pairwise(packs):
        # Two packs side by side do not fit into one: else there would be too many maps.
        assert sum(known[name] for name in [*pack, after[0]]) > pack_bytes
