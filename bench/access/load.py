"""Ask a server as fast as it answers, with wrk, and say what that cost its processes.

CPU is user and system time of the server's process and all of its descendants, by /proc, before
and after: what wrk costs is not in it.  Latency is measured apart, with one connection.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

LOAD_CONNECTIONS = 8
_SCRIPT = Path(__file__).with_name("paths.lua")
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What wrk saw, and the server's CPU time meanwhile."""

    requests: int
    bytes: int
    failed: int
    p50_ms: float
    p99_ms: float
    cpu_s: float

    @property
    def rate(self) -> float:
        """Requests per second of server CPU."""
        return self.requests / max(self.cpu_s, 1 / _TICKS)


def why_no_wrk() -> str | None:
    """Why no load can be made; None where it can."""
    return None if shutil.which("wrk") else "wrk is not installed: apt-get install wrk"


def cpu_seconds(process_id: int) -> float:
    """User and system time of a process, its ended children, and its running descendants."""
    folder = Path("/proc") / str(process_id)
    try:
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        # utime, stime, cutime and cstime: fields 14 to 17 of proc(5), from 1.
        own = sum(map(int, fields[11:15])) / _TICKS
        tasks = list((folder / "task").iterdir())
        children = [child for task in tasks for child in (task / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return own + sum(cpu_seconds(int(child)) for child in children)


def own_bytes(process_id: int) -> int:
    """The memory of a process and its running descendants, without pages of files, which the
    kernel may take back: Pss_Anon of proc(5)."""
    folder = Path("/proc") / str(process_id)
    try:
        lines = (folder / "smaps_rollup").read_text().splitlines()
        own = sum(1024 * int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:"))
        tasks = list((folder / "task").iterdir())
        children = [child for task in tasks for child in (task / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return own + sum(own_bytes(int(child)) for child in children)


def ask(
    process_id: int,
    port: int,
    targets: Path,
    *,
    seconds: int,
    first: int = 0,
    connections: int = LOAD_CONNECTIONS,
) -> Answered:
    """Ask for the targets of a file, one after the other from the `first`, and over again."""
    before = cpu_seconds(process_id)
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "30s"]
    done = subprocess.run(
        [*command, "-s", str(_SCRIPT), f"http://127.0.0.1:{port}"],
        env={**os.environ, "PATHS": str(targets), "FIRST": str(first)},
        capture_output=True,
        text=True,
        check=True,
    )
    cpu_s = cpu_seconds(process_id) - before
    seen = json.loads(done.stdout.rpartition("JSON ")[2])
    return Answered(
        requests=seen["requests"],
        bytes=seen["bytes"],
        failed=seen["failed"],
        p50_ms=seen["p50_us"] / 1000,
        p99_ms=seen["p99_us"] / 1000,
        cpu_s=cpu_s,
    )
