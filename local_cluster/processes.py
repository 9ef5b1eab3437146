r"""Processes that outlive their starter, and are identified reliably.

A file `run/NAME.pid` identifies a server's process:

    boot id of the kernel \n  /proc/PID/stat at the start of the process \n

The process writes it itself, before it becomes the server: so a server is recorded whenever it
runs, even if its starter is killed.  A PID that was reused by another process is recognised by its
start time (proc(5), field 22) and boot id.  Signals go through a pidfd, which is opened first and
then checked.
"""

from __future__ import annotations

import errno
import os
import select
import signal
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# $0 is the file, "$@" the command; the number stays the same across exec.  9 is the lock.
# Whatever folder we were called in is not kept busy.
_RECORD_AND_BECOME = f"""
    cat {_BOOT_ID} /proc/$$/stat >"$0.new" && mv "$0.new" "$0" && cd / && exec "$@" 9>&-
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Identifies one process uniquely: PID, start in clock ticks after boot, boot id."""

    pid: int
    start_ticks: int
    boot_id: str


def parse_identity(text: str) -> Identity:
    """Read the content of a pid file; ValueError if it is invalid."""
    boot_id, _, stat = text.partition("\n")
    pid, _, _ = stat.partition(" ")
    return Identity(pid=int(pid), start_ticks=_start_ticks(stat), boot_id=boot_id.strip())


def _start_ticks(stat: str) -> int:
    """Field 22, counted from the last bracket: the name, field 2, may contain anything."""
    fields = stat.rpartition(")")[2].split()
    if len(fields) < 20:
        raise ValueError(f"not a line of /proc/PID/stat: {stat!r}")
    return int(fields[19])


def is_running(identity: Identity) -> bool:
    """Whether this very process exists, with any of its threads."""
    with _opened([identity]) as opened:
        return bool(opened)


def _is_still(identity: Identity) -> bool:
    """Whether the PID still means this process, alive or not."""
    try:
        start_ticks = _start_ticks(Path(f"/proc/{identity.pid}/stat").read_text("utf-8"))
    except (FileNotFoundError, ProcessLookupError):
        return False
    boot_id = _BOOT_ID.read_text("ascii").strip()
    return (start_ticks, boot_id) == (identity.start_ticks, identity.boot_id)


def age_s(identity: Identity) -> float:
    """Seconds since the process was started, including suspended time."""
    since_boot_s = time.clock_gettime(time.CLOCK_BOOTTIME)
    return since_boot_s - identity.start_ticks / os.sysconf("SC_CLK_TCK")


def read_identity(pid_file: Path) -> Identity | None:
    """The recorded process; None if there is none."""
    try:
        return parse_identity(pid_file.read_text("utf-8"))
    except FileNotFoundError:
        return None


def start(
    command: Sequence[str],
    *,
    pid_file: Path,
    output: Path,
    environment: Mapping[str, str],
    lock: int,
) -> Identity:
    """Start a process in its own session, which outlives this one; return its identity.

    `pid_file` is absolute; standard output and error are appended to `output`.  The process
    shares `lock`, a descriptor with an flock, until it is recorded, so that no other process
    starts it meanwhile.
    """
    pid_file.unlink(missing_ok=True)
    _keep_what_is_inherited()
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    pid = os.posix_spawn(
        "/bin/sh",
        ["sh", "-c", _RECORD_AND_BECOME, str(pid_file), *command],
        environment,
        setsid=True,
        # Signals that our caller made us ignore (`nohup`, `trap`) must not be ignored by servers.
        setsigmask=(),
        setsigdef=(signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGTERM),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(output), append, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
            (os.POSIX_SPAWN_DUP2, lock, 9),
        ],
    )
    stat = Path(f"/proc/{pid}/stat").read_text("utf-8")
    return parse_identity(_BOOT_ID.read_text("ascii") + stat)


def _keep_what_is_inherited() -> None:
    """Do not pass on descriptors inherited from our caller.

    A server would hold for ever a lock that we were called under (`flock LOCK pinakes …`).
    """
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            with suppress(OSError):  # the listing's own descriptor is closed by now
                os.set_inheritable(int(name), False)


def stop(identities: Iterable[Identity], *, timeout_s: float) -> list[Identity]:
    """End these processes and wait for it; return those that had to be killed.

    SIGTERM to all, and SIGKILL to what is left after `timeout_s` seconds.
    """
    killed = []
    with _opened(identities) as opened:
        for descriptor in opened:
            _send(descriptor, signal.SIGTERM)
        left = _wait(set(opened), timeout_s)
        for descriptor in left:
            _send(descriptor, signal.SIGKILL)
            killed.append(opened[descriptor])
        _wait(left, None)
    return killed


def wait_for_any(identities: Iterable[Identity], timeout_s: float) -> None:
    """Wait until one of these has ended, at most `timeout_s` seconds."""
    with _opened(identities) as opened:
        poll = select.poll()
        for descriptor in opened:
            poll.register(descriptor, select.POLLIN)
        poll.poll(timeout_s * 1000)


@contextmanager
def _opened(identities: Iterable[Identity]) -> Iterator[dict[int, Identity]]:
    """A pidfd for each that runs: it never refers to another process."""
    opened: dict[int, Identity] = {}
    try:
        for identity in identities:
            descriptor = _open_process(identity.pid)
            if descriptor is None:
                continue
            opened[descriptor] = identity
            # Ends with all threads: /proc shows a zombie while threads still hold its ports.
            if not _is_still(identity) or not _wait({descriptor}, 0):
                del opened[descriptor]
                os.close(descriptor)
                _reap(identity)
        yield opened
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _open_process(pid: int) -> int | None:
    """A pidfd; None if no process has this PID, or it is that of a thread now."""
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        # For a thread: ENOENT, or EINVAL from older kernels.
        if error.errno in {errno.ESRCH, errno.ENOENT, errno.EINVAL}:
            return None
        raise


def _reap(identity: Identity) -> None:
    """Reap a dead child of this process, which would stay a zombie until we end."""
    if _is_still(identity):
        with suppress(ChildProcessError):
            os.waitpid(identity.pid, os.WNOHANG)


def _send(descriptor: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(descriptor, number)


def _wait(descriptors: set[int], timeout_s: float | None) -> set[int]:
    """Those that still exist; a pidfd is readable once its process has ended."""
    left = set(descriptors)
    poll = select.poll()
    for descriptor in left:
        poll.register(descriptor, select.POLLIN)
    end = None if timeout_s is None else time.monotonic() + timeout_s
    while left:
        timeout = None if end is None else max(0.0, end - time.monotonic()) * 1000
        ready = poll.poll(timeout)
        if not ready:
            break
        for descriptor, _ in ready:
            poll.unregister(descriptor)
            left.discard(descriptor)
    return left
