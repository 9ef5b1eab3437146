"""What a cluster's folder remembers, and what `up` makes of it."""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_cluster.daemons import DAEMONS, command, wanted_daemons
from local_cluster.layout import HOST, PARTS, PORT_BLOCK, PORTS, Layout
from local_cluster.processes import Identity, start, stop
from local_cluster.readiness import is_ready
from local_cluster.state import (
    FIRST_BASE_PORT,
    free_base_port,
    have_layout,
    is_free,
    is_wanted,
    locked,
    pid_file,
    read_layout,
    running,
    set_wanted,
)
from pinakes.errors import ConfigError, Conflict


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.create_server((HOST, 0)) as server:
        yield server.getsockname()[1]


def test_port_is_free_or_not(taken: int) -> None:
    assert not is_free(taken)


def test_new_cluster_gets_a_port_block_and_yarn(tmp_path: Path) -> None:
    layout = have_layout(tmp_path)
    assert (layout.base_port - FIRST_BASE_PORT) % PORT_BLOCK == 0
    assert layout.parts == {"yarn"}
    assert read_layout(tmp_path) == layout


def test_block_with_a_taken_port_is_skipped(base_port: int) -> None:
    first = free_base_port(base_port)
    assert all(is_free(first + offset) for offset in range(len(PORTS)))
    with socket.create_server((HOST, first + len(PORTS) - 1)):
        assert free_base_port(first) > first
    assert free_base_port(first) == first


def test_ports_and_parts_are_remembered(tmp_path: Path) -> None:
    first = have_layout(tmp_path, base_port=25000, add=frozenset({"thrift2"}))
    assert have_layout(tmp_path) == first
    changed = have_layout(tmp_path, base_port=26000, remove=frozenset({"yarn"}))
    assert changed == Layout(folder=tmp_path, base_port=26000, parts=frozenset({"thrift2"}))
    assert read_layout(tmp_path) == changed


def test_ports_of_a_running_cluster_do_not_change(tmp_path: Path) -> None:
    layout = have_layout(tmp_path, base_port=25000)
    who = start_something(layout)
    try:
        assert running(layout) == {"zookeeper": who}
        assert have_layout(tmp_path, base_port=25000) == layout
        with pytest.raises(Conflict, match="25000"):
            have_layout(tmp_path, base_port=26000)
        assert read_layout(tmp_path) == layout
    finally:
        stop([who], timeout_s=0)
    assert running(layout) == {}


def start_something(layout: Layout) -> Identity:
    layout.run.mkdir()
    with locked(layout.folder) as lock:
        who = start(
            ["/bin/sleep", "600"],
            pid_file=pid_file(layout, "zookeeper"),
            output=layout.folder / "out",
            environment={"PATH": "/usr/bin:/bin"},
            lock=lock,
        )
    with locked(layout.folder):  # it is recorded
        return who


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"base_port": 80, "parts": []}', '{"base_port": 19100, "parts": ["solr"]}'],
)
def test_broken_file_is_named_and_kept(tmp_path: Path, text: str) -> None:
    (tmp_path / "cluster.json").write_text(text)
    for read in (read_layout, have_layout):
        with pytest.raises(ConfigError, match=r"cluster\.json"):
            read(tmp_path)
    assert (tmp_path / "cluster.json").read_text() == text


def test_folder_without_cluster(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no cluster"):
        read_layout(tmp_path)


def test_invalid_base_port_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="base port"):
        have_layout(tmp_path, base_port=80)
    assert not (tmp_path / "cluster.json").exists()


def test_wanted_is_a_file(tmp_path: Path) -> None:
    layout = Layout(folder=tmp_path, base_port=25000)
    layout.run.mkdir()
    assert not is_wanted(layout)
    set_wanted(layout, wanted=True)
    assert is_wanted(layout)
    for _ in range(2):
        set_wanted(layout, wanted=False)
        assert not is_wanted(layout)


def test_lock_excludes_others_until_the_block_ends(tmp_path: Path) -> None:
    with locked(tmp_path):
        other = os.open(tmp_path / "lock", os.O_RDWR)
        try:
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        finally:
            os.close(other)
    with locked(tmp_path):
        pass


# --- Ports, folders and the table of servers


LAYOUT = Layout(folder=Path("/a/cluster"), base_port=20000)


def test_every_port_has_one_use_and_lies_in_the_block() -> None:
    assert len(set(PORTS)) == len(PORTS) <= PORT_BLOCK
    assert [LAYOUT.port(name) for name in PORTS] == list(range(20000, 20000 + len(PORTS)))


def test_servers_share_no_port_and_leave_none_unused() -> None:
    taken = [port for daemon in DAEMONS.values() for port in daemon.ports]
    assert sorted(taken) == sorted(PORTS)


def test_a_server_is_named_after_its_first_port() -> None:
    assert all(daemon.ports[0] == name for name, daemon in DAEMONS.items())


@pytest.mark.parametrize(
    ("folder", "base_port", "parts"),
    [
        pytest.param("relative", 20000, set(), id="relative folder"),
        pytest.param("/a", 80, set(), id="ports of root"),
        pytest.param("/a", 65530, set(), id="no room for the block"),
        pytest.param("/a", 20000, {"solr"}, id="unknown part"),
    ],
)
def test_invalid_layouts_are_refused(folder: str, base_port: int, parts: set[str]) -> None:
    with pytest.raises(ValueError, match=r"."):
        Layout(folder=Path(folder), base_port=base_port, parts=frozenset(parts))


def test_omitted_parts_are_not_started() -> None:
    bare = Layout(folder=Path("/a"), base_port=20000, parts=frozenset())
    optional = {name for names in PARTS.values() for name in names}
    assert {daemon.name for daemon in wanted_daemons(bare)} == DAEMONS.keys() - optional
    everything = Layout(folder=Path("/a"), base_port=20000, parts=frozenset(PARTS))
    assert wanted_daemons(everything) == tuple(DAEMONS.values())


def test_servers_stop_in_order() -> None:
    steps: dict[int, set[str]] = {}
    for daemon in DAEMONS.values():
        steps.setdefault(daemon.step, set()).add(daemon.name)
    assert [steps[step] for step in sorted(steps, reverse=True)] == [
        {"thrift", "thrift2"},
        {"regionserver"},
        {"master"},
        {"resourcemanager", "nodemanager", "zookeeper"},
        {"datanode1", "datanode2", "datanode3"},
        {"namenode"},
    ]
    # `groupby` of operate.py wants them side by side.
    assert list(steps) == sorted(steps)


@pytest.mark.parametrize("name", DAEMONS)
def test_command_names_ports_and_writes_only_into_the_folder(name: str) -> None:
    words = command(DAEMONS[name], LAYOUT, Path("/jvm/bin/java"), ("-Xlog:cds",))
    assert words[0] == "/jvm/bin/java"
    assert words.index("-Xlog:cds") < words.index(DAEMONS[name].main_class)
    paths = [word.partition("/")[2] for word in words[1:] if "=/" in word or "=file:///" in word]
    assert paths
    assert all(path.lstrip("/").startswith("a/cluster/") for path in paths)


def test_data_nodes_differ_in_ports_and_folders() -> None:
    commands = [
        set(command(DAEMONS[f"datanode{number}"], LAYOUT, Path("/java"))) for number in (1, 2, 3)
    ]
    own = [words - set.intersection(*commands) for words in commands]
    assert all(len(words) >= 4 for words in own)
    assert not own[0] & own[1]
    assert not own[1] & own[2]


@pytest.mark.parametrize("name", DAEMONS)
def test_absent_server_is_not_ready(name: str) -> None:
    nowhere = Layout(folder=Path("/a"), base_port=1024)
    assert is_ready(name, nowhere) is False
