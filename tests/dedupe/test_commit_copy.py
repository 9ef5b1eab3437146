"""commit-copy: what a receipt permits, in an order that holds, and nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from killing import tree
from second_copies import BODY, LATER, Copy, change, edit_receipt, plain_and_compressed, three_files
from warc_sets import ArchiveFile, Rec, plan, refs, write_set

from pinakes.dedupe.copy.commit_copy import commit_copy, plan_copy
from pinakes.dedupe.copy.reference_check import examine_copy
from pinakes.dedupe.validate.receipt import read_receipt
from pinakes.errors import ConfigError


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return three_files(tmp_path, original="a")


def test_new_files_replace_old_ones_that_are_kept(copy: Copy) -> None:
    old, new = tree(copy.target), tree(copy.source)
    assert copy.call() == 0
    now = {n: data for n, data in tree(copy.target).items() if not n.startswith("superseded")}
    assert now == new
    changed = {name for name in old if old[name] != new[name]}
    assert changed == {"b.warc.gz", "sub/c.warc"}
    assert copy.superseded() == {name: old[name] for name in changed}
    assert copy.call() == 0


def test_dry_run_writes_nothing(copy: Copy, capsys: pytest.CaptureFixture[str]) -> None:
    old = tree(copy.target)
    assert copy.call("--dry-run", "--json") == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["file"], line["state"]) for line in lines] == [
        ("a.warc.gz", "done"),
        ("b.warc.gz", "to do"),
        ("sub/c.warc", "to do"),
    ]
    assert tree(copy.target) == old


def dangling(copy: Copy) -> None:
    """Accept everything, and let the original be another capture: still no reference may dangle."""
    for folder in (copy.source, copy.target):
        (folder / "a.warc.gz").unlink()
    edit_receipt(copy, lambda value: value["files"].pop(0))


def rotten_outside(copy: Copy) -> None:
    """The original is in a file of DST that the receipt does not name."""
    (copy.source / "a.warc.gz").unlink()
    edit_receipt(copy, lambda value: value["files"].pop(0))
    path = copy.target / "a.warc.gz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


REFUSED: dict[str, tuple[Callable[[Copy], None], int]] = {
    "the verdict is fail": (lambda c: edit_receipt(c, lambda v: v.update(verdict="fail")), 3),
    "SRC changed": (lambda c: change(c.source / "b.warc.gz"), 3),
    "SRC lacks a file": (lambda c: (c.source / "b.warc.gz").unlink(), 3),
    "DST differs": (lambda c: change(c.target / "b.warc.gz"), 3),
    "DST differs in a file that stays": (lambda c: change(c.target / "a.warc.gz"), 3),
    "DST lacks a file": (lambda c: (c.target / "sub" / "c.warc").unlink(), 3),
    "a reference would dangle": (dangling, 3),
    "an original in DST has rotted": (rotten_outside, 3),
    "the receipt names no file": (lambda c: edit_receipt(c, lambda v: v.update(files=[])), 3),
    "the receipt is of tomorrow": (lambda c: edit_receipt(c, lambda v: v.update(receipt=2)), 2),
    "the receipt names a file outside": (
        lambda c: edit_receipt(c, lambda v: v["files"][0].update(name="../x")),
        2,
    ),
    "the receipt names a file twice": (
        lambda c: edit_receipt(c, lambda v: v["files"].append(v["files"][0])),
        2,
    ),
    "the receipt is none": (lambda c: c.receipt.write_text("[]") and None, 2),
    "there is no receipt": (lambda c: c.receipt.unlink(), 2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_and_nothing_written(name: str, copy: Copy) -> None:
    act, code = REFUSED[name]
    act(copy)
    old = tree(copy.target)
    assert copy.call() == code
    assert tree(copy.target) == old


def test_same_source_and_target_are_refused(copy: Copy) -> None:
    for target in (copy.source, copy.source / "sub"):
        assert replace(copy, target=target).call() == 3


def test_files_committed_before_are_skipped(copy: Copy) -> None:
    """As after a kill on another day."""
    new = tree(copy.source)
    (copy.target / "superseded-2020-01-01").mkdir()
    (copy.target / "b.warc.gz").rename(copy.target / "superseded-2020-01-01" / "b.warc.gz")
    shutil.copy(copy.source / "b.warc.gz", copy.target)
    assert copy.call() == 0
    now = {n: data for n, data in tree(copy.target).items() if not n.startswith("superseded")}
    assert now == new


def test_foreign_file_in_superseded_is_refused(copy: Copy) -> None:
    plan = plan_copy(copy.source, copy.target, read_receipt(copy.receipt), today="2026-11-21")
    del plan
    (copy.target / "superseded-2026-11-21").mkdir()
    (copy.target / "superseded-2026-11-21" / "b.warc.gz").write_bytes(b"other")
    with pytest.raises(Exception, match="another file stands here"):
        plan_copy(copy.source, copy.target, read_receipt(copy.receipt), today="2026-11-21")


def test_originals_outside_the_set_are_found_in_dst(copy: Copy) -> None:
    """The set may be a part of what DST holds."""
    (copy.source / "a.warc.gz").unlink()
    edit_receipt(copy, lambda value: value["files"].pop(0))
    assert copy.call() == 0


def test_originals_go_first(copy: Copy) -> None:
    names = ["sub/c.warc", "b.warc.gz", "a.warc.gz"]
    assert examine_copy(copy.source, names, copy.target, names)[0] == "a.warc.gz"


def test_files_with_mutual_references_are_ordered(tmp_path: Path) -> None:
    files = [
        ArchiveFile("a", [Rec(uri="http://a/"), Rec(uri="http://a/2", body=BODY, date=LATER)]),
        ArchiveFile("b", [Rec(uri="http://b/", body=BODY), Rec(uri="http://b/2", date=LATER)]),
    ]
    paths = write_set(tmp_path / "before", files)
    assert refs(paths, plan(paths), tmp_path / "after").records == 2
    names = ["b.warc.gz", "a.warc.gz"]
    assert sorted(examine_copy(tmp_path / "after", names, tmp_path, names)) == sorted(names)


def test_wrongly_written_file_is_not_committed(copy: Copy) -> None:
    plan = plan_copy(copy.source, copy.target, read_receipt(copy.receipt), today="2026-11-21")
    change(copy.source / "b.warc.gz")
    old = tree(copy.target)
    with pytest.raises(Exception, match="reads back as other bytes"):
        commit_copy(plan)
    assert tree(copy.target) == old


def test_a_compressed_file_may_take_a_plain_ones_place(tmp_path: Path) -> None:
    """The pair is one by stem: the old name goes away with the old file."""
    copy = plain_and_compressed(tmp_path)
    assert copy.call() == 0
    names = sorted(Path(name).name for name in tree(copy.target))
    assert names == ["a.warc", "a.warc.gz"]
    assert (copy.target / "a.warc.gz").is_file()
    assert not (copy.target / "a.warc").exists()
    assert copy.call() == 0


def test_receipt_that_is_not_json(tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="no receipt"):
        read_receipt(tmp_path / "r")


@pytest.mark.parametrize("name", ["b.warc.gz", "sub"])
def test_a_link_into_src_is_no_second_copy(
    copy: Copy, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    there = copy.target / name
    shutil.rmtree(there) if there.is_dir() else there.unlink()
    there.symlink_to((copy.source / name).absolute())
    assert copy.call() == 3
    assert "a link into SRC, so no second copy" in capsys.readouterr().err
