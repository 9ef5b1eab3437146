"""Converted files appear whole or not at all, and again the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from arc_builders import arc, arc_gz, arc_record, warc_of
from killed_steps import KILLED, killed_at

from pinakes.archive_store.local.whole_files import written_aside
from pinakes.errors import Conflict, DigestMismatch, InputRefused, MalformedRecord, StoreUnavailable
from pinakes.rewrite.convert_file import convert_file, rebuild_file
from pinakes.rewrite.new_file import UNCHANGED, WOULD_WRITE, WRITTEN
from pinakes.warc.opening import open_source

DATA = arc(arc_record())


@pytest.fixture
def arc_path(tmp_path: Path) -> Path:
    path = tmp_path / "in" / "a.arc"
    path.parent.mkdir()
    path.write_bytes(DATA)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.mkdir()
    return path


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("verify", [False, True])
def test_it_is_written_under_its_name(arc_path: Path, folder: Path, verify: bool) -> None:
    result = convert_file(str(arc_path), folder, verify=verify)
    assert result.outcome == WRITTEN
    assert result.records == {"filedesc": 1, "response": 1}
    assert result.verified_bytes == (len(DATA) if verify else None)
    assert names(folder) == ["a.warc"]
    assert (folder / "a.warc").read_bytes() == warc_of(DATA, "a.arc")


def test_second_conversion_changes_nothing(arc_path: Path, folder: Path) -> None:
    convert_file(str(arc_path), folder)
    before = (folder / "a.warc").stat()
    result = convert_file(str(arc_path), folder, verify=True)
    assert (result.outcome, result.verified_bytes) == (UNCHANGED, len(DATA))
    after = (folder / "a.warc").stat()  # read meanwhile, so of another access time
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert names(folder) == ["a.warc"]


@pytest.mark.parametrize("there", [b"", b"other", warc_of(DATA, "a.arc") + b"\n"])
def test_different_file_is_not_replaced(arc_path: Path, folder: Path, there: bytes) -> None:
    (folder / "a.warc").write_bytes(there)
    with pytest.raises(InputRefused, match="exists already"):
        convert_file(str(arc_path), folder)
    assert (folder / "a.warc").read_bytes() == there
    assert names(folder) == ["a.warc"]


def test_a_dry_run_writes_nothing(arc_path: Path, folder: Path) -> None:
    result = convert_file(str(arc_path), folder / "not there", dry_run=True)
    assert (result.outcome, result.records) == (WOULD_WRITE, {"filedesc": 1, "response": 1})
    assert names(folder) == []


def test_progress_adds_up_to_the_file(arc_path: Path, folder: Path) -> None:
    steps: list[int] = []
    convert_file(str(arc_path), folder, advance=steps.append)
    assert sum(steps) == len(DATA)
    assert min(steps) >= 0


def test_an_arc_that_changes_meanwhile_is_not_published(arc_path: Path, folder: Path) -> None:
    def grow(_: int) -> None:
        with arc_path.open("ab") as file:
            file.write(b"more")

    with pytest.raises(InputRefused, match="changed"):
        convert_file(str(arc_path), folder, advance=grow)
    assert names(folder) == []


def test_wrongly_written_file_is_not_published(
    arc_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that does not keep what it is given."""
    write = os.write

    def flip(descriptor: int, data: bytes) -> int:
        return write(descriptor, bytes(data).replace(b"hello", b"jello"))

    monkeypatch.setattr(os, "write", flip)
    with pytest.raises(DigestMismatch):
        convert_file(str(arc_path), folder, verify=True)
    assert names(folder) == []


def test_a_full_disk_publishes_nothing(
    arc_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreUnavailable, match="full"):
        convert_file(str(arc_path), folder)
    assert names(folder) == []


def test_another_process_is_writing_it(arc_path: Path, folder: Path) -> None:
    with written_aside(folder / "a.warc"), pytest.raises(Conflict):
        convert_file(str(arc_path), folder)


class TestBack:
    @pytest.mark.parametrize("data", [DATA, arc_gz(arc_record())], ids=["plain", "gzip"])
    def test_rebuild_gives_the_arc(self, tmp_path: Path, folder: Path, data: bytes) -> None:
        path = tmp_path / "a.arc.gz"
        path.write_bytes(data)
        warc = Path(convert_file(str(path), folder).warc)
        assert rebuild_file(str(warc), tmp_path) == tmp_path / "a.arc"
        assert (tmp_path / "a.arc").read_bytes() == DATA

    def test_rebuild_replaces_nothing(self, arc_path: Path, folder: Path) -> None:
        warc = Path(convert_file(str(arc_path), folder).warc)
        with pytest.raises(InputRefused, match="exists"):
            rebuild_file(str(warc), arc_path.parent)

    def test_rebuild_refuses_damaged_files(self, arc_path: Path, folder: Path) -> None:
        warc = Path(convert_file(str(arc_path), folder).warc)
        data = warc.read_bytes()
        for bad in (data.replace(b"hello", b"jello"), data[:-10], b""):
            warc.write_bytes(bad)
            with pytest.raises((DigestMismatch, MalformedRecord)):
                rebuild_file(str(warc), folder)
            assert names(folder) == ["a.warc"]


IMPORTS = """
from pathlib import Path
from pinakes.rewrite.convert_file import convert_file
"""
CALL = "convert_file(sys.argv[2], Path(sys.argv[3]), verify=True)"


@pytest.mark.slow
def test_killed_at_any_step_nothing_half_written_is_seen(arc_path: Path, folder: Path) -> None:
    whole = warc_of(DATA, "a.arc")
    seen = []
    step = 0
    while (code := killed_at(step, IMPORTS, CALL, arc_path, folder)) == KILLED:
        visible = [name for name in names(folder) if not name.startswith(".")]
        assert visible in ([], ["a.warc"])
        for name in visible:
            assert (folder / name).read_bytes() == whole
        seen.append(visible)
        # The same command again ends the work, whatever was left lying there.
        assert convert_file(str(arc_path), folder).outcome == (UNCHANGED if visible else WRITTEN)
        assert names(folder) == ["a.warc"]
        assert (folder / "a.warc").read_bytes() == whole
        (folder / "a.warc").unlink()
        step += 1
    assert code == 0
    assert [] in seen
    assert ["a.warc"] in seen
    with open_source(folder / "a.warc") as source:
        assert source.size == len(whole)
