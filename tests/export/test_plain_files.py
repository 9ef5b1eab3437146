"""A WACZ file of archive files without a store: py-wacz takes it, and it holds their bytes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from archive_builders import gzip_file

from bench.peers import pins
from pinakes.cli import main


def export(*words: object) -> int:
    return main(["-q", "export-wacz", *map(str, words)])


def test_py_wacz_takes_it_and_its_index_is_that_of_cdxj_indexer(
    shared_data: Path, tmp_path: Path
) -> None:
    archives = shared_data / "archives"
    given = [
        archives / "webrecorder_py-wacz/tests/fixtures/example-iana.warc",
        archives / "webrecorder_warcio/test/data/example.warc.gz",
    ]
    target = tmp_path / "made.wacz"
    assert export(*given, "-o", target) == 0
    with zipfile.ZipFile(target) as package:
        for path in given:
            assert package.read(f"archive/{path.name}") == path.read_bytes()
        lines = package.read("indexes/index.cdx").decode().splitlines()
        assert lines == sorted(lines)
    oracle = archives / "_oracle/cdxj-indexer-1.5.0"
    expected = [
        line
        for path in given
        for line in (oracle / f"{path.relative_to(archives)}.cdxj").read_text().splitlines()
    ]
    assert sorted(map(place_of, lines)) == sorted(map(place_of, expected))
    program = pins.archivers() / "bin" / "wacz"
    if not program.exists():
        pytest.skip("wacz is not installed: `make tools` does it")
    subprocess.run([program, "validate", "-f", target], check=True)


def place_of(line: str) -> tuple[str, str, str]:
    found = json.loads(line[line.index("{") :])
    return Path(found["filename"]).name, found["offset"], found["url"]


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(gzip_file())
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        assert export(tmp_path / "a.warc.gz", "-o", tmp_path / folder / "a.wacz") == 0
    one, two = ((tmp_path / folder / "a.wacz").read_bytes() for folder in ("one", "two"))
    assert one == two


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        pytest.param(["a/a.warc.gz", "b/a.warc.gz"], 2, "inputs of one name", id="equal names"),
        pytest.param(["a/gone.warc.gz"], 3, "gone.warc.gz", id="no such file"),
        pytest.param(["a/a.warc.gz", "--standalone"], 2, "for crawls", id="standalone"),
        pytest.param(["empty/"], 3, "no archive files", id="nothing in it"),
        pytest.param(["a/a.warc.gz", "-o", "there.wacz"], 3, "exists", id="a file is there"),
    ],
)
def test_refusals(
    words: list[str],
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("a", "b", "empty"):
        Path(folder).mkdir()
    for folder in ("a", "b"):
        Path(folder, "a.warc.gz").write_bytes(gzip_file())
    Path("there.wacz").write_bytes(b"x")
    target = [] if "-o" in words else ["-o", "new.wacz"]
    assert export(*words, *target) == code
    assert said in capsys.readouterr().err
    assert not Path("new.wacz").exists()
    assert Path("there.wacz").read_bytes() == b"x"


def test_damage_is_named_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = gzip_file()
    broken = data[: len(data) // 2] + b"\0" * 30 + data[len(data) // 2 + 30 :]
    (tmp_path / "a.warc.gz").write_bytes(broken)
    assert export(tmp_path / "a.warc.gz", "-o", tmp_path / "a.wacz") == 3
    assert "a.warc.gz" in capsys.readouterr().err
    with zipfile.ZipFile(tmp_path / "a.wacz") as package:
        assert package.read("archive/a.warc.gz") == broken


def test_killed_there_is_no_file_and_the_next_call_makes_it(tmp_path: Path) -> None:
    (tmp_path / "a.warc.gz").write_bytes(gzip_file())
    words = ["export-wacz", str(tmp_path / "a.warc.gz"), "-o", str(tmp_path / "a.wacz")]
    ended_at = (
        "import os, signal, sys\n"
        "from pinakes.export import plain_files\n"
        "plain_files.write_description = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from pinakes.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    killed = subprocess.run([sys.executable, "-c", ended_at, *words], check=False, env=os.environ)
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "a.wacz").exists()
    assert main(["-q", *words]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.wacz", "a.warc.gz"]
