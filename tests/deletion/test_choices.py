"""Which references become full, and what the others refer to."""

from __future__ import annotations

import pytest

from pinakes.deletion.choices import ContentCopy, choose_originals


def copy(second: str, urlkey: str = "org,example)/", file: str = "a") -> ContentCopy:
    time = f"{second}000"
    return ContentCopy(second, file, 0, f"{urlkey} {time} MARK{file}".encode())


A, B, C, D = (copy(f"202{year}0101000000") for year in range(4))
SAME_PLACE = copy("20200101000000", file="b")


@pytest.mark.parametrize(
    ("references", "full", "ambiguous", "promoted", "repointed"),
    [
        pytest.param([B, C, D], [], [], [B], {C: B, D: B}, id="the earliest"),
        pytest.param([D, C, B], [], [], [B], {C: B, D: B}, id="in any order"),
        pytest.param([B, C], [A], [], [], {B: A, C: A}, id="a full copy before"),
        pytest.param([A, D], [B], [], [A], {D: A}, id="a full copy behind one"),
        pytest.param([B, C, D], [], [B], [B, C], {D: C}, id="one that nobody can address"),
        pytest.param([B], [A], [A], [B], {}, id="a full copy that nobody can address"),
        pytest.param([A, SAME_PLACE, D], [], [], [A, SAME_PLACE], {D: A}, id="own address"),
        pytest.param([], [A], [], [], {}, id="nothing"),
    ],
)
def test_choice(
    references: list[ContentCopy],
    full: list[ContentCopy],
    ambiguous: list[ContentCopy],
    promoted: list[ContentCopy],
    repointed: dict[ContentCopy, ContentCopy],
) -> None:
    unclear = frozenset(item.key for item in ambiguous)
    choice = choose_originals(references, full, unclear)
    expected = {one.key: other.key for one, other in repointed.items()}
    assert (choice.promoted, choice.repointed) == (promoted, expected)


@pytest.mark.parametrize("done", [1, 2])
def test_what_is_full_by_now_changes_nothing(done: int) -> None:
    references = [A, SAME_PLACE, C, D]
    whole = choose_originals(references, [], frozenset())
    now_full = whole.promoted[:done]
    rest = [reference for reference in references if reference not in now_full]
    again = choose_originals(rest, now_full, frozenset())
    assert again.promoted == whole.promoted[done:]
    assert again.repointed == whole.repointed
