"""A process that ends a browser when the process that started it is gone, for any reason.

A process killed by SIGKILL cannot end its children, and browsers are operating-system sessions
of their own, which neither a terminal nor a YARN container ends.  The guard waits for the end
of a pipe that only the starting process holds open.

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
    """Guards one operating-system session, and the folder that its browser writes to."""

    def __init__(self, session: int, folder: Path) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (ourselves)
            [sys.executable, "-m", "pinakes.qa.browsers.guard", str(session), str(folder)],
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
    """Wait for the end of the pipe; end what is left, unless told that nothing is."""
    if sys.stdin.buffer.read() != _OFF:
        kill_session(session)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
