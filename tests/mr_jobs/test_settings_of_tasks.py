"""What tasks of jobs are told of the settings: they work in folders of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import write_crawl
from verbs_here import call_here

from pinakes.config import load_configuration
from pinakes.mr_jobs.driver.running import JobRequest, job_words
from pinakes.mr_jobs.driver.submission import settings_text
from pinakes.mr_jobs.recompress import RecompressJob

TABLES = '[[dedupe]]\nmin_bytes = "1 KiB"\n[[access]]\nblock = "*.example.org"\n'


def test_paths_are_absolute_and_tables_stay_with_the_driver(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = tmp_path / "pinakes.toml"
    settings.write_text(f"spill_bytes = 100\n{TABLES}")
    options: dict[str, object] = {"temp_dir": "temp", "collection": "news"}
    driver = load_configuration(settings, environment={}, options=options)
    assert driver.dedupe == ({"min_bytes": 1024},)
    there = tmp_path / "task" / "settings.toml"
    there.parent.mkdir()
    there.write_text(settings_text(driver))
    task = load_configuration(there, environment={})
    assert (task.store, task.temp_dir) == (tmp_path / "pinakes-store", tmp_path / "temp")
    assert (task.collection, task.spill_bytes) == ("news", 100)
    assert (task.dedupe, task.access) == ((), ())


def test_what_a_call_asks_of_yarn_is_what_counts(tmp_path: Path) -> None:
    """The words of the runner, too, which has a limit for each job and the settings of all."""
    memory = "mapreduce.map.memory.mb"
    on = ["-D", f"{memory}=1024", "-D", "mapreduce.map.java.opts=-Xmx256m"]
    request = JobRequest(job=RecompressJob, names=(), options=("-D", f"{memory}=2048"))
    words = job_words(request, on, load_configuration(None, environment={}), tmp_path)
    jobconf = RecompressJob(args=words).options.jobconf
    assert jobconf == {memory: "2048", "mapreduce.map.java.opts": "-Xmx256m"}


@pytest.mark.slow
def test_local_jobs_find_a_store_beside_them(tmp_path: Path) -> None:
    (tmp_path / "pinakes.toml").write_text(TABLES.replace("1 KiB", "1"))
    for crawl in (1, 2):
        write_crawl(tmp_path / f"c{crawl}", crawl, pages=6, files=1)
    assert call_here(tmp_path, "init").returncode == 0
    for crawl in ("c1", "c2"):
        assert call_here(tmp_path, "ingest", crawl, "--crawl", crawl).returncode == 0
    options = ("--min-file-saving", "0", "--runner", "local")
    done = call_here(tmp_path, "dedupe", "--all", *options)
    assert done.returncode == 0, done.stderr
    assert "4 revisits" in done.stdout + done.stderr
    assert call_here(tmp_path, "fsck").returncode == 0
