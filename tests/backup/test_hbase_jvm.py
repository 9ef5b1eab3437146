"""The JVM that HBase's client is asked in: started, asked, and gone.  Real ones, without HBase."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from killing import is_running

from pinakes.backup.hbase_jvm import HBaseJvm, open_jvm
from pinakes.errors import ConfigError, StoreUnavailable

pytestmark = pytest.mark.slow
TIMEOUT_S = 300.0


@pytest.fixture
def hbase(tmp_path: Path) -> tuple[str, ...]:
    """What calls a class as `hbase` does, and has something to say first."""
    if shutil.which("java") is None:
        pytest.skip("for want of java")
    return _command(
        tmp_path,
        'echo a warning; echo "$$" >"$PIDS"; echo on its way >&2; '
        'exec java -cp "$HBASE_CLASSPATH" "$@"',
    )


def _command(folder: Path, script: str) -> tuple[str, ...]:
    file = folder / "hbase"
    file.write_text(f"#!/bin/sh\nPIDS={folder}/pid\n{script}\n")
    file.chmod(0o755)
    return (str(file),)


def _java(jvm: HBaseJvm) -> object:
    return jvm._gateway.jvm.java.lang


def test_classes_are_asked_by_name(hbase: tuple[str, ...], tmp_path: Path) -> None:
    with open_jvm(hbase) as jvm:
        words = jvm.texts(["a", "b"])
        assert list(words) == ["a", "b"]
        with jvm.asked("counting"):
            assert _java(jvm).Integer.parseInt("17") == 17  # type: ignore[attr-defined]
    assert not is_running(int((tmp_path / "pid").read_text()))


def test_what_java_raises_is_an_error_of_ours(hbase: tuple[str, ...]) -> None:
    with open_jvm(hbase) as jvm:
        with (
            pytest.raises(StoreUnavailable, match=r'counting: .*NumberFormatException: .*"many"'),
            jvm.asked("counting"),
        ):
            _java(jvm).Integer.parseInt("many")  # type: ignore[attr-defined]
        trouble = jvm._gateway.jvm.java.security.AccessControlException("no")
        never = jvm._gateway.jvm.java.util.concurrent.CompletableFuture.failedFuture(trouble)
        with (
            pytest.raises(ConfigError, match=r"does not allow it: .*AccessControlException: no"),
            jvm.asked("asking"),
        ):
            never.join()


def test_a_jvm_that_goes_is_told_of(hbase: tuple[str, ...], tmp_path: Path) -> None:
    def count_until_it_goes() -> None:
        with open_jvm(hbase) as jvm, jvm.asked("counting"):
            os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
            while True:
                _java(jvm).Integer.parseInt("17")  # type: ignore[attr-defined]

    with pytest.raises(StoreUnavailable, match=r"has ended: .*on its way"):
        count_until_it_goes()


def test_it_ends_with_whoever_is_killed(hbase: tuple[str, ...], tmp_path: Path) -> None:
    program = (
        "import sys, os\n"
        "from pinakes.backup.hbase_jvm import open_jvm\n"
        "with open_jvm(sys.argv[1:]): os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, *hbase], check=False, timeout=TIMEOUT_S)
    assert done.returncode == -signal.SIGKILL
    give_up = time.monotonic() + TIMEOUT_S
    while is_running(int((tmp_path / "pid").read_text())):
        assert time.monotonic() < give_up
        time.sleep(0.05)


def test_a_command_that_is_not_there_is_a_wrong_setting(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match="set hbase_command"),
        open_jvm([str(tmp_path / "nowhere")]),
    ):
        pass


def test_a_command_that_fails_is_told_with_what_it_said(tmp_path: Path) -> None:
    command = _command(tmp_path, "echo no java here >&2; exit 3")
    with (
        pytest.raises(StoreUnavailable, match="did not start a JVM: no java here"),
        open_jvm(command),
    ):
        pass
