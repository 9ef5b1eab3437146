"""Prepares a cluster's start: folders, configuration, a formatted name node."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from local_cluster.client_settings import client_settings, job_settings
from local_cluster.commands import command_files
from local_cluster.daemons import DAEMONS, Daemon, command
from local_cluster.jars import Programs
from local_cluster.layout import DATA_NODES, Layout
from local_cluster.site_files import WEB_APPS, site_files
from local_cluster.state import is_free, replace_text
from pinakes.config import format_settings
from pinakes.errors import ConfigError, Conflict, SchemaError, StoreUnavailable


def prepare(layout: Layout, programs: Programs, say: Callable[[str], None]) -> None:
    """Make folders, write configuration and commands, format the name node of a new cluster.

    May be repeated at any time, also while servers run.  Call it under the lock.
    """
    try:
        user = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        raise ConfigError(
            f"user {os.geteuid()} has no name on this machine (no entry in passwd), and Hadoop "
            "needs one: start the cluster as another user"
        ) from None
    for folder in (layout.bin, layout.conf, layout.data, layout.logs, layout.run, layout.tmp):
        folder.mkdir(parents=True, exist_ok=True)
    for name in WEB_APPS:
        (layout.conf / "webapps" / name).mkdir(parents=True, exist_ok=True)
    for name, text in site_files(layout, programs.jars["hadoop"], user).items():
        (layout.conf / name).parent.mkdir(exist_ok=True)
        replace_text(layout.conf / name, text)
    settings = {
        **client_settings(layout, jobs=job_settings_of(programs)),
        "store": str(layout.folder / "store"),
    }
    replace_text(layout.conf / "pinakes.toml", format_settings(settings))
    for name, text in command_files(layout, programs).items():
        replace_text(layout.bin / name, text, mode=0o755)
    if not (layout.data / "namenode").exists():
        _format(layout, programs, say)


def job_settings_of(programs: Programs) -> dict[str, str]:
    """Settings of our jobs here: with this Python, not that of its virtual environment."""
    python: str = getattr(sys, "_base_executable", sys.executable)
    return job_settings(programs.jars["hadoop"], Path(python))


def _format(layout: Layout, programs: Programs, say: Callable[[str], None]) -> None:
    """Format an empty file system, under another name until it is complete."""
    orphans = [n for n in range(1, DATA_NODES + 1) if (layout.data / f"datanode{n}").exists()]
    if orphans:
        raise SchemaError(
            f"{layout.data} has data nodes but no name node: their data cannot be read "
            "without it, and a new one would delete it"
        )
    say("formatting the name node")
    aside = layout.data / "namenode.new"
    shutil.rmtree(aside, ignore_errors=True)
    name_node = DAEMONS["namenode"]
    done = subprocess.run(  # noqa: S603  words of ours, and no shell
        [
            *command(name_node, layout, programs.java),
            *(f"-Ddfs.namenode.name.dir={aside.as_uri()}", "-format", "-nonInteractive"),
        ],
        env=environment(name_node, layout, programs),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0 or not (aside / "current" / "VERSION").exists():
        raise StoreUnavailable(f"the name node cannot be formatted: {layout.logs}/namenode.log")
    aside.rename(layout.data / "namenode")


def environment(daemon: Daemon, layout: Layout, programs: Programs) -> dict[str, str]:
    """The whole environment of a server, without any HADOOP_* variable of ours.

    PATH and JAVA_HOME are for YARN's containers.
    """
    conf = (layout.conf / daemon.own_settings,) if daemon.own_settings else ()
    return {
        "CLASSPATH": programs.class_path(daemon.jars, *conf, layout.conf),
        "HADOOP_CONF_DIR": str(layout.conf),
        "JAVA_HOME": str(programs.java.parent.parent),
        "LANG": "C.UTF-8",
        "PATH": "/usr/local/bin:/usr/bin:/bin",
    }


def require_free_ports(daemon: Daemon, layout: Layout) -> None:
    """Raise Conflict if another program listens on a port of this server."""
    for name in daemon.ports:
        if not is_free(layout.port(name)):
            raise Conflict(
                f"port {layout.port(name)} ({name}) is used by another program: stop it, "
                "or `pinakes cluster down` and `up --base-port N`"
            )
