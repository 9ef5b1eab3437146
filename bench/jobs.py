"""What jobs cost: seconds of each step as a + b·n, seconds per GB, calls of the name node.

    python -m bench.jobs [--runner local|hadoop] [--config FOLDER/conf/pinakes.toml]
                         [--lines 100000,1000000] [--captures 50000,200000] [--only NAME]

Jobs that read manifests are run on made-up ones of so many lines (`--lines`; a tenth of them
are copies, in pairs), jobs that read archive files on made-up files of so many captures.  With
`--runner hadoop` on a cluster that runs; calls of its name node are counted by itself, all
that anybody made meanwhile, but for its data nodes'.  Quiet machines only.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path

from bench.cache import cache_dir
from bench.captures import date, url, write_captures
from bench.corpus import say
from bench.fitted import fit
from bench.name_node import calls
from bench.skew import FILE_CAPTURES, member, write_archives
from pinakes.config import Configuration, load_configuration
from pinakes.mr_jobs.driver.running import JobRequest, run_job

OF_LINES = {
    "resolve_collisions": "ResolveCollisionsJob",
    "flag_duplicates": "FlagDuplicatesJob",
}
OF_FILES = {"manifest": "ManifestJob"}
SHARED = 10
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


def lines(count: int, archives: Path) -> Iterator[str]:
    """Manifest lines; of each twenty, two have one digest, and bodies in the archives."""
    size = len(member())
    for number in range(count):
        shared, rest = divmod(number, SHARED)
        if rest:
            name, place = f"alone/{number // FILE_CAPTURES:06d}.warc.gz", number % FILE_CAPTURES
            where, digest = url(number), f"sha1:{number:032d}"
        else:
            file, place = divmod(shared, FILE_CAPTURES)
            name, where = f"{archives}/hot-{file:06d}.warc.gz", "http://example.org/pixel"
            digest = f"sha1:{number - number % (2 * SHARED):032d}"
        yield (
            f"{name} {place * size} {size} {where} {date(number)} {digest} 0"
            f" size=5 status=200 id=urn:x-bench:{number}\n"
        )


def run(
    job: str, cls: str, names: Sequence[str], runner: str, configuration: Configuration, out: Path
) -> tuple[list[float], Counter[str]]:
    """Seconds before the first step and of each, and calls of the name node."""
    request = JobRequest(job=getattr(import_module(f"pinakes.mr_jobs.{job}"), cls), names=names)
    web = configuration.hdfs_web if runner == "hadoop" else None
    before = calls(web) if web else Counter()
    times, logger = StepTimes(), logging.getLogger("mrjob")
    logger.addHandler(times)
    begin = time.perf_counter()
    try:
        with out.open("wb") as file:
            run_job(request, runner, configuration, file)
    finally:
        logger.removeHandler(times)
    seconds = times.seconds(begin, time.perf_counter())
    return seconds, (calls(web) if web else Counter()) - before


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
    if asked:
        each = ", ".join(f"{what} {count:,}" for what, count in asked.most_common(6))
        rate = asked.total() / size * MILLION
        say(f"{name}, {size:,} records: {asked.total():,} calls, {rate:,.0f} a million; {each}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runner", choices=("inline", "local", "hadoop"), default="local")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--lines", default="100000,1000000", help="sizes, with commas")
    parser.add_argument("--captures", default="50000,200000", help="sizes, with commas")
    parser.add_argument("--only", default="", help="only jobs whose name contains this")
    arguments = parser.parse_args()
    configuration = load_configuration(arguments.config, environment={}, folder=Path("/"))
    archives = cache_dir() / "skew-archives"
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="jobs-") as folder:
        scratch = Path(folder)
        points: dict[str, dict[int, list[float]]] = defaultdict(dict)
        for count in map(int, arguments.lines.split(",")):
            write_archives(archives, -(-count // SHARED))
            manifest = scratch / f"lines-{count}"
            with manifest.open("w") as file:
                file.writelines(lines(count, archives))
            for job, cls in OF_LINES.items():
                if arguments.only in job:
                    seconds, asked = run(
                        job, cls, [str(manifest)], arguments.runner, configuration, scratch / "out"
                    )
                    points[job][count] = seconds
                    tell_calls(job, count, asked)
            manifest.unlink()
        for job, sizes in points.items():
            tell(job, "million lines", sizes, MILLION)
        points.clear()
        for count in map(int, arguments.captures.split(",")):
            paths = [str(path) for path in write_captures(cache_dir() / f"captures-{count}", count)]
            size = sum(Path(path).stat().st_size for path in paths)
            for job, cls in OF_FILES.items():
                if arguments.only in job:
                    seconds, asked = run(
                        job, cls, paths, arguments.runner, configuration, scratch / "out"
                    )
                    points[job][size] = seconds
                    tell_calls(job, count, asked)
        for job, sizes in points.items():
            tell(job, "GB", sizes, GB)


if __name__ == "__main__":
    main()
