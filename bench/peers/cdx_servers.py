"""CDX servers by others, started over a set of lines: OutbackCDX and pywb's warcserver."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from bench.peers import pins

COLLECTION = "bench"
_POST_LINES = 50_000
"""OutbackCDX keeps one POST in memory."""


class PeerAbsent(Exception):
    """A peer is not installed; the message says how to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CdxServer:
    """A server that answers CDX queries at `path` of a port of loopback."""

    name: str
    port: int
    path: str
    process_id: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{self.path}"


def free_port() -> int:
    """Return a port of loopback that nobody listens on now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def running(command: Sequence[object], folder: Path, port: int) -> Iterator[int]:
    """Run a server in `folder` until it is left; its process id, once it listens.

    Raises RuntimeError with what it said if it ends before that.
    """
    said = folder / "log"
    plain = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    with said.open("wb") as log:
        server = subprocess.Popen(
            [str(part) for part in command], cwd=folder, env=plain, stdout=log, stderr=log
        )
        try:
            while not _listens(port):
                if server.poll() is not None:
                    raise RuntimeError(said.read_text(errors="replace")[-2000:])
                time.sleep(0.05)
            yield server.pid
        finally:
            server.terminate()
            server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return not probe.connect_ex(("127.0.0.1", port))


@contextmanager
def outbackcdx(lines: Path, folder: Path, *, options: Sequence[str] = ()) -> Iterator[CdxServer]:
    """OutbackCDX with the lines of a CDX file loaded, its rows in `folder`/data.

    Lines that it refuses are left out, and named in `folder`/log.

    Raises PeerAbsent where it is not installed.
    """
    if shutil.which("java") is None or not pins.outbackcdx_jar().is_file():
        raise PeerAbsent(
            "OutbackCDX is not installed: `make tools` builds it, from "
            "PINAKES_OUTBACKCDX_GIT where its own repository cannot be reached"
        )
    (folder / "data").mkdir(parents=True, exist_ok=True)
    port = free_port()
    command = ["java", "-Xmx1g", "-jar", pins.outbackcdx_jar(), *options]
    command += ["-b", "127.0.0.1", "-p", port, "-d", "data"]
    with running(command, folder, port) as process_id:
        server = CdxServer(
            name="OutbackCDX", port=port, path=f"/{COLLECTION}", process_id=process_id
        )
        for batch in _batches(lines):
            post(f"{server.url}?badLines=skip", batch)
        post(f"{server.url}/compact", b"")
        yield server


def _batches(lines: Path) -> Iterator[bytes]:
    batch: list[bytes] = []
    with lines.open("rb") as file:
        for line in file:
            batch.append(line)
            if len(batch) == _POST_LINES:
                yield b"".join(batch)
                batch = []
    if batch:
        yield b"".join(batch)


def post(url: str, body: bytes) -> bytes:
    """POST to a server on loopback; what it answers.  Raises HTTPError where it refuses."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(urllib.request.Request(url, data=body, method="POST")) as answer:
        answered: bytes = answer.read()
        return answered


@contextmanager
def warcserver(
    lines: Path, folder: Path, *, others: Mapping[str, str] = MappingProxyType({})
) -> Iterator[CdxServer]:
    """Serve a sorted file of CDX lines by pywb's warcserver, and `others`: indexes by collection.

    Raises PeerAbsent where it is not installed.
    """
    if not pins.venv_tool("warcserver").is_file():
        raise PeerAbsent("pywb is not installed: `make tools` does it")
    folder.mkdir(parents=True, exist_ok=True)
    indexes = {COLLECTION: str(lines), **others}
    config = "".join(f"  {name}: {index}\n" for name, index in indexes.items())
    (folder / "config.yaml").write_text(f"collections:\n{config}")
    port = free_port()
    command = [pins.venv_tool("warcserver"), "-b", "127.0.0.1", "-p", port]
    with running(command, folder, port) as process_id:
        path = f"/{COLLECTION}/index"
        yield CdxServer(name="pywb", port=port, path=path, process_id=process_id)
