"""Ends a browser and all that it started, and nothing else.

Each browser leads an operating-system session (setsid(2)), and its children stay in it: the
session's number names exactly our processes, including those whose parent has died, until the
last has ended.

A process killed by SIGKILL cannot end its children, and neither a terminal nor a YARN container
ends a session of its own.  So a guard, a process too, waits for the end of a pipe that only the
starting process holds open, and ends the browser then:

    python -m pinakes.qa.browsers.processes SESSION FOLDER
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path


def processes_of(session: int) -> list[int]:
    """The processes of a session: field 6 of /proc/PID/stat, see proc(5)."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with suppress(OSError, ValueError, IndexError):
            # The name, field 2, may hold any character, so count from its last bracket.
            fields = (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


def kill_session(session: int, *, timeout_s: float = 5.0) -> None:
    """Kill all processes of a session; those forked in between are found in the next round."""
    until = time.monotonic() + timeout_s
    while (left := processes_of(session)) and time.monotonic() < until:
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)


def killed_after(session: int, limit_s: float) -> AbstractContextManager[threading.Event]:
    """Kill a browser's processes if the block takes longer; the event is set if it did."""
    return called_after(limit_s, lambda: kill_session(session))


@contextmanager
def called_after(limit_s: float, act: Callable[[], object]) -> Iterator[threading.Event]:
    """Call this from a thread if the block takes longer; the event is set if it did."""
    struck = threading.Event()

    def strike() -> None:
        struck.set()
        act()

    timer = threading.Timer(limit_s, strike)
    timer.daemon = True
    timer.start()
    try:
        yield struck
    finally:
        timer.cancel()
        timer.join()  # a kill that has begun is completed


_OFF = b"off"


class Guard:
    """Guards one operating-system session, and the folder that its browser writes to."""

    def __init__(self, session: int, folder: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (ourselves)
            [sys.executable, "-m", "pinakes.qa.browsers.processes", str(session), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def close(self) -> None:
        """Call it when the browser has ended: nothing is left to guard.  Idempotent."""
        if self._process.returncode is None:
            with suppress(OSError):
                self._process.communicate(_OFF)


def main(session: int, folder: Path) -> None:
    """Wait for the end of the pipe; end what is left, unless the pipe says that nothing is."""
    if sys.stdin.buffer.read() != _OFF:
        kill_session(session)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
