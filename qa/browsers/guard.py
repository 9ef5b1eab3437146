"""A process that ends a browser when whoever started it is gone, however that came about.

What is killed by SIGKILL ends nothing that it has started; browsers are sessions of their own,
so neither a terminal nor a container of YARN ends them along.  The guard waits for the end of
a pipe that only we hold open.

    python -m pinakes.qa.browsers.guard SESSION FOLDER
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from pinakes.qa.browsers.processes import kill_session

_OFF = b"off"


class Guard:
    """Guards one session of the operating system, and the folder that its browser writes to."""

    def __init__(self, session: int, folder: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (ourselves)
            [sys.executable, "-m", "pinakes.qa.browsers.guard", str(session), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def close(self) -> None:
        """The browser is gone: there is nothing left to guard.  Idempotent."""
        if self._process.returncode is None:
            with suppress(OSError):
                self._process.communicate(_OFF)


def main(session: int, folder: Path) -> None:
    """Wait, and end what is left unless we are told that nothing is."""
    if sys.stdin.buffer.read() != _OFF:
        kill_session(session)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
