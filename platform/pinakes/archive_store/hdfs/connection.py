"""How HDFS is reached: name nodes, security, time-outs.  A value, made from the configuration."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from pinakes.errors import ConfigError

_URL = re.compile(r"(hdfs|viewfs)://([\w.-]+(?::\d{1,5})?)?(/[^?#]*)\Z")
_WEB = re.compile(r"https?://[^/?#@\s]+\Z")


def parse_web(text: str) -> tuple[str, ...]:
    """`http://host:port`, or several of them separated by commas.  Raises ValueError."""
    addresses = tuple(part.strip().rstrip("/") for part in text.split(","))
    if not all(_WEB.match(address) for address in addresses):
        raise ValueError("addresses such as http://namenode1:9870,http://namenode2:9870")
    return addresses


@dataclass(frozen=True, slots=True, kw_only=True)
class HdfsConnection:
    """Everything that a process needs to reach a folder in HDFS.

    `url` is `hdfs://HOST:PORT/FOLDER`, or `hdfs://NAMESERVICE/FOLDER` where `config_folder`
    (else HADOOP_CONF_DIR) has the core-site.xml and hdfs-site.xml that say which name nodes
    that is.  `web` are the name nodes' web servers (WebHDFS): without them, written files are
    read back instead of asking HDFS for their checksums.

    `principal` and `keytab`, or a `ticket_cache`, are for Kerberos; without them, the
    existing ticket is used.  `replication` and `block_bytes` default to the cluster's own.

    Failed calls are repeated until `retry_s` have passed: longer than a name node takes to
    start, or to notice that a data node is lost.
    """

    url: str
    web: tuple[str, ...] = ()
    config_folder: Path | None = None
    principal: str | None = None
    keytab: Path | None = None
    ticket_cache: Path | None = None
    replication: int | None = None
    block_bytes: int | None = None
    retry_s: float = 120.0

    def __post_init__(self) -> None:
        match = _URL.match(self.url)
        if match is None or not match[3].strip("/") or "//" in match[3]:
            raise ConfigError(f"not a folder in HDFS, hdfs://HOST:PORT/FOLDER: {self.url!r}")
        if any(part in (".", "..") for part in match[3].split("/")):
            raise ConfigError(f"not a plain path in HDFS: {self.url!r}")
        if self.keytab is not None and self.principal is None:
            raise ConfigError("a keytab needs its principal")

    @property
    def server(self) -> str:
        """The URL without the folder."""
        return self.url[: self.url.index("/", self.url.index("//") + 2)]

    @property
    def folder(self) -> str:
        """The folder: an absolute path, without a `/` at its end."""
        return self.url[len(self.server) :].rstrip("/")
