"""What Hadoop says of its progress becomes the progress of the whole job."""

from __future__ import annotations

import logging

from pinakes.mr_jobs.driver.hadoop_log import heard
from pinakes.mr_jobs.flag_duplicates import FlagDuplicatesJob
from pinakes.mr_jobs.manifest import ManifestJob

LOG = logging.getLogger("mrjob.logs.step")


def told(steps: list[object], *said: str) -> tuple[list[float], str | None]:
    percents: list[float] = []
    with heard(percents.append, steps) as log:
        for line in said:
            LOG.info(line)
    LOG.info("   map 7% reduce 7%")
    return percents, log.application


def test_maps_alone() -> None:
    said = ("  Running job: job_1_0001", "   map 0% reduce 0%", "   map 50% reduce 0%")
    assert told(ManifestJob(args=[]).steps(), *said)[0] == [0, 50]


def test_steps_one_after_the_other() -> None:
    said = []
    for number in range(3):
        said += [
            f"  Submitted application application_1_000{number}",
            f"  Running job: job_1_000{number}",
            "   map 100% reduce 0%",
            "   map 100% reduce 100%",
        ]
    percents, application = told(FlagDuplicatesJob(args=[]).steps(), *said)
    assert [round(percent) for percent in percents] == [17, 33, 50, 67, 83, 100]
    assert application == "application_1_0002"
