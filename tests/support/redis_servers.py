"""A Redis on loopback, a relay to it that goes after so many messages, and Browsertrix beside it.

`Crawler` does at a Redis what a crawl of Browsertrix does, command by command: `RedisDedupeIndex`
of browsertrix-crawler 1.14.1 (2f9a57d), src/util/state.ts.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer
from typing import Any

import pytest
from redis import Redis

_STARTS_S = 60


class RunningRedis:
    """Its address, a client of its own, and all that it holds."""

    def __init__(self, port: int, process: subprocess.Popen[bytes]) -> None:
        self.port = port
        self.process = process
        self.client: Any = Redis(port=port)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def dump(self) -> dict[str, Any]:
        """What lies at every key, but at those of exports that have not ended."""
        found: dict[str, Any] = {}
        for key in sorted(self.client.scan_iter(count=1000)):
            if not key.startswith(b"pinakes:aside:"):
                found[key.decode()] = self._value(key)
        return found

    def aside(self) -> list[bytes]:
        """The keys of exports that have not ended."""
        return sorted(self.client.scan_iter("pinakes:aside:*"))

    def _value(self, key: bytes) -> Any:
        kind = self.client.type(key)
        if kind == b"hash":
            return {k.decode(): v.decode() for k, v in sorted(self.client.hgetall(key).items())}
        if kind == b"set":
            return {member.decode() for member in self.client.smembers(key)}
        if kind == b"list":
            return [json.loads(member) for member in self.client.lrange(key, 0, -1)]
        if kind == b"zset":
            return self.client.zrange(key, 0, -1, withscores=True)
        return self.client.get(key).decode()


@contextmanager
def running_redis(folder: Path, *options: str) -> Iterator[RunningRedis]:
    """A server that keeps nothing on disk; skips where there is none."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed: `make tools` does it")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = int(held.getsockname()[1])
    command = ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", ""]
    with (folder / f"redis-{port}.log").open("wb") as log:
        process = subprocess.Popen([*command, *options], cwd=folder, stdout=log, stderr=log)
    try:
        end = time.monotonic() + _STARTS_S
        while time.monotonic() < end:
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            assert process.poll() is None, "redis-server has ended"
            time.sleep(0.02)
        running = RunningRedis(port, process)
        yield running
        running.client.close()
    finally:
        process.kill()
        process.wait()


class _Relay(ThreadingTCPServer):
    daemon_threads = True

    def __init__(
        self,
        target: int,
        messages: int,
        *,
        answered: bool,
        then: Callable[[], object] | None,
        always: bool,
        junk: bytes | None,
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Relayed)
        self.target = target
        self.left = messages
        self.answered = answered
        self.then = then
        self.always = always
        self.junk = junk
        self.lock = threading.Lock()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who hangs up is no error."""


class _Relayed(BaseRequestHandler):
    server: _Relay

    def handle(self) -> None:
        with socket.create_connection(("127.0.0.1", self.server.target)) as beyond:
            back = threading.Thread(target=self._send_back, args=(beyond,), daemon=True)
            back.start()
            while data := self.request.recv(1 << 20):
                with self.server.lock:
                    self.server.left -= 1
                    left = self.server.left
                if left < 0 and self.server.junk is not None:
                    self.request.sendall(self.server.junk)
                    continue
                if self.server.then is not None:
                    if left == -1 or (left < 0 and self.server.always):
                        self.server.then()
                    beyond.sendall(data)
                    continue
                if left < 0 and not (left == -1 and self.server.answered):
                    break
                beyond.sendall(data)
                if left < 0:
                    time.sleep(0.02)  # done there, and nobody hears of it
                    break
            beyond.shutdown(socket.SHUT_RDWR)
            back.join()
            with suppress(OSError):
                self.request.shutdown(socket.SHUT_RDWR)

    def _send_back(self, beyond: socket.socket) -> None:
        with suppress(OSError):
            while data := beyond.recv(1 << 20):
                if self.server.left >= 0 or self.server.then is not None:
                    self.request.sendall(data)


class Relay:
    """A way to a Redis that ends after some messages: `url`, and how many are `left`."""

    def __init__(self, server: _Relay) -> None:
        self._server = server

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._server.server_address[1]}/0"

    @property
    def left(self) -> int:
        return self._server.left


@contextmanager
def relay_of(
    redis: RunningRedis,
    messages: int,
    *,
    applied: bool = False,
    then: Callable[[], object] | None = None,
    always: bool = False,
    junk: bytes | None = None,
) -> Iterator[Relay]:
    """It passes so many messages of clients on; `applied`: one more, whose answer is lost.

    `then`: it does not end, but does this, once; `always`: before each further message.
    `junk`: it does not end, but answers each further message with these bytes.
    """
    with _Relay(
        redis.port, messages, answered=applied, then=then, always=always, junk=junk
    ) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield Relay(server)
        finally:
            server.shutdown()
            thread.join()


class Crawler:
    """A crawl of Browsertrix with `--redisDedupeUrl`."""

    def __init__(self, redis: RunningRedis, crawl: str, *, wacz: str | None = None) -> None:
        self._client = redis.client
        self.crawl = crawl
        self._number = 0
        if wacz is not None:
            listed = json.dumps({"filename": wacz}, separators=(",", ":"))
            self._number = self._client.rpush(f"c:{crawl}:wacz", listed) - 1
        self._client.sadd("uncommittedcrawls", crawl)

    def look_up(self, digest: str) -> tuple[str, str, str] | None:
        """`getHashDupe`: the crawl, date and URL of an original."""
        name = digest.rsplit(":", maxsplit=1)[-1]
        crawl = self._client.hget("alldupes", name) or self.crawl.encode()
        value = self._client.hget(b"h:" + crawl, name)
        if value is None:
            return None
        _, date, url, _ = value.decode().split(" ")
        return crawl.decode(), date, url

    def add(self, digest: str, url: str, date: str, size: int, original_size: int = 0) -> None:
        """`addHashNew`: a response, or a revisit of one of that size."""
        counts = f"h:{self.crawl}:counts"
        if not original_size:
            value = f"{self._number} {date} {url} {size}"
            self._client.hsetnx(f"h:{self.crawl}", digest.rsplit(":", maxsplit=1)[-1], value)
        self._client.hincrby(counts, "totalUrls", 1)
        if original_size:
            if original_size > size:
                self._client.hincrby(counts, "conservedSize", original_size - size)
            self._client.hincrby(counts, "dupeUrls", 1)

    def finish(self, name: str, sha256: str, size: int) -> None:
        """`updateDedupeSourceWACZ`: its WACZ file is there."""
        listed = json.dumps({"filename": name, "hash": sha256, "size": size}, separators=(",", ":"))
        self._client.lset(f"c:{self.crawl}:wacz", self._number, listed)
        self._client.hincrby(f"h:{self.crawl}:counts", "totalCrawlSize", size)

    def commit(self) -> None:
        """`commitDedupeDone`."""
        if not self._client.sismember("uncommittedcrawls", self.crawl):
            return
        for name in self._client.hkeys(f"h:{self.crawl}"):
            self._client.hsetnx("alldupes", name, self.crawl)
        for listed in self._client.lrange(f"c:{self.crawl}:wacz", 0, -1):
            self._client.sadd("src:d", json.loads(listed)["filename"])
        if self._client.smove("uncommittedcrawls", "allcrawls", self.crawl):
            counts: Mapping[bytes, bytes] = self._client.hgetall(f"h:{self.crawl}:counts")
            for name, value in counts.items():
                self._client.hincrby("allcounts", name, int(value))
