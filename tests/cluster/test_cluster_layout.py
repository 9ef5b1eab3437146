"""Ports, folders and the table of servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from local_cluster.daemons import DAEMONS, command, wanted_daemons
from local_cluster.layout import PARTS, PORT_BLOCK, PORTS, Layout
from local_cluster.readiness import is_ready

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
