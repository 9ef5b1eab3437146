"""The row store on HBase beside happybase alone, in turns, on a cluster that runs.

    python -m bench.hbase_rows 127.0.0.1:9090 127.0.0.1:9091 [--rows N] [--rounds N]

The first address is Thrift's, the second Thrift 2's.  Makes tables in a namespace of its own,
whose name it says, and leaves them there.  Prints the median of the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from secrets import token_hex
from typing import Any

import happybase

from pinakes.hbase_schema.ranges import prefix_range
from pinakes.hbase_schema.tables import declared_schema
from pinakes.row_store.hbase.admin import HBaseSchemaAdmin
from pinakes.row_store.hbase.connection import HBaseConnection, parse_servers
from pinakes.row_store.hbase.store import HBaseRowStore
from pinakes.row_store.port import Put, get_row

VALUE = b"x" * 280
ONE = (b"m:capture",)
FOUR = (b"m:capture", b"m:location.1", b"d:dedupe", b"q:verdict")
GETS = 500


class Work:
    """One table, as happybase's and as ours; each act puts rows under a prefix of its own."""

    def __init__(self, connection: HBaseConnection, rows: int) -> None:
        self.rows = rows
        self.store = HBaseRowStore(connection)
        host, port = connection.servers[0]
        self.table = happybase.Connection(host, port).table(connection.table("captures"))
        self._acts = 0

    def keys(self) -> list[bytes]:
        self._acts += 1
        return [b"%03d/%09d" % (self._acts, number) for number in range(self.rows)]

    def put_happybase(self, columns: Sequence[bytes], batch: int) -> float:
        keys = self.keys()
        begin = time.perf_counter()
        with self.table.batch(timestamp=5, batch_size=batch * len(columns)) as puts:
            for key in keys:
                puts.put(key, dict.fromkeys(columns, VALUE))
        return self.rows / (time.perf_counter() - begin)

    def put_ours(self, columns: Sequence[bytes], batch: int) -> float:
        keys = self.keys()
        begin = time.perf_counter()
        for first in range(0, len(keys), batch):
            some = keys[first : first + batch]
            self.store.mutate("captures", [Put(k, dict.fromkeys(columns, VALUE), 5) for k in some])
        return self.rows / (time.perf_counter() - begin)

    def ours(self, **options: Any) -> Iterator[object]:
        return self.store.scan("captures", prefix_range(b"001/"), **options)

    def happybase(self, **options: Any) -> Iterator[object]:
        found: Iterator[object] = self.table.scan(
            row_prefix=b"001/", include_timestamp=True, **options
        )
        return found

    def get_ms(self, get: Callable[[bytes], object]) -> float:
        times = []
        for number in range(GETS):
            key = b"001/%09d" % (number * 7919 % self.rows)
            begin = time.perf_counter()
            get(key)
            times.append(1000 * (time.perf_counter() - begin))
        return statistics.median(times)

    def many(self, get: Callable[[list[bytes]], object]) -> float:
        keys = [b"001/%09d" % (number * 7919 % self.rows) for number in range(1000)]
        begin = time.perf_counter()
        for _ in range(5):
            get(keys)
        return 5000 / (time.perf_counter() - begin)


def rate(rows: Iterator[object]) -> float:
    begin = time.perf_counter()
    count = sum(1 for _ in rows)
    return count / (time.perf_counter() - begin)


def cases(work: Work) -> dict[str, tuple[Callable[[], float], Callable[[], float]]]:
    """By name: happybase's way and ours."""
    table, store = work.table, work.store

    def put(
        columns: Sequence[bytes], batch: int
    ) -> tuple[Callable[[], float], Callable[[], float]]:
        return lambda: work.put_happybase(columns, batch), lambda: work.put_ours(columns, batch)

    return {
        "put, 1 cell, 1,000 a batch: rows/s": put(ONE, 1000),
        "put, 1 cell, 5,000 a batch: rows/s": put(ONE, 5000),
        "put, 4 cells, 5,000 a batch: rows/s": put(FOUR, 5000),
        "get, p50: ms": (
            lambda: work.get_ms(lambda key: table.row(key, include_timestamp=True)),
            lambda: work.get_ms(lambda key: get_row(store, "captures", key)),
        ),
        "1,000 keys a call: rows/s": (
            lambda: work.many(lambda keys: table.rows(keys, include_timestamp=True)),
            lambda: work.many(lambda keys: store.get_rows("captures", keys)),
        ),
        "scan: rows/s": (lambda: rate(work.happybase()), lambda: rate(work.ours())),
        "scan backwards: rows/s": (
            lambda: rate(work.happybase(reverse=True)),
            lambda: rate(work.ours(reverse=True)),
        ),
        "scan as of a time: rows/s": (
            lambda: rate(work.happybase(timestamp=9)),
            lambda: rate(work.ours(before_ms=9)),
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.hbase_rows", description=__doc__)
    parser.add_argument("thrift")
    parser.add_argument("thrift2")
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    connection = HBaseConnection(
        servers=parse_servers(given.thrift),
        admin_servers=parse_servers(given.thrift2),
        prefix=f"bench{token_hex(4)}:",
    )
    HBaseSchemaAdmin(connection).apply(declared_schema())
    work = Work(connection, given.rows)
    named = cases(work)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in named}
    for _ in range(given.rounds):
        for name, (alone, ours) in named.items():
            found[name].append((alone(), ours()))
    print(f"namespace {connection.prefix}, {given.rows} rows, {given.rounds} rounds")
    print(f"{'':36} {'happybase':>10} {'ours':>10} {'ours/it':>8}")
    for name, rounds in found.items():
        alone, ours = (statistics.median(side) for side in zip(*rounds, strict=True))
        share = statistics.median(b / a for a, b in rounds)
        digits = 2 if alone < 10 else 0
        print(f"{name:36} {alone:>10,.{digits}f} {ours:>10,.{digits}f} {share:>8.2f}")


if __name__ == "__main__":
    main()
