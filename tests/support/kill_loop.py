"""A store's life by a seed, verb by verb in processes that are killed at random moments."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from judge import content
from store_chain import ANY_SAVING, OURS, call

URI = "http://example.org/"
URIS, BODIES = 12, 9
Steps = tuple[tuple[str, ...], ...]
_STORES = ("store", "restored")
# A run's name stands in every revisit that it wrote, and holds the time and chance.
_RUN = re.compile(rb"(?<=run=)[\w.-]+")
BY_JOBS = ("dedupe", "--all", *ANY_SAVING, "--runner", "local")
LIFE: Steps = (
    ("init",),
    ("ingest", "one", "--crawl", "c1"),
    ("ingest", "two", "--crawl", "c2", "-j", "2"),
    ("dedupe", "--all", *ANY_SAVING),
    ("ingest", "three", "--crawl", "c3"),
    BY_JOBS,
    ("dedupe", "--all", *ANY_SAVING, "--drop-old", "--grace", "0"),
    ("crawl", "commit", "c3"),
    ("crawl", "remove", "c3"),
    ("backup", "backup"),
    ("restore-backup", "backup", "--store", "restored"),
    ("fsck", "--full", "--repair", "--store", "restored"),
    ("fsck", "--full", "--repair"),
)
WITHOUT_JOBS = tuple(step for step in LIFE if step is not BY_JOBS)
# Killed when all was done but to end: what is there is refused, as docs/backup.md says.
DONE_ALREADY = {"backup": "already holds the complete", "restore-backup": "into an empty store"}


def page(dice: random.Random, number: int, year: int) -> bytes:
    """A capture, one member: few bodies, each of several captures."""
    body = random.Random(dice.randrange(BODIES)).randbytes(3000)
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    digest = base64.b32encode(hashlib.sha1(body).digest()).decode()
    lines = (
        "WARC/1.1",
        "WARC-Type: response",
        f"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{year}{number:08d}>",
        f"WARC-Target-URI: {URI}{dice.randrange(URIS)}",
        f"WARC-Date: {year}-01-01T00:{number // 60:02d}:{number % 60:02d}Z",
        "Content-Type: application/http; msgtype=response",
        f"WARC-Payload-Digest: sha1:{digest}",
        f"Content-Length: {len(block)}",
        *("", ""),
    )
    return gzip.compress("\r\n".join(lines).encode() + block + b"\r\n\r\n", mtime=0)


def write_crawls(folder: Path, seed: int) -> None:
    """Three crawls, a year each, so that none refers to a later one."""
    dice = random.Random(seed)
    for year, crawl in enumerate(("one", "two", "three"), start=2020):
        (folder / crawl).mkdir(parents=True)
        number = 0
        for file in range(dice.randrange(3, 6)):
            members = []
            for _ in range(dice.randrange(6, 13)):
                members.append(page(dice, number, year))
                number += 1
            (folder / crawl / f"{file}.warc.gz").write_bytes(b"".join(members))


class Ended(NamedTuple):
    """How a process ended; `exit_code` is negative where it was killed."""

    exit_code: int
    out: str
    err: str
    seconds: float


class Kill(NamedTuple):
    """A kill that a process did not outlive."""

    step: str
    after_s: float
    changed: bool
    """Some file was no longer as before the step."""


class Life:
    """The steps of one seed in a folder, and what is left of them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        write_crawls(folder, seed)
        (folder / "tmp").mkdir()
        self.kills: list[Kill] = []

    def run(self, *step: str, kill_after_s: float | None = None) -> Ended:
        """Run `pinakes` in a process group of its own; kill -9 the group after so many seconds."""
        store = () if "--store" in step else ("--store", "store")
        # Absolute: jobs work in other folders.
        words = [str(self.folder / word) if word in _STORES else word for word in (*step, *store)]
        begin = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "pinakes.cli", "-q", *words],
            cwd=self.folder,
            env={**os.environ, "TMPDIR": str(self.folder / "tmp")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        if kill_after_s is not None:
            try:
                process.wait(kill_after_s)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return Ended(process.returncode, out, err, time.monotonic() - begin)

    def kill(self, step: tuple[str, ...], after_s: float) -> Ended:
        """Run a step, to be killed; it may have been quicker."""
        before = self._traces()
        ended = self.run(*step, kill_after_s=after_s)
        if ended.exit_code == -signal.SIGKILL:
            self.kills.append(Kill(" ".join(step), after_s, self._traces() != before))
        return ended

    def outcome(self) -> dict[str, Any]:
        """What there is at the end, without what chance and the time of day have a part in."""
        found: dict[str, Any] = {}
        for name in _STORES:
            store = self.folder / name
            fsck = call("fsck", "--full", "--store", store)
            found[f"{name}: fsck"] = fsck.exit_code, fsck.out
            found[f"{name}: files"] = dict(self._archive_files(store / "archive"))
            found[f"{name}: left"] = sorted(self._left(store))
            found[f"{name}: captures"] = list(self._captures(store))
        verified = call("backup", self.folder / "backup", "--verify")
        found["backup: verified"] = verified.exit_code, verified.err
        found["backup: files"] = dict(self._archive_files(self.folder / "backup" / "archive"))
        return found

    def _traces(self) -> dict[str, tuple[int, int]]:
        """Size and time of every file of the stores and the backup."""
        traces = {}
        for place in (*_STORES, "backup"):
            for path in (self.folder / place).rglob("*"):
                if path.is_file():
                    status = path.stat()
                    traces[str(path)] = status.st_size, status.st_mtime_ns
        return traces

    def _archive_files(self, archive: Path) -> Iterator[tuple[str, bytes]]:
        """Content by name; of a sidecar the name alone, for it holds the run's."""
        for path in sorted(archive.rglob("*")):
            if path.is_file():
                is_sidecar = path.name.endswith(".parquet")
                inflated = b"" if is_sidecar else content(path.read_bytes())
                yield str(path.relative_to(archive)), _RUN.sub(b"", inflated)

    def _left(self, store: Path) -> Iterator[str]:
        """What was written aside or for the time being, and is still there."""
        for place in (store / "archive" / ".landing", store / "backups"):
            yield from (str(path.relative_to(store)) for path in place.rglob("*"))
        for path in (store / "runs").glob("*/*"):
            if path.name != "report.json":
                yield str(Path("runs", "RUN", path.name))
        yield from (path.name for path in store.iterdir() if path.is_dir() and path.name != "runs")

    def _captures(self, store: Path) -> Iterator[object]:
        """What the catalogue says of crawls, files and captures."""
        verbs = [("crawl", "list"), *(("crawl", "show", crawl) for crawl in ("c1", "c2", "c3"))]
        verbs += [("timeline", f"{URI}{number}") for number in range(URIS)]
        for verb in verbs:
            answer = call(*verb, "--json", "--store", store)
            assert answer.exit_code == 0, answer
            for text in answer.out.splitlines():
                line = json.loads(text)
                line.pop("landed", None)
                if line.get("generation") != 1:
                    # The run's name, in revisits, compresses to more or fewer bytes: fsck compares.
                    for size in _COMPRESSED[verb[:2] == ("crawl", "show") and "file" in line]:
                        line.pop(size, None)
                yield verb, line


_COMPRESSED = {
    False: ("offset", "length", "stored_bytes", "old_bytes"),
    True: ("bytes", "sha256"),
}
"""What depends on it: of a crawl or capture, and of a file of a crawl."""


class Undisturbed(NamedTuple):
    """The life of a seed in which nothing was killed."""

    ended: list[Ended]
    outcome: dict[str, Any]


def undisturbed(folder: Path, seed: int, steps: Steps) -> Undisturbed:
    """Run all steps; each must do all that it was called for."""
    life = Life(folder, seed)
    ended = [life.run(*step) for step in steps]
    for step, end in zip(steps, ended, strict=True):
        assert end.exit_code == 0, f"{step}: {end}"
    outcome = life.outcome()
    assert any(OURS in data for data in outcome["restored: files"].values()), (
        "nothing to deduplicate"
    )
    return Undisturbed(ended, outcome)


def killed(
    folder: Path, seed: int, steps: Steps, kills: int, measured: Undisturbed
) -> tuple[list[Kill], list[str]]:
    """The same life, with `kills` kills dealt out over its steps: those with effect, and findings.

    A kill comes at a random moment of the seconds that the step took undisturbed; then the same
    command is run again, and killed again where more kills were dealt to it.
    """
    dice = random.Random(seed)
    rounds, rest = divmod(kills, len(steps))
    extra = dice.sample(range(len(steps)), rest)
    life, found = Life(folder, seed), []
    for number, step in enumerate(steps):
        after_s = [
            dice.uniform(0, measured.ended[number].seconds)
            for _ in range(rounds + (number in extra))
        ]
        for moment_s in after_s:
            life.kill(step, moment_s)
        end = life.run(*step)
        done = DONE_ALREADY.get(step[0])
        is_done = bool(after_s) and end.exit_code == 2 and done is not None and done in end.err
        if end.exit_code != 0 and not is_done:
            found.append(f"{step} killed after {after_s} s, then: {end}")
    outcome = life.outcome()
    for what, expected in measured.outcome.items():
        if outcome[what] != expected:
            found.append(f"{what}: {_difference(expected, outcome[what])}")
    return life.kills, found


def _difference(expected: object, there: object) -> str:
    """The items that only one of them has."""
    if isinstance(expected, dict) and isinstance(there, dict):
        names = expected.keys() | there.keys()
        different = sorted(name for name in names if expected.get(name) != there.get(name))
        return f"different: {different}"
    if isinstance(expected, list) and isinstance(there, list):
        missing = [item for item in expected if item not in there]
        added = [item for item in there if item not in expected]
        return f"{len(missing)} missing, {len(added)} added: {missing[:2]}, {added[:2]}"
    return f"expected {expected}, not {there}"
