"""Several files at once: the same rows, and what is killed takes no more than its file along."""

from __future__ import annotations

import os
import random
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from ingest_processes import (
    call,
    contents,
    each_record_once,
    kill_after,
    start,
    until,
    write_folder,
)
from verbs_here import call_here

from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.catalog.file_rows import scan_entries
from pinakes.row_store.sqlite.store import EmbeddedRowStore

FILES, RECORDS = 9, 60
NAMES = [f"c/{number:03d}.warc.gz" for number in range(FILES)]

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawls") / "c"
    write_folder(folder, files=FILES, records=RECORDS)
    return folder


@contextmanager
def opened(folder: Path) -> Iterator[tuple[EmbeddedRowStore, LocalArchiveStore]]:
    rows = EmbeddedRowStore(folder / "pinakes-store" / "rows.sqlite")
    try:
        yield rows, LocalArchiveStore(folder / "pinakes-store" / "archive")
    finally:
        rows.close()


def found(folder: Path) -> dict[str, Any]:
    with opened(folder) as (rows, archive):
        assert each_record_once(rows)
        return contents(rows, archive)


@pytest.fixture(scope="module")
def plain(crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one process makes of the folder."""
    folder = tmp_path_factory.mktemp("plain")
    assert call_here(folder, "init").returncode == 0
    done = call_here(folder, "ingest", str(crawl), "--crawl", "c", "-j", "1")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, FILES)
    return found(folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert call_here(tmp_path, "init").returncode == 0
    return tmp_path


def fsck(folder: Path) -> subprocess.CompletedProcess[str]:
    return call_here(folder, "fsck", "--full")


def test_several_processes_make_the_same_rows(
    folder: Path, crawl: Path, plain: dict[str, Any]
) -> None:
    bad = folder / "bad"
    bad.mkdir()
    (bad / "empty.warc.gz").touch()
    (bad / "package.wacz").write_bytes(b"PK")
    given = [str(crawl), str(bad / "empty.warc.gz"), str(bad / "package.wacz")]
    done = call(folder, "ingest", *given, "--crawl", "c", "-j", "3")
    assert done.returncode == 3
    assert "empty.warc.gz: the file is empty" in done.stderr
    assert "package.wacz: not a readable ZIP file" in done.stderr
    assert sorted(line.partition(":")[0] for line in done.stdout.splitlines()) == NAMES
    assert found(folder) == plain
    assert fsck(folder).returncode == 0
    again = call(folder, "ingest", str(crawl), "--crawl", "c", "-j", "3")
    assert (again.returncode, again.stdout.count("was there")) == (0, FILES)


@pytest.mark.parametrize("seed", range(3))
def test_killed_anywhere_and_run_again(
    folder: Path, crawl: Path, plain: dict[str, Any], seed: int
) -> None:
    chance = random.Random(seed)
    for _ in range(2):
        jobs = str(chance.randint(1, 3))
        process = start(folder, "ingest", str(crawl), "--crawl", "c", "-j", jobs)
        lines, pause_s = chance.randrange(FILES // 2), chance.uniform(0, 0.2)
        kill_after(process, lines, group=chance.random() < 0.5, pause_s=pause_s)
    done = call(folder, "ingest", str(crawl), "--crawl", "c", "-j", "2")
    assert done.returncode == 0, done.stderr
    assert found(folder) == plain
    checked = fsck(folder)
    assert (checked.returncode, checked.stdout) == (0, ""), checked.stdout


def landing_process(folder: Path, but: int) -> int | None:
    """Who is landing a file just now, of those that are not the process `but`."""
    with opened(folder) as (rows, _):
        for entry in scan_entries(rows):
            if entry.claim is not None and entry.claim.expires_ms and entry.state == "landing":
                pid = int(entry.claim.owner.split("/")[1])
                if pid != but:
                    return pid
    return None


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "term"])
def test_a_worker_that_is_ended_takes_its_file_along_and_no_other(
    folder: Path, tmp_path: Path, number: int
) -> None:
    crawl = tmp_path / "big"
    write_folder(crawl, files=5, records=400)
    process = start(folder, "ingest", str(crawl), "--crawl", "c", "-j", "2")
    os.kill(until(lambda: landing_process(folder, process.pid), process), number)
    out, err = process.communicate()
    assert process.returncode == 3, err
    failed = [line for line in err.splitlines() if "the process that was ingesting it" in line]
    assert len(failed) == 1
    assert len(out.splitlines()) == 4
    done = call(folder, "ingest", str(crawl), "--crawl", "c", "-j", "2")
    assert (done.returncode, done.stdout.count(": landed"), done.stdout.count("was there")) == (
        0,
        1,
        4,
    )
    assert fsck(folder).returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_all_and_leaves_nothing_aside(
    folder: Path, tmp_path: Path, number: int
) -> None:
    crawl = tmp_path / "big"
    write_folder(crawl, files=4, records=400)
    process = start(folder, "ingest", str(crawl), "--crawl", "c", "-j", "2")
    until(lambda: landing_process(folder, process.pid), process)
    os.killpg(process.pid, number)
    _, err = process.communicate()
    assert process.returncode == 5, err
    assert "safe to run again" in err
    assert list((folder / "pinakes-store" / "archive").glob(".landing/*")) == []
    assert call(folder, "ingest", str(crawl), "--crawl", "c", "-j", "2").returncode == 0
    assert fsck(folder).returncode == 0


def test_a_watch_with_several_processes(folder: Path, crawl: Path, plain: dict[str, Any]) -> None:
    options = ("--crawl", "c", "-j", "2", "--watch", "--settle", "0.2")
    watch = start(folder, "ingest", str(crawl), *options)
    assert watch.stdout is not None
    landed = sorted(watch.stdout.readline().partition(":")[0] for _ in range(FILES))
    watch.send_signal(signal.SIGTERM)
    _, err = watch.communicate()
    assert (watch.returncode, landed) == (5, NAMES), err
    assert found(folder) == plain


def test_no_store_to_land_in_is_an_error_of_the_call(tmp_path: Path, crawl: Path) -> None:
    done = call(tmp_path, "ingest", str(crawl), "--crawl", "c", "-j", "2")
    assert done.returncode == 2
    assert "pinakes init" in done.stderr
