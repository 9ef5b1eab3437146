"""The archive store on HDFS beside hdfs-native alone, in turns, on a cluster that runs.

    python -m bench.hdfs_files hdfs://HOST:PORT/FOLDER http://HOST:PORT [--mb N] [--rounds N]

The second address is the name node's web server.  Writes below the folder, and removes what
it wrote.  Prints the median of the rounds.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable

from hdfs_native import Client, WriteOptions

from pinakes.archive_store.hdfs import HdfsArchiveStore
from pinakes.archive_store.hdfs_connection import HdfsConnection, parse_web

PIECE_BYTES = 1 << 20
READ_BYTES = 1 << 16
RANDOM_BYTES = 4096
RANDOM_READS = 200


class Work:
    """One file, as hdfs-native writes and reads it and as we do."""

    def __init__(self, connection: HdfsConnection, pieces: int) -> None:
        self._store = HdfsArchiveStore(connection)
        self._client = Client(connection.server)
        self._path = f"{connection.folder}/alone"
        self._pieces = pieces
        self._piece = os.urandom(PIECE_BYTES)
        self.size = pieces * PIECE_BYTES

    def write_alone(self) -> float:
        begin = time.perf_counter()
        writer = self._client.create(self._path, WriteOptions(overwrite=True))
        for _ in range(self._pieces):
            writer.write(self._piece)
        writer.close()
        return self._rate(begin)

    def write_ours(self) -> float:
        """With syncs, checksums and what they are compared with."""
        self._store.delete("ours")
        begin = time.perf_counter()
        with self._store.create_aside("bench") as aside:
            for _ in range(self._pieces):
                aside.file.write(self._piece)
            aside.crc32()
            aside.publish("ours")
        return self._rate(begin)

    def read_alone(self) -> float:
        begin = time.perf_counter()
        for _ in self._client.read(self._path).read_range_stream(0, self.size):
            pass
        return self._rate(begin)

    def read_ours(self) -> float:
        """In the pieces that the reader of records asks for."""
        begin = time.perf_counter()
        with self._store.open("ours") as file:
            while file.read(READ_BYTES):
                pass
        return self._rate(begin)

    def random_alone(self) -> float:
        file = self._client.read(self._path)
        return self._p50_ms(lambda offset: file.read_range(offset, RANDOM_BYTES))

    def random_ours(self) -> float:
        with self._store.open("ours") as file:

            def read(offset: int) -> bytes:
                file.seek(offset)
                return file.read(RANDOM_BYTES)

            return self._p50_ms(read)

    def remove(self) -> None:
        self._store.delete("ours")
        self._client.delete(self._path)
        self._store.close()

    def _rate(self, begin: float) -> float:
        return self.size / 1e6 / (time.perf_counter() - begin)

    def _p50_ms(self, read: Callable[[int], bytes]) -> float:
        times = []
        for _ in range(RANDOM_READS):
            offset = random.randrange(self.size - RANDOM_BYTES)
            begin = time.perf_counter()
            read(offset)
            times.append(1000 * (time.perf_counter() - begin))
        return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.hdfs_files", description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("web")
    parser.add_argument("--mb", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    connection = HdfsConnection(url=given.folder, web=parse_web(given.web))
    work = Work(connection, given.mb)
    cases = {
        "write: MB/s": (work.write_alone, work.write_ours),
        "read in order: MB/s": (work.read_alone, work.read_ours),
        "random 4 KiB, p50: ms": (work.random_alone, work.random_ours),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
    for _ in range(given.rounds):
        for name, (alone, ours) in cases.items():
            found[name].append((alone(), ours()))
    work.remove()
    load = os.getloadavg()[0]
    print(f"{given.mb} MiB, {given.rounds} rounds, load {load:.0f} of {os.cpu_count()} processors")
    print(f"{'':24} {'hdfs-native':>12} {'ours':>8} {'ours/it':>8}")
    for name, rounds in found.items():
        alone, ours = (statistics.median(side) for side in zip(*rounds, strict=True))
        share = statistics.median(b / a for a, b in rounds)
        print(f"{name:24} {alone:>12.2f} {ours:>8.2f} {share:>8.2f}")


if __name__ == "__main__":
    main()
