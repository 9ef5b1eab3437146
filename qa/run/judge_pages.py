"""A job that judges pages: each task has its own browsers; no reduce step.

    python -m pinakes.qa.run.judge_pages -r inline|local|hadoop --plan FILE LIST...

LIST has a line a page, with its pairs to judge; the output has a line for each pair, as in
`pairs.jsonl`.  Each task writes its images as one ZIP file to `_written` of the output: HDFS is not
made for many small files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4
from zipfile import ZIP_STORED, ZipFile

from pinakes.errors import MalformedRecord
from pinakes.mr_jobs.archive_job import LINES, LINES_OF_MAPS, ArchiveJob
from pinakes.mr_jobs.extra import jobconf_from_env
from pinakes.qa.results import encode_pair
from pinakes.qa.run.opening import open_judge
from pinakes.qa.run.plan import Pair, decode_plan
from pinakes.qa.sample import SampledPage, decode_drawn, encode_drawn


class JudgePagesJob(ArchiveJob):
    """See the module."""

    # A speculative attempt would start a second set of browsers.
    JOBCONF = {**LINES_OF_MAPS, "mapreduce.map.speculative": "false"}  # noqa: RUF012 (mrjob's)
    INPUT_COUNTER = LINES
    EXTRAS = ("jobs", "cluster", "qa")
    MEMORY_MB = 3072

    def configure_args(self) -> None:
        super().configure_args()
        self.add_file_arg("--plan", help="the plan of the run, as in `run.json`")

    def mapper_init(self) -> None:
        self.begin_task()
        self._images = Path(self.task.enter(TemporaryDirectory(prefix="pinakes-qa-")))
        plan = decode_plan(Path(self.options.plan).read_text("utf-8"))
        self._judge = self.task.enter(open_judge(plan, self.task.stores(), self._images))
        self._pages = 0
        self.task.heartbeat.watch(lambda: self._pages)

    def mapper(self, _: None, line: bytes) -> Iterator[tuple[None, bytes]]:
        drawn, pairs = decode_page(line)
        for pair in self._judge.judge(drawn, pairs):
            yield None, encode_pair(pair)[:-1]
        self.task.count(LINES)
        self._pages += 1

    def mapper_final(self) -> None:
        task = jobconf_from_env("mapreduce.task.id")
        with self.task.files_written().create_aside(uuid4().hex) as aside:
            with ZipFile(aside.file, "w", ZIP_STORED) as archive:  # PNG is compressed
                for path in sorted(self._images.glob("*.png")):
                    archive.write(path, path.name)
            aside.publish(f"images-{task}.zip")
        self.end_task()


def encode_page(drawn: SampledPage, pairs: Sequence[Pair]) -> str:
    """One line of ASCII, without its end."""
    return json.dumps({"drawn": encode_drawn(drawn), "pairs": [list(pair) for pair in pairs]})


def decode_page(line: bytes) -> tuple[SampledPage, list[Pair]]:
    """Undo `encode_page`.

    Raises:
        MalformedRecord: not such a line.
    """
    try:
        entry = json.loads(line)
        return decode_drawn(entry["drawn"]), [Pair(*pair) for pair in entry["pairs"]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise MalformedRecord(f"not a page of a QA run: {error}") from error


if __name__ == "__main__":
    JudgePagesJob.run()
