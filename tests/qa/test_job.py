"""Pages judged by a job: as they are without one, image by image."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import comparing  # noqa: F401
import pytest
from harmed_site import DATES, PAGES, SITE, make_store, point_elsewhere, write_crawl
from pair_results import RESULT
from store_profiles import Profile

from pinakes.catalog.file_rows import scan_entries
from pinakes.catalog.judged_pairs import scan_pairs
from pinakes.catalog.pages import PageCapture, pages_of
from pinakes.config import Configuration, load_configuration
from pinakes.errors import MalformedRecord, StoreUnavailable
from pinakes.profile import open_stores
from pinakes.qa.results import JudgedPair, Verdict, encode_pair
from pinakes.qa.run.opening import open_judge
from pinakes.qa.run.plan import RunPlan
from pinakes.qa.run.run_folder import read_plan
from pinakes.qa.sample import SampledPage, draw

if TYPE_CHECKING:
    from shared_cluster import RunningCluster

    from pinakes.mr_jobs.driver.running import JobRequest

for name in ("cryptography", "selenium", "mrjob"):
    pytest.importorskip(name, reason="the extras qa and jobs are not here: make dev-qa")
PLAN = RunPlan(run="qa-1", act_time_ms=1)


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Configuration:
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            pytest.skip(f"for want of {program}: `make browsers` installs it")
    folder = tmp_path_factory.mktemp("site")
    make_store(folder)
    point_elsewhere(folder)
    options = {"store": str(folder / "pinakes-store")}
    return load_configuration(options=options, environment={}, folder=folder)


def drawn_of(configuration: Configuration) -> list[SampledPage]:
    with open_stores(configuration) as stores:
        pages = pages_of(stores.archive, scan_entries(stores.rows, "b"))
        return list(draw(pages, size=PAGES, seed=""))


def told(pairs: Mapping[str, list[JudgedPair]]) -> dict[str, list[object]]:
    """What is the same whenever and wherever a page is looked at: all but the times it took."""

    def steady(pair: JudgedPair) -> object:
        result = pair.result
        return replace(
            result,
            milliseconds=0,
            reference=replace(result.reference, milliseconds=0),
            other=replace(result.other, milliseconds=0),
        )

    return {url: list(map(steady, judged)) for url, judged in pairs.items()}


@pytest.mark.browsers
def test_a_job_judges_as_one_process_does(configuration: Configuration, tmp_path: Path) -> None:
    from pinakes.qa.run.by_job import PagesByJob

    drawn = drawn_of(configuration)
    alone: dict[str, list[JudgedPair]] = {}
    with (
        open_stores(configuration) as stores,
        open_judge(PLAN, stores, tmp_path / "alone") as judge,
    ):
        for one in drawn:
            alone[one.page.url] = judge.judge(one, PLAN.pairs)
    by_job = PagesByJob(configuration, "inline", tmp_path / "job", pages_a_task=2, pages_a_wave=4)
    found = {
        one.page.url: pairs
        for one, pairs in by_job.judge(PLAN, [(one, PLAN.pairs) for one in drawn])
    }
    assert found.keys() == {f"{SITE}/{number}" for number in range(PAGES)}
    assert told(found) == told(alone)
    verdicts = {url: [pair.result.verdict for pair in pairs] for url, pairs in found.items()}
    assert [url for url, said in verdicts.items() if said != [Verdict.SIMILAR]] == [f"{SITE}/1"]
    images = {path.name: path.read_bytes() for path in (tmp_path / "job").iterdir()}
    assert images == {path.name: path.read_bytes() for path in (tmp_path / "alone").iterdir()}


def judge_by(monkeypatch: pytest.MonkeyPatch, folder: Path, fails: list[set[str]]) -> list[int]:
    """How many pairs came of each of three pages, where jobs lose these, or all, in turn."""
    from pinakes.qa.run import by_job
    from pinakes.qa.run.judge_pages import decode_page

    drawn = [
        SampledPage(
            PageCapture(f"k{n}", "20200101000000", f"{SITE}/{n}", "text/html", b"%d" % n),
            1.0,
            False,
        )
        for n in range(3)
    ]
    left = iter(fails)

    def run_job(request: JobRequest, *given: Any, **more: Any) -> None:
        lost = next(left)
        if "all" in lost:
            raise StoreUnavailable("the job failed")
        for name in request.names:
            for line in Path(name).read_bytes().splitlines():
                one, pairs = decode_page(line)
                if one.page.url not in lost:
                    key = one.page.row_key.hex()
                    given[2].writelines(
                        encode_pair(JudgedPair(result=replace(RESULT, capture_key=key), weight=1.0))
                        for _ in pairs
                    )
        (Path(request.output or "") / "_written").mkdir(parents=True)

    monkeypatch.setattr(by_job, "run_job", run_job)
    configuration = load_configuration(environment={}, folder=folder)
    pages = by_job.PagesByJob(configuration, "inline", folder / "qa")
    found = list(pages.judge(PLAN, [(one, PLAN.pairs) for one in drawn]))
    assert [one for one, _ in found] == drawn
    return [len(pairs) for _, pairs in found]


@pytest.mark.parametrize(
    "line", [b"", b"{}", b"[]", b"7", pytest.param(b"[" * 100_000, id="brackets without end")]
)
def test_what_is_no_page_is_named(line: bytes) -> None:
    from pinakes.qa.run.judge_pages import decode_page

    with pytest.raises(MalformedRecord):
        decode_page(line)


def test_a_page_that_ends_its_task_is_lost_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert judge_by(monkeypatch, tmp_path, [set()]) == [1, 1, 1]
    assert judge_by(monkeypatch, tmp_path, [{"all"}, {f"{SITE}/1"}]) == [1, 0, 1]
    with pytest.raises(StoreUnavailable, match="the job failed"):
        judge_by(monkeypatch, tmp_path, [{"all"}, {"all"}])
    with pytest.raises(MalformedRecord, match="0 of 1 pairs"):
        judge_by(monkeypatch, tmp_path, [{f"{SITE}/1"}])


@pytest.mark.parametrize(
    "members",
    [{"../evil.png": b"x"}, {"a.html": b"x"}, {f"{'0' * 64}.png": b"x"}],
    ids=["elsewhere", "another name", "another image"],
)
def test_only_images_come_out_of_an_archive(tmp_path: Path, members: dict[str, bytes]) -> None:
    from pinakes.qa.run.by_job import unpack_images

    packed = io.BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(MalformedRecord, match="does not match its name"):
        unpack_images(packed, tmp_path, name="images-1.zip")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    from pinakes.qa.run.by_job import unpack_images

    with pytest.raises(MalformedRecord, match="not a ZIP file of images"):
        unpack_images(io.BytesIO(sha256(b"").digest()), tmp_path, name="images-1.zip")


# --- `qa run --runner hadoop`: tasks on YARN look at pages that lie in HBase and HDFS


@pytest.mark.yarn
def test_pages_are_judged_by_tasks(
    cluster: RunningCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            pytest.skip(f"for want of {program}: `make browsers` installs it")
    settings = cluster.settings(f"qa{token_hex(4)}")
    job_folder = f"{settings['hdfs'].rpartition('/')[0]}/test-jobs"
    values = {"store": str(tmp_path / "store"), **settings, "job_folder": job_folder}
    profile = Profile(values, monkeypatch)
    assert profile.run("init")[0] == 0
    for name, date in zip("ab", DATES, strict=True):
        write_crawl(tmp_path / name, date)
        assert profile.run("ingest", str(tmp_path / name), "--crawl", name)[0] == 0
    assert profile.run("dedupe", "--all", "-q")[0] == 0
    folder = tmp_path / "qa"
    asked = ("qa", "run", "b", "--runner", "hadoop", "-o", str(folder))
    said = profile.run(*asked)
    assert said[0] == 0, said
    entries = [json.loads(line) for line in (folder / "pairs.jsonl").read_bytes().splitlines()]
    assert sorted(entry["url"] for entry in entries) == [f"{SITE}/{n}" for n in range(PAGES)]
    assert {(entry["verdict"], entry["confidence"]) for entry in entries} == {("similar", 1.0)}
    for entry in entries:
        for view in ("reference", "other"):
            assert (folder / entry[view]["image"]).is_file()
    with profile.stores as stores:
        run = read_plan(folder)[0].run
        stored = [pair.verdict for pair in scan_pairs(stores.rows, run)]
        assert [verdict.verdict for verdict in stored if verdict] == ["similar"] * PAGES
    again = profile.run(*asked)
    assert again[0] == 0
    assert len((folder / "pairs.jsonl").read_bytes().splitlines()) == PAGES
