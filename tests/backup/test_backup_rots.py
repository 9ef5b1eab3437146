"""A backup that has rotted is refused, by name; one of a store that lacks files says so."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from backup_scenes import back_up, cells, current_files, fsck, opened, restore
from scenes import Scene

from pinakes.errors import PinakesError


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def emptied(path: Path) -> None:
    path.write_bytes(b"")


@pytest.fixture
def backed_up(scene: Scene, tmp_path: Path) -> Path:
    scene.land(1)
    scene.land(2)
    scene.dedupe()
    assert back_up(scene, tmp_path / "backup").problems == []
    return tmp_path / "backup"


@pytest.mark.parametrize("rot", [flipped, cut, emptied, Path.unlink])
def test_no_rotten_file_is_restored(
    rot: Callable[[Path], None], backed_up: Path, tmp_path: Path
) -> None:
    """Each file of the backup, one after the other."""
    names = [path.relative_to(backed_up) for path in backed_up.rglob("*") if path.is_file()]
    assert {"files.jsonl", "crawls.jsonl", "rows/rows.sqlite"} <= {str(name) for name in names}
    for name in names:
        kept = (backed_up / name).read_bytes()
        rot(backed_up / name)
        with pytest.raises(PinakesError) as refused:
            restore(backed_up, tmp_path / "new")
        # Without `backup.json` the backup is incomplete.
        assert name.name in str(refused.value) or name.name == "backup.json"
        assert not (tmp_path / "new" / "store" / "rows.sqlite").exists()
        (backed_up / name).write_bytes(kept)
        shutil.rmtree(tmp_path / "new", ignore_errors=True)


def test_no_bit_of_the_description_is_believed(backed_up: Path, tmp_path: Path) -> None:
    """A bit of each digit of a time, which any other value would do for."""
    path = backed_up / "backup.json"
    kept = path.read_bytes()
    at = kept.index(b'"watermark_ms": ') + len('"watermark_ms": ')
    for place in range(at, at + 13):
        data = bytearray(kept)
        data[place] ^= 1
        path.write_bytes(data)
        with pytest.raises(PinakesError):
            restore(backed_up, tmp_path / "new")


def test_what_rotted_while_a_restore_was_broken_off_is_copied_again(
    backed_up: Path, scene: Scene, tmp_path: Path
) -> None:
    """What an earlier call copied is read again, though its size is right."""

    def stop(step: str) -> None:
        if step == "files restored":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        restore(backed_up, tmp_path / "new", at=stop)
    restored = sorted((tmp_path / "new" / "store" / "archive").rglob("*.warc.gz"))
    for path in restored:
        flipped(path)
    restore(backed_up, tmp_path / "new")
    with opened(tmp_path / "new") as new:
        assert current_files(new) == current_files(scene)
        assert fsck(new) == []
    assert len(cells(tmp_path / "new" / "store" / "rows.sqlite")) > 0


def test_a_missing_file_is_named(scene: Scene, tmp_path: Path) -> None:
    scene.land(1)
    archive = scene.folder / "store" / "archive"
    gone = min(archive.rglob("*.warc.gz"))
    gone.unlink()
    [problem] = back_up(scene, tmp_path / "backup").problems
    assert problem.file == str(gone.relative_to(archive))
    assert "missing" in str(problem)
