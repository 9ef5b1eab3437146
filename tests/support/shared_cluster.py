"""One running cluster for all tests of a session, shared by its processes (`pytest -n`).

It lies in `.test-cluster` of the repository; `PINAKES_TEST_CLUSTER=FOLDER` takes (and starts,
and leaves running) another, which saves its start when tests are run again and again.

    .test-cluster.users    shared by every session; whoever has it alone cleans up
    .test-cluster.test     shared by tests, held alone by those that kill servers
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from local_cluster.client_settings import client_settings
from local_cluster.jars import Programs, have_programs
from local_cluster.layout import Layout
from local_cluster.operate import down, up
from local_cluster.preparation import job_settings_of, prepare
from local_cluster.state import have_layout, locked, read_layout
from pinakes.config import user_folder

TIMEOUT_S = 300.0


def say(text: str) -> None:
    """Into pytest's captured output: shown where a test fails."""
    print(text, file=sys.stderr)


@dataclass(frozen=True)
class RunningCluster:
    """A cluster of the tests', its servers ready."""

    layout: Layout
    programs: Programs
    locks: Path

    def up(self) -> None:
        """Start what does not run, and wait until it is ready."""
        up(self.layout, self.programs, say, timeout_s=TIMEOUT_S)

    def settings(self, name: str) -> dict[str, str]:
        """Settings of Pinakes for a store of this name here."""
        return client_settings(self.layout, name, jobs=job_settings_of(self.programs))

    @contextmanager
    def used(self, *, alone: bool) -> Iterator[None]:
        """Use it together with other tests, or alone, to kill servers."""
        with locked_file(Path(f"{self.locks}.test"), fcntl.LOCK_EX if alone else fcntl.LOCK_SH):
            yield


def start_cluster(folder: Path, parts: frozenset[str]) -> RunningCluster:
    """A cluster in this folder, with these parts besides, ready."""
    programs = have_programs(user_folder("cache") / "cluster", say)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        layout = have_layout(folder, add=parts)
        prepare(layout, programs, say)
    cluster = RunningCluster(layout, programs, folder)
    cluster.up()
    return cluster


def remove_cluster(folder: Path) -> None:
    """Stop what runs in this folder, and delete it."""
    if (folder / "cluster.json").exists():
        down(read_layout(folder), say)
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def shared_cluster(repository: Path) -> Iterator[RunningCluster]:
    """The cluster of this run: the first to come starts it, the last to go removes it."""
    given = os.environ.get("PINAKES_TEST_CLUSTER")
    if given:
        yield start_cluster(Path(given).absolute(), frozenset({"thrift2"}))
        return
    folder = repository / ".test-cluster"
    users = Path(f"{folder}.users")
    with alone_or_not(users) as is_first:
        if is_first:  # nobody uses what an earlier run may have left
            remove_cluster(folder)
    try:
        with locked_file(users, fcntl.LOCK_SH):
            yield start_cluster(folder, frozenset({"thrift2"}))
    finally:
        with alone_or_not(users) as is_last:
            if is_last:
                remove_cluster(folder)


@contextmanager
def locked_file(file: Path, mode: int) -> Iterator[None]:
    """Hold a lock on this file, however long it takes to get."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, mode)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def alone_or_not(file: Path) -> Iterator[bool]:
    """Is nobody else holding this file?  If so, nobody can until the end of the block."""
    with suppress(BlockingIOError), locked_file(file, fcntl.LOCK_EX | fcntl.LOCK_NB):
        yield True
        return
    yield False
