"""What writes one file anew: it appears whole or not at all, and again the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from arc_builders import arc, arc_gz, arc_record, warc_of
from archive_builders import gzip_file
from faulty_warcs import BLOCKS, packed, record
from killing import deaths_of_verb

from pinakes.archive_store.local.whole_files import written_aside
from pinakes.errors import Conflict, DigestMismatch, InputRefused, MalformedRecord, StoreUnavailable
from pinakes.rewrite.convert_file import convert_file, rebuild_file
from pinakes.rewrite.new_file import UNCHANGED, WOULD_WRITE, WRITTEN
from pinakes.rewrite.recompress import PLAIN, MemberForm, zstd_form
from pinakes.rewrite.recompress_file import recompress_file
from pinakes.rewrite.repair_file import repair_file


def _repair(place: str, folder: Path, **options: Any) -> object:
    return repair_file(place, folder, lambda told: None, **options)


def _recompress(form: MemberForm) -> Callable[..., object]:
    return lambda place, folder, **options: recompress_file(place, folder, form, **options)


class Writer(NamedTuple):
    """A function, a file for it, the name of the new one, and the verb that calls it."""

    write: Callable[..., Any]
    name: str
    data: bytes
    new: str
    verb: Sequence[str] = ()


WRITERS = {
    "convert": Writer(
        partial(convert_file, verify=True),
        "a.arc",
        arc(arc_record()),
        "a.warc",
        ["convert", "--verify"],
    ),
    "to Zstandard": Writer(
        _recompress(zstd_form(3)),
        "a.warc.gz",
        gzip_file(),
        "a.warc.zst",
        ["zstd", "compress", "--level", "3"],
    ),
    "to no compression": Writer(_recompress(PLAIN), "a.warc.gz", gzip_file(), "a.warc"),
    "repair": Writer(
        _repair,
        "a.warc.gz",
        packed([record(n, block, nl="\n") for n, block in enumerate(BLOCKS.values())], "gzip"),
        "a.warc.gz",
        ["repair"],
    ),
}


class New:
    """The old file, and the folder for the new one."""

    def __init__(self, writer: Writer, folder: Path) -> None:
        self.writer = writer
        self.old, self.folder = folder / "in" / writer.name, folder / "out"
        self.target = self.folder / writer.new
        self.old.parent.mkdir()
        self.folder.mkdir()
        self.old.write_bytes(writer.data)

    def write(self, folder: Path | None = None, **options: Any) -> Any:
        return self.writer.write(str(self.old), folder or self.folder, **options)

    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())


@pytest.fixture(params=WRITERS.values(), ids=list(WRITERS))
def new(request: pytest.FixtureRequest, tmp_path: Path) -> New:
    return New(request.param, tmp_path)


def test_again_it_is_left_as_it_is(new: New) -> None:
    assert new.write().outcome == WRITTEN
    before = new.target.stat()
    assert new.write().outcome == UNCHANGED
    after = new.target.stat()  # read meanwhile, so of another access time
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert new.names() == [new.target.name]


@pytest.mark.parametrize("there", ["nothing", "other", "and a line more"])
def test_another_file_is_never_replaced(new: New, there: str) -> None:
    if there == "and a line more":
        new.write()
        data = new.target.read_bytes() + b"\n"
    else:
        data = b"" if there == "nothing" else b"other"
    new.target.write_bytes(data)
    with pytest.raises(InputRefused, match="exists already"):
        new.write()
    assert new.target.read_bytes() == data
    assert new.names() == [new.target.name]


def test_a_dry_run_writes_nothing(new: New) -> None:
    assert new.write(new.folder / "not there", dry_run=True).outcome == WOULD_WRITE
    assert new.names() == []


def test_a_file_that_changes_meanwhile_is_not_published(new: New) -> None:
    def grow(_: int) -> None:
        with new.old.open("ab") as file:
            file.write(b"more")

    with pytest.raises(InputRefused, match="changed"):
        new.write(advance=grow)
    assert new.names() == []


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("convert", lambda data: data.replace(b"hello", b"jello")),
        ("to no compression", lambda data: data.replace(b"hello", b"jello")),
        ("to no compression", lambda data: data[: len(data) // 2]),
    ],
    ids=["converted", "other bytes", "fewer"],
)
def test_what_a_disk_did_not_keep_is_not_published(
    name: str, harm: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new, write = New(WRITERS[name], tmp_path), os.write

    def harmed(descriptor: int, data: bytes) -> int:
        write(descriptor, harm(bytes(data)))
        return len(data)

    monkeypatch.setattr(os, "write", harmed)
    with pytest.raises(DigestMismatch):
        new.write()
    assert new.names() == []


def test_a_full_disk_publishes_nothing(new: New, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreUnavailable, match="full"):
        new.write()
    assert new.names() == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, writer in WRITERS.items() if writer.verb])
def test_killed_at_any_step_nothing_half_written_is_seen(name: str, tmp_path: Path) -> None:
    new = New(WRITERS[name], tmp_path)
    new.write()
    whole, seen = new.target.read_bytes(), []

    def words(folder: Path) -> list[str]:
        return [*new.writer.verb, str(new.old), "-o", str(folder)]

    for _, folder, _ in deaths_of_verb(tmp_path, words, more_than=6):
        target = folder / new.target.name
        seen.append(target.exists())
        assert [name for name in os.listdir(folder) if name[0] != "."] == [target.name] * seen[-1]
        assert not seen[-1] or target.read_bytes() == whole
        assert new.old.read_bytes() == new.writer.data
        # The same command again ends the work, whatever was left lying there.
        assert new.write(folder).outcome == (UNCHANGED if seen[-1] else WRITTEN)
        assert os.listdir(folder) == [target.name]
        assert target.read_bytes() == whole
    assert set(seen) == {False, True}


# --- Converted files appear whole or not at all, and again the same


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


def test_what_is_there_is_verified_as_well(arc_path: Path, folder: Path) -> None:
    convert_file(str(arc_path), folder)
    result = convert_file(str(arc_path), folder, verify=True)
    assert (result.outcome, result.verified_bytes) == (UNCHANGED, len(DATA))


def test_a_dry_run_counts(arc_path: Path, folder: Path) -> None:
    result = convert_file(str(arc_path), folder / "not there", dry_run=True)
    assert (result.outcome, result.records) == (WOULD_WRITE, {"filedesc": 1, "response": 1})


def test_progress_adds_up_to_the_file(arc_path: Path, folder: Path) -> None:
    steps: list[int] = []
    convert_file(str(arc_path), folder, advance=steps.append)
    assert sum(steps) == len(DATA)
    assert min(steps) >= 0


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


# --- What docs/convert.md promises: the ARC comes back without Pinakes


@pytest.mark.parametrize("make", [arc, arc_gz], ids=["plain", "gzip"])
def test_the_recipe_gives_the_arc_back(repository: Path, tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    text = (repository / "docs" / "convert.md").read_text("utf-8")
    (recipe,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    records = [arc_record(b"http://a/b c%20\xff"), arc_record(b"dns:x", b"\r\n")]
    warc = tmp_path / "x.warc"
    warc.write_bytes(warc_of(make(*records)))
    command = [sys.executable, "-I", "-c", recipe, str(warc)]
    done = subprocess.run(command, check=True, capture_output=True)
    assert done.stdout == arc(*records)
