"""`Store.remove`, `purge` and `withdraw` do what the verbs do, plan it, and go on after a kill."""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import pytest
from killing import KILLED, in_child, kill_at
from purged import purger
from scenes import Scene, make_scene
from verbs_here import call_here

from pinakes import PinakesError, open_store
from pinakes.dedupe.run.run_report import STORE_STEPS
from pinakes.deletion.requests import PROMOTE, PurgeRequest
from pinakes.errors import ConfigError, InputRefused


@pytest.fixture(scope="module")
def deduped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two open crawls; the second refers to the first."""
    folder = tmp_path_factory.mktemp("deduped")
    with make_scene(folder) as scene:
        scene.land(1)
        scene.land(2)
        scene.dedupe(act="dedupe-before")
    return folder


@pytest.fixture
def folder(deduped: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(deduped, tmp_path / "here"))


def said_by(folder: Path, *words: str) -> list[dict[str, object]]:
    """What a verb prints of the store."""
    done = call_here(folder, *words, "--json", "--store", str(folder / "store"))
    return [json.loads(line) for line in done.stdout.splitlines()]


def states(folder: Path) -> dict[object, object]:
    return {one["crawl"]: one["state"] for one in said_by(folder, "crawl", "list", "--all")}


def test_a_crawl_that_others_refer_to_is_not_removed(folder: Path) -> None:
    with open_store(folder / "store") as store:
        for plan in (True, False):
            report = store.remove("c1", plan=plan)
            assert not report.is_complete
            assert {one.archive_file.partition("/")[0] for one in report.references} == {"c2"}
    assert states(folder) == {"c1": "open", "c2": "open"}


@pytest.mark.parametrize(("commits", "state"), [(False, "cancelled"), (True, "removed")])
def test_open_and_committed_crawls_are_removed(folder: Path, commits: bool, state: str) -> None:
    if commits:
        said_by(folder, "crawl", "commit", "c2")
    with open_store(folder / "store") as store:
        planned = store.remove("c2", plan=True)
        assert states(folder)["c2"] == ("committed" if commits else "open")
        report = store.remove("c2")
        assert report.is_complete
        for one in (planned, report):
            assert (one.files, one.captures) == (2, 12)
            assert one.freed_bytes > 0
        assert store.remove("c2").files == 0
        assert store.remove("c1").is_complete
    assert states(folder) == {"c1": "cancelled", "c2": state}


@pytest.mark.parametrize("references", ["refuse", "promote", "force"])
def test_purge_as_the_verb(folder: Path, tmp_path: Path, references: str) -> None:
    there = Path(shutil.copytree(folder, tmp_path / "there"))
    words = ("crawl", "purge", "c1", "--references", references)
    with open_store(folder / "store") as store:
        planned = store.purge("c1", references=references, plan=True)
        [said] = said_by(there, *words, "--plan")
        assert {**said, **json.loads(json.dumps(planned.as_json()))} == said
        report = store.purge("c1", references=references)
        [said] = said_by(there, *words)
        done = json.loads(json.dumps(report.as_json()))
        assert {**said, **done, "act": said["act"], "before": said["before"]} == said
    assert bool(report.promoted) == (references == "promote")
    assert bool(report.dangling) == (references == "force")
    assert states(folder) == states(there)


def test_a_purge_that_died_is_completed(folder: Path) -> None:
    with make_scene(folder, ()) as scene:
        request = PurgeRequest(crawl="c1", references=PROMOTE)
        assert in_child(lambda: purger(scene, kill_at(20)).purge(request)) == KILLED
    with open_store(folder / "store") as store:
        assert store.purge("c1", references="promote").is_complete
    assert states(folder) == {"c1": "purged", "c2": "open"}


def test_withdraw_as_the_verb(folder: Path, tmp_path: Path) -> None:
    there = Path(shutil.copytree(folder, tmp_path / "there"))
    with open_store(folder / "store") as store:
        url = next(line for line in store.manifest("news") if line.type != "revisit").target_uri
        [planned] = store.withdraw([url], reason="", by="", plan=True)
        words = ("withdraw", url, "--reason", "asked to", "--by", "tester")
        [said] = said_by(there, *words, "--plan")
        assert {**said, **json.loads(json.dumps(planned.as_json()))} == said
        [report] = store.withdraw([url], reason="asked to", by="tester")
        [said] = said_by(there, *words)
        done = json.loads(json.dumps(report.as_json()))
        # Tombstones name the act, and other bytes take other room.
        for one in (done, said):
            del one["act"], one["generations"]
        assert {**said, **done} == said
        assert report.is_complete
        assert report.captures == planned.captures
        assert report.records > 0
        [again] = store.withdraw([url], reason="asked to", by="tester")
        assert (again.captures, again.already) == ([], len(report.captures))


def test_what_is_no_call(folder: Path) -> None:
    with open_store(folder / "store") as store:
        with pytest.raises(ConfigError, match="references is 'all'"):
            store.purge("c1", references="all")
        with pytest.raises(ConfigError, match="references is 'force'"):
            store.withdraw(["http://x.example/"], reason="x", by="y", references="force")
        with pytest.raises(ConfigError, match="say why"):
            store.withdraw(["http://x.example/"], reason=" ", by="y")
        with pytest.raises(InputRefused, match="no such capture"):
            store.withdraw(["http://x.example/"], reason="x", by="y")
        with pytest.raises(ConfigError, match="there is no crawl"):
            store.remove("c9")


# --- `Store.dedupe` does what `pinakes dedupe` does over a store


@pytest.fixture(scope="module")
def landed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("landed")
    with make_scene(folder) as scene:
        scene.land(1)
        scene.land(2)
    return folder


def visible(folder: Path) -> list[tuple[str, int, str, bool]]:
    """Each file's records, and which are revisits: bytes have the names of runs."""
    with open_store(folder / "store") as opened:
        lines = list(opened.manifest("news"))
    return [
        (line.file, line.copy_number or 0, line.target_uri, line.type == "revisit")
        for line in lines
    ]


def copy_of(landed: Path, folder: Path) -> Path:
    shutil.copytree(landed, folder)
    return folder


@pytest.mark.parametrize("compare", ["bytes", "sha256", "none"])
def test_as_the_verb(landed: Path, tmp_path: Path, compare: str) -> None:
    here, there = copy_of(landed, tmp_path / "here"), copy_of(landed, tmp_path / "there")
    words = ("--collection", "news", "--compare", compare, "--min-file-saving", "0")
    store = ("--store", str(there / "store"))
    assert call_here(tmp_path, "dedupe", "--all", *words, *store).returncode == 0
    with open_store(here / "store") as opened:
        [run] = opened.dedupe(collection="news", compare=compare, min_file_saving=0)
    assert (run.files, run.revisits, run.dropped, run.problems) == (2, 8, (), ())
    assert visible(here) == visible(there)


def test_processes_do_the_same_and_steps_are_told(landed: Path, tmp_path: Path) -> None:
    alone, together = copy_of(landed, tmp_path / "alone"), copy_of(landed, tmp_path / "together")
    steps: list[str] = []

    class Noted:
        def begin(self, step: str, total_bytes: int) -> None:
            steps.append(step.partition(", ")[2])

        def advance(self, count: int) -> None:
            pass

    with open_store(alone / "store") as opened:
        [one] = opened.dedupe(collection="news", min_file_saving=0)
    with open_store(together / "store") as opened:
        [two] = opened.dedupe(
            collection="news", min_file_saving=0, jobs=2, watched=lambda: nullcontext(Noted())
        )
    assert (two.files, two.revisits) == (one.files, one.revisits)
    assert visible(together) == visible(alone)
    assert steps == list(STORE_STEPS)


def test_old_generations_go(landed: Path, tmp_path: Path) -> None:
    folder = copy_of(landed, tmp_path / "here")
    with open_store(folder / "store") as opened:
        opened.dedupe("c2", min_file_saving=0)
        [later] = opened.dedupe("c2", min_file_saving=0, drop_old=timedelta(days=1))
        assert later.dropped == ()
        [run] = opened.dedupe("c2", min_file_saving=0, drop_old=timedelta())
    assert sorted(run.dropped) == ["c2/part-0.warc.gz", "c2/part-1.warc.gz"]
    assert not (folder / "store" / "archive" / "c2" / "part-0.warc.gz").exists()


def test_what_died_is_completed_first(landed: Path, tmp_path: Path) -> None:
    folder = copy_of(landed, tmp_path / "here")
    with make_scene(folder, ()) as scene:
        assert in_child(lambda: dies(scene)) == KILLED
    with open_store(folder / "store") as opened:
        runs = opened.dedupe(collection="news", min_file_saving=0)
        assert sum(run.revisits for run in runs) == 8
        assert opened.dedupe(collection="news", min_file_saving=0)[0].revisits == 0


def dies(scene: Scene) -> None:
    scene.dedupe(at=kill_at(3))


def test_what_it_does_not_do(landed: Path, tmp_path: Path) -> None:
    folder = copy_of(landed, tmp_path / "here")
    with open_store(folder / "store") as opened:
        with pytest.raises(ConfigError, match="compare is 'md5'"):
            opened.dedupe(compare="md5")
        with pytest.raises(PinakesError, match="no crawl"):
            opened.dedupe("c9")
