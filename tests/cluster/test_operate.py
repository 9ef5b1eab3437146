"""Starting, watching and stopping, with a `java` that only waits: real processes, no servers."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_cluster.daemons import DAEMONS, wanted_daemons
from local_cluster.hangs import HangWatch, Slowness
from local_cluster.jars import Programs
from local_cluster.layout import HOST, Layout
from local_cluster.operate import down, start_missing, states, up
from local_cluster.processes import Identity, is_running, stop
from local_cluster.state import have_layout, is_wanted, running, set_wanted
from local_cluster.supervise import supervise
from pinakes.errors import Conflict, StoreUnavailable

# It knows which server it stands for by the name of its log.
WAITS = """#!/bin/sh
for word in "$@"; do
    case $word in -Dpinakes.log=*) log=${word##*/} ;; esac
done
sleep 300 &
trap 'echo "${log%.log}" >>STOPPED; kill $!; exit 0' TERM
echo "${log%.log}" >>STARTED
wait
"""
DIES = "#!/bin/sh\nexit 1\n"
SERVERS = [name for name in DAEMONS if name != "thrift2"]


@pytest.fixture
def layout(tmp_path: Path, base_port: int) -> Iterator[Layout]:
    """A cluster of ten, wanted; whatever runs at the end of the test is killed."""
    (tmp_path / "cluster").mkdir()
    made = have_layout(tmp_path / "cluster", base_port=base_port)
    made.run.mkdir()
    made.logs.mkdir()
    set_wanted(made, wanted=True)
    yield made
    stop(running(made).values(), timeout_s=60)


def programs(folder: Path, script: str) -> Programs:
    java = folder / "java"
    for word in ("started", "stopped"):
        script = script.replace(word.upper(), str(folder / word))
    java.write_text(script)
    java.chmod(0o755)
    return Programs(java=java, java_release="", jars={"hadoop": folder, "hbase": folder})


def names_in(file: Path) -> list[str]:
    return file.read_text().split() if file.exists() else []


def wait_for(file: Path, count: int) -> list[str]:
    while len(names_in(file)) < count:
        time.sleep(0.02)
    return names_in(file)


def kill(who: Identity) -> None:
    os.kill(who.pid, signal.SIGKILL)
    while is_running(who):
        time.sleep(0.02)


def test_only_stopped_servers_are_started(layout: Layout, tmp_path: Path) -> None:
    java = programs(tmp_path, WAITS)
    said: list[str] = []
    assert start_missing(layout, java, said.append) == SERVERS
    before = running(layout)
    assert list(before) == SERVERS
    assert start_missing(layout, java, said.append) == []
    assert running(layout) == before

    kill(before["master"])
    assert [s.name for s in states(layout) if s.state == "dead"] == ["master"]
    assert start_missing(layout, java, said.append) == ["master"]
    after = running(layout)
    assert {name for name in SERVERS if after[name] != before[name]} == {"master"}
    assert said == [f"started {', '.join(SERVERS)}", "started master"]


def test_servers_stop_in_reverse_order(layout: Layout, tmp_path: Path) -> None:
    start_missing(layout, programs(tmp_path, WAITS), print)
    wait_for(tmp_path / "started", len(SERVERS))
    before = running(layout)
    down(layout, print)
    assert running(layout) == {}
    assert not any(is_running(who) for who in before.values())
    steps = [DAEMONS[name].step for name in names_in(tmp_path / "stopped")]
    assert steps == sorted((daemon.step for daemon in wanted_daemons(layout)), reverse=True)
    assert list(layout.run.glob("*.pid")) == []


def test_removed_parts_are_stopped_too(layout: Layout, tmp_path: Path) -> None:
    start_missing(layout, programs(tmp_path, WAITS), print)
    wait_for(tmp_path / "started", len(SERVERS))
    smaller = have_layout(layout.folder, remove=frozenset({"yarn"}))
    assert "nodemanager" in {server.name for server in states(smaller)}
    down(smaller, print)
    assert sorted(names_in(tmp_path / "stopped")) == sorted(SERVERS)


def test_taken_port_starts_nothing(layout: Layout, tmp_path: Path) -> None:
    with (
        socket.create_server((HOST, layout.port("thrift-http"))),
        pytest.raises(Conflict, match="thrift-http"),
    ):
        start_missing(layout, programs(tmp_path, WAITS), print)
    assert running(layout) == {}


def test_up_gives_up_on_servers_that_keep_dying(layout: Layout, tmp_path: Path) -> None:
    (layout.logs / "namenode.log").write_text("no room\nno hope\n")
    with pytest.raises(StoreUnavailable, match=r"namenode died 3 times.*no room \| no hope"):
        up(layout, programs(tmp_path, DIES), print)


def test_up_names_what_it_waits_for_and_gives_up(layout: Layout, tmp_path: Path) -> None:
    said: list[str] = []
    with pytest.raises(StoreUnavailable, match="not ready after 0 s: namenode, datanode1"):
        up(layout, programs(tmp_path, WAITS), said.append, timeout_s=0)
    # What runs keeps running: to be looked at, and for the next `up`.
    assert list(running(layout)) == SERVERS


def test_up_stops_waiting_when_down_is_called(layout: Layout, tmp_path: Path) -> None:
    def say(text: str) -> None:
        if "waiting" in text:
            down(layout, print)

    with pytest.raises(Conflict, match="stopped meanwhile"):
        up(layout, programs(tmp_path, WAITS), say)
    assert running(layout) == {}
    assert not is_wanted(layout)


def test_supervisor_restarts_dead_servers_until_down(layout: Layout, tmp_path: Path) -> None:
    java = programs(tmp_path, WAITS)
    start_missing(layout, java, print)
    wait_for(tmp_path / "started", len(SERVERS))
    before = running(layout)
    said: list[str] = []
    watch = threading.Thread(target=supervise, args=(layout, java, said.append))
    watch.start()
    try:
        os.kill(before["thrift"].pid, signal.SIGKILL)
        assert wait_for(tmp_path / "started", len(SERVERS) + 1)[-1] == "thrift"
        after = running(layout)
        assert {name for name in SERVERS if after[name] != before[name]} == {"thrift"}
    finally:
        down(layout, print)
        watch.join()
    assert said[:2] == ["thrift died; restarting in 0 s", "started thrift"]
    assert running(layout) == {}


def test_supervisor_leaves_an_unwanted_cluster_alone(layout: Layout, tmp_path: Path) -> None:
    set_wanted(layout, wanted=False)
    supervise(layout, programs(tmp_path, WAITS), print)
    assert running(layout) == {}


# --- what hangs

AT_ONCE = Slowness(starting_s=0, not_ready_s=0)


def identities(*pids: int) -> list[Identity]:
    return [Identity(pid=pid, start_ticks=pid, boot_id="b") for pid in pids]


def test_server_not_ready_for_long_counts_as_hanging() -> None:
    one, other = identities(1, 2)
    watch = HangWatch(timeout_s=180)
    assert watch.look({one: 1000, other: 500}, 10) == []
    assert watch.look({one: 1100, other: 600}, 110) == []
    assert watch.look({one: 1180, other: 680}, 190) == [one, other]


@pytest.mark.parametrize(
    ("looks", "hung"),
    [
        ([(0, 400), (190, 590)], False),  # it may still be starting
        ([(0, 400), (190, 590), (200, 600)], True),
        ([(0, 1000), (100, None), (190, 1190)], False),  # it was ready, or waited, in between
        ([(0, 1000), (100, None), (190, 1190), (369, 1369)], False),
        ([(0, 1000), (100, None), (190, 1190), (370, 1370)], True),
    ],
    ids=["young", "old at last", "anew", "anew, not yet", "anew, at last"],
)
def test_slow_server_does_not_count_as_hanging(
    looks: list[tuple[float, float | None]], hung: bool
) -> None:
    [one] = identities(1)
    watch = HangWatch(timeout_s=180)
    for now_s, age_s in looks:
        found = watch.look({} if age_s is None else {one: age_s}, now_s)
    assert found == ([one] if hung else [])


def test_a_short_timeout_does_not_restart_slow_servers() -> None:
    [one] = identities(1)
    watch = HangWatch(timeout_s=5)
    assert [watch.look({one: 1000 + now_s}, now_s) for now_s in (0, 6, 179)] == [[], [], []]
    assert watch.look({one: 1180}, 180) == [one]


def test_restarted_server_is_another_process() -> None:
    one, again = identities(1, 2)
    watch = HangWatch(timeout_s=180, slow=AT_ONCE)
    assert watch.look({one: 900}, 0) == []
    assert watch.look({again: 5}, 190) == []


def test_up_restarts_hanging_servers_but_not_dependents(layout: Layout, tmp_path: Path) -> None:
    java = programs(tmp_path, WAITS)
    start_missing(layout, java, print)
    wait_for(tmp_path / "started", len(SERVERS))
    before = running(layout)
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        if text == "started namenode":
            down(layout, print)  # none of them will ever be ready

    with pytest.raises(Conflict, match="stopped meanwhile"):
        up(layout, java, say, timeout_s=1, slow=AT_ONCE)
    assert names_in(tmp_path / "started")[len(SERVERS) :] == ["namenode"]
    [hangs] = [text for text in said if "hangs" in text]
    assert hangs.startswith("namenode hangs: it has been running for ")
    assert not is_running(before["namenode"])


def test_up_gives_up_when_no_server_is_old_enough_to_hang(layout: Layout, tmp_path: Path) -> None:
    java = programs(tmp_path, WAITS)
    start_missing(layout, java, print)
    wait_for(tmp_path / "started", len(SERVERS))
    before = running(layout)
    with pytest.raises(StoreUnavailable, match="not ready after 1 s"):
        up(layout, java, print, timeout_s=1)
    assert running(layout) == before


def test_supervisor_restarts_hanging_servers(layout: Layout, tmp_path: Path) -> None:
    java = programs(tmp_path, WAITS)
    start_missing(layout, java, print)
    wait_for(tmp_path / "started", len(SERVERS))
    before = running(layout)
    said: list[str] = []
    watch = threading.Thread(
        target=lambda: supervise(layout, java, said.append, timeout_s=1, slow=AT_ONCE),
        daemon=True,
    )
    watch.start()
    try:
        assert wait_for(tmp_path / "started", len(SERVERS) + 1)[-1] == "namenode"
    finally:
        down(layout, print)
        watch.join()
    assert said[0].startswith("namenode hangs")
    assert {name for name in SERVERS if is_running(before[name])} == set()
