"""The commands `hbase`, `hadoop`, `hdfs` of a cluster."""

from __future__ import annotations

import os
import subprocess
import uuid
from pathlib import Path

import pytest
from shared_cluster import RunningCluster

from local_cluster.commands import command_files, tool_jars
from local_cluster.jars import Programs
from local_cluster.layout import Layout


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    """Jars that are only names, and a Java that says how it was called."""
    folders = {}
    for name, jars in {
        "hadoop": ("hadoop-common-3.4.2.jar", "slf4j-1.jar", "woodstox-5.jar"),
        "hbase": ("hadoop-common-3.3.5.jar", "hbase-server.jar", "slf4j-1.jar"),
    }.items():
        folders[name] = tmp_path / f"{name} jars"
        folders[name].mkdir()
        for jar in jars:
            (folders[name] / jar).touch()
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text('#!/bin/sh\necho "$CLASSPATH"\necho "$HADOOP_CONF_DIR"\nprintf "%s\\n" "$@"\n')
    java.chmod(0o755)
    return Programs(java=java, java_release="17", jars=folders)


@pytest.fixture
def layout(tmp_path: Path, programs: Programs) -> Layout:
    """A cluster that has commands, and nothing else."""
    layout = Layout(folder=tmp_path / "it's a cluster", base_port=20000)
    layout.bin.mkdir(parents=True)
    for name, text in command_files(layout, programs).items():
        (layout.bin / name).write_text(text)
        (layout.bin / name).chmod(0o755)
    return layout


def call(layout: Layout, name: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], **more}
    command = [str(layout.bin / name), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_hadoop_jars_of_the_servers_come_first(programs: Programs) -> None:
    names = [jar.name for jar in tool_jars(programs)]
    assert names == ["hbase-server.jar", "slf4j-1.jar", "hadoop-common-3.4.2.jar", "woodstox-5.jar"]


@pytest.mark.parametrize(
    ("name", "words", "called"),
    [
        ("hadoop", ("fs", "-ls", "/"), ("org.apache.hadoop.fs.FsShell", "-ls", "/")),
        ("hadoop", ("jar", "a b.jar", "*"), ("org.apache.hadoop.util.RunJar", "a b.jar", "*")),
        ("hadoop", ("distcp",), ("org.apache.hadoop.tools.DistCp",)),
        ("hdfs", ("dfs", "-ls"), ("org.apache.hadoop.fs.FsShell", "-ls")),
        (
            "hbase",
            ("snapshot", "export", "-snapshot", "s"),
            ("org.apache.hadoop.hbase.snapshot.ExportSnapshot", "-snapshot", "s"),
        ),
        (
            "hbase",
            ("completebulkload", "/x", "t"),
            ("org.apache.hadoop.hbase.tool.BulkLoadHFilesTool", "/x", "t"),
        ),
        ("hbase", ("org.example.Tool", "-Da=b c", ""), ("org.example.Tool", "-Da=b c", "")),
        ("hadoop", ("org.example.Tool",), ("org.example.Tool",)),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_command_words_become_classes(
    layout: Layout, name: str, words: tuple[str, ...], called: tuple[str, ...]
) -> None:
    done = call(layout, name, *words)
    assert done.returncode == 0, done.stderr
    class_path, conf, *arguments = done.stdout.splitlines()
    assert class_path.endswith(f":{layout.conf}")
    assert conf == str(layout.conf)
    assert tuple(arguments[-len(called) :]) == called
    assert arguments[-len(called) - 1].startswith("-Dlog4j.configuration=file:/")


def test_jars_and_options_of_the_caller_are_used(layout: Layout) -> None:
    done = call(layout, "hbase", "x.Y", HBASE_CLASSPATH="/my.jar", HBASE_OPTS="-Xmx2g -Da=b")
    class_path, _, *arguments = done.stdout.splitlines()
    assert class_path.endswith(":/my.jar")
    assert arguments[-3:] == ["-Xmx2g", "-Da=b", "x.Y"]
    assert call(layout, "hadoop", "classpath").stdout.strip().endswith(f":{layout.conf}")


@pytest.mark.parametrize("words", [("hbase",), ("hadoop",), ("hbase", "shell")], ids=" ".join)
def test_unusable_call_is_one_line_on_standard_error(
    layout: Layout, words: tuple[str, ...]
) -> None:
    done = call(layout, *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1


def test_commands_reach_the_servers(cluster: RunningCluster, tmp_path: Path) -> None:
    folder = f"/commands-test-{uuid.uuid4().hex}"
    (tmp_path / "file").write_bytes(b"bytes")

    def run(name: str, *words: str) -> str:
        command = [str(cluster.layout.bin / name), *words]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    try:
        run("hadoop", "fs", "-mkdir", folder)
        run("hdfs", "dfs", "-put", str(tmp_path / "file"), folder)
        assert run("hadoop", "fs", "-cat", f"{folder}/file") == "bytes"
        assert "Safe mode is OFF" in run("hdfs", "dfsadmin", "-safemode", "get")
        assert "HBase 2.6.1" in run("hbase", "version")
    finally:
        run("hadoop", "fs", "-rm", "-r", "-f", "-skipTrash", folder)
