"""Start a cluster, stop it, and report its state.

All state is in files (`state`), so each of these may be killed at any point and run again.  The
lock is held while servers are started or stopped, never while waiting.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from local_cluster import processes
from local_cluster.archives import archive_option, keep_archive, writes_archive
from local_cluster.daemons import DAEMONS, Daemon, command, wanted_daemons
from local_cluster.hangs import SLOW, HangWatch, Slowness
from local_cluster.jars import Programs
from local_cluster.layout import Layout
from local_cluster.logs import last_lines
from local_cluster.preparation import environment, require_free_ports
from local_cluster.processes import Identity
from local_cluster.readiness import is_ready
from local_cluster.state import is_wanted, locked, pid_file, running, set_wanted
from pinakes.errors import Conflict, StoreUnavailable

Say = Callable[[str], None]

TIMEOUT_S = 180.0
_STOP_TIMEOUT_S = 30.0
_ARCHIVE_TIMEOUT_S = 300.0
_STARTS = 3
_LOOK_AGAIN_S = 0.5
_SAY_AGAIN_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerState:
    """State of a server: `ready`, `not ready`, `dead` (should run, does not), `stopped`."""

    name: str
    state: str
    pid: int | None
    port: int


def start_missing(layout: Layout, programs: Programs, say: Say) -> list[str]:
    """Start every server of the cluster that does not run; return their names, once recorded.

    Raises Conflict, and starts nothing, if `down` was called meanwhile.
    """
    with locked(layout.folder) as lock:
        if not is_wanted(layout):
            raise Conflict(f"the cluster in {layout.folder} was stopped meanwhile")
        present = running(layout)
        missing = [daemon for daemon in wanted_daemons(layout) if daemon.name not in present]
        for daemon in missing:
            require_free_ports(daemon, layout)
        for daemon in missing:
            processes.start(
                command(daemon, layout, programs.java, archive_option(daemon, layout, programs)),
                pid_file=pid_file(layout, daemon.name),
                output=layout.logs / f"{daemon.name}.out",
                environment=environment(daemon, layout, programs),
                lock=lock,
            )
    names = [daemon.name for daemon in missing]
    if names:
        with locked(layout.folder):  # they share it until they are recorded
            pass
        say(f"started {', '.join(names)}")
    return names


def stop_hung(
    layout: Layout, waiting: Sequence[Daemon], watch: HangWatch, say: Say, now_s: float
) -> bool:
    """Stop the hanging servers of `not_ready`, to be restarted; return whether there were any.

    Raises Conflict if `down` was called meanwhile.
    """
    present = running(layout)
    needed = [daemon.name for daemon in waiting if daemon.step == waiting[0].step]
    names = {present[name]: name for name in needed if name in present}
    ages_s = {who: processes.age_s(who) for who in names}
    hung = watch.look(ages_s, now_s)
    if not hung:
        return False
    with locked(layout.folder):
        if not is_wanted(layout):
            raise Conflict(f"the cluster in {layout.folder} was stopped meanwhile")
        for who in hung:
            say(
                f"{names[who]} hangs: it has been running for {ages_s[who]:.0f} s, and not ready"
                f" for {watch.timeout_s:.0f} s; stopping it"
            )
        if processes.stop(hung, timeout_s=_STOP_TIMEOUT_S):
            say(f"did not stop in {_STOP_TIMEOUT_S:.0f} s: killed")
    return True


def up(
    layout: Layout,
    programs: Programs,
    say: Say,
    *,
    timeout_s: float = TIMEOUT_S,
    slow: Slowness = SLOW,
) -> None:
    """Start servers that do not run, and wait until all are ready.

    The folder must be prepared (`preparation.prepare`).  A server that dies meanwhile is
    restarted up to twice: HBase gives up if HDFS is late.  A hanging server (`hangs`) is
    restarted after `timeout_s`, which then starts over.

    Raises:
        Conflict: a port is taken, or `down` was called meanwhile.
        StoreUnavailable: a server keeps dying or does not get ready; with the end of its log.
    """
    with locked(layout.folder):
        set_wanted(layout, wanted=True)
    begin: float | None = None
    said_at = 0.0
    starts: Counter[str] = Counter()
    said: list[str] = []
    watch = HangWatch(timeout_s=timeout_s, slow=slow)
    while True:
        starts.update(start_missing(layout, programs, say))
        for name, count in starts.items():
            if count > _STARTS:
                raise StoreUnavailable(f"{name} died {_STARTS} times; {_end_of_log(layout, name)}")
        daemons = not_ready(layout)
        if not daemons:
            return
        now = time.monotonic()
        begin = begin or now
        if stop_hung(layout, daemons, watch, say, now):
            begin = None
            continue
        waiting = [daemon.name for daemon in daemons]
        if now - begin > timeout_s:
            raise StoreUnavailable(
                f"not ready after {timeout_s:.0f} s: {', '.join(waiting)}; "
                f"{_end_of_log(layout, waiting[0])}"
            )
        if waiting != said or now - said_at > _SAY_AGAIN_S:
            say(f"{now - begin:.0f} s: waiting for {', '.join(waiting)}")
            said, said_at = waiting, now
        time.sleep(_LOOK_AGAIN_S)


def not_ready(layout: Layout) -> list[Daemon]:
    """The servers that are not ready.  Checked step by step: later ones need earlier ones."""
    waiting: list[Daemon] = []
    for _, daemons in groupby(wanted_daemons(layout), key=lambda daemon: daemon.step):
        waiting += [d for d in daemons if waiting or not is_ready(d.name, layout)]
    return waiting


def _end_of_log(layout: Layout, name: str) -> str:
    lines = last_lines(layout, name, 3)
    return f"see {layout.logs / name}.log: {' | '.join(lines)}"


def down(layout: Layout, say: Say) -> None:
    """Stop the servers, step by step, and wait until they have ended.

    Only processes recorded in this folder are touched.
    """
    with locked(layout.folder):
        set_wanted(layout, wanted=False)
        present = running(layout)
        for _, daemons in groupby(tuple(DAEMONS.values())[::-1], key=lambda daemon: daemon.step):
            names = [daemon.name for daemon in daemons if daemon.name in present]
            if not names:
                continue
            archiving = [name for name in names if writes_archive(DAEMONS[name], layout)]
            # The archive of a server that was not ready yet would lack most classes.
            at_work = {name for name in archiving if is_ready(name, layout)}
            timeout_s = _ARCHIVE_TIMEOUT_S if archiving else _STOP_TIMEOUT_S
            say(f"stopping {', '.join(names)}{', for the first time' if archiving else ''}")
            killed = processes.stop([present[name] for name in names], timeout_s=timeout_s)
            for name in names:
                if present[name] in killed:
                    say(f"{name} did not stop in {timeout_s:.0f} s: killed")
                elif name in at_work:
                    keep_archive(DAEMONS[name], layout)
        for name in DAEMONS:
            pid_file(layout, name).unlink(missing_ok=True)


def states(layout: Layout) -> Iterator[ServerState]:
    """The state of each server.  Checks those that run, so it takes a moment."""
    present = running(layout)
    wanted = is_wanted(layout)
    names = {daemon.name for daemon in wanted_daemons(layout)} | present.keys()
    for name in (name for name in DAEMONS if name in names):
        who: Identity | None = present.get(name)
        if who is None:
            state = "dead" if wanted else "stopped"
        else:
            state = "ready" if is_ready(name, layout) else "not ready"
        yield ServerState(
            name=name, state=state, pid=who.pid if who else None, port=layout.port(name)
        )
