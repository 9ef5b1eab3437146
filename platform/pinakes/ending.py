"""How a process that works for another ends: when it is told to, and when the other has died.

One that lives on would wait for work for ever, or write on into what another run has begun to
clear up.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

_PR_SET_PDEATHSIG = 1
"""An option of prctl(2)."""

_MOMENT_S = 0.05


def end_with_parent(parent: int) -> None:
    """Have SIGTERM sent to this process when its parent, of this id, has died; only on Linux.

    What counts as the parent is the thread that has begun it.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)


def leave_when_told() -> None:
    """Leave by `SystemExit` at SIGTERM or SIGHUP, so that what is open is closed.

    SIGHUP stays ignored where it is, as by nohup.
    """
    signal.signal(signal.SIGTERM, _leave)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _leave)
    sys.unraisablehook = _leave_yet


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    # Once: what closes now is not to be broken off by another.
    signal.signal(number, signal.SIG_IGN)
    sys.exit(128 + number)


def _leave_yet(lost: sys.UnraisableHookArgs) -> None:
    """Leave a moment later, where Python was just clearing something away, and ignores errors."""
    if issubclass(lost.exc_type, SystemExit):
        signal.signal(signal.SIGALRM, _leave)
        signal.setitimer(signal.ITIMER_REAL, _MOMENT_S)
    else:
        sys.__unraisablehook__(lost)
