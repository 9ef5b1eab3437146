"""Jobs on real YARN, whose tasks know nothing of this environment but what is sent along."""

from __future__ import annotations

import gzip
import json
import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import pytest
from archive_builders import HTTP, warc
from store_profiles import Profile, demo_crawls, files_of, rows_of, start_acts

from bench.skew import lines as bench_lines
from pinakes.archive_store.hdfs.calls import HdfsCalls
from pinakes.archive_store.hdfs.store import HdfsArchiveStore
from pinakes.cli import main
from pinakes.config import load_configuration
from pinakes.index.manifest import format_line, parse_line
from pinakes.profile import hdfs_connection, open_folder

if TYPE_CHECKING:
    from shared_cluster import RunningCluster

FILES = 4
BODIES = [b"hello", b"world"]
NOW = "--now 2026-01-01T00:00:00+00:00"


@pytest.fixture
def settings(cluster: RunningCluster, tmp_path: Path) -> Iterator[Path]:
    """A pinakes.toml for a store of its own, four files and a damaged one in its archive."""
    values = cluster.settings(f"jobs{token_hex(4)}")
    # One environment for all runs of the tests: it is named by what is in it.
    values["job_folder"] = f"{values['hdfs'].rpartition('/')[0]}/test-jobs"
    file = tmp_path / "pinakes.toml"
    file.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items()))
    connection = hdfs_connection(load_configuration(file, environment={}))
    with closing(HdfsArchiveStore(connection)) as archive:
        for number in range(FILES):
            members = [
                gzip.compress(warc(HTTP + BODIES[n % 2], number=10 * number + n)) for n in range(5)
            ]
            if number == FILES - 1:
                members.insert(2, b"rubbish" * 9)
            with archive.create_aside(token_hex(4)) as aside:
                aside.file.write(b"".join(members))
                aside.publish(f"spring/é {number}.warc.gz")
    yield file
    with closing(HdfsCalls(connection)) as calls:
        calls.ask("", lambda client: client.delete(connection.folder, True))


def names(*, url: str = "") -> list[str]:
    return [f"{url}spring/é {number}.warc.gz" for number in range(FILES)]


def lines_of(capsysbinary: pytest.CaptureFixture[bytes], *words: str) -> list[bytes]:
    assert main(list(words)) == 3
    reported = capsysbinary.readouterr()
    assert b"rubbish" not in reported.err
    assert f"files read: {FILES}".encode() in reported.err
    assert reported.err.count(b"pinakes: warning: ") == 1
    return sorted(reported.out.splitlines())


def test_the_manifest_is_the_same_wherever_it_is_made(
    settings: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    job = ("--config", str(settings), "manifest", "--options", NOW, "--stored", *names())
    here = lines_of(capsysbinary, *job, "--runner", "inline")
    assert len(here) == 5 * FILES
    assert lines_of(capsysbinary, *job, "--runner", "hadoop") == here


@pytest.mark.yarn
def test_bodies_are_compared_alike_wherever_that_is(
    settings: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    configured = ("--config", str(settings))
    manifest = tmp_path / "manifest"
    listing = ("manifest", "--runner", "inline", "--stored", *names())
    assert main([*configured, *listing, "-o", str(manifest)]) == 3
    # Two contents, under digests that do not tell them apart.
    lines = [parse_line(text) for text in manifest.read_text().splitlines()]
    lines = [line._replace(digest=f"md5:{number % 3}") for number, line in enumerate(lines)]
    manifest.write_text("".join(format_line(line) + "\n" for line in lines))
    found = {}
    for runner in ("inline", "local", "hadoop"):
        capsysbinary.readouterr()
        job = ("resolve", "--stored", "--runner", runner, str(manifest))
        assert main([*configured, *job, "--options", "--shard-lines 4"]) == 0
        found[runner] = sorted(capsysbinary.readouterr().out.splitlines())
    assert found["inline"] == found["local"] == found["hadoop"]
    assert len(found["inline"]) == 5 * FILES
    extensions = {parse_line(text.decode()).hash_extension for text in found["inline"]}
    assert extensions == {0, 1}


@pytest.mark.yarn
def test_a_content_that_is_divided_is_decided_alike(settings: Path, tmp_path: Path) -> None:
    """A third of all captures have one content; the second round takes up what tasks left."""
    given, here, there = (tmp_path / name for name in ("given", "here", "there"))
    given.write_text("".join(bench_lines(1200, None)))
    assert main(["process", str(given), "-o", str(here)]) == 0
    job = ["--config", str(settings), "process", "--runner", "hadoop", str(given)]
    options = "--content-lines 60 --shard-lines 40 -D mapreduce.job.reduces=2"
    assert main([*job, "-o", str(there), f"--options={options}"]) == 0
    assert sorted(there.read_text().splitlines()) == sorted(here.read_text().splitlines())


@pytest.mark.yarn
def test_the_printed_line_does_the_same(
    settings: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    job = ("--config", str(settings), "manifest", "--options", NOW, "--stored", *names())
    here = lines_of(capsysbinary, *job, "--runner", "inline")
    assert main([*job, "--runner", "hadoop", "--print"]) == 0
    [line] = capsysbinary.readouterr().out.decode().splitlines()
    done = subprocess.run(line, shell=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    output = shlex.split(line)[shlex.split(line).index("-output") + 1]
    with open_folder(output, load_configuration(settings, environment={})) as folder:
        parts = [stored.name for stored in folder.list() if stored.name.startswith("part-")]
        lines = b"".join(folder.open(name).read() for name in parts)
    assert sorted(lines.splitlines()) == here


@pytest.mark.yarn
def test_a_task_that_fails_is_quoted(
    settings: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    options = "--now yesterday -D mapreduce.map.maxattempts=1"
    url = load_configuration(settings, environment={}).hdfs
    job = ("manifest", "--runner", "hadoop", "--options", options, *names(url=f"{url}/"))
    assert main(["--config", str(settings), *job]) == 4
    reported = capsysbinary.readouterr()
    assert reported.out == b""
    assert b"the job failed (application_" in reported.err
    assert b"Invalid isoformat string: 'yesterday'" in reported.err


# --- `dedupe --runner hadoop` on real servers leaves what a run in one process leaves elsewhere


if TYPE_CHECKING:
    from shared_cluster import RunningCluster


@pytest.mark.yarn
def test_a_collection_is_deduplicated_by_jobs(
    cluster: RunningCluster,
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name = f"jobs{token_hex(4)}"
    settings = cluster.settings(name)
    # One environment for all runs of the tests: it is named by what is in it.
    job_folder = f"{settings['hdfs'].rpartition('/')[0]}/test-jobs"
    profiles = {
        "inline": {"profile": "embedded", "store": str(tmp_path / "embedded")},
        "hadoop": {"store": str(tmp_path / "cluster"), **settings, "job_folder": job_folder},
    }
    said, rows, files, reports = {}, {}, {}, {}
    crawls = demo_crawls(tmp_path, repository)
    start_ms = time.time_ns() // 1_000_000  # captures from after their landing take no part
    for runner, values in profiles.items():
        start_acts(monkeypatch, start_ms)
        profile = Profile(values, monkeypatch)
        assert profile.run("init")[0] == 0
        for number, crawl in enumerate(crawls):
            profile.run("ingest", str(crawl), "--crawl", f"crawl-{number}")
        said[runner] = [
            profile.run("dedupe", "--all", "--runner", runner, "-q"),
            profile.run(
                *("zstd", "compress", "crawl-1", "--runner", runner, "-q"),
                *("--min-file-saving", "0"),
            ),
            profile.run("fsck", "--full"),
        ]
        with profile.stores as stores:
            rows[runner], files[runner] = rows_of(stores), files_of(stores)
            [report] = stores.runs_folder.rglob("report.json")
            reports[runner] = json.loads(report.read_text())
            assert [*stores.archive.list(".landing")] == []
    assert reports["hadoop"]["files_rewritten"] == 2
    assert reports["hadoop"] == reports["inline"]
    assert said["hadoop"] == said["inline"]
    assert files["hadoop"].keys() == files["inline"].keys()
    for file, content in files["inline"].items():
        assert files["hadoop"][file] == content, file
    assert rows["hadoop"] == rows["inline"]
    connection = hdfs_connection(
        load_configuration(options={**profiles["hadoop"]}, environment={}, folder=tmp_path)
    )
    with closing(HdfsCalls(connection)) as calls:
        calls.ask("", lambda client: client.delete(connection.folder, True))
