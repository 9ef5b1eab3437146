"""Aligns the rows of two images, of which one has more, or lacks, some content.

The first image is cut into blocks of a few rows.  Each is compared with every position in the
second, and all blocks are then placed, in order, at the lowest cost (Viterbi): directly after the
previous block costs nothing, further down a little, a change more, a missing block most.  So a
new banner at the top moves all below it, and is itself the only difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .arrays_extra import NDArray, cv2, np, one_thread, sliding_window_view
from .pixels import Pixels

BLOCK_ROWS = 32
"""Of the scaled image; a multiple of the rows of a tile."""

_COLUMNS = 24
"""A row is described by the grey levels of that many pieces of it."""

_GREYS = 16.0
"""A block whose rows are so far from those of another, in grey levels, costs 1."""

_DEAREST = 0.9
"""The highest cost: a block with another in its place counts as changed, not as gone."""

_JUMP = 0.25
_GONE = 1.0


class Alignment(NamedTuple):
    """Which row of the first is which of the second; blocks of rows, in order, both of one
    length."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    gone: float
    """The share of the first image's blocks that the second lacks."""
    new: float
    """The share of the second image's rows that the first lacks."""


def align(first: Pixels, second: Pixels) -> Alignment:
    """Match the rows of two images of one width; none may be without rows.

    The last block of the first is filled up with its last row, and the second with its own.
    """
    blocks = -(-first.shape[0] // BLOCK_ROWS)
    known = _profile(first, blocks * BLOCK_ROWS)
    searched = _profile(second, max(BLOCK_ROWS, second.shape[0]) + BLOCK_ROWS - 1)
    starts = _place(_costs(searched, known))
    within = np.arange(BLOCK_ROWS)
    placed = [number for number, start in enumerate(starts) if start is not None]
    rows: NDArray[np.intp] = np.array([number * BLOCK_ROWS for number in placed], dtype=np.intp)
    to: NDArray[np.intp] = np.array([starts[number] for number in placed], dtype=np.intp)
    covered: NDArray[np.bool_] = np.zeros(second.shape[0] + 2 * BLOCK_ROWS, dtype=np.bool_)
    covered[(to[:, None] + within).reshape(-1)] = True
    return Alignment(
        np.minimum((rows[:, None] + within).reshape(-1), first.shape[0] - 1),
        np.minimum((to[:, None] + within).reshape(-1), second.shape[0] - 1),
        1 - len(placed) / blocks,
        float(1 - covered[: second.shape[0]].mean()),
    )


def _profile(image: Pixels, rows: int) -> NDArray[np.float32]:
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    narrow = cv2.resize(grey, (_COLUMNS, grey.shape[0]), interpolation=cv2.INTER_AREA)
    missing = max(0, rows - narrow.shape[0])
    return np.pad(narrow.astype(np.float32), ((0, missing), (0, 0)), mode="edge")


def _costs(
    searched: NDArray[np.float32], known: NDArray[np.float32]
) -> Sequence[NDArray[np.float32]]:
    """The costs to place each block of `known` at each row, by one matrix product."""
    # About the middle of the scale, so that single precision loses less.
    searched, known = searched - 128.0, known - 128.0
    window = BLOCK_ROWS * _COLUMNS
    windows = sliding_window_view(searched.reshape(-1), window)[::_COLUMNS]
    blocks = known.reshape(-1, window)
    with one_thread():
        squares = blocks @ np.ascontiguousarray(windows).T
    squares *= -2.0
    squares += np.square(blocks).sum(axis=1)[:, None]
    squares += sliding_window_view(np.square(searched).sum(axis=1), BLOCK_ROWS).sum(axis=1)
    distance = np.sqrt(np.maximum(squares, 0.0, out=squares) / window)
    return list(np.minimum(distance / _GREYS, _DEAREST))


def _place(costs: Sequence[NDArray[np.float32]]) -> list[int | None]:
    """The row at which each block begins in the second image; None if it is gone."""
    places = len(costs[0])
    after: NDArray[np.float32] = np.full(places + BLOCK_ROWS, np.inf, dtype=np.float32)
    after[0] = 0.0  # by the row at which the next block is expected
    ways: list[tuple[NDArray[np.bool_], NDArray[np.intp]]] = []
    for cost in costs:
        least, at = _least_before(after[:places])
        jumped = least + _JUMP
        stays = after[:places] <= jumped
        matched = np.full_like(after, np.inf)
        matched[BLOCK_ROWS:] = cost + np.where(stays, after[:places], jumped)
        came: NDArray[np.intp] = np.where(stays, np.arange(places), at)
        gone = after + np.float32(_GONE)
        is_matched = matched <= gone
        ways.append((is_matched, came))
        after = np.where(is_matched, matched, gone)
    return _trace(int(np.argmin(after)), ways)


def _least_before(values: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """The least of each beginning, and where it is."""
    least = np.minimum.accumulate(values)
    is_new = np.concatenate(([True], values[1:] < least[:-1]))
    at: NDArray[np.intp] = np.maximum.accumulate(np.where(is_new, np.arange(len(values)), 0))
    return least, at


def _trace(
    expected: int, ways: list[tuple[NDArray[np.bool_], NDArray[np.intp]]]
) -> list[int | None]:
    starts: list[int | None] = []
    for is_matched, came in reversed(ways):
        if is_matched[expected]:
            start = expected - BLOCK_ROWS
            starts.append(start)
            expected = int(came[start])
        else:
            starts.append(None)
    return starts[::-1]
