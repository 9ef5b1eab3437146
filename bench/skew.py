"""One digest that a third of all captures have: is there a task that has it all?

    python -m bench.skew [--lines 3000000] [--cores 8] [--job NAME] [--options TEXT]

Makes a manifest of so many lines, runs the job with `--runner local`, and says for each step
how many tasks it had, what share of its processor time the longest took, and the peak memory
of the largest.  Of `resolve_collisions` the captures of that digest have real, small bodies;
all others are alone, and nobody reads them.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from bench.cache import cache_dir
from bench.captures import date, url
from bench.corpus import say

FILE_CAPTURES = 10_000
HOT = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
HOT_URL = "http://example.org/pixel"
FLAG_DUPLICATES = "flag_duplicates"
# And the verbs that run them.
JOBS = {FLAG_DUPLICATES: "process", "resolve_collisions": "resolve"}


def member() -> bytes:
    """A record with the body that so many have, in a gzip member."""
    block = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\npixel"
    header = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x-bench:hot>\r\n"
        f"WARC-Date: {date(0)}\r\nWARC-Target-URI: {HOT_URL}\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(block)}\r\n\r\n"
    ).encode()
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    return packer.compress(header + block + b"\r\n\r\n") + packer.flush()


def lines(count: int, folder: Path | None) -> Iterator[str]:
    """Manifest lines; every third of the hot digest, and in the archives of `folder`, if any."""
    size = len(member())
    for number in range(count):
        file, place = divmod(number // 3, FILE_CAPTURES)
        if number % 3:
            name, where = f"skew/{number // FILE_CAPTURES:06d}.warc.gz", url(number)
            digest, place = f"sha1:{number:032d}", number % FILE_CAPTURES
        else:
            name = f"{folder or 'skew'}/hot-{file:06d}.warc.gz"
            where, digest = url(number) if folder is None else HOT_URL, HOT
        extension = " 0" if folder is None else ""
        yield (
            f"{name} {place * size} {size} {where} {date(number)} {digest}{extension}"
            f" size=5 status=200 id=urn:x-bench:{number}\n"
        )


def write_archives(folder: Path, captures: int) -> None:
    """Archives of so many captures of the one body, unless they are there."""
    folder.mkdir(parents=True, exist_ok=True)
    for first in range(0, captures, FILE_CAPTURES):
        path = folder / f"hot-{first // FILE_CAPTURES:06d}.warc.gz"
        content = member() * min(FILE_CAPTURES, captures - first)
        if not path.exists() or path.stat().st_size < len(content):
            path.write_bytes(content)


def run(job: str, manifest: Path, notes: Path, output: Path, options: str) -> None:
    """The job, in several processes of this host, each of them noted."""
    task = Path(__file__).with_name("task.py")
    python = shlex.join(map(str, (sys.executable, task, notes)))
    words = [*shlex.split(options), "--python-bin", python]
    verb = [JOBS[job], "--runner", "local", str(manifest), "-o", str(output)]
    pinakes = [sys.executable, "-m", "pinakes.cli", "-q", *verb, f"--options={shlex.join(words)}"]
    subprocess.run(pinakes, check=True)


def defaults(arguments: argparse.Namespace) -> str:
    """Options that divide what is large for so many lines, on this host."""
    if arguments.job != FLAG_DUPLICATES:
        return ""
    large = max(1, arguments.lines // 30)
    # The runner `local` does not say how many tasks there are: twice the cores, at most.
    tasks = 2 * arguments.cores
    divided = f"--content-lines {large} --shard-lines {large}"
    return f"{divided} -D mapreduce.job.reduces={tasks}"


def report(notes: Path) -> Iterator[str]:
    """A line for each step of each round: tasks, the longest one's share, the largest one."""
    steps: dict[tuple[str, int, str], list[list[float]]] = defaultdict(list)
    for text in notes.read_text().splitlines():
        again, step, kind, *costs = json.loads(text)
        steps[again, step, kind].append(costs)
    for (again, step, kind), tasks in sorted(steps.items()):
        cpu = [task[0] for task in tasks]
        longest = max(cpu)
        yield (
            f"round {again}, step {step + 1}, {kind}: {len(tasks)} tasks, {sum(cpu):.1f} s of "
            f"processor, longest {longest:.1f} s ({longest / sum(cpu):.0%}), "
            f"largest {max(task[2] for task in tasks) / 1e6:.0f} MB"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lines", type=int, default=3_000_000)
    parser.add_argument("--cores", type=int, default=8, help="tasks at a time (default 8)")
    parser.add_argument("--job", choices=JOBS, default=FLAG_DUPLICATES)
    parser.add_argument("--options", default="", help="the job's own, beside what divides it")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=cache_dir(), prefix="skew-") as name:
        scratch = Path(name)
        archives = None
        if arguments.job == "resolve_collisions":
            archives = cache_dir() / "skew-archives"
            write_archives(archives, -(-arguments.lines // 3))
        manifest, notes = scratch / "manifest", scratch / "notes"
        with manifest.open("w") as file:
            file.writelines(lines(arguments.lines, archives))
        say(f"{arguments.job}: {arguments.lines:,} lines, a third of one digest")
        options = f"--num-cores {arguments.cores} {defaults(arguments)} {arguments.options}"
        run(arguments.job, manifest, notes, scratch / "out", options)
        for line in report(notes):
            say(f"  {line}")


if __name__ == "__main__":
    main()
