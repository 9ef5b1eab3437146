"""What a run tells of how far it is: every step comes to its total."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest
from scenes import Scene
from shown_progress import Shown
from verbs_here import call_here
from warc_sets import OTHER, PAGE, ArchiveFile, Rec, chunked, write_set

from pinakes.dedupe.run.files_run import FilesRequest, FilesRun
from pinakes.dedupe.run.run_report import files_step, store_step
from pinakes.index.external_sort import DEFAULT_SPACE


def _steps(shown: Shown) -> Iterator[tuple[str, int, int]]:
    for (step, total), counts in zip(shown.steps, shown.counts, strict=True):
        yield step, total, sum(counts)


def test_steps_of_a_run_over_a_store_come_to_their_totals(scene: Scene) -> None:
    for crawl in (1, 2):
        scene.land(crawl)
    size = sum(path.stat().st_size for path in Path(scene.crawls).rglob("*.warc.gz"))
    shown = Shown()
    scene.dedupe(progress=shown)
    reading, comparing, marking, rewriting = _steps(shown)
    assert reading == (store_step(1), size, size)
    assert comparing[0] == store_step(2)
    assert 0 < comparing[1] == comparing[2] < size
    assert marking[:2] == (store_step(3), size)
    assert rewriting[0] == store_step(4)
    assert 0 < rewriting[1] == rewriting[2] <= size


def test_of_a_second_run_sidecars_are_read_twice_and_told_once(scene: Scene) -> None:
    scene.land(1)
    scene.dedupe(act="dedupe-1")
    scene.land(2)
    shown = Shown()
    scene.dedupe(act="dedupe-2", progress=shown)
    _, total, events = next(_steps(shown))
    assert total == events


def test_steps_of_a_run_on_files_come_to_their_totals(scene: Scene, tmp_path: Path) -> None:
    files = sorted((scene.crawls / "c1").rglob("*.warc.gz"))
    for again in sorted((scene.crawls / "c2").rglob("*.warc.gz")):
        files.append(tmp_path / f"again-{again.name}")
        files[-1].write_bytes(again.read_bytes())
    request = FilesRequest(
        names=list(map(str, files)),
        compare=True,
        trust=None,
        min_saving_bytes=None,
        now=datetime.now(timezone.utc),
        space=DEFAULT_SPACE,
    )
    size = sum(file.stat().st_size for file in files)
    shown = Shown()
    with FilesRun(request, lambda problem: None) as run:
        run.decide(shown)
        written = list(run.write(tmp_path / "out", shown))
        run.validate(tmp_path / "out", progress=shown)
    assert sum(file.refs.records for file in written)
    reading, comparing, rewriting, validating = _steps(shown)
    assert reading == (files_step(1), size, size)
    assert 0 < comparing[1] == comparing[2]
    assert rewriting == (files_step(3), size, size)
    assert validating == (files_step(4), size, size)


# --- One entity in other chunks: counted in the forecast, and left full


CHUNKED = (b"Transfer-Encoding: chunked",)


def planned(folder: Path, crawl: Path) -> dict[str, object]:
    for words in (
        ("init",),
        ("ingest", str(crawl), "--crawl", "c"),
        ("dedupe", "--all", "--plan"),
    ):
        done = call_here(folder, *words, "--store", str(folder / "store"), "--json")
        assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert isinstance(plan, dict)
    return plan


def capture(number: int, body: bytes, size: int | None, status: int = 200) -> Rec:
    fields = CHUNKED if size is not None else ()
    stored = body if size is None else chunked(body, size)
    return Rec(uri=f"http://example.org/{number}", date=f"2020-01-0{number}T00:00:00Z",
               body=stored, http_fields=fields, status=status)  # fmt: skip


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([(PAGE, 100), (PAGE, 70)], 1),
        ([(PAGE, 100), (PAGE, 70), (PAGE, 70), (PAGE, 50), (PAGE, 100)], 2),
        ([(PAGE, 100), (PAGE, 100)], 0),
        ([(PAGE, 100), (OTHER, 70)], 0),
        ([(PAGE, 100), (PAGE, None)], 0),
        ([(PAGE, 100), (PAGE, 70, 404)], 0),
    ],
    ids=["other chunks", "three ways", "the same chunks", "another entity", "not chunked",
         "another status"],
)  # fmt: skip
def test_what_differs_in_its_chunks_is_counted(
    records: list[tuple[bytes, int]], expected: int, tmp_path: Path
) -> None:
    captures = [capture(number, *facts) for number, facts in enumerate(records, 1)]
    [path] = write_set(tmp_path / "crawl", [ArchiveFile("a", captures)])
    found = planned(tmp_path, path.parent)["same_entities"]
    assert isinstance(found, dict)
    assert (found["records"], found["bytes"] > 0) == (expected, expected > 0)


def test_a_file_of_others(shared_data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    folder.mkdir()
    name = "F-chunk-boundaries.warc.gz"
    (folder / name).write_bytes((shared_data / "cases" / name).read_bytes())
    plan = planned(tmp_path, folder)
    assert plan["revisits"] == 0
    assert plan["same_entities"] == {"records": 1, "bytes": 1888}  # the third is not chunked
