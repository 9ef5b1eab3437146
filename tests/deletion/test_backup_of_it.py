"""A store is restored as a take-down has left it."""

from __future__ import annotations

from pathlib import Path

import pytest
from backup_scenes import back_up, fsck, opened, restore
from scenes import Scene, page
from taken_down import holds_anywhere, key_of, outcome, sha256_of, withdraw


@pytest.mark.parametrize("what", ["original", "digest"])
def test_nothing_has_to_be_settled(site: Scene, tmp_path: Path, what: str) -> None:
    withdraw(site, key_of(site, 0, 1) if what == "original" else sha256_of(page(0)))
    before = outcome(site)
    back_up(site, tmp_path / "backup")
    done = restore(tmp_path / "backup", tmp_path / "again")
    assert (done.settled, done.problems, done.left_out) == ([], [], [])
    with opened(tmp_path / "again") as restored:
        assert outcome(restored) == before
        assert fsck(restored) == []
        assert not holds_anywhere(tmp_path / "again" / "store" / "archive", b"secret-1-0")
