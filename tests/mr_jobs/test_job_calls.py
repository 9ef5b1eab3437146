"""Calls with `--runner` that cannot work say what to change, before anything is done."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from archive_builders import warc
from steps_here import INLINE

from pinakes.cli import main
from pinakes.extras import install_command


@pytest.fixture
def archive(tmp_path: Path) -> str:
    path = tmp_path / "a.warc"
    path.write_bytes(warc())
    return str(path)


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main([*words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def test_an_option_that_the_job_does_not_have(
    archive: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(capsys, "manifest", *INLINE, archive, "--options=--digest sha3")
    assert "--options: argument --digest: invalid choice: 'sha3'" in said


def test_hadoop_without_a_cluster(archive: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = refusal(capsys, "manifest", "--runner", "hadoop", archive)
    assert "profile = cluster" in said


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"hadoop_command": "no-such-command"}, "there is no no-such-command here"),
        (
            {"hadoop_command": sys.executable, "job_streaming_jar": "/no/such.jar"},
            "there is no file /no/such.jar",
        ),
    ],
)
def test_missing_hadoop(
    archive: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    settings: dict[str, str],
    words: str,
) -> None:
    file = tmp_path / "pinakes.toml"
    cluster = {"profile": "cluster", "hbase": "127.0.0.1:1", "hdfs": "hdfs://127.0.0.1:1/x"}
    lines = [f'{name} = "{value}"\n' for name, value in {**cluster, **settings}.items()]
    file.write_text("".join(lines))
    call = ["manifest", "--runner", "hadoop", archive, "--config", str(file)]
    assert words in refusal(capsys, *call)


def test_printing_what_has_no_command_line(
    archive: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--print is for --runner hadoop" in refusal(
        capsys, "manifest", *INLINE, "--print", archive
    )


@pytest.mark.parametrize(
    "option",
    ["--stored", "--print", "--options=x", "--store=x", "--job-folder=x", "--job-python=x"],
)
def test_options_of_a_job_without_one(
    option: str, archive: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal(capsys, "manifest", option, archive)
    assert f"{option.partition('=')[0]} needs --runner" in said


@pytest.mark.parametrize(
    ("call", "option"),
    [
        ("manifest {} --json", "--json"),
        ("manifest {} -j 2", "-j"),
        ("resolve {} --json", "--json"),
        ("resolve -", "standard input (-)"),
        ("resolve {} --compare none", "--compare none"),
        ("resolve {} --process", "--process"),
        ("resolve {} --resources", "--resources"),
        ("resolve {} --dir x", "--dir"),
        ("resolve {} --locations x", "--locations"),
        ("process {} --json", "--json"),
        ("process - {}", "standard input (-)"),
        ("refs {} --manifest {} -o x", "WARC"),
        ("refs --manifest {} --in-place", "--in-place"),
        ("refs --manifest {} -o x --dir x", "--dir"),
        ("refs --manifest {} -o x --locations x", "--locations"),
        ("refs --manifest {} -o x --dry-run", "--dry-run"),
        ("validate --manifests {} {}", "--manifests"),
        ("validate --refs {}", "--refs"),
        ("validate {} {} --replay http://x/", "--replay"),
        ("validate {} {} --cdx {}", "--cdx"),
        ("validate {} {} --locations {}", "--locations"),
        ("restore {} -o x --cdx {}", "--cdx"),
        ("restore {} -o x --locations {}", "--locations"),
        ("restore {} -o x --dry-run", "--dry-run"),
        ("convert {} -o x --back", "--back"),
        ("convert {} -o x --dry-run", "--dry-run"),
        ("zstd compress {} -o x -j 2", "-j"),
        ("zstd compress {} -o x --plan", "--plan"),
        ("zstd decompress {} -o x --dry-run", "--dry-run"),
    ],
)
def test_options_that_no_job_can_honour(
    call: str, option: str, archive: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = call.replace("{}", archive).split()
    assert f"--runner does not support {option}" in refusal(capsys, *words, *INLINE)


def test_without_mrjob(
    archive: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("mrjob", "pinakes.mr_jobs."))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mrjob", None)
    said = refusal(capsys, "manifest", *INLINE, archive)
    assert f"jobs need mrjob.compat: {install_command('jobs')}" in said
