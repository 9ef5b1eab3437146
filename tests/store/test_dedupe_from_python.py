"""`Store.dedupe` does what `pinakes dedupe` does over a store."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import pytest
from killing import KILLED, in_child, kill_at
from scenes import Scene, make_scene
from verbs_here import call_here

from pinakes import PinakesError, open_store
from pinakes.dedupe.run.run_report import STORE_STEPS
from pinakes.errors import ConfigError


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
