"""The forecast of the disk that a run takes, beside what it takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenes import COLLECTION, Scene, write_crawl

from pinakes.dedupe.run.collection import Collection
from pinakes.dedupe.run.plan import plan_dedupe
from pinakes.dedupe.run.run_report import DedupeRequest
from pinakes.row_store.sqlite.file import PAGE_BYTES


def _size(folder: Path, pattern: str) -> int:
    return sum(path.stat().st_size for path in folder.rglob(pattern) if path.is_file())


@pytest.mark.parametrize(
    ("pages", "files"), [(1000, 5), (1500, 2)], ids=["five-files-a-crawl", "two-files-a-crawl"]
)
def test_forecast_is_within_a_tenth_of_what_grows(scene: Scene, pages: int, files: int) -> None:
    for crawl in (3, 4):
        write_crawl(scene.crawls / f"c{crawl}", crawl, pages=pages, files=files)
        scene.land(crawl)
    store = scene.folder / "store"
    request = DedupeRequest(collection=COLLECTION, crawl=None, min_file_saving=0.0)
    plan = plan_dedupe(Collection(scene.rows, scene.archive, COLLECTION), request)
    forecast = plan.disk.as_json(1.0)
    run_files: list[int] = []

    def measured() -> dict[str, int]:
        scene.rows.close()  # so that its log is in the file
        sidecars = _size(store, "*.sidecar.parquet")
        return {
            "archive_files": _size(store / "archive", "*") - sidecars,
            "sidecars": sidecars,
            "rows": _size(store, "rows.sqlite*"),
        }

    def at(step: str) -> None:
        if step == "pinned":
            run_files.append(_size(store / "runs", "*"))

    before = measured()
    scene.dedupe(at=at)
    grown = {part: size - before[part] for part, size in measured().items()}
    grown["run_files"] = run_files[0]
    assert min(grown.values()) > 0
    for part, size in grown.items():
        assert forecast[part] == pytest.approx(size, rel=0.15, abs=3 * PAGE_BYTES), part
    assert plan.disk.total(1.0) == pytest.approx(sum(grown.values()), rel=0.1)
    assert plan.as_json()["extra_bytes_peak"] == sum(forecast.values())
