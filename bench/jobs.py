"""What jobs cost: seconds of each step as a + b·n, seconds per GB, calls of the name node.

    python -m bench.jobs [--runner local|hadoop] [--config FOLDER/conf/pinakes.toml]
                         [--lines 100000,1000000] [--captures 50000,200000] [--decided]

The chain of a collection, each job on what the one before it wrote: so many made-up lines
(`--lines`; see `bench.job_lines`) are resolved, processed, written as revisits and validated.
With `--decided` the chain begins behind `flag_duplicates`, with lines made up as it leaves them.
`manifest` reads made-up archives of so many captures (`--captures`).  With `--runner hadoop` on
a cluster that runs; calls of its name node are counted by itself, all that anybody made
meanwhile, but for its data nodes'.  Quiet machines only.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

from bench.cache import cache_dir
from bench.captures import write_captures
from bench.corpus import say
from bench.fitted import fit
from bench.job_lines import write_lines
from bench.name_node import calls
from pinakes.config import Configuration, load_configuration
from pinakes.mr_jobs.archive_job import ArchiveJob
from pinakes.mr_jobs.driver.running import JobReport, JobRequest, run_job
from pinakes.mr_jobs.driver.submission import job_folder
from pinakes.mr_jobs.flag_duplicates import FlagDuplicatesJob
from pinakes.mr_jobs.given import JobInputs
from pinakes.mr_jobs.manifest import ManifestJob
from pinakes.mr_jobs.resolve_collisions import ResolveCollisionsJob
from pinakes.mr_jobs.validate import ValidateJob
from pinakes.mr_jobs.write_revisits import WriteRevisitsJob
from pinakes.mr_jobs.writing_job import run_writing_job

MILLION = 1_000_000
GB = 1e9


class StepTimes(logging.Handler):
    """When mrjob began each step; rounds one behind the other."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.begun: list[float] = []

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage().startswith("Running step "):
            self.begun.append(time.perf_counter())

    def seconds(self, begin: float, end: float) -> list[float]:
        """What came before the first step, and each step."""
        marks = [begin, *self.begun, end]
        return [after - before for before, after in pairwise(marks)]


@dataclass
class Measured:
    """Of each job, by the size of what it was given: seconds before its first step and of each."""

    web: str | None
    """The name node's web server; None where none is asked."""

    by_lines: dict[str, dict[int, list[float]]] = field(default_factory=lambda: defaultdict(dict))
    by_bytes: dict[str, dict[int, list[float]]] = field(default_factory=lambda: defaultdict(dict))

    @contextmanager
    def job(self, name: str, records: int, archive_bytes: int | None = None) -> Iterator[None]:
        """Measure what is done in it."""
        before = calls(self.web) if self.web else Counter()
        times, logger = StepTimes(), logging.getLogger("mrjob")
        logger.addHandler(times)
        begin = time.perf_counter()
        try:
            yield
        finally:
            logger.removeHandler(times)
        seconds = times.seconds(begin, time.perf_counter())
        if self.web:
            tell_calls(name, records, calls(self.web) - before)
        say(f"{name}, {records:,}: {sum(seconds):.1f} s")
        self.by_lines[name][records] = seconds
        if archive_bytes is not None:
            self.by_bytes[name][archive_bytes] = seconds


def tell(name: str, unit: str, points: dict[int, list[float]], per: float) -> None:
    """The line through each step's seconds, and through their sum."""
    sums = {size: [sum(seconds)] for size, seconds in points.items()}
    width = min(map(len, points.values()))
    titles = ["start", *(f"step {number}" for number in range(1, width))]
    columns = {title: [(n, s[i]) for n, s in points.items()] for i, title in enumerate(titles)}
    columns["all"] = [(n, s[0]) for n, s in sums.items()]
    for title, column in columns.items():
        told = ", ".join(f"{n:,}: {seconds:.1f} s" for n, seconds in column)
        if len(column) < 2:
            say(f"{name}, {title}: {told}")
            continue
        found = fit(column)
        say(
            f"{name}, {title}: a = {found.fixed:.1f} s, b = {found.slope * per:.2f} s a {unit} "
            f"({found.least * per:.2f} to {found.most * per:.2f}, {found.spread:.0%}); {told}"
        )


def tell_calls(name: str, size: int, asked: Counter[str]) -> None:
    """Calls of the name node a million records."""
    each = ", ".join(f"{what} {count:,}" for what, count in asked.most_common(6))
    rate = asked.total() / size * MILLION
    say(f"{name}, {size:,} records: {asked.total():,} calls, {rate:,.0f} a million; {each}")


class Chain:
    """The jobs of a collection, one behind the other."""

    def __init__(self, runner: str, configuration: Configuration, scratch: Path) -> None:
        self._runner = runner
        self._configuration = configuration
        self._scratch = scratch
        self.measured = Measured(configuration.hdfs_web if runner == "hadoop" else None)

    def run(self, count: int, *, decided: bool) -> None:
        """All of them, on so many lines; or those behind what is decided."""
        work = self._scratch / f"lines-{count}"
        work.mkdir()
        manifest, archives = work / "manifest", work / "archives"
        size = write_lines(count, manifest, archives, decided=decided)
        say(f"{count:,} lines, {size / GB:.2f} GB of archives for those that are read")
        written = str(work / "written")
        if self._runner == "hadoop":
            written = f"{job_folder(self._configuration)}/bench/{uuid4().hex}"
        lines = manifest if decided else self._decide(count, manifest, work)
        with self.measured.job("write_revisits", count, size):
            report = self._job(
                WriteRevisitsJob,
                [str(lines)],
                work / "told",
                partial(run_writing_job, to=written),
            )
        say(f"  {report.counts['revisits']:,} revisits")
        given = JobInputs(inputs=(str(archives), written))
        with self.measured.job("validate", count, size):
            pairs = ValidateJob.input_lines(given, self._configuration)
            report = self._job(ValidateJob, pairs, work / "found")
        say(f"  {report.counts['records']:,} records compared")

    def _decide(self, count: int, manifest: Path, work: Path) -> Path:
        resolved, decided = work / "resolved", work / "decided"
        with self.measured.job("resolve_collisions", count):
            self._job(ResolveCollisionsJob, [str(manifest)], resolved)
        with self.measured.job("flag_duplicates", count):
            report = self._job(FlagDuplicatesJob, [str(resolved)], decided)
        say(f"  {report.counts['duplicates']:,} duplicates")
        resolved.unlink()
        return decided

    def manifest(self, count: int) -> None:
        """The lines of archives with so many captures."""
        paths = [str(path) for path in write_captures(cache_dir() / f"captures-{count}", count)]
        size = sum(Path(path).stat().st_size for path in paths)
        with self.measured.job("manifest", count, size):
            self._job(ManifestJob, paths, self._scratch / "lines")

    def _job(
        self,
        job: type[ArchiveJob],
        names: list[str],
        out: Path,
        start: Callable[..., JobReport] = run_job,
    ) -> JobReport:
        request = JobRequest(job=job, names=names)
        with out.open("wb") as file:
            report = start(
                request, runner=self._runner, configuration=self._configuration, out=file
            )
        if report.findings:
            raise report.findings[0]
        return report


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runner", choices=("inline", "local", "hadoop"), default="local")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--lines", default="100000,1000000", help="sizes, with commas")
    parser.add_argument("--captures", default="50000,200000", help="sizes, with commas")
    parser.add_argument("--decided", action="store_true", help="begin with `write_revisits`")
    arguments = parser.parse_args()
    configuration = load_configuration(arguments.config, environment={}, folder=Path("/"))
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="jobs-") as folder:
        chain = Chain(arguments.runner, configuration, Path(folder))
        for count in map(int, arguments.lines.split(",")):
            chain.run(count, decided=arguments.decided)
        for count in map(int, arguments.captures.split(",")):
            chain.manifest(count)
    for job, sizes in chain.measured.by_lines.items():
        tell(job, "million captures", sizes, MILLION)
    for job, sizes in chain.measured.by_bytes.items():
        tell(job, "GB", sizes, GB)


if __name__ == "__main__":
    main()
