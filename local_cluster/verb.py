"""`pinakes cluster`: real servers on this host, for development and tests."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from local_cluster.daemons import DAEMONS
from local_cluster.jars import have_programs
from local_cluster.layout import PARTS, Layout
from local_cluster.logs import last_lines
from local_cluster.operate import TIMEOUT_S, down, states, up
from local_cluster.preparation import prepare
from local_cluster.state import have_layout, locked, read_layout
from local_cluster.supervise import supervise
from pinakes.cli.frame.exits import Exit
from pinakes.cli.frame.options import action_parsers
from pinakes.cli.frame.output import Console
from pinakes.config import user_folder

_ACTIONS = {
    "up": "start all servers, and wait until they are ready",
    "down": "stop all servers, in order; data is kept",
    "status": "show the state of each server; exit 1 if one is dead or not ready",
    "logs": "print the last lines of the servers' logs",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UpRequest:
    """Which cluster to start, with which parts, and for how long to wait or watch."""

    folder: Path
    base_port: int | None
    add: frozenset[str]
    remove: frozenset[str]
    timeout_s: float
    supervise: bool


def configure(parser: argparse.ArgumentParser) -> None:
    """A verb of its own for each thing to do with a cluster."""
    for name, one in action_parsers(parser, _ACTIONS).items():
        one.add_argument(
            "--folder",
            metavar="DIR",
            type=Path,
            help="folder of the cluster (default: pinakes/cluster in XDG_DATA_HOME)",
        )
        if name == "up":
            _configure_up(one)
        if name == "logs":
            one.add_argument(
                "servers",
                metavar="SERVER",
                nargs="*",
                type=_server,
                help="only the logs of these servers",
            )
            one.add_argument(
                "-n",
                "--lines",
                metavar="N",
                type=int,
                default=20,
                help="number of lines per log (default: 20)",
            )


def _configure_up(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--base-port",
        metavar="N",
        type=int,
        help="first of 40 ports (default: as before, else the first free ones from 19100)",
    )
    for option, words in (("--with", "also run this part"), ("--without", "do not run this part")):
        parser.add_argument(
            option,
            dest=option.strip("-"),
            action="append",
            default=[],
            choices=sorted(PARTS),
            help=f"{words}; remembered for later starts (default: with yarn)",
        )
    parser.add_argument(
        "--supervise",
        action="store_true",
        help="keep running, and restart servers that die or hang, until `down`",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=float,
        default=TIMEOUT_S,
        help="give up if a server is not ready by then (default: 180). From 180 on, a server that "
        "has run for ten minutes without getting ready is restarted",
    )


def _server(name: str) -> str:
    if name not in DAEMONS:
        raise argparse.ArgumentTypeError(f"unknown server {name}: use {', '.join(DAEMONS)}")
    return name


def run(arguments: argparse.Namespace, console: Console) -> Exit:
    """Do one of them."""
    folder = (arguments.folder or user_folder("data") / "cluster").absolute()
    if arguments.action == "up":
        request = UpRequest(
            folder=folder,
            base_port=arguments.base_port,
            add=frozenset(getattr(arguments, "with")),
            remove=frozenset(arguments.without),
            timeout_s=arguments.timeout,
            supervise=arguments.supervise,
        )
        return _up(request, console)
    if arguments.action == "logs":
        return _logs(folder, arguments.servers, arguments.lines, console)
    return (_down if arguments.action == "down" else _status)(folder, console)


def _up(request: UpRequest, console: Console) -> Exit:
    programs = have_programs(user_folder("cache") / "cluster", console.say)
    request.folder.mkdir(parents=True, exist_ok=True)
    with locked(request.folder):
        layout = have_layout(
            request.folder,
            base_port=request.base_port,
            add=request.add,
            remove=request.remove,
        )
        prepare(layout, programs, console.say)
    up(layout, programs, console.say, timeout_s=request.timeout_s)
    addresses = _addresses(layout)
    console.result(addresses, text="\n".join(f"{name}  {at}" for name, at in addresses.items()))
    if request.supervise:
        console.say("watching the servers; `pinakes cluster down` ends it")
        console.flush()
        supervise(layout, programs, console.say, timeout_s=request.timeout_s)
    return Exit.DONE


def _addresses(layout: Layout) -> dict[str, object]:
    """What a client wants to know."""
    return {
        "hdfs": f"hdfs://{layout.address('namenode')}",
        "webhdfs": f"http://{layout.address('namenode-http')}/webhdfs/v1",
        "zookeeper": layout.address("zookeeper"),
        "thrift": layout.address("thrift"),
        **({"thrift2": layout.address("thrift2")} if "thrift2" in layout.parts else {}),
        **({"yarn": layout.address("resourcemanager")} if "yarn" in layout.parts else {}),
        "configuration": str(layout.conf),
        "pinakes.toml": str(layout.conf / "pinakes.toml"),
    }


def _down(folder: Path, console: Console) -> Exit:
    down(read_layout(folder), console.say)
    return Exit.DONE


def _status(folder: Path, console: Console) -> Exit:
    well = True
    for server in states(read_layout(folder)):
        well = well and server.state in ("ready", "stopped")
        process = f"process {server.pid}" if server.pid else "no process"
        console.result(server, text=f"{server.name}  {server.state}  {process}  port {server.port}")
    return Exit.DONE if well else Exit.FOUND


def _logs(folder: Path, servers: Sequence[str], count: int, console: Console) -> Exit:
    layout = read_layout(folder)
    for name in servers or DAEMONS:
        lines = last_lines(layout, name, count)
        if lines or servers:
            console.say(f"== {layout.logs / name}.log")
        for line in lines:
            console.result({"server": name, "line": line}, text=line)
    return Exit.DONE
