"""What was started is ended, whole, and nothing else; and the pipe to a browser that misbehaves."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest

from pinakes.errors import ConfigError
from pinakes.qa.browsers import devtools_pipe
from pinakes.qa.browsers.devtools_pipe import DevToolsPipe
from pinakes.qa.browsers.page_scripts import Pins
from pinakes.qa.browsers.processes import Guard, kill_session, killed_after, processes_of
from pinakes.qa.browsers.session import Session
from pinakes.qa.browsers.tab import BrowserGone, PageRefused, Tab, Viewport

PINS = Pins(clock=datetime(2020, 1, 1, tzinfo=timezone.utc))

# Starts a child in a process group of its own, and one whose parent is gone.
FAMILY = """
import os, subprocess, sys, time
subprocess.Popen(["sleep", "600"], process_group=0) if sys.version_info >= (3, 11) else \
    subprocess.Popen(["sleep", "600"], preexec_fn=os.setpgrp)
subprocess.Popen(["sh", "-c", "sleep 600 & exit"]).wait()
print("ready", flush=True)
time.sleep(600)
"""


def family() -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", FAMILY], start_new_session=True, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_what_is_left_behind_by_a_process_that_was_killed_is_ended(tmp_path: Path) -> None:
    browser = family()
    (tmp_path / "profile").mkdir()
    keeper = f"""
import sys, time
from pathlib import Path
from pinakes.qa.browsers.processes import Guard
guard = Guard({browser.pid}, Path({str(tmp_path / "profile")!r}))
print("ready", flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", keeper], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert processes_of(browser.pid)
        process.kill()
    while processes_of(browser.pid) or (tmp_path / "profile").exists():
        time.sleep(0.02)
    browser.wait()


def test_what_was_ended_in_good_order_is_guarded_no_more(tmp_path: Path) -> None:
    browser = family()
    try:
        guard = Guard(browser.pid, tmp_path)
        guard.close()
        guard.close()
        assert len(processes_of(browser.pid)) == 3
        assert tmp_path.exists()
    finally:
        kill_session(browser.pid)
        browser.wait()


def test_a_session_is_ended_with_its_orphans() -> None:
    process, other = family(), family()
    try:
        assert len(processes_of(process.pid)) == 3
        kill_session(process.pid)
        assert processes_of(process.pid) == []
        assert len(processes_of(other.pid)) == 3
    finally:
        kill_session(other.pid)
        for each in (process, other):
            each.communicate()


def test_what_takes_too_long_is_ended_from_outside() -> None:
    process = family()
    with killed_after(process.pid, 0.1) as struck:
        process.communicate()
    assert struck.is_set()
    assert processes_of(process.pid) == []


def test_what_is_quick_is_left_alone() -> None:
    process = family()
    try:
        with killed_after(process.pid, 600) as struck:
            pass
        assert not struck.is_set()
        assert len(processes_of(process.pid)) == 3
    finally:
        kill_session(process.pid)
        process.communicate()


def talk(script: str, tmp_path: Path) -> DevToolsPipe:
    program = tmp_path / "browser.py"
    program.write_text(
        "import json, os, sys\n"
        "def say(x): os.write(4, json.dumps(x).encode() + b'\\0')\n"
        "def hear():\n"
        "    taken = bytearray()\n"
        "    while not taken.endswith(b'\\0'): taken += os.read(3, 1) or sys.exit()\n"
        "    return json.loads(taken[:-1])\n" + script
    )
    return DevToolsPipe([sys.executable, str(program)], keep=frozenset({"Page.kept"}))


def test_answers_are_told_from_events(tmp_path: Path) -> None:
    pipe = talk(
        "x = hear()\n"
        "say({'method': 'Page.kept', 'params': {'n': 1}, 'sessionId': 's'})\n"
        "say({'method': 'Page.other', 'params': {}})\n"
        "say({'id': 99, 'result': {}})\n"
        "say({'id': x['id'], 'result': {'echo': x['params'], 'session': x['sessionId']}})\n"
        "x = hear(); x = hear()\n"
        "say({'id': x['id'], 'error': {'message': 'no'}})\n",
        tmp_path,
    )
    big = {"text": "ü" * 30_000}
    assert pipe.send("A.b", big, "s", timeout_s=60) == {"echo": big, "session": "s"}
    assert pipe.take_events() == [("s", "Page.kept", {"n": 1})]
    assert pipe.take_events() == []
    pipe.post("A.c", {}, None)
    with pytest.raises(PageRefused, match=r"A\.d: no"):
        pipe.send("A.d", {}, None, timeout_s=60)
    pipe.process.wait()
    pipe.close()


@pytest.mark.parametrize(
    ("length", "count", "kept"), [(1, 9, [6, 7, 8]), (500, 9, [7, 8]), (2_000, 9, [])]
)
def test_what_a_page_makes_us_keep_is_bounded(
    length: int, count: int, kept: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In events, and in bytes of them; and answers get through."""
    monkeypatch.setattr(devtools_pipe, "_MOST_EVENTS", 3)
    monkeypatch.setattr(devtools_pipe, "_MOST_BYTES", 1_500)
    pipe = talk(
        "x = hear()\n"
        f"for n in range({count}):\n"
        f"    say({{'method': 'Page.kept', 'params': {{'n': n, 'text': 'x' * {length}}}}})\n"
        "say({'id': x['id'], 'result': {}})\n"
        "x = hear(); say({'method': 'Page.kept', 'params': {'n': 9}})\n"
        "say({'id': x['id'], 'result': {}})\n",
        tmp_path,
    )
    pipe.send("A.b", {}, None, timeout_s=60)
    assert [told["n"] for _, _, told in pipe.take_events()] == kept
    pipe.send("A.b", {}, None, timeout_s=60)
    assert [told["n"] for _, _, told in pipe.take_events()] == [9]
    pipe.process.wait()
    pipe.close()


def test_a_message_without_end_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devtools_pipe, "_LONGEST_BYTES", 200_000)
    pipe = talk(
        "x = hear()\n"
        "say({'method': 'Page.kept', 'params': {'text': 'x' * 150_000}})\n"
        "say({'method': 'Page.kept', 'params': {'text': 'x' * 900_000}})\n"
        "say({'id': x['id'], 'result': {}})\n",
        tmp_path,
    )
    assert pipe.send("A.b", {}, None, timeout_s=60) == {}
    assert [len(told["text"]) for _, _, told in pipe.take_events()] == [150_000]
    pipe.process.wait()
    pipe.close()


@pytest.mark.parametrize(
    "script",
    ["sys.exit()", "hear(); os.write(4, b'{half')", "hear(); os.write(4, b'nonsense\\0'); hear()"],
    ids=["ends", "ends-in-the-middle", "talks-nonsense"],
)
def test_a_browser_that_is_gone_is_told(tmp_path: Path, script: str) -> None:
    pipe = talk(script, tmp_path)
    with pytest.raises(BrowserGone):
        pipe.send("A.b", {}, None, timeout_s=60)
    with pytest.raises(BrowserGone):
        pipe.send("A.c", {}, None, timeout_s=60)
    pipe.close()
    pipe.close()
    kill_session(pipe.process.pid)
    pipe.process.wait()


def test_a_browser_that_is_silent_is_told(tmp_path: Path) -> None:
    pipe = talk("hear(); hear()", tmp_path)
    with pytest.raises(BrowserGone, match=r"no answer to A\.b"):
        pipe.send("A.b", {}, None, timeout_s=0.05)
    kill_session(pipe.process.pid)
    pipe.process.wait()
    pipe.close()


def test_no_file_of_ours_is_left_open(tmp_path: Path) -> None:
    def opened() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = opened()
    for _ in range(3):
        pipe = talk("hear()", tmp_path)
        pipe.close()
        pipe.process.wait()
        pipe._reader.join()
    assert opened() == before


def test_where_paths_are_long_a_browser_gets_a_folder_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a task on YARN: a socket's name may have 107 bytes."""
    long = tmp_path / ("a" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    given: list[Path] = []

    def start(scratch: Path) -> Tab:
        given.append(scratch)
        raise BrowserGone("none here")

    with (
        Session("none", start, viewport=Viewport()) as session,
        pytest.raises(ConfigError, match="none does not start"),
    ):
        session.capture("http://example.org/", pins=PINS, folder=tmp_path)
    assert len(str(given[0])) < 60
    assert not given[0].exists()


# Says that it is ready, and answers nothing else.
SILENT_DRIVER = """#!{python}
import sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
    def do_POST(self):
        time.sleep(600)
port = next(word for word in sys.argv if word.startswith("--port=")).partition("=")[2]
ThreadingHTTPServer(("localhost", int(port)), Handler).serve_forever()
"""


def test_a_driver_that_never_answers_is_ended(tmp_path: Path) -> None:
    pytest.importorskip("selenium")
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service as ChromeService

    from pinakes.qa.browsers.driven import POPEN, starting

    program = tmp_path / "chromedriver"
    program.write_text(SILENT_DRIVER.format(python=sys.executable))
    program.chmod(0o700)
    service = ChromeService(executable_path=str(program), popen_kw=dict(POPEN))
    with pytest.raises(BrowserGone, match="no answer within 2 s"), starting(service, limit_s=2):
        Chrome(options=ChromeOptions(), service=service)
    assert processes_of(service.process.pid) == []
