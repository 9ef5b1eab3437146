"""Supervise a running cluster: restart servers that died or hang.

It keeps no state: killed, it may be called again, and the servers keep running.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from local_cluster import processes
from local_cluster.daemons import wanted_daemons
from local_cluster.hangs import SLOW, HangWatch, Slowness
from local_cluster.jars import Programs
from local_cluster.layout import Layout
from local_cluster.operate import TIMEOUT_S, not_ready, start_missing, stop_hung
from local_cluster.state import is_wanted, running
from pinakes.errors import Conflict

_LOOK_AGAIN_S = 2.0
_LONGEST_PAUSE_S = 60.0
_STEADY_S = 60.0
_ASK_AGAIN_S = 15.0


def supervise(
    layout: Layout,
    programs: Programs,
    say: Callable[[str], None],
    *,
    timeout_s: float = TIMEOUT_S,
    slow: Slowness = SLOW,
) -> None:
    """Supervise until `down` is called.  Each death soon after another doubles the pause.

    A server that hangs (`hangs`) for `timeout_s` is stopped, and then handled as dead.
    """
    watch = HangWatch(timeout_s=timeout_s, slow=slow)
    asked_at = 0.0
    wanted = {daemon.name for daemon in wanted_daemons(layout)}
    pause_s, started_at = 0.0, time.monotonic()
    while is_wanted(layout):
        present = running(layout)
        dead = wanted - present.keys()
        if not dead:
            if time.monotonic() - asked_at > min(_ASK_AGAIN_S, timeout_s):
                with suppress(Conflict):
                    stop_hung(layout, not_ready(layout), watch, say, time.monotonic())
                asked_at = time.monotonic()
            # Wakes at once when one of them ends, and regularly to check for `down`.
            processes.wait_for_any(present.values(), _LOOK_AGAIN_S)
            continue
        if time.monotonic() - started_at > _STEADY_S:
            pause_s = 0.0
        say(f"{', '.join(sorted(dead))} died; restarting in {pause_s:.0f} s")
        time.sleep(pause_s)
        pause_s = min(max(1.0, 2 * pause_s), _LONGEST_PAUSE_S)
        started_at = time.monotonic()
        try:
            start_missing(layout, programs, say)
        except Conflict as error:
            say(str(error))
