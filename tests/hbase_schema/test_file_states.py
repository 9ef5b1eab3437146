"""Which state of an archive file may follow which."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pinakes.errors import Conflict
from pinakes.hbase_schema.file_states import FileState, require_next

S = FileState


@pytest.mark.parametrize(
    "life",
    [
        (None, S.LANDING, S.STORED, S.LEAVING, S.LEFT, S.REMOVED, S.LANDING),
        (None, S.LANDING, S.LOADING, S.LANDING, S.STORED),
        (None, S.LANDING, S.REFUSED, S.LANDING),
        (None, S.LANDING, S.LEAVING, S.LEFT, S.REMOVED),
        (S.LEAVING, S.STORED),
        (S.PURGED, S.LANDING),
    ],
)
def test_allowed_sequences_of_states(life: tuple[FileState | None, ...]) -> None:
    for state, following in pairwise(life):
        assert following is not None
        require_next(state, following)


@pytest.mark.parametrize(
    ("state", "following"),
    [
        (None, S.STORED),
        (S.STORED, S.LANDING),
        (S.STORED, S.REFUSED),
        (S.STORED, S.REMOVED),
        (S.LEAVING, S.REMOVED),
        (S.REFUSED, S.STORED),
        (S.REMOVED, S.STORED),
    ],
)
def test_forbidden_transitions(state: FileState | None, following: FileState) -> None:
    with pytest.raises(Conflict, match=f"does not become {following.value}"):
        require_next(state, following)


@pytest.mark.parametrize("state", FileState)
def test_every_state_can_be_left_and_is_of_one_kind(state: FileState) -> None:
    assert any(_follows(state, following) for following in FileState if following is not state)
    assert sum((state.is_landing, state.is_leaving, state.is_gone)) <= 1
    assert f"{state}" == str(state) == state.value


def _follows(state: FileState, following: FileState) -> bool:
    try:
        require_next(state, following)
    except Conflict:
        return False
    return True
