"""Run what a tool is said to do, and judge it by what must come out."""

from __future__ import annotations

import contextlib
import os
import shlex
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.jobs_and_peers.scene import Scene
from bench.jobs_and_peers.tools import Tool

TIMEOUT_S = 120


@dataclass(slots=True, kw_only=True)
class Ran:
    """What commands left behind."""

    scene: Scene
    out: Path
    """A folder of their own, in which they ran."""
    codes: list[int] = field(default_factory=list)
    stdout: bytes = b""
    """Of the last command; or what the server answered."""
    said: str = ""
    """Standard error of the last command that said something."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One tool at one job: its commands, and how the result is read.

    In a command {words} stand for files and offsets of the scene, {web} for a server that
    has the files; it runs in an empty folder.  `serves` is a server that is started last, and `url`
    what it is asked: a path, or as a proxy a whole URL.
    """

    commands: tuple[str, ...]
    read: Callable[[Ran], object]
    stdin: str | None = None
    serves: str = ""
    url: str = ""
    note: str = ""
    """Why it fails, where that has been looked at."""


def attempt(
    *commands: str,
    read: Callable[[Ran], object],
    stdin: str | None = None,
    serves: str = "",
    url: str = "",
    note: str = "",
) -> Attempt:
    """An attempt, with its commands first."""
    return Attempt(commands=commands, read=read, stdin=stdin, serves=serves, url=url, note=note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A row: what is to be done, what must come out, and who claims to do it."""

    name: str
    group: str
    expected: Callable[[Scene], object]
    attempts: Mapping[str, Attempt]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether the tool did it, and if not, what happened instead."""

    done: bool
    why: str = ""


def judge(job: Job, tool: Tool, scene: Scene, out: Path, words: Mapping[str, str]) -> Verdict:
    """Run the attempt of `tool` in the empty folder `out`, and compare."""
    attempt = job.attempts[tool.name]
    ran = Ran(scene=scene, out=out)
    try:
        _run(attempt, tool, ran, dict(words))
        found = attempt.read(ran)
    except (subprocess.TimeoutExpired, OSError, LookupError, ValueError, EOFError) as why:
        return Verdict(done=False, why=attempt.note or _last_line(ran) or f"{why!r:.120}")
    if found == job.expected(scene):
        return Verdict(done=True)
    plain = f"got {found!r:.80}, expected {job.expected(scene)!r:.80}"
    return Verdict(done=False, why=attempt.note or _last_line(ran) or plain)


def _last_line(ran: Ran) -> str:
    """The end of what a failed command said, its place left out."""
    lines = [line.strip() for line in ran.said.splitlines() if line.strip()]
    if not lines or not any(ran.codes):
        return ""
    told = [line for line in lines if "Error" in line or "Exception" in line]
    return (
        (told or lines)[-1]
        .removeprefix("pinakes: warning: ")
        .replace(f"{ran.scene.folder}/", "")
        .replace(f"{ran.out}/", "")[:160]
    )


def _run(attempt: Attempt, tool: Tool, ran: Ran, words: dict[str, str]) -> None:
    env = {**os.environ, **tool.env, **in_s3(words["web"])}
    stdin = Path(words[attempt.stdin]).read_bytes() if attempt.stdin else b""
    for command in attempt.commands:
        done = subprocess.run(
            _argv(command, tool, words),
            cwd=ran.out,
            env=env,
            input=stdin,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
        ran.codes.append(done.returncode)
        ran.stdout = done.stdout
        ran.said = done.stderr.decode(errors="replace") or ran.said
    if attempt.serves:
        port = str(_free_port())
        argv = _argv(attempt.serves, tool, {**words, "port": port})
        with _serving(argv, ran.out, {**env, "PORT": port}, int(port)):
            ran.stdout = _answer(attempt.url, f"http://127.0.0.1:{port}")


def in_s3(web: str) -> dict[str, str]:
    """What leads a client of S3 to the server that has the files, on loopback."""
    return {
        "AWS_ENDPOINT_URL": web,
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }


def _argv(command: str, tool: Tool, words: Mapping[str, str]) -> list[str]:
    """The command line; words are put in last, so that a path may hold anything."""
    program, *rest = shlex.split(command)
    return [*tool.programs.get(program, (program,)), *(word.format_map(words) for word in rest)]


def _answer(url: str, server: str) -> bytes:
    """What the server says to a path, or as a proxy to a whole URL."""
    proxies = {} if url.startswith("/") else {"http": server}
    opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies))
    with opener.open(server + url if url.startswith("/") else url, timeout=TIMEOUT_S) as answer:
        body: bytes = answer.read()
        return body


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@contextlib.contextmanager
def _serving(argv: list[str], folder: Path, env: dict[str, str], port: int) -> Iterator[None]:
    """A server of a tool, on loopback, until the block ends."""
    with (folder / "server.txt").open("wb") as said:
        process = subprocess.Popen(argv, cwd=folder, env=env, stdout=said, stderr=said)
        try:
            deadline = time.monotonic() + TIMEOUT_S
            while process.poll() is None and time.monotonic() < deadline:
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                    break
                time.sleep(0.2)
            yield
        finally:
            process.terminate()
            process.wait()
