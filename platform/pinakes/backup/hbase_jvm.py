"""A JVM with the classes of HBase, asked from Python by py4j.

HBase lets its tables be snapshotted, exported and cloned by Java alone: its Thrift servers
know no snapshots.  The command `hbase` starts py4j's server, on loopback, on a port that is
free, with a token; the JVM ends when its standard input does, so also when this process is
killed.  A JRE is enough.
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

from pinakes.errors import ConfigError, MissingExtra, PinakesError, StoreUnavailable
from pinakes.hadoop_tools import end_of, started_tool

_SERVER = ("py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0")
_KEPT_LINES = 200
_PATIENCE_TO_END_S = 20.0
_PATIENCE_TO_READ_S = 2.0
_NOT_ALLOWED = ("AccessDenied", "AccessControl", "Permission")


class HBaseJvm:
    """Classes by their Java names, below `jvm`; made by `open_jvm`."""

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
        """Whatever Java raises in the block becomes an error of ours, about `what`."""
        from py4j.protocol import Py4JError, Py4JJavaError

        try:
            yield
        except Py4JJavaError as error:
            raise _failure_of(what, error) from error
        except (Py4JError, OSError) as error:
            raise StoreUnavailable(
                f"{what}: the JVM of HBase's classes is gone: {self.said()}"
            ) from error


def _failure_of(what: str, error: Any) -> PinakesError:
    text = str(error.java_exception.toString()).partition("\n")[0]
    if any(sign in text for sign in _NOT_ALLOWED):
        return ConfigError(f"{what}: HBase or HDFS does not allow it: {text}")
    return StoreUnavailable(f"{what}: {text}")


@contextmanager
def open_jvm(command: Sequence[str]) -> Iterator[HBaseJvm]:
    """Start a JVM by the words that call `hbase`; it ends with the block.

    Raises:
        ConfigError: there is no such command.
        MissingExtra: there is no py4j.
        StoreUnavailable: it did not start; with the end of what it said.
    """
    try:
        from py4j.java_gateway import GatewayParameters, JavaGateway, find_jar_path
    except ImportError as error:
        raise MissingExtra(
            "backups of a cluster need the extra `cluster`: pip install pinakes[cluster]"
        ) from error
    words = ("env", f"HBASE_CLASSPATH={find_jar_path()}", *command, *_SERVER)
    # Where nothing of ours is: Hadoop leaves links in the working directory.
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
            # All goes with the JVM; and nothing is asked of one that is gone.
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
            process.wait(_PATIENCE_TO_END_S)
        except subprocess.TimeoutExpired:
            process.kill()


def _greeting(process: subprocess.Popen[bytes], name: str, log: _Log) -> tuple[int, str]:
    """The port and the token; whatever a wrapper or the JVM says before is passed over."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip().isdigit():
            return int(line), process.stdout.readline().decode("ascii", "replace").strip()
        log.note(line)
    if process.wait() in (126, 127):  # as `env` and shells say it
        raise ConfigError(f"{name} cannot be run: hbase_command says where the command of HBase is")
    raise StoreUnavailable(f"{name} did not start a JVM: {log.end()}")


@contextmanager
def _without_messages() -> Iterator[None]:
    """Keep py4j from writing to standard error what it raises as well."""
    nowhere = logging.NullHandler()
    logging.getLogger().addHandler(nowhere)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(nowhere)


class _Log:
    """What a process says, read as it says it (a full pipe would stop it); its last lines."""

    def __init__(self, errors: IO[bytes]) -> None:
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._thread = self.follow(errors)

    def follow(self, output: IO[bytes]) -> threading.Thread:
        """Read it to its end, in a thread."""

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
        self._thread.join(_PATIENCE_TO_READ_S)
        return end_of(list(self._lines))
