"""The servers themselves: each is killed once, and comes back with what it held."""

from __future__ import annotations

import getpass
import http.client
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import happybase
import pytest
from shared_cluster import RunningCluster, remove_cluster, start_cluster
from thriftpy2.thrift import TException

from local_cluster.daemons import DAEMONS
from local_cluster.hangs import Slowness
from local_cluster.layout import HOST, Layout
from local_cluster.operate import states, up
from local_cluster.preparation import environment
from local_cluster.processes import Identity, is_running
from local_cluster.state import is_wanted, running

pytestmark = pytest.mark.faults

TABLE = "cluster-test"


def put_row(layout: Layout, row: bytes) -> None:
    with closing(happybase.Connection(HOST, layout.port("thrift"), timeout=120_000)) as connection:
        if TABLE.encode() not in connection.tables():
            connection.create_table(TABLE, {"d": {}})
        connection.table(TABLE).put(row, {b"d:q": row})


def read_rows(layout: Layout) -> dict[bytes, bytes]:
    """All rows.  Asked again for a minute: a server is ready before its regions are online."""
    until = time.monotonic() + 60
    while True:
        port = layout.port("thrift")
        try:
            with closing(happybase.Connection(HOST, port, timeout=120_000)) as connection:
                return {row: cells[b"d:q"] for row, cells in connection.table(TABLE).scan()}
        except TException as error:
            if "NotServingRegion" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(1)


def ask_webhdfs(layout: Layout, method: str, name: str, operation: str, content: bytes) -> bytes:
    """Ask the name node, which says what data node to ask, and ask that; the answer's body."""
    user = getpass.getuser()
    port = layout.port("namenode-http")
    path = f"/webhdfs/v1/cluster-test/{name}?op={operation}&user.name={user}"
    body: bytes | None = None
    for status in (307, 200 if method == "GET" else 201):
        with closing(http.client.HTTPConnection(HOST, port, timeout=60)) as connection:
            connection.request(method, path, body=body)
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status == status, text
            place = urlsplit(answer.headers.get("Location", ""))
        port, path, body = place.port or port, f"{place.path}?{place.query}", content
    return text


def write_file(layout: Layout, name: str, content: bytes) -> None:
    ask_webhdfs(layout, "PUT", name, "CREATE&overwrite=true", content)


def read_file(layout: Layout, name: str) -> bytes:
    return ask_webhdfs(layout, "GET", name, "OPEN", b"")


def kill(who: Identity) -> None:
    """As nothing can be caught, and wait until it is gone."""
    descriptor = os.pidfd_open(who.pid)
    try:
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    finally:
        os.close(descriptor)
    wait_until(lambda: not is_running(who))


def wait_until(condition) -> None:
    """However long it takes: pytest is stopped by hand, not by a clock."""
    while not condition():
        time.sleep(0.2)


def states_of(layout: Layout) -> dict[str, str]:
    return {server.name: server.state for server in states(layout)}


def pinakes_command(folder: Path, *arguments: str) -> list[str]:
    action, *rest = arguments
    return [sys.executable, "-m", "pinakes.cli", "cluster", action, "--folder", str(folder), *rest]


@pytest.mark.parametrize("name", DAEMONS)
def test_killed_server_comes_back_with_its_data(cluster_alone: RunningCluster, name: str) -> None:
    layout = cluster_alone.layout
    put_row(layout, name.encode())
    write_file(layout, name, name.encode() * 1000)
    before = running(layout)

    kill(before[name])
    assert states_of(layout)[name] == "dead"
    cluster_alone.up()

    assert states_of(layout) == dict.fromkeys(DAEMONS, "ready")
    after = running(layout)
    assert after[name] != before[name]
    assert read_rows(layout)[name.encode()] == name.encode()
    assert read_file(layout, name) == name.encode() * 1000


@pytest.mark.parametrize("name", ["datanode2", "master", "thrift"])
def test_hanging_server_is_restarted(cluster_alone: RunningCluster, name: str) -> None:
    layout = cluster_alone.layout
    put_row(layout, b"hung " + name.encode())
    before = running(layout)
    os.kill(before[name].pid, signal.SIGSTOP)
    said: list[str] = []
    # All are old enough to hang: nothing else may be taken for it.
    slow = Slowness(starting_s=0, not_ready_s=60)
    up(layout, cluster_alone.programs, said.append, timeout_s=60, slow=slow)
    assert [text.split()[0] for text in said if "hangs" in text] == [name]
    assert "did not stop in 30 s: killed" in said
    assert states_of(layout) == dict.fromkeys(DAEMONS, "ready")
    after = running(layout)
    assert {one for one in DAEMONS if after[one] != before[one]} == {name}
    assert read_rows(layout)[b"hung " + name.encode()] == b"hung " + name.encode()


def test_up_leaves_running_servers_alone(cluster_alone: RunningCluster) -> None:
    before = running(cluster_alone.layout)
    cluster_alone.up()
    assert running(cluster_alone.layout) == before
    assert len(before) == len(DAEMONS)


def test_rows_and_files_survive_down_and_up(cluster_alone: RunningCluster) -> None:
    layout = cluster_alone.layout
    put_row(layout, b"survivor")
    write_file(layout, "survivor", b"bytes")
    before = running(layout)

    down = subprocess.run(pinakes_command(layout.folder, "down"), capture_output=True, text=True)
    assert down.returncode == 0, down.stderr
    assert [who for who in before.values() if is_running(who)] == []
    assert "killed" not in down.stderr
    assert set(states_of(layout).values()) == {"stopped"}

    cluster_alone.up()
    assert read_rows(layout)[b"survivor"] == b"survivor"
    assert read_file(layout, "survivor") == b"bytes"


def test_yarn_runs_a_job(cluster: RunningCluster, tmp_path: Path) -> None:
    layout, programs = cluster.layout, cluster.programs
    name = f"job-{uuid.uuid4()}"
    write_file(layout, name, b"b\na\nb\n")
    options = [f"-Dlog4j.configuration={(layout.conf / 'log4j.properties').as_uri()}"]
    options += [f"-Dpinakes.log={tmp_path}/log", f"-Djava.io.tmpdir={tmp_path}"]
    job = "org.apache.hadoop.streaming.HadoopStreaming"
    done = subprocess.run(
        [
            *(str(programs.java), "--add-opens", "java.base/java.lang=ALL-UNNAMED", *options, job),
            *("-input", f"/cluster-test/{name}", "-output", f"/cluster-test/{name}-out"),
            *("-mapper", "cat", "-reducer", "uniq -c"),
        ],
        env=environment(DAEMONS["resourcemanager"], layout, programs),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + (tmp_path / "log").read_text()
    counts = read_file(layout, f"{name}-out/part-00000").split()
    assert counts == [b"1", b"a", b"2", b"b"]


@pytest.fixture
def supervisor(cluster_alone: RunningCluster) -> Iterator[subprocess.Popen[str]]:
    """`up --supervise`, watching."""
    command = pinakes_command(cluster_alone.layout.folder, "up", "--supervise")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            wait_until(lambda: "watching" in process.stderr.readline())
            yield process
        finally:
            process.kill()


def test_supervisor_restarts_dead_servers_on_a_real_cluster(
    cluster_alone: RunningCluster, supervisor: subprocess.Popen[str]
) -> None:
    layout = cluster_alone.layout
    before = running(layout)
    kill(before["thrift2"])
    wait_until(lambda: running(layout).get("thrift2", before["thrift2"]) != before["thrift2"])
    down = subprocess.run(pinakes_command(layout.folder, "down"), capture_output=True, text=True)
    assert down.returncode == 0, down.stderr
    assert supervisor.wait() == 0
    assert running(layout) == {}
    assert not is_wanted(layout)


def test_servers_outlive_a_killed_supervisor(
    cluster_alone: RunningCluster, supervisor: subprocess.Popen[str]
) -> None:
    layout = cluster_alone.layout
    before = running(layout)
    supervisor.kill()
    supervisor.wait()
    assert running(layout) == before

    kill(before["datanode2"])
    cluster_alone.up()
    after = running(layout)
    assert {name for name in before if after[name] != before[name]} == {"datanode2"}


def test_a_second_cluster_runs_beside_the_first(cluster: RunningCluster, tmp_path: Path) -> None:
    first = cluster.layout
    put_row(first, b"first")
    before = running(first)
    try:
        second = start_cluster(tmp_path / "second", frozenset({"thrift2"}))
        assert second.layout.base_port != first.base_port
        put_row(second.layout, b"second")
        assert read_rows(second.layout) == {b"second": b"second"}
        assert b"second" not in read_rows(first)
        kill(running(second.layout)["regionserver"])
        second.up()
        assert read_rows(second.layout) == {b"second": b"second"}
    finally:
        remove_cluster(tmp_path / "second")
    assert running(first) == before
    assert read_rows(first)[b"first"] == b"first"
