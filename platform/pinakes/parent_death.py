"""Ends a process when the one that began it has died without telling it: killed, or out of memory.

It would wait for work for ever, or write on into what another run has begun to clear up.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
"""An option of prctl(2)."""


def end_with_parent(parent: int) -> None:
    """Have SIGTERM sent to this process when its parent, of this id, has died; only on Linux.

    What counts as the parent is the thread that has begun it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)
