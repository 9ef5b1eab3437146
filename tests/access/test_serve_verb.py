"""`pinakes serve` as a process, while this one lands."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from exposed_metrics import sample
from landed_stores import LandedStore, page

from pinakes.cli import main

pytestmark = pytest.mark.slow
TIMEOUT_S = 300
Exit = Callable[..., tuple[int, str]]


def command(folder: Path, *options: str) -> list[str]:
    verb = [sys.executable, "-m", "pinakes.cli", "serve", "--json", "--store", str(folder)]
    return [*verb, *options]


@contextmanager
def serving(folder: Path, processes: int = 1) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and the address that it has printed."""
    options = ("--port", "0", "--processes", str(processes))
    process = subprocess.Popen(
        command(folder, *options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())["url"]
    finally:
        process.kill()
        process.communicate()


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
        return str(answer.read().decode())


@pytest.fixture
def exit_of(capsys: pytest.CaptureFixture[str]) -> Exit:
    """The exit code of a call that is refused before anything is served, and what it said."""

    def call(folder: Path, *options: str) -> tuple[int, str]:
        code = main(["serve", "--json", "--store", str(folder), *options])
        return code, capsys.readouterr().err

    return call


def test_landing_of_another_process_is_shown(store: LandedStore) -> None:
    seen: list[float | None] = []

    with serving(store.folder) as (process, url):

        def look(step: str) -> None:
            if step == "rows":
                text = get(f"{url}metrics")
                seen.append(sample(text, "pinakes_inflight_files", crawl="c", state="landing"))
                assert json.loads(get(f"{url}healthz"))["status"] == "ok"

        store.land("c", "a.warc.gz", page("http://a.example/"), at=look)
        assert seen == [1]
        assert "Collections" in get(url)
        assert "http://a.example/" in get(f"{url}search?q=a.example")
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=TIMEOUT_S)
        assert (process.returncode, said) == (5, "stopped\n")


@pytest.mark.parametrize("request_line", [b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"GET"])
def test_bad_and_unfinished_requests_are_not_served(
    store: LandedStore, request_line: bytes
) -> None:
    with serving(store.folder) as (_, url):
        host, _, port = url.strip("/").rpartition("/")[2].partition(":")
        with closing(socket.create_connection((host, int(port)))) as silent:
            silent.sendall(request_line)
            assert json.loads(get(f"{url}healthz"))["status"] == "ok"
            if request_line.endswith(b"\r\n\r\n"):
                silent.settimeout(TIMEOUT_S)
                assert silent.recv(1000).startswith(b"HTTP/1.1 400 ")
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(f"{url}metrics", data=b"x" * 100_000, timeout=TIMEOUT_S)
        assert error.value.code in (405, 413)


@pytest.mark.large
def test_idle_connections_beyond_the_limit(store: LandedStore) -> None:
    """They are let go of, and whoever asks is answered."""
    with serving(store.folder) as (_, url), ExitStack() as idle:
        host, _, port = url.strip("/").rpartition("/")[2].partition(":")
        for _ in range(520):
            idle.enter_context(closing(socket.create_connection((host, int(port)))))
        assert json.loads(get(f"{url}healthz"))["status"] == "ok"


def test_taken_port_is_a_wrong_call(store: LandedStore, exit_of: Exit) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
        code, said = exit_of(store.folder, "--port", str(port))
    assert code == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--port", "70000"), "--port"),
        (("--host", "no.such.host.invalid"), "not an address"),
        (("--host", "192.0.2.1", "--port", "0"), "cannot listen"),
    ],
)
def test_address_that_cannot_be_bound(
    store: LandedStore, options: tuple[str, ...], words: str, exit_of: Exit
) -> None:
    code, said = exit_of(store.folder, *options)
    assert code == 2
    assert words in said


def test_missing_store_is_refused(tmp_path: Path, exit_of: Exit) -> None:
    code, said = exit_of(tmp_path / "none", "--port", "0")
    assert code == 2
    assert "pinakes init" in said


@pytest.mark.parametrize("processes", ["1", "2"])
@pytest.mark.parametrize("content", [None, b"", b"short\n", b"\xff" * 20], ids=str)
def test_bad_tokens_are_refused_before_anything_is_served(
    store: LandedStore,
    exit_of: Exit,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    processes: str,
    content: bytes | None,
) -> None:
    if content is not None:
        (tmp_path / "tokens").write_bytes(content)
    monkeypatch.setenv("PINAKES_TOKEN_FILE", str(tmp_path / "tokens"))
    code, said = exit_of(store.folder, "--port", "0", "--processes", processes)
    assert code == 2
    assert "token_file" in said


def children_of(pid: int) -> set[int]:
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def serving_processes(parent: int) -> set[int]:
    """The spawned ones; beside them is multiprocessing's tracker of resources."""
    found = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children_of(parent)}
    return {pid for pid, command in found.items() if b"spawn_main" in command}


def test_process_that_is_killed_is_replaced(store: LandedStore) -> None:
    with serving(store.folder, 2) as (process, url):
        assert json.loads(get(f"{url}healthz"))["status"] == "ok"
        before = serving_processes(process.pid)
        assert len(before) == 2
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        # Connections made meanwhile wait for those that take their places.
        assert [json.loads(get(f"{url}healthz"))["status"] for _ in range(8)] == ["ok"] * 8
        after = serving_processes(process.pid)
        assert after
        assert after.isdisjoint(before)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 5
    *deaths, last = said.splitlines()
    assert last == "stopped"
    assert {int(line.split()[5]) for line in deaths} == before
    assert all(line.endswith("ended (SIGKILL): another takes its place") for line in deaths)
    assert not [pid for pid in after if Path(f"/proc/{pid}").exists()]


def test_processes_end_with_their_parent(store: LandedStore) -> None:
    with serving(store.folder, 2) as (process, url):
        assert get(f"{url}healthz")
        children = serving_processes(process.pid)
        process.kill()
        process.wait(TIMEOUT_S)
        for _ in range(TIMEOUT_S * 10):
            if not [pid for pid in children if Path(f"/proc/{pid}").exists()]:
                break
            threading.Event().wait(0.1)
        else:
            raise AssertionError("they are still there")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("processes", [1, 2])
def test_signals_end_it(store: LandedStore, number: signal.Signals, processes: int) -> None:
    with serving(store.folder, processes) as (process, url):
        assert get(f"{url}healthz")
        process.send_signal(number)
        _, said = process.communicate(timeout=TIMEOUT_S)
    assert (process.returncode, said) == (5, "stopped\n")


@pytest.mark.parametrize("number", ["0", "-1", "x", "1000"])
def test_number_of_processes_is_checked(store: LandedStore, number: str, exit_of: Exit) -> None:
    code, said = exit_of(store.folder, "--processes", number)
    assert code == 2
    assert "--processes" in said


def test_second_server_on_the_same_port_is_refused(store: LandedStore, exit_of: Exit) -> None:
    """Though the processes of the first share it."""
    with serving(store.folder, 2) as (_, url):
        port = url.strip("/").rpartition(":")[2]
        code, said = exit_of(store.folder, "--port", port)
    assert code == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in said
