"""A run that is killed goes on where it was: no page is judged twice, and none left out."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import comparing  # noqa: F401
import pytest
from harmed_site import PAGES, SITE, make_store, point_elsewhere
from ingest_processes import call, start, until

from pinakes.qa.run.run_folder import read_plan

pytest.importorskip("selenium", reason="the extra qa is not here: make dev-qa")
ALL = [f"{SITE}/{number}" for number in range(PAGES)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            pytest.skip(f"for want of {program}: `make browsers` installs it")
    folder = tmp_path_factory.mktemp("site")
    make_store(folder)
    point_elsewhere(folder)
    return folder


def asked(folder: Path, *more: str) -> tuple[str, ...]:
    return ("qa", "run", "b", "--json", "-o", str(folder), *more)


def judged(folder: Path) -> list[str]:
    path = folder / "pairs.jsonl"
    if not path.exists():
        return []
    lines = path.read_bytes().splitlines(keepends=True)
    return [json.loads(line)["url"] for line in lines if line.endswith(b"\n")]


def wait_for(pages: int, folder: Path, process: subprocess.Popen[str]) -> None:
    until(lambda: len(judged(folder)) >= pages, process)


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.browsers), "2"])
def test_killed_in_the_middle(site: Path, tmp_path: Path, jobs: str) -> None:
    process = start(site, *asked(tmp_path, "-j", jobs))
    wait_for(2, tmp_path, process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = judged(tmp_path)
    assert 2 <= len(before) < PAGES
    again = call(site, *asked(tmp_path, "-j", jobs))
    assert again.returncode in (0, 1), again.stderr
    assert judged(tmp_path)[: len(before)] == before
    assert sorted(judged(tmp_path)) == ALL
    assert f"judged by an earlier run: {len(before)}" in again.stderr
    third = call(site, *asked(tmp_path))
    # Of pages that are judged nothing is said again, but that there was something to be found.
    assert (third.returncode, third.stdout) == (1, "")
    assert "1 dissimilar" in third.stderr
    assert sorted(judged(tmp_path)) == ALL


@pytest.mark.browsers
def test_two_cannot_be_at_one_run(site: Path, tmp_path: Path) -> None:
    process = start(site, *asked(tmp_path))
    wait_for(1, tmp_path, process)
    second = call(site, *asked(tmp_path))
    assert second.returncode == 3
    assert "another process is working" in second.stderr
    process.communicate()
    assert sorted(judged(tmp_path)) == ALL


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.browsers
def test_a_process_that_dies_takes_no_page_along(site: Path, tmp_path: Path) -> None:
    process = start(site, *asked(tmp_path, "-j", "2"))
    wait_for(1, tmp_path, process)
    os.kill(children_of(process.pid)[0], signal.SIGKILL)
    out, err = process.communicate()
    assert process.returncode == 1, err
    assert sorted(judged(tmp_path)) == ALL
    assert [json.loads(line)["url"] for line in out.splitlines()] == [f"{SITE}/1"]


@pytest.mark.browsers
def test_a_list_of_urls_and_what_the_crawl_has_not(site: Path, tmp_path: Path) -> None:
    urls = tmp_path / "urls"
    urls.write_text(f"{SITE}/4\n{SITE}/nowhere\n")
    done = call(site, *asked(tmp_path / "qa", "--urls", str(urls)))
    assert done.returncode == 3, done.stderr
    assert f"{SITE}/nowhere: the crawl b has no such page" in done.stderr
    assert judged(tmp_path / "qa") == [f"{SITE}/4"]
    plan, _ = read_plan(tmp_path / "qa")
    assert plan.run.startswith("qa-")
    other = call(site, *asked(tmp_path / "qa"))
    assert other.returncode == 2
    assert "use another folder" in other.stderr
