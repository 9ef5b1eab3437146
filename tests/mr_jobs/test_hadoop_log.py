"""What Hadoop says of its progress becomes the progress of the whole job."""

from __future__ import annotations

import logging

import pytest

from pinakes.config import Configuration
from pinakes.mr_jobs.driver.hadoop_log import heard, why_failed
from pinakes.mr_jobs.flag_duplicates import FlagDuplicatesJob
from pinakes.mr_jobs.manifest import ManifestJob

LOG = logging.getLogger("mrjob.logs.step")


def reported(steps: list[object], *said: str) -> tuple[list[float], str | None]:
    percents: list[float] = []
    with heard(percents.append, steps) as log:
        for line in said:
            LOG.info(line)
    LOG.info("   map 7% reduce 7%")
    return percents, log.application


def test_maps_alone() -> None:
    said = ("  Running job: job_1_0001", "   map 0% reduce 0%", "   map 50% reduce 0%")
    assert reported(ManifestJob(args=[]).steps(), *said)[0] == [0, 50]


def test_steps_one_after_the_other() -> None:
    said = []
    for number in range(3):
        said += [
            f"  Submitted application application_1_000{number}",
            f"  Running job: job_1_000{number}",
            "   map 100% reduce 0%",
            "   map 100% reduce 100%",
        ]
    percents, application = reported(FlagDuplicatesJob(args=[]).steps(), *said)
    assert [round(percent) for percent in percents] == [17, 33, 50, 67, 83, 100]
    assert application == "application_1_0002"


CHAINED = """\
Traceback (most recent call last):
  File "local_files.py", line 74, in write
OSError: [Errno 28] No space left on device

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "archive_job.py", line 20, in mapper
pinakes.errors.StoreUnavailable: out/a.warc.zst: the disk is full
"""


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        pytest.param(CHAINED, "out/a.warc.zst: the disk is full", id="an error of ours"),
        pytest.param(
            CHAINED.partition("\n\n")[0], CHAINED.partition("\n\n")[0], id="another's, whole"
        ),
        pytest.param("killed\n", "killed", id="no traceback"),
    ],
)
def test_a_failed_job_says_why(cause: str, words: str) -> None:
    with heard(lambda _: None, ManifestJob(args=[]).steps()) as log:
        LOG.error("Probable cause of failure:\n\n%s", cause)
    assert why_failed("exit code 1", log, Configuration()) == f"the job failed: {words}"
