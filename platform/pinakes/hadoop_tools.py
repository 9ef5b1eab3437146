"""The commands `hbase` and `hadoop`, run as child processes.

Layer: beside `warc`, at the bottom; for work that only Hadoop's own tools do (bulk loads,
snapshots, copies between clusters).  No shell is involved.
"""

from __future__ import annotations

import os
import re
import select
import shlex
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pinakes.errors import ConfigError, StoreUnavailable

_KEPT_LINES = 200
_KEPT_BYTES = 4 << 20
_LONGEST_LINE_BYTES = 4096
_QUOTED_LINES = 6
_QUOTED_CHARS = 2000
_END_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HadoopTools:
    """How the two commands are called: the first words of their command lines.

    Several words are for acting as another user: `sudo -u hbase hbase`.
    """

    hbase: tuple[str, ...] = ("hbase",)
    hadoop: tuple[str, ...] = ("hadoop",)


def parse_command(text: str) -> tuple[str, ...]:
    """Words as a shell would split them; ValueError if there are none."""
    words = tuple(shlex.split(text))
    if not words:
        raise ValueError("a command")
    return words


def run_tool(
    command: Sequence[str],
    *,
    folder: Path | None = None,
    on_line: Callable[[str], None] = lambda line: None,
    meanwhile: Callable[[], None] = lambda: None,
    every_s: float = 60.0,
) -> str:
    """Run a tool to its end, and return the last 4 MB of its standard output.

    It runs in `folder`, if given: some tools leave files in their working directory.  `on_line`
    is called per line of its standard error, where Hadoop's tools report progress; `meanwhile`
    is called every `every_s` seconds, and may raise to end the tool.  Whatever ends this call (a
    signal, an error) ends the tool and all processes that it started.  A job that the tool has
    submitted to YARN is not its process, and may continue.

    Raises:
        ConfigError: command not found.
        StoreUnavailable: the tool failed; with the end of its output.
    """
    with started_tool(command, folder) as process:
        output, said = _follow(process, on_line, meanwhile, every_s)
        status = process.wait()
    if status:
        how = f"ended with {status}" if status > 0 else f"was killed by signal {-status}"
        raise StoreUnavailable(f"{_name(command)} {how}: {end_of(said or output.splitlines())}")
    return output


@contextmanager
def started_tool(
    command: Sequence[str], folder: Path | None = None, *, stdin: int = subprocess.DEVNULL
) -> Iterator[subprocess.Popen[bytes]]:
    """The process, in a session of its own, which an error ends with all that it started.

    Otherwise the block ends with the process.  Raises ConfigError where it cannot be run.
    """
    try:
        process = subprocess.Popen(  # noqa: S603  words of the configuration, and no shell
            command,
            cwd=folder,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except OSError as error:
        raise ConfigError(
            f"{command[0]} cannot be run ({error.strerror}): set hbase_command and hadoop_command "
            "to the commands of HBase and Hadoop"
        ) from error
    with process:
        try:
            yield process
        except BaseException:
            _end(process)
            raise


def _end(process: subprocess.Popen[bytes]) -> None:
    """End its process group: SIGTERM, then SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_TIMEOUT_S)


def _follow(
    process: subprocess.Popen[bytes],
    on_line: Callable[[str], None],
    meanwhile: Callable[[], None],
    every_s: float,
) -> tuple[str, list[str]]:
    """Read both outputs to their ends; return standard output and the last lines of errors."""
    assert process.stdout is not None
    assert process.stderr is not None
    output = bytearray()
    kept: deque[str] = deque(maxlen=_KEPT_LINES)
    rest = b""
    open_ends = {process.stdout.fileno(), process.stderr.fileno()}
    errors = process.stderr.fileno()
    next_call = time.monotonic() + every_s
    while open_ends:
        wait_s = max(0.0, next_call - time.monotonic())
        ready, _, _ = select.select(open_ends, (), (), wait_s)
        if time.monotonic() >= next_call:
            meanwhile()
            next_call = time.monotonic() + every_s
        for end in ready:
            piece = os.read(end, 65536)
            if not piece:
                open_ends.discard(end)
            elif end == errors:
                *lines, rest = (rest + piece).split(b"\n")
                rest = rest[-_LONGEST_LINE_BYTES:]
                for line in map(_text, lines):
                    kept.append(line)
                    on_line(line)
            else:
                output += piece
                del output[:-_KEPT_BYTES]
    if rest:
        kept.append(_text(rest))
        on_line(kept[-1])
    return output.decode("utf-8", "replace"), list(kept)


def _text(line: bytes) -> str:
    return line[-_LONGEST_LINE_BYTES:].decode("utf-8", "replace").rstrip()


def _name(command: Sequence[str]) -> str:
    """The command and its first argument that is not an option."""
    does = next((word for word in command[1:] if re.fullmatch(r"\w[\w.]*", word)), "")
    return f"{os.path.basename(command[0])} {does.rpartition('.')[2]}".strip()


def end_of(lines: Sequence[str]) -> str:
    """The last lines of a tool's output that are not a stack trace, on one line."""
    said = [line.strip() for line in lines if line.strip() and not line.startswith("\tat ")]
    return " | ".join(said[-_QUOTED_LINES:])[-_QUOTED_CHARS:] or "it printed nothing"
