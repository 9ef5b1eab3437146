"""Progress within a file: each byte once, whatever is read how often."""

from __future__ import annotations

import io

import pytest

from pinakes.errors import Busy, InputRefused
from pinakes.warc.file_progress import FileProgress
from pinakes.warc.source import Source


@pytest.mark.parametrize(
    ("passes", "positions", "told"),
    [
        pytest.param(1, [10, 40, 100], [10, 30, 60], id="once"),
        pytest.param(1, [60, 20, 70], [60, 10, 30], id="back-within-a-pass"),
        pytest.param(2, [50, 100, 10, 100], [25, 25, 5, 45], id="twice"),
        pytest.param(1, [100, 0, 100], [100], id="more-passes-than-said"),
        pytest.param(3, [100], [33, 67], id="fewer-passes-than-said"),
        pytest.param(1, [150], [100], id="file-grew"),
        pytest.param(1, [], [100], id="not-read"),
    ],
)
def test_a_file_advances_by_its_size(passes: int, positions: list[int], told: list[int]) -> None:
    counts: list[int] = []
    with FileProgress(counts.append, 100, passes=passes) as done:
        for position in positions:
            done.reached(position)
    assert [count for count in counts if count] == told
    assert sum(counts) == 100


def test_a_file_that_fails_is_done_with_and_one_that_is_busy_is_not() -> None:
    counts: list[int] = []
    for error in (InputRefused("refused"), Busy("somebody else has it")):
        with pytest.raises(type(error)), FileProgress(counts.append, 100):
            raise error
    assert counts == [100]


def test_a_source_tells_how_far_it_is_read() -> None:
    positions: list[int] = []
    source = Source(io.BytesIO(bytes(1000)), name="bytes", window_bytes=100)
    source.watch(positions.append)
    for offset in (0, 50, 100, 950):
        source.view(offset, 10)
    assert positions == [100, 200, 1000]
