"""What tasks of jobs are told of the settings: they work in folders of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import write_crawl
from verbs_here import call_here

from pinakes.config import load_configuration
from pinakes.mr_jobs.driver.submission import settings_text

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
