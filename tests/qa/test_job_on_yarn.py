"""`qa run --runner hadoop`: tasks on YARN look at pages that lie in HBase and HDFS."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import comparing  # noqa: F401
import pytest
from harmed_site import DATES, PAGES, SITE, write_crawl
from store_profiles import Profile

from pinakes.catalog.judged_pairs import scan_pairs
from pinakes.qa.run.run_folder import read_plan

if TYPE_CHECKING:
    from shared_cluster import RunningCluster

for name in ("cryptography", "selenium", "mrjob"):
    pytest.importorskip(name, reason="the extras qa and jobs are not here: make dev-qa")


@pytest.mark.yarn
def test_pages_are_judged_by_tasks(
    cluster: RunningCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            pytest.skip(f"for want of {program}: `make browsers` installs it")
    settings = cluster.settings(f"qa{token_hex(4)}")
    job_folder = f"{settings['hdfs'].rpartition('/')[0]}/test-jobs"
    values = {"store": str(tmp_path / "store"), **settings, "job_folder": job_folder}
    profile = Profile(values, monkeypatch)
    assert profile.run("init")[0] == 0
    for name, date in zip("ab", DATES, strict=True):
        write_crawl(tmp_path / name, date)
        assert profile.run("ingest", str(tmp_path / name), "--crawl", name)[0] == 0
    assert profile.run("dedupe", "--all", "-q")[0] == 0
    folder = tmp_path / "qa"
    asked = ("qa", "run", "b", "--runner", "hadoop", "-o", str(folder))
    said = profile.run(*asked)
    assert said[0] == 0, said
    entries = [json.loads(line) for line in (folder / "pairs.jsonl").read_bytes().splitlines()]
    assert sorted(entry["url"] for entry in entries) == [f"{SITE}/{n}" for n in range(PAGES)]
    assert {(entry["verdict"], entry["confidence"]) for entry in entries} == {("similar", 1.0)}
    for entry in entries:
        for view in ("reference", "other"):
            assert (folder / entry[view]["image"]).is_file()
    with profile.stores as stores:
        run = read_plan(folder)[0].run
        stored = [pair.verdict for pair in scan_pairs(stores.rows, run)]
        assert [verdict.verdict for verdict in stored if verdict] == ["similar"] * PAGES
    again = profile.run(*asked)
    assert again[0] == 0
    assert len((folder / "pairs.jsonl").read_bytes().splitlines()) == PAGES
