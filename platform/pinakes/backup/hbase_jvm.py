"""A JVM with HBase's classes, called from Python through py4j.

HBase tables can be snapshotted, exported and cloned only from Java: its Thrift servers have no
calls for snapshots.  The command `hbase` starts py4j's server on loopback, on a free port, with a
token; the JVM ends when its standard input closes, so also when this process is killed.  A JRE is
enough.
"""

from __future__ import annotations

import logging
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from pinakes.errors import ConfigError, PinakesError, StoreUnavailable
from pinakes.extras import missing_extra
from pinakes.hadoop_tools import end_of, started_tool

_SERVER = ("py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0")
_KEPT_LINES = 200
_END_TIMEOUT_S = 20.0
_READ_TIMEOUT_S = 2.0
_NOT_ALLOWED = ("AccessDenied", "AccessControl", "Permission")


class HBaseJvm:
    """Java classes by name, below `jvm`; made by `open_jvm`."""

    def __init__(self, gateway: Any, log: _Log) -> None:
        self._gateway = gateway
        self._log = log
        self.hadoop = gateway.jvm.org.apache.hadoop
        self.hbase = self.hadoop.hbase

    def texts(self, words: Sequence[str]) -> Any:
        """A Java array of strings."""
        array = self._gateway.new_array(self._gateway.jvm.String, len(words))
        for place, word in enumerate(words):
            array[place] = word
        return array

    def said(self) -> str:
        """The end of what the JVM wrote to its log."""
        return self._log.end()

    @contextmanager
    def asked(self, what: str) -> Iterator[None]:
        """Translate Java exceptions of the block to ours; `what` begins their messages."""
        from py4j.protocol import Py4JError, Py4JJavaError

        try:
            yield
        except Py4JJavaError as error:
            raise _failure_of(what, error) from error
        except (Py4JError, OSError) as error:
            raise StoreUnavailable(
                f"{what}: the JVM with HBase's classes has ended: {self.said()}"
            ) from error


def _failure_of(what: str, error: Any) -> PinakesError:
    text = str(error.java_exception.toString()).partition("\n")[0]
    if any(sign in text for sign in _NOT_ALLOWED):
        return ConfigError(f"{what}: HBase or HDFS does not allow it: {text}")
    return StoreUnavailable(f"{what}: {text}")


@contextmanager
def open_jvm(command: Sequence[str]) -> Iterator[HBaseJvm]:
    """Start a JVM with the command line of `hbase`; it ends with the block.

    Raises:
        ConfigError: command not found.
        MissingExtra: py4j is not installed.
        StoreUnavailable: it did not start; with the end of its output.
    """
    try:
        from py4j.java_gateway import GatewayParameters, JavaGateway, find_jar_path
    except ImportError as error:
        raise missing_extra("backups of a cluster need py4j", "cluster") from error
    words = ("env", f"HBASE_CLASSPATH={find_jar_path()}", *command, *_SERVER)
    # In an empty folder: Hadoop leaves links in the working directory.
    with (
        tempfile.TemporaryDirectory(prefix="pinakes-jvm-") as empty,
        started_tool(words, Path(empty), stdin=subprocess.PIPE) as process,
        _without_messages(),
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        log = _Log(process.stderr)
        port, token = _greeting(process, command[0], log)
        log.follow(process.stdout)
        parameters = GatewayParameters(
            port=port,
            auth_token=token,
            auto_convert=True,
            # Everything ends with the JVM; a JVM that has ended is not called.
            enable_memory_management=False,
        )
        gateway = JavaGateway(gateway_parameters=parameters)
        try:
            yield HBaseJvm(gateway, log)
        finally:
            gateway.close()
            with suppress(OSError):
                process.stdin.close()
        try:
            process.wait(_END_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()


def _greeting(process: subprocess.Popen[bytes], name: str, log: _Log) -> tuple[int, str]:
    """The port and the token; earlier output of a wrapper or the JVM is skipped."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip().isdigit():
            return int(line), process.stdout.readline().decode("ascii", "replace").strip()
        log.note(line)
    if process.wait() in (126, 127):  # exit codes of `env` and shells
        raise ConfigError(f"{name} cannot be run: set hbase_command to the command of HBase")
    raise StoreUnavailable(f"{name} did not start a JVM: {log.end()}")


@contextmanager
def _without_messages() -> Iterator[None]:
    """Keep py4j from also logging what it raises."""
    nowhere = logging.NullHandler()
    logging.getLogger().addHandler(nowhere)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(nowhere)


class _Log:
    """A process's output, read continuously (a full pipe would block it); keeps its last lines."""

    def __init__(self, errors: IO[bytes]) -> None:
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._thread = self.follow(errors)

    def follow(self, output: IO[bytes]) -> threading.Thread:
        """Read the output to its end, in a thread."""

        def read() -> None:
            with suppress(ValueError, OSError):  # closed with the block
                for line in output:
                    self.note(line)

        thread = threading.Thread(target=read, name="said by hbase", daemon=True)
        thread.start()
        return thread

    def note(self, line: bytes) -> None:
        self._lines.append(line.decode("utf-8", "replace").rstrip())

    def end(self) -> str:
        self._thread.join(_READ_TIMEOUT_S)
        return end_of(list(self._lines))
