"""Processes that outlive us, and are never mistaken for others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from local_cluster.processes import (
    Identity,
    is_running,
    parse_identity,
    read_identity,
    start,
    stop,
    wait_for_any,
)
from local_cluster.state import locked

ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
STAT = "1234 (a (b) c) S 1 1234 1234 0 -1 4194560 7 0 0 0 1 2 0 0 20 0 1 0 987654 3 4 5"


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Identity]]:
    """Whoever a test starts, killed at its end."""
    identities: list[Identity] = []
    yield identities
    stop(identities, timeout_s=0)


def start_shell(folder: Path, script: str) -> Identity:
    with locked(folder) as lock:
        return start(
            ["/bin/sh", "-c", script],
            pid_file=folder / "x.pid",
            output=folder / "x.out",
            environment=ENVIRONMENT,
            lock=lock,
        )


def test_process_name_with_brackets_is_parsed() -> None:
    identity = parse_identity(f"boot\n{STAT}\n")
    assert identity == Identity(pid=1234, start_ticks=987654, boot_id="boot")


def test_thread_id_is_not_taken_for_a_server() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert thread.native_id is not None
        record = Path("/proc/sys/kernel/random/boot_id").read_text("ascii")
        stat = Path(f"/proc/self/task/{thread.native_id}/stat").read_text("utf-8")
        dead = replace(parse_identity(record + stat), start_ticks=1)
        assert dead.pid != os.getpid()
        assert not is_running(dead)
        assert stop([dead], timeout_s=0) == []
        wait_for_any([dead], 0)
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("text", ["", "boot\n", "boot\n12 (x) S 1", "boot\nx (x) S" + " 1" * 30])
def test_invalid_pid_file(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_identity(text)


def test_missing_pid_file_means_no_process(tmp_path: Path) -> None:
    assert read_identity(tmp_path / "none.pid") is None


def test_pid_file_is_there_for_the_next_lock_holder(
    tmp_path: Path, started: list[Identity]
) -> None:
    for _ in range(20):
        (tmp_path / "x.pid").unlink(missing_ok=True)
        started.append(start_shell(tmp_path, "exec sleep 600"))
        with locked(tmp_path):
            assert read_identity(tmp_path / "x.pid") == started[-1]
    assert all(is_running(identity) for identity in started)


def test_process_keeps_identity_after_exec_and_leads_a_session(
    tmp_path: Path, started: list[Identity]
) -> None:
    identity = start_shell(tmp_path, "echo begun; exec sleep 600")
    started.append(identity)
    while not (tmp_path / "x.out").read_text():
        time.sleep(0.01)
    assert is_running(identity)
    assert os.getsid(identity.pid) == identity.pid
    with locked(tmp_path):  # the lock is not kept by what was started
        assert read_identity(tmp_path / "x.pid") == identity


def test_process_outlives_its_killed_starter(tmp_path: Path, started: list[Identity]) -> None:
    code = f"""
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_cluster_processes import start_shell
start_shell(Path({str(tmp_path)!r}), "exec sleep 600")
os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with locked(tmp_path):
        identity = read_identity(tmp_path / "x.pid")
    assert identity is not None
    started.append(identity)
    assert is_running(identity)


def test_process_receives_signals_its_starter_ignores(
    tmp_path: Path, started: list[Identity]
) -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        started.append(start_shell(tmp_path, "exec sleep 600"))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert stop(started, timeout_s=60) == []


def test_process_does_not_keep_the_folder_of_its_starter(
    tmp_path: Path, started: list[Identity], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    started.append(start_shell(tmp_path, "exec sleep 600"))
    with locked(tmp_path):
        assert Path(f"/proc/{started[-1].pid}/cwd").readlink() == Path("/")


def test_process_inherits_no_descriptors(tmp_path: Path, started: list[Identity]) -> None:
    given = tmp_path / "given"
    with given.open("wb") as file:
        os.set_inheritable(file.fileno(), True)
        started.append(start_shell(tmp_path, "exec sleep 600"))
    with locked(tmp_path):
        assert given not in held_by(started[-1])


def held_by(identity: Identity) -> set[Path]:
    """What a process holds open; while it starts, it closes files as we look."""
    held = set()
    for name in Path(f"/proc/{identity.pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            held.add(name.readlink())
    return held


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"start_ticks": 1}, id="the number was given to another process"),
        pytest.param({"boot_id": "another"}, id="the machine was started again"),
    ],
)
def test_reused_pid_is_left_alone(
    tmp_path: Path, started: list[Identity], change: dict[str, object]
) -> None:
    identity = start_shell(tmp_path, "exec sleep 600")
    started.append(identity)
    stranger = replace(identity, **change)
    assert not is_running(stranger)
    assert stop([stranger], timeout_s=0) == []
    assert is_running(identity)


def test_stop_waits_until_processes_are_gone(tmp_path: Path) -> None:
    polite = start_shell(tmp_path, "trap 'exit 0' TERM; while :; do sleep 0.05; done")
    assert stop([polite], timeout_s=60) == []
    assert not is_running(polite)
    assert stop([polite], timeout_s=0) == []


def test_unresponsive_process_is_killed_and_named(tmp_path: Path) -> None:
    script = "trap '' TERM; echo deaf; while :; do sleep 0.05; done"
    deaf = start_shell(tmp_path, script)
    while "deaf" not in (tmp_path / "x.out").read_text():
        time.sleep(0.01)
    assert stop([deaf], timeout_s=0.1) == [deaf]
    assert not is_running(deaf)


def test_zombie_is_not_running(tmp_path: Path) -> None:
    # Nobody has asked for its exit status: it lies in the table, dead.
    identity = start_shell(tmp_path, "exit 3")
    wait_for_any([identity], 60)
    assert not is_running(identity)
    assert not Path(f"/proc/{identity.pid}").exists()  # and is taken out of the table


def test_output_is_appended(tmp_path: Path) -> None:
    for word in ("one", "two"):
        wait_for_any([start_shell(tmp_path, f"echo {word}; echo {word} >&2")], 60)
    assert (tmp_path / "x.out").read_text().split() == ["one", "one", "two", "two"]
