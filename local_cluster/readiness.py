"""Checks whether a server is ready, by requests to it, not only to its port.

Layer: the IO of this package, with `processes`.  Every request has a short time-out; no answer
means not ready.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable
from types import MappingProxyType
from urllib.request import ProxyHandler, build_opener

from local_cluster.layout import HOST, Layout

_TIMEOUT_S = 5.0
_MOST_BYTES = 1 << 20
_ATTEMPTS, _PAUSE_S = 3, 0.4
# Loopback is reached without the environment's proxies.
_OPENER = build_opener(ProxyHandler({}))

Question = Callable[[Layout], bool]


def is_ready(name: str, layout: Layout) -> bool:
    """Whether this server answers correctly; False also if it cannot be reached."""
    try:
        return _QUESTIONS[name](layout)
    except (OSError, ValueError, LookupError, struct.error):
        return False


def _bean(layout: Layout, port: str, query: str) -> dict[str, object]:
    """One JMX bean from Hadoop's or HBase's web server; IndexError if missing."""
    url = f"http://{layout.address(port)}/jmx?qry={query}"
    for _ in range(_ATTEMPTS):
        with _OPENER.open(url, timeout=_TIMEOUT_S) as response:
            beans: list[dict[str, object]] = json.loads(response.read(_MOST_BYTES))["beans"]
        if beans:
            break
        # HBase removes beans for half a second when regions open and close (JmxCacheBuster).
        time.sleep(_PAUSE_S)
    return beans[0]


def _name_node(layout: Layout) -> bool:
    """Out of safe mode, so that HDFS is writable."""
    bean = _bean(layout, "namenode-http", "Hadoop:service=NameNode,name=NameNodeInfo")
    return bean["Safemode"] == ""


def _data_node(name: str) -> Question:
    def ask(layout: Layout) -> bool:
        bean = _bean(layout, "namenode-http", "Hadoop:service=NameNode,name=NameNodeInfo")
        nodes = json.loads(str(bean["LiveNodes"])).values()
        if not any(node["xferaddr"] == layout.address(name) for node in nodes):
            return False
        # For 20 s the name node counts a dead one as alive: ask the node itself, too.
        own = _bean(layout, f"{name}-http", "Hadoop:service=DataNode,name=DataNodeInfo")
        actors = json.loads(str(own["BPServiceActorInfo"]))
        return bool(actors) and all(actor["ActorState"] == "RUNNING" for actor in actors)

    return ask


def _listens(layout: Layout, port: str) -> bool:
    with socket.create_connection((HOST, layout.port(port)), timeout=_TIMEOUT_S):
        return True


def _zookeeper(layout: Layout) -> bool:
    return b"Mode:" in _exchange(layout, "zookeeper", b"srvr")


def _resource_manager(layout: Layout) -> bool:
    url = f"http://{layout.address('resourcemanager-http')}/ws/v1/cluster/info"
    with _OPENER.open(url, timeout=_TIMEOUT_S) as response:
        info = json.loads(response.read(_MOST_BYTES))["clusterInfo"]
    return bool(info["state"] == "STARTED")


def _node_manager(layout: Layout) -> bool:
    url = f"http://{layout.address('resourcemanager-http')}/ws/v1/cluster/metrics"
    with _OPENER.open(url, timeout=_TIMEOUT_S) as response:
        metrics = json.loads(response.read(_MOST_BYTES))["clusterMetrics"]
    return bool(metrics["activeNodes"] >= 1) and _listens(layout, "nodemanager-http")


def _master(layout: Layout) -> bool:
    bean = _bean(layout, "master-http", "Hadoop:service=HBase,name=Master,sub=Server")
    has_begun = bean["tag.isActiveMaster"] == "true" and int(str(bean["numRegionServers"])) >= 1
    return has_begun and int(str(bean["masterFinishedInitializationTime"])) > 0


def _region_server(layout: Layout) -> bool:
    bean = _bean(layout, "regionserver-http", "Hadoop:service=HBase,name=RegionServer,sub=Server")
    return int(str(bean["regionCount"])) >= 1


def _thrift(layout: Layout) -> bool:
    """It can read a row of hbase:meta, so master, region server and HDFS work."""
    arguments = _text(1, "hbase:meta") + _text(2, "-") + b"\x0d\0\3\x0b\x0b\0\0\0\0"
    return _call(layout, "thrift", "getRow", arguments)


def _thrift2(layout: Layout) -> bool:
    get = b"\x0c\0\2" + _text(1, "-") + b"\0"
    return _call(layout, "thrift2", "exists", _text(1, "hbase:meta") + get)


def _text(field: int, text: str) -> bytes:
    return struct.pack(">bhi", 11, field, len(text)) + text.encode("ascii")


def _call(layout: Layout, port: str, method: str, arguments: bytes) -> bool:
    """Call a method (Thrift's binary protocol, strict, not framed): is the answer a reply?

    Written by hand, so that `pinakes cluster` needs no package for it.
    """
    version, call, reply = 0x80010000, 1, 2
    name = method.encode("ascii")
    head = struct.pack(">Ii", version | call, len(name)) + name + struct.pack(">i", 0)
    answer = _exchange(layout, port, head + arguments + b"\0", size=4 + 4 + len(name) + 4 + 3)
    # A reply may carry an exception that the method declares: success is field 0.
    kind = struct.unpack_from(">I", answer)[0] & 0xFF
    field_type, field = struct.unpack_from(">bh", answer, 4 + 4 + len(name) + 4)
    return bool(kind == reply and field_type != 0 and field == 0)


def _exchange(layout: Layout, port: str, question: bytes, *, size: int = 1 << 12) -> bytes:
    """Send this, and read up to `size` bytes or to the end."""
    with socket.create_connection((HOST, layout.port(port)), timeout=_TIMEOUT_S) as connection:
        connection.sendall(question)
        answer = b""
        while len(answer) < size:
            part = connection.recv(size - len(answer))
            if not part:
                break
            answer += part
    return answer


_QUESTIONS = MappingProxyType(
    {
        "namenode": _name_node,
        **{name: _data_node(name) for name in ("datanode1", "datanode2", "datanode3")},
        "zookeeper": _zookeeper,
        "resourcemanager": _resource_manager,
        "nodemanager": _node_manager,
        "master": _master,
        "regionserver": _region_server,
        "thrift": _thrift,
        "thrift2": _thrift2,
    }
)
