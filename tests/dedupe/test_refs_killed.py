"""kill -9 at each step on the disk of refs, restore and commit-copy; then the same call again."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from forged_records import forged_set
from killing import dies, tree
from warc_sets import ArchiveFile, Rec, plan, refs, validate, write_manifest, write_set

from pinakes.archive_store.local.whole_files import hidden_name, written_aside
from pinakes.cli import main
from pinakes.errors import InputRefused

LATER = "2020-02-02T00:00:00Z"
NOISE = random.Random(1).randbytes(2000)


def two_files(folder: Path, layout: str = "gzip") -> list[Path]:
    """Each refers to the other, so that offsets of what is replaced matter."""
    records = [Rec(uri="http://a/1"), Rec(uri="http://a/2", body=NOISE, date=LATER)]
    others = [Rec(uri="http://b/1", body=NOISE), Rec(uri="http://b/2", date=LATER)]
    return write_set(folder, [ArchiveFile("a", records, layout), ArchiveFile("b", others, "plain")])


def to_folder(where: Path, layout: str = "gzip") -> tuple[list[object], Path]:
    paths = two_files(where / "before", layout)
    manifest = write_manifest(where / "manifest", plan(paths))
    out = where / "out"
    out.mkdir()
    return ["refs", *paths, "--manifest", manifest, "-o", out, "--run", "r"], out


def in_place(where: Path, layout: str = "gzip") -> tuple[list[object], Path]:
    paths = two_files(where / "files", layout)
    manifest = write_manifest(where / "manifest", plan(paths))
    arguments = ["refs", *paths, "--manifest", manifest, "--in-place", "--run", "r"]
    return arguments, where / "files"


def restoring(where: Path, layout: str = "gzip") -> tuple[list[object], Path]:
    paths = two_files(where / "before", layout)
    refs(paths, plan(paths), where / "after")
    out = where / "out"
    out.mkdir()
    after = [where / "after" / path.name for path in paths]
    return ["restore", *after, "-o", out], out


def committing(where: Path, layout: str = "gzip") -> tuple[list[object], Path]:
    paths = two_files(where / "before", layout)
    refs(paths, plan(paths), where / "after")
    copy = where / "copy"
    shutil.copytree(where / "before", copy)
    receipt = where / "receipt.json"
    assert (
        main(["validate", str(where / "before"), str(where / "after"), "--receipt", str(receipt)])
        == 0
    )
    return ["commit-copy", where / "after", copy, "--receipt", receipt], copy


VERBS: dict[str, Callable[[Path, str], tuple[list[object], Path]]] = {
    "refs -o": to_folder,
    "refs --in-place": in_place,
    "restore": restoring,
    "commit-copy": committing,
}


def without_paths(found: dict[str, bytes], where: Path) -> dict[str, bytes]:
    return {name: data.replace(str(where).encode(), b"WHERE") for name, data in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["gzip", "dictionary"])
@pytest.mark.parametrize("verb", VERBS)
def test_killed_at_each_step_and_run_again(
    verb: str, layout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    arguments, folder = VERBS[verb](tmp_path / "once", layout)
    names = {path.name for path in folder.glob("[!.]*.warc*")} or {
        f"a.warc.{'gz' if layout == 'gzip' else 'zst'}",
        "b.warc",
    }
    assert main([str(argument) for argument in arguments]) == 0
    expected = without_paths(tree(folder), tmp_path / "once")
    assert names <= expected.keys()
    assert not [name for name in expected if ".pinakes-" in name]

    step = 0
    while True:
        where = tmp_path / f"step-{step}"
        arguments, folder = VERBS[verb](where, layout)
        old = {path.name: path.read_bytes() for path in folder.glob("[!.]*.warc*")}
        died = dies(arguments, where, step)
        assert not [path for path in temporary.rglob("*") if path.is_file()], step
        # What is visible is the old file or the new one, whole.
        for path in folder.glob("[!.]*.warc*"):
            new = expected[path.name].replace(b"WHERE", str(where).encode())
            assert path.read_bytes() in (old.get(path.name), new), (step, path)
        assert old.keys() <= {path.name for path in folder.glob("[!.]*.warc*")}
        assert main([str(argument) for argument in arguments]) == 0, step
        assert without_paths(tree(folder), where) == expected, step
        # And once more: nothing is left to do.
        assert main([str(argument) for argument in arguments]) == 0, step
        assert without_paths(tree(folder), where) == expected, step
        if not died:
            break
        shutil.rmtree(where)
        step += 1
    assert step > 8


def test_in_place_keeps_the_old_and_validates(tmp_path: Path) -> None:
    arguments, folder = in_place(tmp_path)
    old = tree(folder)
    assert main([str(argument) for argument in arguments]) == 0
    superseded = folder / "superseded"
    assert tree(superseded) == old
    shutil.move(superseded, tmp_path / "superseded")
    result = validate(tmp_path / "superseded", folder)
    assert (result.passed, result.comparison.rewritten) == (True, 2)


def test_in_place_refuses_another_rewriting(tmp_path: Path) -> None:
    arguments, folder = in_place(tmp_path)
    assert main([str(argument) for argument in arguments]) == 0
    done = tree(folder)
    again = [*map(str, arguments)]
    again[-1] = "another"
    assert main(again) == 3
    assert tree(folder) == done


def test_in_place_changes_nothing_where_a_body_differs(tmp_path: Path) -> None:
    paths, lines = forged_set(tmp_path / "files")
    manifest = write_manifest(tmp_path / "manifest", lines)
    old = tree(tmp_path / "files")
    arguments = ["refs", *map(str, paths), "--manifest", str(manifest), "--in-place"]
    arguments += ["--min-saving", "none"]
    assert main(arguments) == 3
    assert tree(tmp_path / "files") == old


def test_a_file_without_duplicates_stays_where_it_is(tmp_path: Path) -> None:
    paths = write_set(tmp_path / "files", [ArchiveFile("a", [Rec()])])
    manifest = write_manifest(tmp_path / "manifest", plan(paths))
    inode = paths[0].stat().st_ino
    assert main(["refs", str(paths[0]), "--manifest", str(manifest), "--in-place"]) == 0
    assert paths[0].stat().st_ino == inode
    assert list(tree(tmp_path / "files")) == ["a.warc.gz"]


def test_manifest_names_are_matched_as_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A manifest made from elsewhere names files otherwise."""
    arguments, out = to_folder(tmp_path)
    monkeypatch.chdir(tmp_path / "before")
    call = ["refs", "./a.warc.gz", "b.warc", *map(str, arguments[3:])]
    assert main(call) == 0
    assert "2 revisits" in capsys.readouterr().err
    assert validate(tmp_path / "before", out).comparison.rewritten == 2


def test_a_published_file_is_never_truncated(tmp_path: Path) -> None:
    """Killed between the two names of a file, which somebody then moves."""
    target = tmp_path / "a"
    with written_aside(target) as file:
        file.write(b"precious")
    os.link(target, hidden_name(target))
    target.rename(tmp_path / "moved")
    with written_aside(target) as file:
        file.write(b"new")
    assert (tmp_path / "moved").read_bytes() == b"precious"


def test_output_over_input_is_refused(tmp_path: Path) -> None:
    from pinakes.dedupe.write.rewriting import rewrite_to

    path = two_files(tmp_path)[0]
    with pytest.raises(InputRefused, match="input itself"):
        rewrite_to(str(path), path, lambda source: iter(()))


# --- a full disk


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    """A disk of 64 KiB; root alone can make one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() or shutil.which("mount") is None:
        pytest.skip("mounting a small disk takes root")
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def large_files(folder: Path) -> list[Path]:
    body = bytes(range(256)) * 400
    records = [Rec(uri="http://a/1", body=body), Rec(uri="http://a/2", body=body, date=LATER)]
    return write_set(folder, [ArchiveFile("a", records, "plain")])


def test_refs_on_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    paths = large_files(tmp_path / "before")
    manifest = write_manifest(tmp_path / "manifest", plan(paths))
    call = ["refs", str(paths[0]), "--manifest", str(manifest), "-o", str(small_disk / "out")]
    assert main(call) == 4
    assert tree(small_disk) == {}


def test_restore_on_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    paths = large_files(tmp_path / "before")
    refs(paths, plan(paths), tmp_path / "after")
    after = tmp_path / "after" / paths[0].name
    assert main(["restore", str(after), "-o", str(small_disk / "out")]) == 4
    assert tree(small_disk) == {}


def test_commit_copy_on_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    records = [
        Rec(uri=f"http://a/{n}", body=bytes(range(256)) * 90, date=f"202{n}-01-01")
        for n in range(2)
    ]
    paths = write_set(tmp_path / "before", [ArchiveFile("a", records, "plain")])
    refs(paths, plan(paths), tmp_path / "after")
    shutil.copy(paths[0], small_disk)
    receipt = str(tmp_path / "receipt.json")
    assert (
        main(["validate", str(tmp_path / "before"), str(tmp_path / "after"), "--receipt", receipt])
        == 0
    )
    old = tree(small_disk)
    assert (
        main(["commit-copy", str(tmp_path / "after"), str(small_disk), "--receipt", receipt]) == 4
    )
    assert tree(small_disk) == old
