"""A store listed, exported, checked and backed up from Python, as by the verbs."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from ingest_processes import contents_of
from killing import KILLED, in_child, kill_at
from scenes import make_scene
from verbs_here import call_here

from pinakes import PinakesError, open_store, restore_backup
from pinakes.errors import ConfigError, DigestMismatch, InputRefused
from pinakes.hbase_schema.name_keys import encode_crawl_key
from pinakes.row_store.port import Delete
from pinakes.row_store.sqlite.store import EmbeddedRowStore


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two crawls, the second deduplicated."""
    folder = tmp_path_factory.mktemp("landed")
    with make_scene(folder) as scene:
        scene.land(1)
        scene.land(2)
    with open_store(folder / "store") as opened:
        opened.dedupe(collection="news", min_file_saving=0)
    return folder / "store"


@pytest.fixture
def store(landed: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(landed, tmp_path / "store"))


def by_verb(store: Path, *words: str) -> list[dict[str, Any]]:
    done = call_here(store.parent, *words, "--json", "--store", str(store))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_crawls_and_files(landed: Path) -> None:
    with open_store(landed) as opened:
        crawls = [asdict(crawl) for crawl in opened.crawls()]
        files = [asdict(file) for file in opened.files("c2")]
        [_, counted] = opened.crawls(counts=True)
        with pytest.raises(ConfigError, match="no crawl c9"):
            opened.files("c9")
    assert all(crawl.pop("counts") is None for crawl in crawls)
    assert crawls == by_verb(landed, "crawl", "list")
    assert files == by_verb(landed, "crawl", "show", "c2")[1:]
    assert [(file["file"], file["generation"]) for file in files] == [
        ("c2/part-0.warc.gz", 2),
        ("c2/part-1.warc.gz", 2),
    ]
    assert counted.counts is not None
    assert (counted.counts.total_urls, counted.counts.dupe_urls) == (12, 8)


def test_counts_and_requirements(landed: Path) -> None:
    with open_store(landed) as opened:
        stats, found = opened.stats("c2"), opened.requirements("c2")
        with pytest.raises(ConfigError, match="no crawl c9"):
            opened.stats("c9")
    [counted] = by_verb(landed, "crawl", "stats", "c2")
    [required] = by_verb(landed, "crawl", "requires", "c2")
    assert {name: counted[name] for name in ("files", "captures", "stored_bytes", "types")} == {
        "files": stats.holdings.files,
        "captures": stats.captures,
        "stored_bytes": stats.holdings.stored_bytes,
        "types": stats.types,
    }
    assert stats.types == {"warcinfo": 2, "response": 4, "revisit": 8}
    assert [one._asdict() for one in found.needs] == required["needs"]
    assert (sum(one.references for one in found.needs), found.unresolved) == (8, 0)


def test_a_crawl_is_committed_once(store: Path) -> None:
    with open_store(store) as opened:
        first, again = opened.commit("c1"), opened.commit("c1")
        assert (first.is_new, again.is_new) == (True, False)
        assert [(crawl.crawl, crawl.state) for crawl in opened.crawls()] == [
            ("c1", "committed"),
            ("c2", "open"),
        ]
        with pytest.raises(ConfigError, match="c9"):
            opened.commit("c9")


def test_a_lost_crawl_is_not_left_out_in_silence(store: Path) -> None:
    rows = EmbeddedRowStore(store / "rows.sqlite")
    key = encode_crawl_key("c1")
    rows.mutate("crawls", [Delete(key, timestamp_ms=1 << 60), Delete(key, timestamp_ms=None)])
    rows.close()
    with open_store(store) as opened:
        crawls = opened.crawls()
        assert next(crawls).crawl == "c2"
        with pytest.raises(DigestMismatch, match="does not have the crawl"):
            next(crawls)


@pytest.mark.parametrize("standalone", [False, True])
def test_a_wacz_file_as_the_verb_writes_it(landed: Path, tmp_path: Path, standalone: bool) -> None:
    here, there = tmp_path / "here.wacz", tmp_path / "there" / "here.wacz"
    there.parent.mkdir()
    advanced: list[int] = []
    problems: list[PinakesError] = []
    with open_store(landed) as opened:
        planned = opened.plan_export_wacz("c2", here, standalone=standalone)
        assert (planned.files, planned.size, here.exists()) == (2, None, False)
        report = opened.export_wacz(
            "c2",
            here,
            standalone=standalone,
            on_problem=problems.append,
            advance=advanced.append,
        )
        with pytest.raises(InputRefused):
            opened.export_wacz("c2", here)
    words = ["--standalone"] if standalone else []
    [value] = by_verb(landed, "export-wacz", "c2", "-o", str(there), *words)
    assert here.read_bytes() == there.read_bytes()
    assert (report.size, report.captures, report.restored) == (
        value["size"],
        value["captures"],
        value["restored"],
    )
    assert (sum(advanced) > 0, problems) == (True, [])


@pytest.mark.parametrize("number", [0, 1])
def test_an_export_that_is_killed_leaves_no_file(landed: Path, tmp_path: Path, number: int) -> None:
    target = tmp_path / "c2.wacz"

    def dies() -> None:
        with open_store(landed) as opened:
            opened.export_wacz("c2", target, advance=kill_at(number))

    assert in_child(dies) == KILLED
    assert not target.exists()
    with open_store(landed) as opened:
        assert opened.export_wacz("c2", target).size == target.stat().st_size


def test_a_store_is_made_of_its_backup(landed: Path, tmp_path: Path) -> None:
    counted: list[int] = []
    with open_store(landed) as opened:
        report = opened.backup(tmp_path / "backup", advance=counted.append)
        assert (sum(counted), report.problems) == (report.files, [])
        with pytest.raises(ConfigError, match="already holds the complete backup"):
            opened.backup(tmp_path / "backup")
    restored = restore_backup(tmp_path / "backup", tmp_path / "again")
    stored = [file for file in (landed / "archive").rglob("*") if file.is_file()]
    assert (restored.facts.files, restored.problems) == (report.files, [])
    assert restored.files == len(stored)
    assert contents_of(tmp_path / "again") == contents_of(landed)
    with pytest.raises(ConfigError, match="only be restored into an empty store"):
        restore_backup(tmp_path / "backup", landed)


@pytest.mark.parametrize("number", [0, 3])
def test_backup_and_restore_killed_go_on(landed: Path, tmp_path: Path, number: int) -> None:
    def backs_up_and_dies() -> None:
        with open_store(landed) as opened:
            opened.backup(tmp_path / "backup", advance=kill_at(number))

    def restores_and_dies() -> None:
        restore_backup(tmp_path / "backup", tmp_path / "again", advance=kill_at(number))

    assert in_child(backs_up_and_dies) == KILLED
    with open_store(landed) as opened:
        assert opened.backup(tmp_path / "backup").went_on
    assert in_child(restores_and_dies) == KILLED
    assert restore_backup(tmp_path / "backup", tmp_path / "again").problems == []
    assert contents_of(tmp_path / "again") == contents_of(landed)


def test_what_is_found_is_mended(store: Path) -> None:
    sidecar = next((store / "archive" / "c1").glob("*.parquet"))
    sidecar.unlink()
    with open_store(store) as opened:
        [finding] = opened.check()
        assert (finding.code, finding.mended, finding.problem) == ("sidecar-missing", False, None)
        [mended] = opened.check(repair=True)
        assert (mended.code, mended.mended) == ("sidecar-missing", True)
        assert list(opened.check(full=True)) == []
    assert sidecar.exists()


def test_recompression_does_as_the_verb_and_is_forecast(store: Path) -> None:
    words = ("zstd", "compress", "c1", "--min-file-saving", "0", "--plan")
    planned = by_verb(store, *words)
    with open_store(store) as opened:
        forecast = list(opened.recompress("c1", plan=True, min_file_saving=0))
        assert [one.as_json() for one in forecast] == [
            {name: one[name] for name in one.keys() - {"collection", "dictionary"}}
            for one in planned
        ]
        before = [file.generation for file in opened.files("c1")]
        written = list(opened.recompress("c1", min_file_saving=0))
        assert {one.outcome for one in written} == {"written"}
        assert [file.generation for file in opened.files("c1")] == [one + 1 for one in before]
        assert not list(opened.check(full=True))
        [left] = {one.outcome for one in opened.recompress("c1", min_file_saving=0)}
        assert left == "left"
        plain = list(opened.recompress("c1", level=None, plain=True))
        assert {one.outcome for one in plain} == {"written"}
        assert not list(opened.check(full=True))


def test_an_unknown_crawl_is_not_recompressed(store: Path) -> None:
    with open_store(store) as opened, pytest.raises(ConfigError, match="no crawl or collection"):
        list(opened.recompress("c9"))
