"""HDFS without a server: what its errors come to, and when to ask again."""

from __future__ import annotations

import threading
import weakref

import pytest
from killing import in_child

from pinakes.archive_store.hdfs.calls import Bounded, HdfsCalls, pauses
from pinakes.archive_store.hdfs.checksums import KeptChecksum
from pinakes.archive_store.hdfs.connection import HdfsConnection
from pinakes.archive_store.hdfs.errors import HdfsFileNotFound, failure_of
from pinakes.errors import ConfigError, InputRefused, PinakesError, StoreUnavailable
from pinakes.waiting import NOTICE_AFTER_S, Waiting

JAVA = r"\n\tat org.apache.hadoop.hdfs.server.namenode.SafeModeException.check(FSNamesystem.java:1)"


def rpc(java_class: str, words: str) -> RuntimeError:
    """As hdfs-native gives what a name node says."""
    return RuntimeError(f'RPCError("{java_class}", "{words}{JAVA}")')


@pytest.mark.parametrize(
    ("error", "kind", "passes", "words"),
    [
        (
            FileNotFoundError("File does not exist: /a\n\tat org"),
            HdfsFileNotFound,
            False,
            "file not found",
        ),
        (rpc("x.ParentNotDirectoryException", "/a"), HdfsFileNotFound, False, "file not found"),
        (FileExistsError("destination /b already exists"), InputRefused, False, "already"),
        (
            rpc("IOException", "Source /a and destination /b must both be directories"),
            InputRefused,
            False,
            "folder of this name exists already",
        ),
        (rpc("x.InvalidPathException", "Invalid path"), InputRefused, False, "refuses this name"),
        (rpc("x.SafeModeException", "Cannot create"), StoreUnavailable, True, "safe mode"),
        (
            rpc("x.DSQuotaExceededException", "The DiskSpace quota of /a is exceeded"),
            StoreUnavailable,
            False,
            "make room",
        ),
        (
            rpc("IOException", "File /a could only be written to 0 of the 1 minReplication nodes"),
            StoreUnavailable,
            True,
            "make room",
        ),
        (rpc("x.AccessControlException", "user=x"), StoreUnavailable, False, "no permission"),
        (RuntimeError("GSSAPIError(GSS_S_NO_CRED, 0"), StoreUnavailable, False, "kinit"),
        (NotImplementedError("UnsupportedFeature: hsync"), ConfigError, False, "erasure"),
        (rpc("x.StandbyException", "Operation"), StoreUnavailable, True, "no name node is active"),
        (RuntimeError('DataTransferError("All DataNodes failed'), StoreUnavailable, True, "down"),
        (ConnectionRefusedError(111, "Connection refused"), StoreUnavailable, True, "refused"),
        (RuntimeError("something new" + JAVA), StoreUnavailable, True, "something new"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_hdfs_errors_are_translated(
    error: Exception, kind: type[PinakesError], passes: bool, words: str
) -> None:
    """Its kind is not told by the names in a stack trace."""
    failure = failure_of(error, "a.warc.gz")
    assert type(failure.error) is kind
    assert failure.passes is passes
    assert failure.error.file == "a.warc.gz"
    assert words in failure.error.message


def test_pauses_grow_and_end() -> None:
    clock = [0.0]
    waited = []
    for pause_s in pauses(20.0, lambda: clock[0]):
        waited.append(pause_s)
        clock[0] += pause_s
    assert clock[0] == pytest.approx(20.0)
    assert max(waited) <= 5.0
    assert len(waited) < 20


@pytest.mark.parametrize(
    ("algorithm", "comparable"),
    [
        ("MD5-of-2048MD5-of-512CRC32C", True),
        ("MD5-of-0MD5-of-512CRC32C", True),
        ("MD5-of-0MD5-of-512CRC32", False),
        ("MD5-of-0MD5-of-4096CRC32C", False),
        ("COMPOSITE-CRC32C", False),
    ],
)
def test_only_checksums_of_our_kind_are_compared(algorithm: str, comparable: bool) -> None:
    assert KeptChecksum(algorithm, bytes(28)).comparable is comparable
    assert not KeptChecksum(algorithm, bytes(4)).comparable


# --- Calls that do not come back


LONG_S = 300.0


def test_results_and_errors_are_passed_on() -> None:
    bounded = Bounded(Waiting("HDFS", 60.0))
    assert bounded.call(lambda: 7, LONG_S) == 7
    with pytest.raises(ZeroDivisionError):
        bounded.call(lambda: 1 // 0, LONG_S)
    bounded.close()
    assert bounded.call(lambda: 8, LONG_S) == 8
    bounded.close()


def test_own_timeout_error_is_not_taken_for_the_bound() -> None:
    bounded = Bounded(Waiting("HDFS", 60.0))
    first = bounded.call(threading.get_ident, LONG_S)

    def late() -> None:
        raise TimeoutError("a server's")

    with pytest.raises(TimeoutError, match="a server's"):
        bounded.call(late, LONG_S)
    assert bounded.call(threading.get_ident, LONG_S) == first
    bounded.close()


@pytest.mark.slow
def test_slow_call_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    bounded, go = Bounded(Waiting("HDFS", 60.0)), threading.Event()
    timer = threading.Timer(NOTICE_AFTER_S + 0.5, go.set)
    timer.start()
    assert bounded.call(go.wait, LONG_S)
    assert caplog.messages == ["waiting for HDFS, for up to 60 s: it has not answered yet"]
    bounded.close()
    timer.join()


def test_hanging_call_is_abandoned_with_its_thread() -> None:
    bounded, go = Bounded(Waiting("HDFS", 60.0)), threading.Event()
    threads = [bounded.call(threading.current_thread, LONG_S)]

    def hang() -> None:
        threads.append(threading.current_thread())
        go.wait()

    with pytest.raises(TimeoutError, match="no answer in"):
        bounded.call(hang, 0.05)
    assert bounded.call(threading.current_thread, LONG_S) is not threads[0]
    go.set()
    threads[0].join()  # it ends by itself
    bounded.close()


def test_a_client_from_before_a_fork_is_not_cleared_away() -> None:
    """Its threads are not there: to end it would wait for them."""
    calls = HdfsCalls(HdfsConnection(url="hdfs://127.0.0.1:1/none"))
    inherited = weakref.ref(calls.client())

    def call() -> None:
        calls.client()
        assert inherited() is not None

    assert in_child(call) == 0
    calls.close()
