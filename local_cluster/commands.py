"""The commands `hbase`, `hadoop` and `hdfs` of one cluster, like those of HBase and Hadoop.

    FOLDER/bin/{hbase,hadoop,hdfs}      shell scripts; rewritten by every `up`

Pure.  They have their own class path, which does not change that of the servers (and their class
archives): HBase's jars without the old Hadoop that comes with them, then Hadoop's.  Unknown
commands are class names.  Hadoop's and HBase's own variables for JVM options and more jars are
respected.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from types import MappingProxyType

from local_cluster.daemons import JVM, SERIAL
from local_cluster.jars import Programs
from local_cluster.layout import Layout
from local_cluster.site_files import TOOLS_LOG4J

HEAP_MB = 768

_HADOOP = MappingProxyType(
    {
        "distcp": "hadoop.tools.DistCp",
        "fs": "hadoop.fs.FsShell",
        "jar": "hadoop.util.RunJar",
        "version": "hadoop.util.VersionInfo",
    }
)
_HDFS = MappingProxyType(
    {
        "dfs": "hadoop.fs.FsShell",
        "dfsadmin": "hadoop.hdfs.tools.DFSAdmin",
        "fsck": "hadoop.hdfs.tools.DFSck",
        "getconf": "hadoop.hdfs.tools.GetConf",
        "lsSnapshottableDir": "hadoop.hdfs.tools.snapshot.LsSnapshottableDir",
        "snapshotDiff": "hadoop.hdfs.tools.snapshot.SnapshotDiff",
    }
)
_HBASE = MappingProxyType(
    {
        "completebulkload": "hadoop.hbase.tool.BulkLoadHFilesTool",
        "hfile": "hadoop.hbase.io.hfile.HFilePrettyPrinter",
        "mapredcp": "hadoop.hbase.util.MapreduceDependencyClasspathTool",
        "rowcounter": "hadoop.hbase.mapreduce.RowCounter",
        "snapshot create": "hadoop.hbase.snapshot.CreateSnapshot",
        "snapshot export": "hadoop.hbase.snapshot.ExportSnapshot",
        "snapshot info": "hadoop.hbase.snapshot.SnapshotInfo",
        "version": "hadoop.hbase.util.VersionInfo",
    }
)
_WORDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"hadoop": _HADOOP, "hdfs": _HDFS, "hbase": _HBASE}
)
_VARIABLES = MappingProxyType(
    {
        "hadoop": ("HADOOP_CLASSPATH", "HADOOP_CLIENT_OPTS"),
        "hdfs": ("HADOOP_CLASSPATH", "HADOOP_CLIENT_OPTS"),
        "hbase": ("HBASE_CLASSPATH", "HBASE_OPTS"),
    }
)
"""The variables of each command for more jars, and for JVM options."""

_NO_SHELL = "no shell available: Maven Central has no hbase-shell of this version"


def tool_jars(programs: Programs) -> tuple[Path, ...]:
    """The jars of the commands, in order; of jars with the same file name only the first."""
    hbase = [jar for jar in _jars(programs, "hbase") if not jar.name.startswith("hadoop-")]
    names = {jar.name for jar in hbase}
    return (*hbase, *(jar for jar in _jars(programs, "hadoop") if jar.name not in names))


def _jars(programs: Programs, name: str) -> list[Path]:
    return sorted(programs.jars[name].glob("*.jar"))


def command_files(layout: Layout, programs: Programs) -> dict[str, str]:
    """The text of each command, by name."""
    return {name: _command(name, layout, programs) for name in _WORDS}


def _command(name: str, layout: Layout, programs: Programs) -> str:
    jars = ":".join([*map(str, tool_jars(programs)), str(layout.conf)])
    log4j = (layout.conf / TOOLS_LOG4J).as_uri()
    jvm = (
        *(str(programs.java), f"-Xmx{HEAP_MB}m", "-XX:TieredStopAtLevel=1", *SERIAL, *JVM),
        *(f"-Djava.io.tmpdir={layout.tmp}", f"-Dlog4j.configuration={log4j}"),
    )
    conf = quote(str(layout.conf))
    more_jars, options = _VARIABLES[name]
    return "\n".join(
        [
            "#!/bin/sh",
            f"# `{name}` of this cluster; `pinakes cluster up` overwrites it.",
            f"export HADOOP_CONF_DIR={conf} HBASE_CONF_DIR={conf}",
            f"export JAVA_HOME={quote(str(programs.java.parent.parent))}",
            f"export CLASSPATH={quote(jars)}${{{more_jars}:+:${more_jars}}}",
            'case "${1-} ${2-}" in',
            f'" ") echo "usage: {name} COMMAND|CLASS [ARGUMENT ...]" >&2; exit 2 ;;',
            '"classpath "*) echo "$CLASSPATH"; exit ;;',
            *(_case(words, main_class) for words, main_class in _WORDS[name].items()),
            *([f'"shell "*) echo "{_NO_SHELL}" >&2; exit 2 ;;'] if name == "hbase" else []),
            "*) class=$1; shift ;;",
            "esac",
            f'exec {" ".join(map(quote, jvm))} ${options} "$class" "$@"\n',
        ]
    )


def _case(words: str, main_class: str) -> str:
    """The shell's case for a command of one word, or of two."""
    count = len(words.split())
    pattern = f'"{words}"' if count == 2 else f'"{words} "*'
    return f"{pattern}) class=org.apache.{main_class}; shift {count} ;;"
