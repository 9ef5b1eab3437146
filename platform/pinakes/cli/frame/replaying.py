"""pywb, unmodified, as a process of its own next to `pinakes serve`.

It gets its index and its archive files from `serve`, over loopback, by four lines of settings, and
is restarted when it ends by itself.  pywb is no dependency: it pins old versions of much, and who
replays has one already (docs/adr/0037-http-connections.md).
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pinakes.errors import ConfigError

COLLECTION = "archive"
"""What pywb calls all that the store has: part of every address of a replayed page."""

_START_S = 120.0
_END_S = 10.0
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 1.0, 60.0
_LOG_BYTES = 2000
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def replay_settings(serve_url: str) -> str:
    """The whole `config.yaml` of a pywb that replays what `serve` has at this URL."""
    index, archive = json.dumps(f"cdx+{serve_url}cdx"), json.dumps(f"{serve_url}gzip/")
    return (
        f"collections:\n  {COLLECTION}:\n    index: {index}\n    archive_paths: {archive}\n"
        "enable_auto_colls: false\n"
    )


def find_wayback(command: Sequence[str]) -> tuple[str, ...]:
    """The command with the path of its program: on PATH, or next to this Python.

    Raises:
        ConfigError: there is none.
    """
    name, *words = command
    beside = Path(sys.executable).parent / name
    path = shutil.which(name) or (shutil.which(beside) if "/" not in name else None)
    if path is None:
        raise ConfigError(
            f"--replay needs pywb, and there is no {name} here: `pip install pywb` in a virtual "
            "environment of its own, then set wayback_command to its bin/wayback"
        )
    return (path, *words)


@contextmanager
def replaying(
    command: Sequence[str], serve_url: str, host: str, port: int, warn: Callable[[str], None]
) -> Iterator[str]:
    """The address of pywb's collection, once it answers; it ends with the block.

    `warn` is called, in a thread, with what went wrong later.

    Raises:
        ConfigError: it cannot be started there.
    """
    with TemporaryDirectory(prefix="pinakes-replay-") as name:
        folder = Path(name)
        (folder / "config.yaml").write_text(replay_settings(serve_url), encoding="utf-8")
        port = port or _free_port(host)
        address = ["-b", host, "-p", str(port), "-d", name]
        wayback = _Wayback([*_surroundings(), *command, *address], folder, (host, port))
        try:
            wayback.start()
            watching = threading.Thread(target=wayback.watch, args=(warn,), daemon=True)
            watching.start()
            yield f"http://{f'[{host}]' if ':' in host else host}:{port}/{COLLECTION}/"
        finally:
            wayback.end()


def _surroundings() -> list[str]:
    """What it is started through: it uses no proxy, and ends when this process is killed."""
    without_proxies = [word for proxy in _PROXIES for word in ("-u", proxy)]
    setpriv = shutil.which("setpriv")
    return [*([setpriv, "--pdeathsig", "TERM"] if setpriv else []), "env", *without_proxies]


class _Wayback:
    """The process, which `watch` starts again when it ends by itself."""

    def __init__(self, command: Sequence[str], folder: Path, address: tuple[str, int]) -> None:
        self._command = command
        self._folder = folder
        self._address = address
        self._process: subprocess.Popen[bytes] | None = None
        self._ending = threading.Event()
        self._changing = threading.Lock()

    def start(self) -> None:
        """Start it, and wait until it answers; `Raises` ConfigError."""
        process = self._begin()
        until_s = time.monotonic() + _START_S
        while process is not None and not _answers(self._address):
            if process.poll() is not None or time.monotonic() > until_s:
                raise ConfigError(f"pywb does not answer: {self._last_words()}")
            time.sleep(0.1)

    def _begin(self) -> subprocess.Popen[bytes] | None:
        with self._changing, (self._folder / "log").open("ab") as log:
            if self._ending.is_set():
                return None
            self._process = subprocess.Popen(  # noqa: S603  the user's own command
                self._command,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is answered by us
            )
            return self._process

    def watch(self, warn: Callable[[str], None]) -> None:
        """Wait for its end, say so, and start it again, until `end` is called."""
        pause_s = _FIRST_PAUSE_S
        while self._process is not None:
            began_s = time.monotonic()
            code = self._process.wait()
            if self._ending.is_set():
                return
            if time.monotonic() - began_s > _LONGEST_PAUSE_S:
                pause_s = _FIRST_PAUSE_S
            warn(f"pywb ended (exit code {code}), and is started again: {self._last_words()}")
            if self._ending.wait(pause_s):
                return
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
            if self._begin() is None:
                return

    def end(self) -> None:
        """End it, if it runs."""
        with self._changing:
            self._ending.set()
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _last_words(self) -> str:
        """The end of its log, on one line."""
        text = (self._folder / "log").read_bytes()[-_LOG_BYTES:].decode("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return lines[-1] if lines else "it said nothing"


def _answers(address: tuple[str, int]) -> bool:
    try:
        with closing(socket.create_connection(address, 1)):
            return True
    except OSError:
        return False


def _free_port(host: str) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.create_server((host, 0), family=family)) as free:
        return int(free.getsockname()[1])
