"""The state in a cluster's folder: ports and parts, running servers, whether they should run.

cluster.json    {"base_port": 19100, "parts": ["yarn"]}
lock            held while servers are started or stopped
run/wanted      exists from `up` to `down`, for supervisors
run/NAME.pid    the server's process (see `processes`)
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from local_cluster.daemons import DAEMONS
from local_cluster.layout import HOST, PORT_BLOCK, PORTS, Layout
from local_cluster.processes import Identity, is_running, read_identity
from pinakes.errors import ConfigError, Conflict

FIRST_BASE_PORT = 19100
# Higher ports are used for outgoing connections, and would sometimes be taken.
_LAST_BASE_PORT = 32768 - PORT_BLOCK


def read_layout(folder: Path) -> Layout:
    """The cluster of a folder; ConfigError if there is none, or its file is damaged."""
    file = folder / "cluster.json"
    try:
        content = json.loads(file.read_text("utf-8"))
        return Layout(
            folder=folder, base_port=content["base_port"], parts=frozenset(content["parts"])
        )
    except FileNotFoundError:
        raise ConfigError(
            f"there is no cluster in {folder}: `pinakes cluster up` makes one"
        ) from None
    except (ValueError, LookupError, TypeError) as error:
        raise ConfigError(f"invalid cluster file: {error}", file=str(file)) from error


def have_layout(
    folder: Path,
    *,
    base_port: int | None = None,
    add: frozenset[str] = frozenset(),
    remove: frozenset[str] = frozenset(),
) -> Layout:
    """The cluster of a folder with these parts and ports, made if there is none.

    Call it under the lock.  The default base port is the existing one, or the first free one.

    Raises:
        Conflict: the ports of running servers would change.
        ConfigError: not a cluster's folder, or an invalid base port.
    """
    known = (folder / "cluster.json").exists()
    try:
        before = (
            read_layout(folder)
            if known
            else Layout(folder=folder, base_port=base_port or free_base_port())
        )
        after = replace(
            before,
            base_port=base_port or before.base_port,
            parts=(before.parts | add) - remove,
        )
    except ValueError as error:
        raise ConfigError(str(error)) from error
    if after.base_port != before.base_port and running(before):
        raise Conflict(f"the cluster in {folder} runs on {before.base_port}: stop it first")
    if after != before or not known:
        content = {"base_port": after.base_port, "parts": sorted(after.parts)}
        replace_text(folder / "cluster.json", json.dumps(content) + "\n")
    return after


def replace_text(file: Path, text: str, *, mode: int = 0o644) -> None:
    """Write a file atomically, replacing an existing one."""
    fresh = file.with_name(f".{file.name}.new")
    fresh.write_text(text, "utf-8")
    fresh.chmod(mode)
    fresh.replace(file)


def free_base_port(first: int = FIRST_BASE_PORT) -> int:
    """The first base port, from this one on, all of whose ports are free."""
    for base in range(first, _LAST_BASE_PORT, PORT_BLOCK):
        if all(is_free(base + offset) for offset in range(len(PORTS))):
            return base
    raise Conflict(f"no {PORT_BLOCK} ports in a row are free below {_LAST_BASE_PORT}")


def is_free(port: int) -> bool:
    """Whether a server could listen on the port."""
    with socket.socket() as attempt:
        attempt.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            attempt.bind((HOST, port))
        except OSError:
            return False
    return True


@contextmanager
def locked(folder: Path) -> Iterator[int]:
    """Keep other processes from starting or stopping servers here; yields the lock's descriptor.

    Released when the process ends in any way.
    """
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def pid_file(layout: Layout, name: str) -> Path:
    """The file that records a server's process."""
    return layout.run / f"{name}.pid"


def running(layout: Layout) -> dict[str, Identity]:
    """The running servers, also those no longer part of the cluster."""
    recorded = {name: read_identity(pid_file(layout, name)) for name in DAEMONS}
    return {name: who for name, who in recorded.items() if who is not None and is_running(who)}


def is_wanted(layout: Layout) -> bool:
    """Whether it should run: `up` was called, and `down` not since."""
    return (layout.run / "wanted").exists()


def set_wanted(layout: Layout, *, wanted: bool) -> None:
    """Record whether it should run."""
    if wanted:
        (layout.run / "wanted").touch()
    else:
        (layout.run / "wanted").unlink(missing_ok=True)
