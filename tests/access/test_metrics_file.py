"""`--metrics-file`, as a collector of textfiles reads it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from exposed_metrics import sample, samples_of
from landed_stores import LandedStore, page

from pinakes.cli import main
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.metrics_file import JobMetrics
from pinakes.cli.frame.output import Console
from pinakes.ingest.tally import BYTES, FILES, RECORDS, ROW_RETRIES, Tally

SUCCESS = "pinakes_job_last_success_timestamp_seconds"


def ingest(store: LandedStore, metrics: Path, *paths: object) -> int:
    options = ["--crawl", "c", "--store", str(store.folder), "--metrics-file", str(metrics)]
    return main(["-q", "ingest", *map(str, paths), *options])


def test_metrics_of_a_landing(store: LandedStore, tmp_path: Path) -> None:
    metrics = tmp_path / "spring.prom"
    good = store.write("a.warc.gz", page("http://a.example/"), page("http://b.example/"))
    assert ingest(store, metrics, good, tmp_path / "none.warc.gz") == 3
    text = metrics.read_text()
    job = {"name": "spring", "verb": "ingest"}
    assert sample(text, "pinakes_job_exit_code", **job) == 3
    assert sample(text, "pinakes_job_files_total", outcome="landed", **job) == 1
    assert sample(text, "pinakes_job_files_total", outcome="refused", **job) == 1
    assert sample(text, "pinakes_job_records_total", **job) == 2
    assert sample(text, "pinakes_job_bytes_total", **job) == good.stat().st_size
    assert sample(text, "pinakes_job_retries_total", store="rows", **job) == 0
    assert sample(text, SUCCESS, **job) is None
    assert ingest(store, metrics, good) == 0
    succeeded = sample(metrics.read_text(), SUCCESS, **job)
    assert succeeded is not None
    assert sample(metrics.read_text(), "pinakes_job_files_total", outcome="known", **job) == 1
    assert ingest(store, metrics, tmp_path / "none.warc.gz") == 3
    assert sample(metrics.read_text(), SUCCESS, **job) == succeeded
    assert sorted(path.name for path in tmp_path.glob("spring*")) == ["spring.prom"]


@pytest.mark.parametrize("verb", [["fsck"], ["dedupe", "--all"]], ids=lambda verb: verb[0])
def test_other_verbs_write_exit_code(store: LandedStore, tmp_path: Path, verb: list[str]) -> None:
    store.land("c", "a.warc.gz", page("http://a.example/"))
    metrics = tmp_path / "nightly.prom"
    options = ["--store", str(store.folder), "--metrics-file", str(metrics)]
    assert main(["-q", *verb, *options]) == 0
    text = metrics.read_text()
    assert sample(text, "pinakes_job_exit_code", name="nightly", verb=verb[0]) == 0
    assert sample(text, SUCCESS) == sample(text, "pinakes_job_end_timestamp_seconds")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.warc.gz", "x"),
        ("notes.prom", "what nobody should lose {"),
        ("node.prom", "node_load1 0.5\n"),
        ("none/a.prom", None),
    ],
)
def test_foreign_file_is_not_replaced(
    store: LandedStore, tmp_path: Path, name: str, content: str | None
) -> None:
    metrics, good = tmp_path / name, store.write("a.warc.gz", page("http://a.example/"))
    if content is not None:
        metrics.write_text(content)
    assert ingest(store, metrics, good) == 2
    assert list(store.rows.scan("files")) == []
    if content is not None:
        assert metrics.read_text() == content


def metrics_of(path: Path, tally: Tally) -> JobMetrics:
    console = Console.standard(quiet=True)
    return JobMetrics(path, verb="ingest", tally=tally, console=console)


def test_file_is_never_seen_half_written(tmp_path: Path) -> None:
    path, tally = tmp_path / "a.prom", Tally()
    job = metrics_of(path, tally)
    done = threading.Event()

    def write() -> None:
        for _ in range(300):
            tally.add(FILES)
            tally.add(RECORDS, 10)
            tally.add(BYTES, 10**12)
            tally.add(ROW_RETRIES)
            job.write()
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    counts: list[float] = []
    while not done.is_set():
        text = path.read_text()
        assert len(samples_of(text)) == 12
        counts.append(sample(text, "pinakes_job_files_total", outcome="landed") or 0)
    writer.join()
    assert counts == sorted(counts)
    assert sample(path.read_text(), "pinakes_job_files_total", outcome="landed") == 300


def test_missing_folder_does_not_end_the_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "collector"
    folder.mkdir()
    job = metrics_of(folder / "a.prom", Tally())
    (folder / "a.prom").unlink()
    folder.rmdir()
    job.write()
    job.end(Exit.DONE)
    assert capsys.readouterr().err.count("warning") == 1
