"""The second copy comes to be as `pinakes commit-copy` makes it; refused, it stays as it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from killing import dies, tree
from second_copies import COMMIT_COPY, Copy, change, edit_receipt, plain_and_compressed, three_files
from steps_here import INLINE, run_by
from warc_sets import Rec, member

JOB = ("commit-copy", "--json", *INLINE)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return three_files(tmp_path, original="b", verb=JOB)


def test_job_makes_the_copy_that_the_verb_makes(
    copy: Copy, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_verb = replace(copy, target=tmp_path / "by-verb", verb=COMMIT_COPY)
    shutil.copytree(copy.target, by_verb.target)
    capsys.readouterr()
    assert by_verb.call("--json") == 0
    wanted, untouched = capsys.readouterr().out, tree(copy.target)
    assert copy.call("--dry-run") == 0
    assert capsys.readouterr().out == wanted
    assert tree(copy.target) == untouched
    assert copy.call() == 0
    assert capsys.readouterr().out == wanted
    assert tree(copy.target) == tree(by_verb.target)
    assert copy.call() == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {line["state"] for line in said} == {"done"}
    assert tree(copy.target) == tree(by_verb.target)


def test_paths_may_be_relative(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copy.target.parent)
    new = tree(copy.source)
    source, target = (path.relative_to(copy.target.parent) for path in (copy.source, copy.target))
    assert replace(copy, source=source, target=target).call() == 0
    now = tree(copy.target)
    assert {name: now[name] for name in new} == new


def forget(copy: Copy, name: str) -> None:
    files = json.loads(copy.receipt.read_text())["files"]
    files = [entry for entry in files if entry["name"] != name]
    edit_receipt(copy, lambda value: value.update(files=files))


def dangling(copy: Copy) -> None:
    for folder in (copy.source, copy.target):
        (folder / "b.warc.gz").unlink()
    forget(copy, "b.warc.gz")


def rotten_outside(copy: Copy) -> None:
    (copy.source / "b.warc.gz").unlink()
    forget(copy, "b.warc.gz")
    path = copy.target / "b.warc.gz"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def swapped(copy: Copy) -> None:
    """A hand-made receipt, by which a file would take another's old name."""

    def act(value: dict) -> None:
        for entry, name in zip(value["files"], ("b.warc.gz", "a.warc.gz"), strict=False):
            entry["before"]["name"] = name

    edit_receipt(copy, act)


REFUSED: dict[str, tuple[Callable[[Copy], None], int]] = {
    "the verdict is fail": (lambda c: edit_receipt(c, lambda v: v.update(verdict="fail")), 3),
    "SRC changed": (lambda c: change(c.source / "a.warc.gz"), 3),
    "SRC lacks a file": (lambda c: (c.source / "a.warc.gz").unlink(), 3),
    "DST differs": (lambda c: change(c.target / "a.warc.gz"), 3),
    "DST differs in a file that stays": (lambda c: change(c.target / "b.warc.gz"), 3),
    "DST lacks a file": (lambda c: (c.target / "sub" / "c.warc").unlink(), 3),
    "a reference would dangle": (dangling, 3),
    "an original in DST has rotted": (rotten_outside, 3),
    "a file would take another's name": (swapped, 3),
    "the receipt names no file": (lambda c: edit_receipt(c, lambda v: v.update(files=[])), 3),
    "there is no receipt": (lambda c: c.receipt.unlink(), 2),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_and_nothing_changed(name: str, copy: Copy) -> None:
    act, code = REFUSED[name]
    act(copy)
    old = tree(copy.target)
    assert copy.call() == code
    assert tree(copy.target) == old


def test_originals_that_dst_holds_beside_the_set(copy: Copy) -> None:
    (copy.source / "b.warc.gz").unlink()
    forget(copy, "b.warc.gz")
    assert copy.call() == 0


def old_moved_away(copy: Copy) -> None:
    """Stopped between the two renames of a file, on another day."""
    (copy.target / "superseded-2020-01-01").mkdir()
    (copy.target / "a.warc.gz").rename(copy.target / "superseded-2020-01-01" / "a.warc.gz")


def new_in_place(copy: Copy) -> None:
    """Stopped behind them."""
    old_moved_away(copy)
    shutil.copy(copy.source / "a.warc.gz", copy.target)


def both_there(copy: Copy) -> None:
    """A rename that was broken off: on a disk it is a link, and then an unlink."""
    (copy.target / "superseded-2020-01-01").mkdir()
    shutil.copy(copy.target / "a.warc.gz", copy.target / "superseded-2020-01-01")


@pytest.mark.parametrize("act", [old_moved_away, new_in_place, both_there])
def test_stopped_job_is_continued_by_the_same_call(act: Callable[[Copy], None], copy: Copy) -> None:
    new, old = tree(copy.source), (copy.target / "a.warc.gz").read_bytes()
    act(copy)
    assert copy.call() == 0
    now = tree(copy.target)
    assert {name: now[name] for name in new} == new
    assert old in [data for name, data in now.items() if name.startswith("superseded-")]


def test_a_compressed_file_may_take_a_plain_ones_place(tmp_path: Path) -> None:
    copy = plain_and_compressed(tmp_path, verb=JOB)
    assert copy.call() == 0
    now = tree(copy.target)
    assert now.pop("a.warc.gz") == member(Rec().raw(1))
    [(kept, data)] = now.items()
    assert (kept.rpartition("/")[2], data) == ("a.warc", Rec().raw(1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("runner", "every"),
    [
        ("here", 5),  # prime to what repeats
        # Half of the steps on the disk are mrjob's, in folders of its own.
        pytest.param("inline", 1, marks=pytest.mark.large),
    ],
)
def test_killed_at_any_step_nothing_is_lost_and_the_same_call_goes_on(
    runner: str, every: int, copy: Copy, tmp_path: Path
) -> None:
    new, old, folder = tree(copy.source), tree(copy.target), tmp_path / "killed"
    killed = replace(copy, target=folder)
    step, deaths = 0, 0
    with run_by(runner):
        while True:
            shutil.copytree(copy.target, folder)
            if not dies(killed.words(), folder, step):
                break
            deaths += 1
            left = tree(folder)
            assert {*old.values()} <= {*left.values()}
            assert killed.call() == 0
            now = tree(folder)
            assert {name: now[name] for name in new} == new
            assert {*old.values()} <= {*now.values()}
            assert not (folder / ".landing").exists()
            shutil.rmtree(folder)
            step += every
    assert deaths > 5
