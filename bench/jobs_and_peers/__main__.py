"""Run every job with every tool that claims it, and lay out what came of it.

    python -m bench.jobs_and_peers [--write] [--only TEXT] [--tool NAME]

`--write` puts the table into docs/peers.md.  Tools that are not installed (`make tools`) make no
table: a cell that was not run is not blank.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from bench.jobs_and_peers.attempts import Job, Verdict, judge
from bench.jobs_and_peers.file_server import serving_files
from bench.jobs_and_peers.jobs import JOBS
from bench.jobs_and_peers.scene import Scene
from bench.jobs_and_peers.table import laid_out, put_in
from bench.jobs_and_peers.tools import BY_NAME, TOOLS

PAGE = Path(__file__).parents[2] / "docs" / "peers.md"


def verdicts_of(jobs: Iterable[Job], tools: Iterable[str]) -> dict[tuple[str, str, str], Verdict]:
    """Run these jobs with these tools, on files made for it."""
    found = {}
    with tempfile.TemporaryDirectory(prefix="jobs-") as folder:
        files = Path(folder) / "files"
        files.mkdir()
        scene = Scene(files)
        scene.write()
        with serving_files(files) as web:
            words = {**scene.words(), "web": web}
            for job in jobs:
                for tool in tools:
                    if tool in job.attempts:
                        out = Path(tempfile.mkdtemp(dir=folder))
                        verdict = judge(job, BY_NAME[tool], scene, out, words)
                        found[job.group, job.name, tool] = verdict
                        say(f"{job.name}: {tool}: {'done' if verdict.done else verdict.why}")
    return found


def say(text: str) -> None:
    """Report progress on standard error."""
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(prog="python -m bench.jobs_and_peers", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into docs/peers.md")
    parser.add_argument("--only", default="", help="only jobs whose group or name contains this")
    parser.add_argument("--tool", choices=BY_NAME, help="only this tool")
    args = parser.parse_args()
    versions = {tool.name: tool.version() for tool in TOOLS if args.tool in (None, tool.name)}
    absent = [name for name, version in versions.items() if version is None]
    if absent:
        raise SystemExit(f"not installed: {', '.join(absent)}; `make tools` does it")
    jobs = [job for job in JOBS if args.only in f"{job.group}: {job.name}"]
    verdicts = verdicts_of(jobs, versions)
    table = laid_out(jobs, {name: version or "" for name, version in versions.items()}, verdicts)
    if args.write and not (args.only or args.tool):
        PAGE.write_text(put_in(PAGE.read_text("utf-8"), table), "utf-8")
    print(table)


if __name__ == "__main__":
    main()
