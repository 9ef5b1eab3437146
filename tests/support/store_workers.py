"""What other processes do to a store; started by `run`, which joins them."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from store_openers import StoreOpener

from pinakes.hbase_schema.ranges import prefix_range
from pinakes.row_store.port import Put, get_row

# No fork: a child gets nothing but the opener, as on another machine.
CONTEXT = multiprocessing.get_context("spawn")
BATCH_ROWS = 500


def start(worker: Callable[..., None], *arguments: Any) -> BaseProcess:
    process = CONTEXT.Process(target=worker, args=arguments, daemon=True)
    process.start()
    return process


def run(worker: Callable[..., None], *arguments: tuple[Any, ...]) -> list[int | None]:
    """Start a process for each tuple of arguments; their exit codes."""
    processes = [start(worker, *each) for each in arguments]
    for process in processes:
        process.join(120)
    return [process.exitcode for process in processes]


def count_up(opener: StoreOpener, row: bytes, times: int) -> None:
    """Add 1 to a number `times` times, by check-and-put, against others who do the same."""
    store = opener.open()
    for _ in range(times):
        while True:
            found = get_row(store, "files", row)
            now = found.value(b"l:state") if found else None
            after = b"%d" % (int(now or b"0") + 1)
            if store.check_and_put("files", row, b"l:state", expected=now, value=after):
                break
    store.close()


def put_rows(opener: StoreOpener, prefix: bytes, rows: int) -> None:
    """Put rows of two cells, in batches."""
    store = opener.open()
    for first in range(0, rows, BATCH_ROWS):
        numbers = range(first, min(first + BATCH_ROWS, rows))
        store.mutate("captures", [pair_put(prefix, number, 1) for number in numbers])
    store.close()


def pair_put(prefix: bytes, number: int, timestamp_ms: int) -> Put:
    """A row of two cells that say the same."""
    value = b"%d" % timestamp_ms
    row = b"%b%09d" % (prefix, number)
    return Put(row, {b"m:capture": value, b"d:dedupe": value}, timestamp_ms)


def put_for_ever(opener: StoreOpener, prefix: bytes, acknowledged: Connection) -> None:
    """Put batches until killed; tell of each that was acknowledged."""
    store = opener.open()
    first = 0
    while True:
        numbers = range(first, first + BATCH_ROWS)
        store.mutate("captures", [pair_put(prefix, number, 1) for number in numbers])
        first += BATCH_ROWS
        acknowledged.send(first)


def rewrite_for_ever(opener: StoreOpener, prefix: bytes, ready: Connection) -> None:
    """Put ten rows over and over, each time with a later time, until killed."""
    store = opener.open()
    for timestamp_ms in range(1, 1_000_000):
        store.mutate("captures", [pair_put(prefix, number, timestamp_ms) for number in range(10)])
        if timestamp_ms == 1:
            ready.send(os.getpid())


def torn_rows(opener: StoreOpener, prefix: bytes) -> list[bytes]:
    """The rows of `pair_put` whose two cells do not say the same."""
    store = opener.open()
    rows = list(store.scan("captures", prefix_range(prefix)))
    store.close()
    return [
        row.key
        for row in rows
        if len(row.cells) != 2 or row.value(b"m:capture") != row.value(b"d:dedupe")
    ]
