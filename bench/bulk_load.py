"""Landing by puts and landing in bulk, on a cluster of `pinakes cluster` that runs.

    python -m bench.bulk_load CLUSTER_FOLDER WORK_FOLDER [--captures N ...] [--mapreduce yarn|local]

Lands generated archive files, of 5,000 small pages each, by each road into tables of its own,
which stay there, and says the seconds of each and what they were spent on.  Archive files go
to a local folder, so that what differs is where the rows go.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from secrets import token_hex

from isal import igzip

from local_cluster.layout import HOST
from local_cluster.state import read_layout
from pinakes.acts.actor import Actor
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.hadoop_tools import HadoopTools
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.hbase_schema.tables import declared_schema
from pinakes.ingest.bulk_landing import BulkLanding
from pinakes.ingest.bulk_loads import HBaseLoads, spool_folder
from pinakes.ingest.landed import Landed
from pinakes.ingest.landing import Lander
from pinakes.ingest.row_spool import RowSpool
from pinakes.row_store.bulk_text import BulkTable
from pinakes.row_store.hbase.admin import HBaseSchemaAdmin
from pinakes.row_store.hbase.bulk import BulkLoading
from pinakes.row_store.hbase.connection import HBaseConnection, Server
from pinakes.row_store.hbase.store import HBaseRowStore

PAGES = 5_000


def record(number: int) -> bytes:
    """One small page, another for each number."""
    body = b"<html><title>%d</title><p>%s</html>" % (number, os.urandom(300).hex().encode())
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body)
    block = http + body
    head = (
        b"WARC/1.0\r\nWARC-Type: response\r\n"
        b"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\n"
        b"WARC-Target-URI: http://host%d.example.org/path/%d?page=%d\r\n"
        b"WARC-Date: 2020-01-01T00:00:00Z\r\n"
        b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n"
    ) % (number, number % 997, number % 7919, number, len(block))
    return head + block + b"\r\n\r\n"


def make_files(folder: Path, captures: int) -> list[Path]:
    """Archive files with so many captures, made once."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for first in range(0, captures, PAGES):
        path = folder / f"{first}.warc.gz"
        if not path.exists():
            with path.with_suffix(".new").open("wb") as file:
                for number in range(first, min(first + PAGES, captures)):
                    file.write(igzip.compress(record(number), 1))
            path.with_suffix(".new").rename(path)
        files.append(path)
    return files


def begin(rows: HBaseRowStore, actor: Actor) -> None:
    facts = CrawlFacts(collection="default")
    ensure_crawl(rows, "c", facts, act=actor.new_act("ingest"), act_time_ms=actor.now_ms())


def by_puts(rows: HBaseRowStore, archive: LocalArchiveStore, files: Sequence[Path]) -> float:
    actor = Actor()
    begin(rows, actor)
    lander = Lander(rows, archive, actor)
    start = time.perf_counter()
    for path in files:
        lander.land(str(path), f"c/{path.name}", "default")
    return time.perf_counter() - start


def in_bulk(
    rows: HBaseRowStore,
    archive: LocalArchiveStore,
    files: Sequence[Path],
    loading: BulkLoading,
    steps: dict[str, float],
) -> float:
    actor = Actor()
    begin(rows, actor)
    start = last = time.perf_counter()

    def at(step: str) -> None:
        nonlocal last
        steps[step] = time.perf_counter() - last
        last = time.perf_counter()

    loads = HBaseLoads(loading, actor, at=at)

    def load(parts: Mapping[BulkTable, Sequence[Path]], meanwhile: Callable[[], None]) -> None:
        at("published")
        loads(parts, meanwhile)
        at("cleared away")

    def missed(problem: Exception) -> None:
        raise problem

    landed: list[Landed] = []
    with spool_folder(actor, archive_folder(files)) as folder:
        spool = RowSpool(folder)
        lander = Lander(rows, archive, actor, sinks=spool.sink)
        bulk = BulkLanding(
            lander,
            actor,
            spool,
            load,
            done=landed.append,
            missed=missed,
            batch_bytes=1 << 40,
        )
        for path in files:
            bulk.land(str(path), f"c/{path.name}", "default")
        bulk.flush()
    at("finished")
    assert len(landed) == len(files)
    return time.perf_counter() - start


def archive_folder(files: Sequence[Path]) -> Path:
    return files[0].parent.parent


def stores(folder: Path, work: Path) -> Iterator[tuple[HBaseConnection, LocalArchiveStore]]:
    """New tables and a new archive folder, one after the other."""
    layout = read_layout(folder)
    while True:
        name = f"bench{token_hex(3)}"
        connection = HBaseConnection(
            servers=(Server(HOST, layout.port("thrift")),),
            admin_servers=(Server(HOST, layout.port("thrift2")),),
            prefix=f"{name}:",
        )
        with closing(HBaseSchemaAdmin(connection)) as admin:
            admin.apply(declared_schema())
        yield connection, LocalArchiveStore(work / name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cluster", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--captures", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--mapreduce", choices=("yarn", "local"), default="yarn")
    arguments = parser.parse_args()
    commands = read_layout(arguments.cluster.absolute()).bin
    tools = HadoopTools(hbase=(str(commands / "hbase"),), hadoop=(str(commands / "hadoop"),))
    fresh = stores(arguments.cluster.absolute(), arguments.work)
    for captures in arguments.captures:
        files = make_files(arguments.work / "files", captures)
        for road in ("puts", "bulk"):
            connection, archive = next(fresh)
            steps: dict[str, float] = {}
            before = os.getloadavg()[0]
            with closing(HBaseRowStore(connection)) as rows:
                if road == "puts":
                    seconds = by_puts(rows, archive, files)
                else:
                    loading = BulkLoading(
                        tools=tools, connection=connection, mapreduce=arguments.mapreduce
                    )
                    seconds = in_bulk(rows, archive, files, loading, steps)
            print(
                f"{captures} captures by {road}: {seconds:.1f} s, {captures / seconds:.0f} /s, "
                f"tables {connection.prefix}, load {before:.0f} to {os.getloadavg()[0]:.0f}",
                *(f"{step} {took:.1f} s" for step, took in steps.items()),
                sep="\n  ",
                flush=True,
            )


if __name__ == "__main__":
    main()
