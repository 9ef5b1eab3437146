"""Hostile archives through the chain: what was there comes back, and nothing of ours dangles."""

from __future__ import annotations

from pathlib import Path

import pytest
from files_chain import files_chain
from hostile_archives import hostile_files
from judge import content, dangling

OURS = b"Pinakes-Replaced"
BATCH = 50


# A batch that once found something is always tried: 28 has a gzip magic as rubbish.
TRIED = (0, 1, 2, 28)


@pytest.mark.slow
@pytest.mark.parametrize(
    "batch",
    [
        *TRIED,
        *(pytest.param(n, marks=pytest.mark.large) for n in range(400) if n not in TRIED),
    ],
)
def test_restored_files_equal_the_originals(batch: int, tmp_path: Path) -> None:
    """20,000 archives in all; a seed that fails is named."""
    found = []
    for seed in range(batch * BATCH, (batch + 1) * BATCH, 2):
        files = hostile_files(seed)
        try:
            steps = files_chain(tmp_path / str(seed), files)
            assert list(map(content, steps.back)) == list(map(content, files))
            assert dangling(steps.after, OURS) == []
        except AssertionError as error:
            found.append(f"seed {seed}: {str(error)[:500]}")
    assert found == []
