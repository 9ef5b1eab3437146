"""The driver of a run by jobs: one job per wave of pages, its results on disk before the next.

    JOB_FOLDER/qa/RUN/TOKEN/part-*        lines of pairs, by task
    JOB_FOLDER/qa/RUN/TOKEN/_written/…    their images
    DIR                                   both are copied here, and the wave's folder is deleted

If a driver died, the next call ends its job, and repeats the wave.  If a job fails it is run
once more with one page per task: a page that ends its task, for example by using all memory, is
then lost alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from hashlib import sha256
from itertools import islice
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory, TemporaryFile
from typing import BinaryIO
from uuid import uuid4
from zipfile import BadZipFile, ZipFile

from pinakes.config import Configuration
from pinakes.errors import MalformedRecord, PinakesError, StoreUnavailable
from pinakes.mr_jobs.archive_job import WRITTEN
from pinakes.mr_jobs.driver.listing import lists_in_hdfs, write_lists
from pinakes.mr_jobs.driver.orphans import end_orphans, tag_words
from pinakes.mr_jobs.driver.running import JobRequest, run_job
from pinakes.mr_jobs.driver.submission import job_folder
from pinakes.profile import open_folder
from pinakes.qa.browsers.kept import keep_image
from pinakes.qa.results import JudgedPair, decode_pair
from pinakes.qa.run.page_workers import PageResult, PageTask, PageWorkers
from pinakes.qa.sample import SampledPage

from .judge_pages import JudgePagesJob, encode_page
from .plan import Pair, RunPlan, encode_plan

PAGES_A_TASK = 50
PAGES_A_WAVE = 2_000
_LOST = "each task with this page failed"
_MAY_FAIL = ("-D", "mapreduce.map.failures.maxpercent=100")
_IMAGE = re.compile(r"([0-9a-f]{64})\.png")
OnPercent = Callable[[float], None]
Page = tuple[SampledPage, Sequence[Pair]]


def _unwatched(_: str) -> AbstractContextManager[OnPercent]:
    return nullcontext(lambda percent: None)


class PagesByJob:
    """Judges the pages of one run by jobs.  Not for several threads."""

    def __init__(
        self,
        configuration: Configuration,
        runner: str,
        folder: Path,
        *,
        pages_a_task: int = PAGES_A_TASK,
        pages_a_wave: int = PAGES_A_WAVE,
        around: Callable[[str], AbstractContextManager[OnPercent]] = _unwatched,
    ) -> None:
        """`runner` is `inline`, `local` or `hadoop`; images go to `folder`.

        `around(name)` is entered for each job; the function it gives is called with the job's
        progress.
        """
        self._configuration = configuration
        self._runner = runner
        self._folder = folder
        self._pages_a_task = pages_a_task
        self._pages_a_wave = pages_a_wave
        self._around = around

    def judge(
        self, plan: RunPlan, pages: Iterable[Page]
    ) -> Iterator[tuple[SampledPage, list[JudgedPair]]]:
        """Each page with its pairs, a wave at a time, its images in the folder.

        A page that ended each of its tasks has no pairs.

        Raises:
            StoreUnavailable: a job failed as a whole; quotes the log of a task.
        """
        if self._runner == "hadoop":
            end_orphans(plan.run, self._configuration)
        pages = iter(pages)
        number = 0
        while wave := list(islice(pages, self._pages_a_wave)):
            number += 1
            with self._around(f"wave {number}") as on_percent:
                yield from self._judge_wave(plan, wave, on_percent)

    def _judge_wave(
        self, plan: RunPlan, wave: list[Page], on_percent: OnPercent
    ) -> list[tuple[SampledPage, list[JudgedPair]]]:
        try:
            return self._run(plan, wave, on_percent)
        except StoreUnavailable as failed:
            # One page may have ended its task on each attempt, and so the job.
            try:
                return self._run(plan, wave, on_percent, apart=True)
            except PinakesError:
                raise failed from None

    @contextmanager
    def _place(self, plan: RunPlan) -> Iterator[str]:
        """A folder for one wave; deleted afterwards."""
        token = uuid4().hex[:8]
        if self._runner != "hadoop":
            with TemporaryDirectory(prefix="pinakes-qa-") as name:
                yield f"{name}/{token}"
            return
        home = f"{job_folder(self._configuration)}/qa/{plan.run}"
        try:
            yield f"{home}/{token}"
        finally:
            with open_folder(f"{home}/{token}", self._configuration) as folder:
                for stored in list(folder.list()):
                    folder.delete(stored.name)

    def _run(
        self, plan: RunPlan, wave: list[Page], on_percent: OnPercent, *, apart: bool = False
    ) -> list[tuple[SampledPage, list[JudgedPair]]]:
        """Run one job; with `apart` one page per task, and some tasks may fail."""
        with (
            self._place(plan) as place,
            TemporaryDirectory(prefix="pinakes-qa-") as name,
            TemporaryFile() as out,
        ):
            file = Path(name) / "plan.json"
            file.write_text(encode_plan(plan), encoding="utf-8")
            with self._lists(wave, Path(name), 1 if apart else self._pages_a_task) as lists:
                tag = tag_words(plan.run) if self._runner == "hadoop" else ()
                request = JobRequest(
                    job=JudgePagesJob,
                    names=lists,
                    options=("--plan", str(file), *tag, *(_MAY_FAIL if apart else ())),
                    output=place,
                )
                run_job(request, self._runner, self._configuration, out, on_percent=on_percent)
            self._fetch_images(f"{place}/{WRITTEN}")
            out.seek(0)
            return _of_pages(wave, map(decode_pair, out), some=apart)

    @contextmanager
    def _lists(self, wave: list[Page], folder: Path, size: int) -> Iterator[list[str]]:
        lines = [encode_page(drawn, pairs) for drawn, pairs in wave]
        packs = [lines[first : first + size] for first in range(0, len(lines), size)]
        if self._runner != "hadoop":
            yield write_lists(packs, folder)
            return
        with lists_in_hdfs(packs, self._configuration) as lists:
            yield lists

    def _fetch_images(self, place: str) -> None:
        with open_folder(place, self._configuration) as written:
            for stored in written.list():
                with written.open(stored.name) as remote, TemporaryFile() as local:
                    copyfileobj(remote, local)
                    unpack_images(local, self._folder, name=stored.name)


def unpack_images(archive: BinaryIO, folder: Path, *, name: str) -> None:
    """Extract the images of a task into the folder of the run.

    Raises:
        MalformedRecord: not such an archive, or an image does not match its name.
    """
    try:
        with ZipFile(archive) as packed:
            for member in packed.namelist():
                match = _IMAGE.fullmatch(member)
                content = packed.read(member) if match is not None else b""
                if match is None or sha256(content).hexdigest() != match[1]:
                    raise MalformedRecord(f"{member} does not match its name", file=name)
                keep_image(folder, content)
    except BadZipFile as error:
        raise MalformedRecord(f"not a ZIP file of images: {error}", file=name) from error


def _of_pages(
    wave: Iterable[Page], pairs: Iterable[JudgedPair], *, some: bool
) -> list[tuple[SampledPage, list[JudgedPair]]]:
    """Pages with their pairs; with `some`, pages may have none."""
    by_key: dict[str, list[JudgedPair]] = {}
    for pair in pairs:
        by_key.setdefault(pair.result.capture_key, []).append(pair)
    found = [(drawn, by_key.get(drawn.page.row_key.hex(), [])) for drawn, _ in wave]
    for (drawn, judged), (_, asked) in zip(found, wave, strict=True):
        if len(judged) != len(asked) and (judged or not some):
            raise MalformedRecord(
                f"a task returned {len(judged)} of {len(asked)} pairs", file=drawn.page.url
            )
    return found


def page_workers_by_job(
    configuration: Configuration,
    folder: Path,
    around: Callable[[str], AbstractContextManager[Callable[[float], None]]],
) -> PageWorkers:
    """Tasks on YARN, in waves; `around` shows one, and takes percents."""

    def work(plan: RunPlan, tasks: Iterable[PageTask]) -> Iterator[PageResult]:
        by_job = PagesByJob(configuration, "hadoop", folder, around=around)
        for drawn, pairs in by_job.judge(plan, ((task.drawn, task.pairs) for task in tasks)):
            yield PageResult(drawn, pairs, None if pairs else _LOST)

    return work
