"""`pinakes cluster` where no server runs: what it says, and its exit codes."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from local_cluster.archives import archive_option, keep_archive
from local_cluster.daemons import DAEMONS
from local_cluster.jars import Programs, find_java, have_programs, java_version
from local_cluster.layout import Layout
from local_cluster.logs import last_lines
from local_cluster.preparation import prepare, require_free_ports
from local_cluster.state import have_layout
from pinakes.cli import main
from pinakes.config import user_folder
from pinakes.errors import ConfigError, Conflict, SchemaError


@pytest.fixture
def layout(tmp_path: Path, base_port: int) -> Layout:
    """A cluster that was never started."""
    made = have_layout(tmp_path, base_port=base_port)
    made.run.mkdir()
    made.logs.mkdir()
    return made


@pytest.mark.parametrize("action", ["down", "status", "logs"])
def test_missing_cluster_is_a_wrong_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], action: str
) -> None:
    assert main(["cluster", action, "--folder", str(tmp_path)]) == 2
    assert "pinakes cluster up" in capsys.readouterr().err


def test_dead_servers_are_findings_and_stopped_ones_are_not(
    layout: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["cluster", "status", "--json", "--folder", str(layout.folder)]
    assert main(command) == 0
    servers = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {server["state"] for server in servers} == {"stopped"}
    assert [server["name"] for server in servers] == [n for n in DAEMONS if n != "thrift2"]
    (layout.run / "wanted").touch()
    assert main(command) == 1
    assert json.loads(capsys.readouterr().out.splitlines()[0])["state"] == "dead"


def test_down_twice_is_allowed(layout: Layout) -> None:
    for _ in range(2):
        assert main(["cluster", "down", "--folder", str(layout.folder)]) == 0


def test_logs_of_the_named_servers_are_shown(
    layout: Layout, capsys: pytest.CaptureFixture[str]
) -> None:
    (layout.logs / "master.log").write_text("one\ntwo\nthree\n")
    (layout.logs / "thrift.log").write_text("other\n")
    folder = ["--folder", str(layout.folder)]
    assert main(["cluster", "logs", *folder, "-n", "2", "master"]) == 0
    assert capsys.readouterr().out == "two\nthree\n"
    assert main(["cluster", "logs", *folder, "nobody"]) == 2
    assert "unknown server nobody" in capsys.readouterr().err


def test_the_end_of_a_long_log(layout: Layout) -> None:
    (layout.logs / "master.log").write_text("".join(f"{n}\n" for n in range(400_000)))
    (layout.logs / "master.out").write_text("printed\n")
    assert last_lines(layout, "master", 2) == ["399998", "399999", "printed"]
    assert last_lines(layout, "master", 0) == []
    assert last_lines(layout, "thrift", 5) == []


@pytest.mark.parametrize(
    ("release", "version"),
    [
        ('IMPLEMENTOR="Debian"\nJAVA_VERSION="17.0.15"\n', 17),
        ('JAVA_VERSION="1.8.0_402"\n', 1),
        ('JAVA_VERSION="21"\n', 21),
        ("", None),
    ],
)
def test_java_is_found(release: str, version: int | None) -> None:
    assert java_version(release) == version


def make_java(folder: Path, version: str) -> None:
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").write_text("#!/bin/sh\n")
    (folder / "bin" / "java").chmod(0o755)
    (folder / "release").write_text(f'JAVA_VERSION="{version}"\n')


@pytest.mark.parametrize("version", ["1.8.0_402", "11.0.2", "24"])
def test_another_java_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    make_java(tmp_path / "jdk", version)
    monkeypatch.setenv("PATH", str(tmp_path / "jdk" / "bin"))
    with pytest.raises(ConfigError, match="17 to 21"):
        find_java()


def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigError, match=r"java not found on PATH.*apt-get install"):
        have_programs(tmp_path / "cache", print)
    make_java(tmp_path / "jdk", "17.0.1")
    monkeypatch.setenv("PATH", str(tmp_path / "jdk" / "bin"))
    with pytest.raises(ConfigError, match=r"mvn not found on PATH.*apt-get install"):
        have_programs(tmp_path / "cache", print)


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    """Jars and a Java that are only names."""
    jars = tmp_path / "jars"
    jars.mkdir()
    for name in ("b.jar", "a.jar", "notes.txt"):
        (jars / name).touch()
    return Programs(java=Path("/java"), java_release="17", jars={"hadoop": jars, "hbase": jars})


def test_the_class_path_is_in_order_and_ends_with_the_configuration(programs: Programs) -> None:
    folder = programs.jars["hadoop"]
    expected = f"{folder}/a.jar:{folder}/b.jar:/conf"
    assert programs.class_path("hadoop", Path("/conf")) == expected


def test_name_node_with_data_is_not_formatted(layout: Layout, programs: Programs) -> None:
    (layout.data / "datanode2").mkdir(parents=True)
    (programs.jars["hadoop"] / "hadoop-streaming-3.4.2.jar").touch()
    with pytest.raises(SchemaError, match="data nodes but no name node"):
        prepare(layout, programs, print)
    assert not (layout.data / "namenode").exists()


def test_a_user_without_a_name_is_refused_before_anything_is_made(
    layout: Layout, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 2**31 - 9)
    with pytest.raises(ConfigError, match="no name on this machine"):
        prepare(layout, programs, print)
    assert not layout.conf.exists()


def test_a_taken_port_is_named(layout: Layout) -> None:
    with (
        socket.create_server(("127.0.0.1", layout.port("master-http"))),
        pytest.raises(Conflict, match=f"{layout.port('master-http')} .master-http."),
    ):
        require_free_ports(DAEMONS["master"], layout)
    require_free_ports(DAEMONS["master"], layout)


def test_class_archive_is_written_once_and_used(layout: Layout, programs: Programs) -> None:
    zookeeper = DAEMONS["zookeeper"]
    [option] = archive_option(zookeeper, layout, programs)
    name, _, written = option.partition("=")
    assert name == "-XX:ArchiveClassesAtExit"
    keep_archive(zookeeper, layout)  # nothing was written yet
    assert archive_option(zookeeper, layout, programs) == (option,)

    Path(written).write_bytes(b"classes")
    keep_archive(zookeeper, layout)
    [option] = archive_option(zookeeper, layout, programs)
    name, _, kept = option.partition("=")
    assert name == "-XX:SharedArchiveFile"
    assert Path(kept).read_bytes() == b"classes"
    assert Path(kept).parent == programs.jars["hbase"]


def test_unfinished_class_archive_is_deleted(layout: Layout, programs: Programs) -> None:
    master = DAEMONS["master"]
    [option] = archive_option(master, layout, programs)
    written = Path(option.partition("=")[2])
    written.write_bytes(b"half")
    assert archive_option(master, layout, programs) == (option,)
    assert not written.exists()


def test_each_java_has_its_own_class_archives(layout: Layout, programs: Programs) -> None:
    newer = Programs(java=programs.java, java_release="17.0.99", jars=programs.jars)
    for release in (programs, newer):
        [option] = archive_option(DAEMONS["master"], layout, release)
        assert option.startswith("-XX:ArchiveClassesAtExit=")
        Path(option.partition("=")[2]).touch()
        keep_archive(DAEMONS["master"], layout)
    assert len(list(programs.jars["hbase"].glob("master-*.jsa"))) == 2


def test_data_nodes_share_a_class_archive(layout: Layout, programs: Programs) -> None:
    assert archive_option(DAEMONS["datanode2"], layout, programs) == ()
    [option] = archive_option(DAEMONS["datanode1"], layout, programs)
    Path(option.partition("=")[2]).touch()
    keep_archive(DAEMONS["datanode1"], layout)
    used = {archive_option(DAEMONS[f"datanode{n}"], layout, programs) for n in (1, 2, 3)}
    assert len(used) == 1


@pytest.mark.parametrize(
    ("kind", "environment", "expected"),
    [
        ("data", {}, "~/.local/share/pinakes"),
        ("cache", {}, "~/.cache/pinakes"),
        ("data", {"XDG_DATA_HOME": "/data"}, "/data/pinakes"),
        ("cache", {"XDG_DATA_HOME": "/data"}, "~/.cache/pinakes"),
        ("data", {"XDG_DATA_HOME": "relative"}, "~/.local/share/pinakes"),
    ],
)
def test_user_folders(kind: str, environment: dict[str, str], expected: str) -> None:
    assert user_folder(kind, environment) == Path(expected).expanduser()
