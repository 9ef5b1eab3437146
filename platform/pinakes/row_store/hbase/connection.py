"""How HBase is reached: servers, security, time-outs.  A value, made from the configuration.

HBase has two Thrift interfaces, each with its own server: rows are read and written through the
first, tables are made through the second, because only that can set all attributes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from pinakes.errors import ConfigError

DEFAULT_PORT = 9090
_PREFIX = re.compile(r"(?:[A-Za-z0-9_]+:)?[A-Za-z0-9_.-]*\Z")


class Server(NamedTuple):
    """Where a Thrift server listens."""

    host: str
    port: int = DEFAULT_PORT

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def parse_servers(text: str) -> tuple[Server, ...]:
    """`host` or `host:port`, or several of them separated by commas.  Raises ValueError."""
    servers = []
    for part in text.split(","):
        host, _, port = part.strip().partition(":")
        if not host or (port and not (port.isascii() and port.isdigit() and int(port) < 65536)):
            raise ValueError("servers such as hbase1:9090,hbase2:9090")
        servers.append(Server(host, int(port or DEFAULT_PORT)))
    return tuple(servers)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """Trusted authorities (the system's without `ca_file`), and our certificate."""

    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sasl:
    """Kerberos, or a password.  `service` and the server's host name its principal."""

    mechanism: Literal["GSSAPI", "PLAIN"] = "GSSAPI"
    service: str = "hbase"
    username: str | None = None
    password: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HBaseConnection:
    """Everything that a process needs to reach HBase.

    New connections use the `servers` in turn.  `prefix` begins the name of every table:
    `pinakes:` is a namespace, `pinakes_` is not.  `transport` and `compact` are those the
    server was started with (`-f`, `-c`, `hbase.regionserver.thrift.http`).  `do_as` is
    the user for whom a proxy acts, over HTTP only.

    A call not answered within `timeout_s` is repeated on a new connection until `retry_s` have
    passed: longer than a region server takes to come back.
    """

    servers: tuple[Server, ...]
    admin_servers: tuple[Server, ...] = ()
    prefix: str = "pinakes:"
    transport: Literal["buffered", "framed", "http"] = "buffered"
    compact: bool = False
    http_path: str = "/"
    tls: Tls | None = None
    sasl: Sasl | None = None
    do_as: str | None = None
    timeout_s: float = 30.0
    retry_s: float = 120.0
    connections: int = 8

    def __post_init__(self) -> None:
        if not self.servers:
            raise ConfigError("no Thrift server of HBase is configured")
        if not _PREFIX.match(self.prefix):
            raise ConfigError(f"not a prefix of table names: {self.prefix!r}")
        if self.do_as and self.transport != "http":
            raise ConfigError("acting for another user (do_as) needs the HTTP transport")
        if self.sasl and self.transport == "http":
            raise ConfigError("SASL is not supported over HTTP")

    def table(self, name: str) -> bytes:
        """The table's name in HBase."""
        return f"{self.prefix}{name}".encode("ascii")
