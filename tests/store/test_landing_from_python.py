"""`Store.ingest` lands what `pinakes ingest` lands, goes on, and tells what it does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ingest_processes import contents_of
from killing import KILLED, in_child, kill_at
from scenes import write_crawl
from verbs_here import call_here

from pinakes import PinakesError, open_store
from pinakes.application.events import Others, Skipped
from pinakes.application.landing_loop import Arrived
from pinakes.errors import ConfigError, InputRefused

FILES = 3


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawls") / "c"
    write_crawl(folder, 1, files=FILES)
    return folder


@pytest.fixture(scope="module")
def by_verb(crawl: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("by-verb")
    assert call_here(folder, "init", "--store", "store").returncode == 0
    done = call_here(folder, "ingest", str(crawl), "--crawl", "c", "--store", "store")
    assert done.returncode == 0
    return contents_of(folder / "store")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with open_store(tmp_path / "store", create=True):
        return tmp_path / "store"


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_as_the_verb(store: Path, crawl: Path, by_verb: dict[str, Any], jobs: int) -> None:
    events: list[object] = []
    advanced: list[int] = []
    with open_store(store) as opened:
        plan = opened.plan_ingest(crawl, "c")
        assert [name for _, name in plan.files()] == [f"c/part-{n}.warc.gz" for n in range(FILES)]
        run = opened.ingest(crawl, "c", jobs=jobs, on_event=events.append, advance=advanced.append)
        again = opened.ingest([crawl], "c", jobs=jobs)
    assert (run.crawl, run.files, run.were_there, run.problems) == ("c", FILES, 0, [])
    assert (run.bytes, sum(advanced)) == (plan.size, plan.size)
    assert run.captures == len(by_verb["captures"])
    assert (again.files, again.were_there, again.bytes) == (0, FILES, 0)
    assert sorted(one.landed.archive_file for one in events if isinstance(one, Arrived)) == [
        name for _, name in plan.files()
    ]
    assert contents_of(store) == by_verb


def test_what_does_not_land_is_a_problem(store: Path, crawl: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "empty.warc.gz").touch()
    (folder / "notes.txt").write_text("not an archive file")
    (folder / "b.warc.gz.open").write_bytes(b"")
    (folder / "a.warc.gz").write_bytes((crawl / "part-0.warc.gz").read_bytes())
    events: list[object] = []
    with open_store(store) as opened:
        run = opened.ingest(folder, "c", on_event=events.append)
    assert run.files == 1
    [problem] = run.problems
    assert isinstance(problem, InputRefused)
    assert (problem.file, problem.message) == (str(folder / "empty.warc.gz"), "the file is empty")
    assert problem in events
    assert [one.place for one in events if isinstance(one, Skipped)] == [
        str(folder / "b.warc.gz.open")
    ]
    assert [one.left.others for one in events if isinstance(one, Others)] == [1]


def test_no_crawl_is_begun_for_nothing(store: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.warc.gz").touch()
    with open_store(store) as opened:
        assert opened.ingest(tmp_path / "empty.warc.gz", "c").crawl is None
        with pytest.raises(PinakesError, match="no crawl"):
            opened.dedupe("c")


def test_wrong_calls(store: Path, crawl: Path, tmp_path: Path) -> None:
    with open_store(store) as opened:
        with pytest.raises(ConfigError, match="no crawl given"):
            opened.ingest(crawl)
        with pytest.raises(ConfigError, match="a crawl"):
            opened.ingest(crawl, "a/b")
        with pytest.raises(InputRefused, match="not a Heritrix job"):
            opened.ingest(tmp_path, hook="heritrix")
    with pytest.raises(ConfigError, match="there is no store"), open_store(tmp_path / "none"):
        pass


@pytest.mark.parametrize("which", ["on_event", "advance"])
@pytest.mark.parametrize("number", range(FILES))
def test_killed_in_the_middle_it_goes_on(
    store: Path, crawl: Path, by_verb: dict[str, Any], which: str, number: int
) -> None:
    def dies() -> None:
        with open_store(store) as opened:
            opened.ingest(crawl, "c", **{which: kill_at(number)})  # type: ignore[arg-type]

    assert in_child(dies) == KILLED
    with open_store(store) as opened:
        run = opened.ingest(crawl, "c")
    assert (run.files + run.were_there, run.problems) == (FILES, [])
    assert contents_of(store) == by_verb
    assert call_here(store.parent, "fsck", "--full", "--store", str(store)).returncode == 0
