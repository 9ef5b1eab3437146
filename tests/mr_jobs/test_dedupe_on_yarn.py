"""`dedupe --runner hadoop` on real servers leaves what a run in one process leaves elsewhere."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import pytest
from store_profiles import Profile, demo_crawls, files_of, rows_of, start_acts

from pinakes.archive_store.hdfs.calls import HdfsCalls
from pinakes.config import load_configuration
from pinakes.profile import hdfs_connection

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
