"""Look-ups of digests by crawlers: `POST /digests` beside a Redis with the hash of Browsertrix.

Both have the same drawn captures, and are asked by one client that reads every answer, in turn.
Redis has one hash, `alldupes`: digest to `waczIndex date url size`, as Browsertrix keeps it.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from statistics import median

from bench.cache import cache_dir
from bench.measure import ratios, spread
from bench.peers.cdx_servers import free_port, running
from bench.results import laid_out, written
from bench.rounds import say

from . import stored
from .drawn import CRAWL, captures
from .load import cpu_seconds, own_bytes
from .servers import OURS, pinakes

GROUP = "access: look-ups of digests"
REDIS = "Redis"
BATCH = 1000
_HASH = b"alldupes"
_ROUND_BATCHES, _ROUND_SINGLES = 20, 2000
HEAD = (
    "look-ups",
    "server",
    "a second",
    "a CPU second",
    "time ÷ Redis'",
    "p50 ms",
    "p99 ms",
    "MB of its own",
)

Ask = Callable[[Sequence[str]], int]
"""Looks digests up; how many were found."""


def digests_of(count: int, wanted: int) -> list[str]:
    """Digests of drawn captures, in hex, by a fixed seed."""
    chance = random.Random(count)
    numbers = set(chance.sample(range(count), min(wanted, count)))
    found = [
        hashlib.sha1(capture.content).hexdigest()
        for capture in captures(count)
        if capture.number in numbers
    ]
    chance.shuffle(found)
    return found


class OursByHttp:
    """`pinakes serve`, over one connection."""

    def __init__(self, port: int) -> None:
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)

    def batch(self, digests: Sequence[str]) -> int:
        """POST /digests, and its lines read."""
        path = f"/default/digests?crawl={CRAWL}"
        self._connection.request("POST", path, "\n".join(digests).encode("ascii"))
        lines = self._connection.getresponse().read().splitlines()
        return sum(json.loads(line)["original"] is not None for line in lines)

    def single(self, digests: Sequence[str]) -> int:
        """GET /digest/…?original=true, one after the other."""
        found = 0
        for digest in digests:
            path = f"/default/digest/{digest}?original=true&crawl={CRAWL}"
            self._connection.request("GET", path)
            found += bool(self._connection.getresponse().read())
        return found


class RedisByLines:
    """A Redis, over one connection: its protocol has lines and counted bytes."""

    def __init__(self, port: int) -> None:
        self._connection = socket.create_connection(("127.0.0.1", port))
        self._answers = self._connection.makefile("rb", 1 << 16)

    def load(self, count: int) -> None:
        """Put the drawn captures into the hash; of one digest, the last."""
        self.pipeline(
            (
                b"HSET",
                _HASH,
                hashlib.sha1(capture.content).hexdigest().encode("ascii"),
                f"0 {capture.time_14} {capture.url} 1100".encode("ascii"),
            )
            for capture in captures(count)
        )

    def pipeline(self, commands: Iterable[Sequence[bytes]]) -> None:
        """Run commands, a batch at a time."""
        waiting = iter(commands)
        while some := [_command(*words) for words in islice(waiting, BATCH)]:
            self._send(some)

    def _send(self, commands: Sequence[bytes]) -> list[bytes | None]:
        self._connection.sendall(b"".join(commands))
        return [self._answer() for _ in commands]

    def _answer(self) -> bytes | None:
        line = self._answers.readline()
        if line[:1] == b"$":
            size = int(line[1:])
            return self._answers.read(size + 2)[:-2] if size >= 0 else None
        if line[:1] == b"-":
            raise RuntimeError(line.decode())
        return line

    def batch(self, digests: Sequence[str]) -> int:
        """HGET of each, in one pipeline; the values split as a client has to."""
        asked = [_command(b"HGET", _HASH, digest.encode("ascii")) for digest in digests]
        values = [value.split(b" ") for value in self._send(asked) if value is not None]
        return len(values)

    def single(self, digests: Sequence[str]) -> int:
        """HGET, one after the other."""
        return sum(self.batch([digest]) for digest in digests)


def _command(*words: bytes) -> bytes:
    parts = b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)
    return b"*%d\r\n%b" % (len(words), parts)


@contextmanager
def redis(folder: Path) -> Iterator[tuple[int, int]]:
    """A Redis that keeps nothing on disk; its process and its port."""
    folder.mkdir()
    port = free_port()
    options = ["--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no"]
    with running(["redis-server", *options], folder, port) as process_id:
        yield process_id, port


def run(*, count: int, runs: int) -> None:
    """Measure, and print one table."""
    if shutil.which("redis-server") is None:
        print(f"{GROUP}: absent: redis-server is not installed: apt-get install redis-server")
        return
    folder = cache_dir() / "access"
    folder.mkdir(exist_ok=True)
    say(f"{GROUP}: {count:,} captures")
    store = stored.build(folder, count)
    digests = digests_of(count, runs * _ROUND_BATCHES * BATCH)
    with (
        tempfile.TemporaryDirectory(dir=cache_dir(), prefix="lookups-") as scratch,
        ExitStack() as stack,
    ):
        ours = stack.enter_context(pinakes(store, Path(scratch) / "ours"))
        process_id, port = stack.enter_context(redis(Path(scratch) / "redis"))
        there = RedisByLines(port)
        there.load(count)
        here = OursByHttp(ours.port)
        servers = {OURS: (ours.process_id, here), REDIS: (process_id, there)}
        rows = [
            *_measured(
                f"batches of {BATCH:,}",
                {name: (pid, one.batch) for name, (pid, one) in servers.items()},
                [digests[at : at + BATCH] for at in range(0, len(digests), BATCH)],
                runs,
            ),
            *_measured(
                "single",
                {name: (pid, one.single) for name, (pid, one) in servers.items()},
                [[digest] for digest in digests[: runs * _ROUND_SINGLES]],
                runs,
            ),
        ]
    widths = [max(map(len, column)) for column in zip(HEAD, *rows, strict=True)]
    rule = tuple("-" * width for width in widths)
    print(f"{GROUP}: {count:,} captures; {runs} rounds\n")
    print("\n".join(laid_out(line, widths) for line in (HEAD, rule, *rows)))


def _measured(
    what: str, servers: dict[str, tuple[int, Ask]], asked: Sequence[Sequence[str]], runs: int
) -> list[tuple[str, ...]]:
    """A row a server: rounds by turns, each over other digests."""
    for _, ask in servers.values():
        assert ask(asked[0]) == len(asked[0])
    each = len(asked) // runs
    seconds: dict[str, list[float]] = {name: [] for name in servers}
    cpu: dict[str, list[float]] = {name: [] for name in servers}
    alone: dict[str, list[float]] = {name: [] for name in servers}
    for number in range(runs):
        some = asked[number * each : (number + 1) * each]
        total = sum(map(len, some))
        for name, (process_id, ask) in servers.items():
            before_s, times = cpu_seconds(process_id), []
            for digests in some:
                began_s = time.perf_counter()
                found = ask(digests)
                times.append(time.perf_counter() - began_s)
                if found != len(digests):
                    raise RuntimeError(f"{name} found {found} of {len(digests)} digests")
            seconds[name].append(sum(times) / total)
            cpu[name].append(max(cpu_seconds(process_id) - before_s, 0.01) / total)
            alone[name] += times
    rows = []
    for name in servers:
        rate, times = spread([1 / each_s for each_s in seconds[name]]), sorted(alone[name])
        quotient = written(ratios(seconds[name], seconds[REDIS])) if name != REDIS else ""
        rows.append(
            (
                what,
                name,
                f"{rate.middle:,.0f} ({rate.least:,.0f}–{rate.most:,.0f})",
                f"{1 / median(cpu[name]):,.0f}",
                quotient,
                f"{median(times) * 1000:.2f}",
                f"{times[len(times) * 99 // 100] * 1000:.2f}",
                f"{own_bytes(servers[name][0]) / 1e6:,.0f}",
            )
        )
    return rows
