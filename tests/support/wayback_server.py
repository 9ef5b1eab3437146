"""pywb's server, over collections that the caller made."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.peers import pins


def installed_tools() -> Path:
    """The folder of the Python peers' commands (warcio, pywb, cdxj-indexer); skips without it."""
    folder = pins.venv_tool("python").parent
    if not (folder / "wayback").is_file():
        pytest.skip("pywb is not installed: `make tools` does it")
    return folder


def plain_environment() -> dict[str, str]:
    """The environment without what would lead a client through a proxy."""
    return {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}


@contextmanager
def wayback(tools: Path, root: Path) -> Iterator[int]:
    """Run it in `root`, which has its collections and settings; its port, once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [tools / "wayback", "-b", "127.0.0.1", "-p", str(port), "-d", root]
    with (root / "log").open("w") as log:
        server = subprocess.Popen(
            command, cwd=root, env=plain_environment(), stdout=log, stderr=subprocess.STDOUT
        )
        try:
            _wait_for(port, server, root / "log")
            yield port
        finally:
            server.terminate()
            server.wait()


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    while True:
        assert server.poll() is None, log.read_text()
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.1)
