"""ARC files become the WARC files that `pinakes convert` makes, whole or not at all."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from arc_builders import HTTP, arc, arc_gz, arc_record
from jobs_and_verbs import require_same
from killing import tree
from steps_here import INLINE

from pinakes.cli import main


def write_arcs(folder: Path, dice: random.Random) -> list[Path]:
    """A few ARC files, with stretches that are no record, one cut off, and two that are no ARC."""
    folder.mkdir()
    paths = []
    for number in range(4):
        records = [
            arc_record(b"http://example.org/%d" % n, HTTP + dice.randbytes(dice.randrange(999)))
            for n in range(dice.randrange(1, 6))
        ]
        path = folder / f"é {number}.arc"
        path.write_bytes(arc(*records))
        if number == 1:
            path = path.rename(f"{path}.gz")
            path.write_bytes(arc_gz(*records))
        if number == 2:
            path.write_bytes(arc(*records) + b"what is no record\n" * 3)
        if number == 3:
            path.write_bytes(arc(*records)[:-3])
        paths.append(path)
    (folder / "no.arc").write_bytes(b"nothing at all")
    return [*paths, folder / "no.arc", folder / "missing.arc"]


@pytest.mark.parametrize(("seed", "runner"), [(1, "inline"), (2, "local")])
def test_files_and_lines_are_those_of_the_verb(
    seed: int,
    runner: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Relative paths begin where the job is called, and its tasks run elsewhere."""
    monkeypatch.chdir(tmp_path)
    names, to = (
        [str(path) for path in write_arcs(Path("in"), random.Random(seed))],
        Path("é %41 out"),
    )
    words = ["convert", *names, "-o", str(to), "--json"]
    files, lines, warnings = require_same(
        [*words, "--verify"], [*words, "--runner", runner], to, capsys
    )
    assert len(files) == len(lines) == 4
    for name in ("no.arc:", "missing.arc:", " 2.arc:", " 3.arc:"):
        assert sum(name in text for text in warnings) == 1


def test_existing_file_is_kept_and_a_different_one_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = write_arcs(tmp_path / "in", random.Random(3))[:2]
    names, to = [str(path) for path in paths], tmp_path / "out"
    job = ["convert", "--json", *INLINE, *names, "-o", str(to)]
    assert main(job) == 0
    wanted = tree(to)
    capsys.readouterr()
    (to / "é 0.warc").unlink()
    assert main(job) == 0
    said = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sorted(line["outcome"] for line in said) == ["unchanged", "written"]
    assert tree(to) == wanted
    (to / "é 0.warc").write_bytes(b"another file")
    assert main(job) == 3
    assert "exists already with other content" in capsys.readouterr().err
    assert (to / "é 0.warc").read_bytes() == b"another file"


@pytest.mark.slow
def test_leftovers_of_a_dead_driver_are_cleared_by_the_next(tmp_path: Path) -> None:
    folder, to = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    names = [str(folder / f"{number}.arc") for number in range(200)]
    for name in names:
        Path(name).write_bytes(arc(arc_record(b"http://example.org/" + name.encode())))
    job = ["convert", *INLINE, *names, "-o", str(to)]
    driver = subprocess.Popen([sys.executable, "-m", "pinakes.cli", *job])
    deadline = time.monotonic() + 60
    while not list(to.glob(".landing/*/_written/*/*.warc")):
        assert time.monotonic() < deadline
        assert driver.poll() is None
        time.sleep(0.01)
    driver.kill()
    driver.wait()
    assert len(list((to / ".landing").iterdir())) == 1
    assert main(job) == 0
    assert {path.name for path in to.iterdir()} == {f"{number}.warc" for number in range(200)}


def test_inputs_with_one_target_name_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.arc").write_bytes(arc(arc_record(block=HTTP + folder.encode())))
    names, to = [str(tmp_path / folder / "x.arc") for folder in ("a", "b")], tmp_path / "out"
    assert main(["convert", *INLINE, *names, "-o", str(to)]) == 2
    assert (
        "two inputs would have the same output name, nothing was written: x.warc"
        in capsys.readouterr().err
    )
    assert list(to.glob("*.warc")) == []
    assert main(["convert", *INLINE, names[0], names[0], "-o", str(to)]) == 2
    assert main(["convert", *INLINE, names[0], "-o", "hdfs://somewhere/else"]) == 2
