"""Tools as child processes: real ones, of the shell."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from killing import is_running

from pinakes.config import load_configuration
from pinakes.errors import ConfigError, StoreUnavailable
from pinakes.hadoop_tools import HadoopTools, parse_command, run_tool
from pinakes.profile import hadoop_tools


def shell(script: str, *arguments: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", script, "tool", *arguments)


def test_output_is_returned_and_errors_are_passed_line_by_line() -> None:
    lines: list[str] = []
    script = "echo one; echo first >&2; echo two; printf 'second\\nlast' >&2"
    assert run_tool(shell(script), on_line=lines.append) == "one\ntwo\n"
    assert lines == ["first", "second", "last"]


def test_arguments_arrive_as_they_are() -> None:
    odd = "a b;$(exit 3)'\"*"
    assert run_tool(shell('printf %s "$1"', odd)) == odd


def test_tool_has_no_input() -> None:
    assert run_tool(shell("cat; echo end")) == "end\n"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo what went wrong >&2; exit 3", "sh tool ended with 3: what went wrong"),
        ("echo only here; exit 255", "sh tool ended with 255: only here"),
        ("exit 1", "sh tool ended with 1: it printed nothing"),
        ("kill -9 $$", "sh tool was killed by signal 9"),
        ("printf 'why\\n\\tat a.B.c(B.java:1)\\n\\tat d\\n' >&2; exit 1", "1: why"),
        ("i=0; while [ $i -lt 99 ]; do i=$((i+1)); echo $i >&2; done; exit 1", "98 | 99"),
    ],
    ids=["error", "output", "silent", "killed", "stack trace", "many lines"],
)
def test_failure_quotes_the_end_of_the_output(script: str, words: str) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        run_tool(shell(script))
    assert words in str(caught.value)
    assert "\tat" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_error_is_never_longer_than_a_screen() -> None:
    with pytest.raises(StoreUnavailable) as caught:
        run_tool(shell("head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 1"))
    assert 100 < len(str(caught.value)) < 2200


def test_the_end_of_much_output_is_kept() -> None:
    output = run_tool(shell("head -c 9000000 /dev/zero | tr '\\0' x; echo end"))
    assert output.endswith("xend\n")
    assert len(output) == 4 << 20


def test_missing_command_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="hbase_command"):
        run_tool([str(tmp_path / "none")])


def test_callback_is_called_while_waiting(tmp_path: Path) -> None:
    calls: list[int] = []

    def meanwhile() -> None:
        calls.append(1)
        if len(calls) == 3:
            (tmp_path / "go").touch()

    run_tool(
        shell('until [ -e "$1/go" ]; do sleep 0.05; done', str(tmp_path)),
        meanwhile=meanwhile,
        every_s=0.01,
    )
    assert len(calls) >= 3


def family(folder: Path) -> tuple[str, ...]:
    """A tool whose child notes its number, and both wait for ever."""
    script = 'sh -c \'echo $$ >"$1/new"; mv "$1/new" "$1/child"; exec sleep 1000\' x "$1" & wait'
    return shell(script, str(folder))


def test_error_in_callback_ends_the_tool_and_its_children(tmp_path: Path) -> None:
    def meanwhile() -> None:
        if (tmp_path / "child").exists():
            raise StoreUnavailable("the claim is lost")

    with pytest.raises(StoreUnavailable, match="claim is lost"):
        run_tool(family(tmp_path), meanwhile=meanwhile, every_s=0.02)
    child = int((tmp_path / "child").read_text())
    while is_running(child):
        time.sleep(0.02)


def test_a_signal_ends_the_tool_and_its_children(tmp_path: Path) -> None:
    def interrupt() -> None:
        while not (tmp_path / "child").exists():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            run_tool(family(tmp_path))
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    child = int((tmp_path / "child").read_text())
    while is_running(child):
        time.sleep(0.02)


def test_commands_are_words_of_the_configuration() -> None:
    options = {"hbase_command": "sudo -u hbase '/opt/h base/bin/hbase'"}
    configuration = load_configuration(options=options, environment={}, folder=Path("/"))
    assert hadoop_tools(configuration) == HadoopTools(
        hbase=("sudo", "-u", "hbase", "/opt/h base/bin/hbase"), hadoop=("hadoop",)
    )


@pytest.mark.parametrize("text", ["", "  ", "'unclosed"])
def test_invalid_command_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"command|quotation"):
        parse_command(text)
    with pytest.raises(ConfigError, match="--hadoop-command is"):
        load_configuration(options={"hadoop_command": text}, environment={}, folder=Path("/"))
