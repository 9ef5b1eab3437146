"""What the HBase adapter decides without a server."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.errors import ConfigError, PinakesError, SchemaError, StoreUnavailable
from pinakes.hbase_schema.ranges import KeyRange
from pinakes.hbase_schema.tables import FoundFamily, FoundSchema, Table, declared_schema
from pinakes.row_store.hbase import batches as hbase_batches
from pinakes.row_store.hbase.batches import (
    PIECE_BYTES,
    PIECE_ROWS,
    deletes_by_time,
    iter_batches,
    key_parts,
    narrowed,
    next_piece_rows,
    pieces,
    puts_by_time,
)
from pinakes.row_store.hbase.calls import LONGEST_WAIT_S, translated, waits_s
from pinakes.row_store.hbase.clock import ASKED_ANEW_S, StoreClock
from pinakes.row_store.hbase.connection import HBaseConnection, Sasl, Server, parse_servers
from pinakes.row_store.hbase.own_table import parse_version
from pinakes.row_store.hbase.ranges import ScanRange, row_below
from pinakes.row_store.hbase.reads import decode_present, encode_present
from pinakes.row_store.hbase.shell import shell_lines
from pinakes.row_store.port import Delete, Mutation, Put

A, B = b"m:a", b"m:b"

# --- batches


def put(row: bytes, *values: bytes, time: int | None = 1) -> Put:
    return Put(row, {b"m:%d" % n: value for n, value in enumerate(values)}, time)


@pytest.mark.parametrize(
    ("mutations", "lengths"),
    [
        ([], []),
        ([put(b"r", b"", b"")], [1]),
        ([put(b"r", b"", b"")] * 5, [2, 2, 1]),  # four cells fit
        ([put(b"r", *[b""] * 9), put(b"r", b"")], [1, 1]),  # one that is too large goes alone
        ([put(b"r", b"x" * 600), put(b"s", b"x" * 600), put(b"t", b"")], [1, 2]),
        ([put(b"r", b"x" * 5000)], [1]),
        ([put(b"r", b""), Delete(b"r", 1), Delete(b"r", 2), put(b"r", b"")], [1, 2, 1]),
        ([Delete(b"r", 1, [A, B, b"m:c"]), Delete(b"r", 1, [A, B])], [1, 1]),
    ],
    ids=["nothing", "one", "cells", "large", "bytes", "very large", "kinds", "columns"],
)
def test_batch_ends_when_a_call_is_full(mutations: Sequence[Mutation], lengths: list[int]) -> None:
    batches = list(iter_batches(mutations, max_cells=4, max_bytes=1000))
    assert [len(batch) for batch in batches] == lengths
    assert [mutation for batch in batches for mutation in batch] == list(mutations)


def test_batches_are_drawn_as_mutations_come() -> None:
    endless = (put(b"%d" % n, b"") for n in iter(int, 1))
    assert [len(batch) for batch in islice(iter_batches(endless, max_cells=3), 2)] == [3, 3]


def test_puts_of_one_row_and_time_merge_and_the_later_wins() -> None:
    puts = [Put(b"r", {A: b"1", B: b"1"}, 5), Put(b"s", {A: b"2"}, None), Put(b"r", {A: b"3"}, 5)]
    puts.append(Put(b"r", {A: b"4"}, 6))
    assert puts_by_time(puts) == {
        5: {b"r": {A: b"3", B: b"1"}},
        None: {b"s": {A: b"2"}},
        6: {b"r": {A: b"4"}},
    }


def test_a_whole_row_is_the_families_of_its_clock() -> None:
    deletes = [Delete(b"r", 5), Delete(b"r", None), Delete(b"s", 5, [A]), Delete(b"r", 5, [A])]
    calls = deletes_by_time(deletes, families=[b"m", b"d"], present=[b"l"])
    assert {time: {r: list(c) for r, c in rows.items()} for time, rows in calls.items()} == {
        5: {b"r": [b"m", b"d", A], b"s": [A]},
        None: {b"r": [b"l"]},
    }


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ([b"m", A], [b"m"]),
        ([A, b"m", B], [b"m"]),
        ([A, b"d", A], [A, b"d"]),
        ([b"d:m", b"m"], [b"d:m", b"m"]),
        ([], []),
    ],
)
def test_a_family_has_its_columns(columns: list[bytes], expected: list[bytes]) -> None:
    assert narrowed(columns) == expected


def test_keys_are_shared_out_unless_they_are_few_or_very_many() -> None:
    def sizes(count: int) -> list[int]:
        parts = list(key_parts([b"%d" % n for n in range(count)], 4))
        assert [key for part in parts for key in part] == [b"%d" % n for n in range(count)]
        return list(map(len, parts))

    assert sizes(0) == []
    assert sizes(100) == [100]
    assert sizes(150) == [100, 50]
    assert sizes(1783) == [446, 446, 446, 445]
    assert sizes(4500) == [1000, 1000, 1000, 1000, 500]


def test_pieces_are_slices() -> None:
    assert list(pieces([1, 2, 3, 4, 5], 2)) == [[1, 2], [3, 4], [5]]
    assert list(pieces([], 2)) == []


@pytest.mark.parametrize(
    ("asked", "found", "size_bytes", "expected"),
    [
        (20, 20, 100 * 20, 80),  # grows by degrees
        (PIECE_ROWS, PIECE_ROWS, 10, PIECE_ROWS),  # to a limit
        (500, 500, 1_000_000 * 500, PIECE_BYTES // 1_000_000),  # shrinks at once
        (500, 3, 3 * 10 * PIECE_BYTES, 1),
        (500, 0, 0, 1),
    ],
    ids=["small", "smallest", "megabytes", "huge", "none"],
)
def test_an_answer_has_a_size(asked: int, found: int, size_bytes: int, expected: int) -> None:
    assert next_piece_rows(asked, found, size_bytes) == expected


def test_batch_stays_below_the_size_that_broke_connections() -> None:
    puts = [put(b"%d" % n, b"x" * 700) for n in range(10_000)]
    for batch in iter_batches(puts):
        assert sum(len(p.row) + 700 for p in batch) <= hbase_batches.BATCH_BYTES < 3_000_000
        assert len(batch) <= hbase_batches.BATCH_CELLS


# --- ranges

keys = st.binary(min_size=1, max_size=4) | st.sampled_from([b"\0", b"a\0", b"\xff", b"a\xff\xff"])


@given(rows=st.sets(keys), start=st.just(b"") | keys, stop=st.none() | keys, reverse=st.booleans())
def test_a_scanner_of_a_range_gives_the_range(
    rows: set[bytes], start: bytes, stop: bytes | None, reverse: bool
) -> None:
    key_range = KeyRange(start, stop)
    scan = ScanRange(key_range, reverse)
    expected = sorted((row for row in rows if row in key_range), reverse=reverse)
    if scan.is_empty:
        assert expected == []
        return
    scanned = hbase_scanner(rows, scan)
    assert [row for row in scanned if row in scan.keys] == expected
    # What is too much: no more than said before, and nothing that a bound could have told.
    before = [row for row in scanned[: scan.surplus_rows] if row not in scan.keys]
    assert all(row < start for row in scanned if row not in scan.keys and row not in before)


@given(rows=st.sets(keys, min_size=1), reverse=st.booleans(), data=st.data())
def test_a_scan_goes_on_after_the_last_row(
    rows: set[bytes], reverse: bool, data: st.DataObject
) -> None:
    ordered = sorted(rows, reverse=reverse)
    given_rows = data.draw(st.integers(1, len(ordered)))
    rest = ScanRange(KeyRange(), reverse).after(ordered[given_rows - 1])
    found = [] if rest.is_empty else hbase_scanner(rows, rest)
    assert [row for row in found if row in rest.keys] == ordered[given_rows:]


def hbase_scanner(rows: set[bytes], scan: ScanRange) -> list[bytes]:
    """The rows from one bound (inclusive) to another, of which an empty one is none."""
    first, last = scan.first_row, scan.last_row
    if scan.reverse:
        return sorted((r for r in rows if (not first or r <= first) and r > last), reverse=True)
    return sorted(r for r in rows if r >= first and (not last or r < last))


@given(row=keys)
def test_row_below_a_row_is_smaller(row: bytes) -> None:
    assert row_below(row) < row


# --- values of the present


@given(value=st.binary(max_size=4) | st.sampled_from([b"", b"\0", b"\0\0", b"\0x"]))
def test_no_value_is_stored_empty_and_all_come_back(value: bytes) -> None:
    stored = encode_present(value)
    assert stored
    assert decode_present(stored) == value


@given(one=st.binary(max_size=3), other=st.binary(max_size=3))
def test_unequal_values_are_stored_unequal(one: bytes, other: bytes) -> None:
    assert (encode_present(one) == encode_present(other)) == (one == other)


def test_our_cells_are_stored_unchanged() -> None:
    assert encode_present(b'{"v":1}') == b'{"v":1}'


# --- waiting


@pytest.mark.parametrize("chance", [0.0, 0.5, 1.0])
def test_waits_grow_to_a_limit_and_end(chance: float) -> None:
    waits: list[float] = []
    for wait in waits_s(60.0, lambda: sum(waits), lambda: chance):
        waits.append(wait)  # noqa: PERF402  (the next one asks how long it was)
    assert sum(waits) == pytest.approx(60.0)
    assert waits[:-1] == sorted(waits[:-1])
    assert max(waits) <= LONGEST_WAIT_S
    assert waits[3] == pytest.approx(8 * waits[0])


def test_no_time_means_no_retry() -> None:
    assert list(waits_s(0.0, lambda: 0.0, lambda: 0.5)) == []


# --- the clock


class Hours:
    """A clock of a server and one of a client, which a call takes time to read."""

    def __init__(self, ahead_ms: int) -> None:
        self.now_s = 1000.0
        self.ahead_ms = ahead_ms
        self.call_s = [0.004]
        self.asked = 0

    def ask(self) -> int:
        self.asked += 1
        call_s = self.call_s[self.asked % len(self.call_s)]
        self.now_s += call_s / 2
        answer = self.store_ms()
        self.now_s += call_s / 2
        return answer

    def store_ms(self) -> int:
        return int(1000 * self.now_s) + self.ahead_ms

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def clock(self) -> StoreClock:
        return StoreClock(self.ask, retry_s=5, monotonic_s=lambda: self.now_s, sleep=self.sleep)


@pytest.mark.parametrize("ahead_ms", [0, 5_000_000, -900_000])
def test_times_are_those_of_the_store_and_only_rise(ahead_ms: int) -> None:
    hours = Hours(ahead_ms)
    clock = hours.clock()
    last = 0
    for step_s in (0.0, 0.0, 0.0001, 0.5, 3 * ASKED_ANEW_S, 0.0):
        hours.now_s += step_s
        time_ms = clock.next_ms()
        assert last < time_ms
        assert hours.store_ms() <= time_ms <= hours.store_ms() + 8
        last = time_ms


def test_a_time_is_later_than_what_is_there() -> None:
    hours = Hours(0)
    clock = hours.clock()
    assert clock.next_ms(2_000_000) == 2_000_001
    assert clock.next_ms() == 2_000_002


def test_waiting_ends_when_the_store_is_past() -> None:
    hours = Hours(70)
    clock = hours.clock()
    for ahead in (0, 1, 900):
        time_ms = clock.next_ms() + ahead
        clock.wait_past(time_ms)
        assert time_ms < hours.store_ms() <= time_ms + 12


def test_a_clock_that_is_wrong_is_told() -> None:
    clock = Hours(0).clock()
    with pytest.raises(StoreUnavailable, match="synchronise the clocks"):
        clock.wait_past(10_000_000)


def test_of_several_answers_the_quickest_counts() -> None:
    hours = Hours(0)
    hours.call_s = [3.0, 0.002, 3.0]
    assert hours.clock().next_ms() <= hours.store_ms() + 4
    assert hours.asked == 3


# --- connections


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", (Server("a", 9090),)),
        ("a:1, b:2", (Server("a", 1), Server("b", 2))),
    ],
)
def test_servers_are_named(text: str, expected: tuple[Server, ...]) -> None:
    assert parse_servers(text) == expected
    assert parse_servers(",".join(map(str, expected))) == expected


@pytest.mark.parametrize("text", ["", ":9", "a:b", "a:99999", "a,,b", "a:-1"])
def test_invalid_server_names(text: str) -> None:
    with pytest.raises(ValueError, match="servers such as"):
        parse_servers(text)


@pytest.mark.parametrize(
    "wrong",
    [
        {"servers": ()},
        {"prefix": "a:b:"},
        {"prefix": "a b"},
        {"do_as": "somebody"},
        {"sasl": Sasl(), "transport": "http"},
    ],
    ids=str,
)
def test_invalid_connection_settings(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        HBaseConnection(**{"servers": (Server("a"),), **wrong})  # type: ignore[arg-type]


# --- errors


class Answer(Exception):
    def __init__(self, message: bytes | str) -> None:
        super().__init__()
        self.message = message


TRACE = b"""org.apache.hadoop.hbase.client.RetriesExhaustedException: Failed after attempts=2
\tat org.apache.hadoop.hbase.client.RpcRetryingCallerImpl.call(RpcRetryingCallerImpl.java:148)
Caused by: org.apache.hadoop.hbase.%s: captures
\tat java.base/java.lang.Thread.run(Thread.java:840)
"""

BATCH = b"""org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException: \
Failed 2 actions: %s: 2 times, servers with issues: null
\tat org.apache.hadoop.hbase.client.BatchErrors.makeException(BatchErrors.java:50)
"""


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (Answer(TRACE % b"TableNotFoundException"), SchemaError, "run `pinakes init`"),
        (Answer(TRACE % b"NotServingRegionException"), StoreUnavailable, "NotServing.*: captures"),
        (Answer(TRACE % b"security.AccessDeniedException"), ConfigError, "no permission"),
        (Answer(BATCH % b"ns:captures"), SchemaError, "a table is missing"),
        (Answer(BATCH % b"captures"), SchemaError, "a table is missing"),
        (Answer(BATCH % b"NotServingRegionException"), StoreUnavailable, "NotServing"),
        (Answer(BATCH % b"Column family z does not exist in region r"), SchemaError, "family"),
        (Answer("Could not connect to h"), StoreUnavailable, "Could not connect to h"),
        (TimeoutError("timed out"), StoreUnavailable, "does not answer: the Thrift server h:1, or"),
        (BrokenPipeError(32, "Broken pipe"), StoreUnavailable, "Broken pipe"),
        (EOFError(), StoreUnavailable, "EOFError"),
    ],
    ids=[
        "table",
        "region",
        "permission",
        "no table",
        "no table of default",
        "moving",
        "family",
        "connection",
        "time-out",
        "pipe",
        "silent",
    ],
)
def test_errors_are_translated(error: Exception, kind: type[PinakesError], words: str) -> None:
    ours = translated(error, Server("h", 1))
    assert type(ours) is kind
    assert re.search(words, str(ours)), str(ours)


# --- lines for HBase's shell

HERE = HBaseConnection(servers=(Server("a"),), prefix="p:")
SMALL = replace(
    declared_schema(3), tables=tuple(t for t in declared_schema(3).tables if t.name == "files")
)
FACTS = (
    "{NAME => 'f', VERSIONS => 3, COMPRESSION => 'ZSTD', DATA_BLOCK_ENCODING => 'FAST_DIFF',"
    " BLOOMFILTER => 'ROW', BLOCKCACHE => true, BLOCKSIZE => 65536, IN_MEMORY => false}"
)
PRESENT = FACTS.replace("'f', VERSIONS => 3", "'l', VERSIONS => 1").replace("false", "true")
OWN = PRESENT.replace("ZSTD", "NONE").replace("IN_MEMORY => true", "IN_MEMORY => false")
VERSION = "put 'p:pinakes', 'schema', 'l:version', '1'"


def found_like(*tables: Table, version: int | None = 1) -> FoundSchema:
    families = {
        table.name: tuple(
            FoundFamily(**{f.name: getattr(family, f.name) for f in fields(FoundFamily)})
            for family in table.families
        )
        for table in tables
    }
    return FoundSchema(version=version, tables=families)


@pytest.mark.parametrize("cell", [b"", b"-1", b"one", b"1.0", b"\xff"])
def test_a_schema_version_that_is_no_number(cell: bytes) -> None:
    assert parse_version(b"12") == 12
    with pytest.raises(SchemaError, match="is not a number"):
        parse_version(cell)


def test_all_tables_are_shown_as_shell_commands() -> None:
    assert shell_lines(HERE, SMALL, splits={"files": [b"g", b"it's"]}) == [
        "create_namespace 'p'",
        f"create 'p:pinakes', {OWN}",
        f"create 'p:files', {FACTS}, {PRESENT}, SPLITS => ['g', 'it\\'s']",
        VERSION,
    ]


@pytest.mark.parametrize(
    ("found", "lines"),
    [
        (found_like(*SMALL.tables), []),
        (found_like(*SMALL.tables, version=0), [VERSION]),
        (found_like(), [f"create 'p:files', {FACTS}, {PRESENT}"]),
        (
            found_like(replace(SMALL.tables[0], families=SMALL.tables[0].families[1:])),
            [f"alter 'p:files', {FACTS}"],
        ),
        (
            found_like(
                replace(
                    SMALL.tables[0],
                    families=(
                        SMALL.tables[0].families[0],
                        replace(SMALL.tables[0].families[1], in_memory=False),
                    ),
                )
            ),
            [f"alter 'p:files', {PRESENT}"],
        ),
    ],
    ids=["nothing", "version", "table", "family", "attribute"],
)
def test_missing_tables_are_shown_as_shell_commands(found: FoundSchema, lines: list[str]) -> None:
    assert shell_lines(HERE, SMALL, found) == lines


def test_a_bloom_filter_of_prefixes_says_of_how_many_bytes() -> None:
    digests = [table for table in declared_schema().tables if table.name == "digests"]
    [line] = shell_lines(HERE, replace(SMALL, tables=tuple(digests)), found_like())
    assert (
        " BLOOMFILTER => 'ROWPREFIX_FIXED_LENGTH',"
        " CONFIGURATION => {'RowPrefixBloomFilter.prefix_length' => '47'}, BLOCKCACHE"
    ) in line
