"""What every row store does.  An adapter's tests inherit this and give the fixture `opener`.

Every test keeps to rows under a prefix of its own, so that one store can serve them all.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import partial
from itertools import count

import pytest
from store_openers import SCHEMA, StoreOpener
from store_workers import (
    CONTEXT,
    count_up,
    pair_put,
    put_for_ever,
    put_rows,
    rewrite_for_ever,
    run,
    start,
    torn_rows,
)

from pinakes.errors import SchemaError
from pinakes.hbase_schema.ranges import KeyRange, prefix_range
from pinakes.hbase_schema.tables import schema_drift
from pinakes.row_store.history import AsOf, cell_before
from pinakes.row_store.port import Delete, Put, Row, RowStore, StoredCell, get_row

CAPTURE, LOCATION, DEDUPE = b"m:capture", b"m:location.1", b"d:dedupe"
FACTS, CLAIM, STATE = b"f:facts", b"l:claim", b"l:state"
_numbers = count()


def keys(rows: Iterator[Row]) -> list[bytes]:
    return [row.key for row in rows]


class RowStoreContract:
    @pytest.fixture
    def store(self, opener: StoreOpener) -> Iterator[RowStore]:
        store = opener.open()
        yield store
        store.close()

    @pytest.fixture
    def prefix(self) -> bytes:
        return b"test%d-%d/" % (os.getpid(), next(_numbers))

    # --- reading what was put

    def test_what_is_not_there(self, store: RowStore, prefix: bytes) -> None:
        assert get_row(store, "captures", prefix) is None
        assert store.get_rows("captures", []) == {}
        assert store.versions("captures", prefix, CAPTURE) == []
        assert list(store.scan("captures", prefix_range(prefix))) == []

    def test_a_row_comes_back(self, store: RowStore, prefix: bytes) -> None:
        store.mutate("captures", [Put(prefix, {CAPTURE: b"a", LOCATION: b"b"}, 5)])
        row = get_row(store, "captures", prefix)
        assert row == Row(prefix, {CAPTURE: StoredCell(b"a", 5), LOCATION: StoredCell(b"b", 5)})
        assert row.value(CAPTURE) == b"a"
        assert row.value(DEDUPE) is None

    @pytest.mark.parametrize(
        "value", [b"", b"\0\xff" * 9, b"x" * 1_000_000], ids=["empty", "bytes", "megabyte"]
    )
    def test_any_value_comes_back(self, store: RowStore, prefix: bytes, value: bytes) -> None:
        store.mutate("captures", [Put(prefix, {CAPTURE: value}, 5)])
        [row] = store.scan("captures", prefix_range(prefix))
        assert row.value(CAPTURE) == value

    def test_a_key_as_long_as_keys_get(self, store: RowStore, prefix: bytes) -> None:
        key = prefix + b"x" * 4200
        store.mutate("captures", [Put(key, {CAPTURE: b"a"}, 5)])
        assert keys(store.scan("captures", prefix_range(prefix))) == [key]

    def test_rows_are_those_that_exist(self, store: RowStore, prefix: bytes) -> None:
        put = [prefix + name for name in (b"a", b"b", b"c")]
        store.mutate("captures", [Put(row, {CAPTURE: b"1"}, 5) for row in put])
        asked = [prefix + b"z", put[2], put[0], put[2]]
        assert set(store.get_rows("captures", asked)) == {put[0], put[2]}

    def test_columns_and_families_are_chosen(self, store: RowStore, prefix: bytes) -> None:
        store.mutate("captures", [Put(prefix, {CAPTURE: b"1", LOCATION: b"2", DEDUPE: b"3"}, 5)])
        for columns, expected in [
            ([b"m"], {CAPTURE, LOCATION}),
            ([b"d"], {DEDUPE}),
            ([CAPTURE], {CAPTURE}),
            ([LOCATION, b"d"], {LOCATION, DEDUPE}),
            ([b"m", CAPTURE], {CAPTURE, LOCATION}),
            (None, {CAPTURE, LOCATION, DEDUPE}),
        ]:
            row = get_row(store, "captures", prefix, columns=columns)
            assert row is not None
            assert set(row.cells) == expected
            assert list(store.scan("captures", prefix_range(prefix), columns=columns)) == [row]

    def test_a_row_without_what_is_asked_for_is_not_given(
        self, store: RowStore, prefix: bytes
    ) -> None:
        store.mutate("captures", [Put(prefix, {CAPTURE: b"1"}, 5)])
        assert get_row(store, "captures", prefix, columns=[b"q"]) is None
        assert list(store.scan("captures", prefix_range(prefix), columns=[b"q"])) == []

    # --- scans

    def test_rows_are_sorted_by_bytes(self, store: RowStore, prefix: bytes) -> None:
        names = [b"~", b"a", b"B", b"a b", b"a!", b"a", b"10", b"9", b"%20", b"a" * 99]
        rows = {prefix + name for name in names}
        store.mutate("captures", [Put(row, {CAPTURE: b""}, 5) for row in rows])
        assert keys(store.scan("captures", prefix_range(prefix))) == sorted(rows)
        backwards = store.scan("captures", prefix_range(prefix), reverse=True)
        assert keys(backwards) == sorted(rows, reverse=True)

    @pytest.mark.parametrize("reverse", [False, True])
    @pytest.mark.parametrize(
        ("start", "stop", "expected"),
        [
            (b"", b"~", b"abcde"),
            (b"b", b"d", b"bc"),
            (b"bb", b"dd", b"cd"),
            (b"b", b"b", b""),
            (b"d", b"b", b""),
            (b"c", b"c\0", b"c"),
            (b"x", b"y", b""),
        ],
    )
    def test_a_range_is_half_open_in_both_directions(
        self,
        store: RowStore,
        prefix: bytes,
        reverse: bool,
        start: bytes,
        stop: bytes,
        expected: bytes,
    ) -> None:
        store.mutate("captures", [Put(prefix + b"%c" % c, {CAPTURE: b""}, 5) for c in b"abcde"])
        found = store.scan("captures", KeyRange(prefix + start, prefix + stop), reverse=reverse)
        wanted = [prefix + b"%c" % c for c in expected]
        assert keys(found) == (wanted[::-1] if reverse else wanted)

    @pytest.mark.parametrize("reverse", [False, True])
    def test_a_scan_without_end(self, store: RowStore, reverse: bool) -> None:
        rows = [b"~~~~a", b"~~~~b"]
        store.mutate("captures", [Put(row, {CAPTURE: b""}, 5) for row in rows])
        found = keys(store.scan("captures", KeyRange(b"~~~~"), reverse=reverse))
        assert found == (rows[::-1] if reverse else rows)

    @pytest.mark.parametrize("reverse", [False, True])
    @pytest.mark.parametrize("limit", [1, 2, 7, 100])
    def test_a_scan_ends_at_its_limit(
        self, store: RowStore, prefix: bytes, limit: int, reverse: bool
    ) -> None:
        store.mutate("captures", [pair_put(prefix, number, 1) for number in range(50)])
        everything = keys(store.scan("captures", prefix_range(prefix), reverse=reverse))
        assert len(everything) == 50
        found = store.scan("captures", prefix_range(prefix), limit_rows=limit, reverse=reverse)
        assert keys(found) == everything[:limit]

    def test_a_limit_counts_rows_that_are_given(self, store: RowStore, prefix: bytes) -> None:
        puts = [Put(prefix + b"%03d" % n, {CAPTURE: b""}, 10 - n % 10) for n in range(100)]
        store.mutate("captures", puts)
        found = store.scan("captures", prefix_range(prefix), before_ms=2, limit_rows=3)
        assert keys(found) == [prefix + name for name in (b"009", b"019", b"029")]

    @pytest.mark.parametrize("reverse", [False, True])
    def test_a_long_scan_gives_each_row_once_and_whole(
        self, store: RowStore, prefix: bytes, reverse: bool
    ) -> None:
        columns = [b"m:location.%d" % n for n in range(40)]
        wide = [Put(prefix + b"0wide%d" % n, dict.fromkeys(columns, b"v"), 1) for n in range(300)]
        narrow = [pair_put(prefix, number, 1) for number in range(10_000, 15_000)]
        store.mutate("captures", [*wide, *narrow])
        rows = list(store.scan("captures", prefix_range(prefix), reverse=reverse))
        found = [row.key for row in rows]
        assert found == sorted({put.row for put in (*wide, *narrow)}, reverse=reverse)
        assert {len(row.cells) for row in rows if b"wide" in row.key} == {40}
        assert {len(row.cells) for row in rows if b"wide" not in row.key} == {2}

    def test_a_scan_may_be_left_or_written_into(self, store: RowStore, prefix: bytes) -> None:
        store.mutate("captures", [pair_put(prefix, number, 1) for number in range(20)])
        scan = store.scan("captures", prefix_range(prefix))
        first = next(scan)
        store.mutate("captures", [Delete(row.key, 2) for row in scan])
        assert keys(store.scan("captures", prefix_range(prefix))) == [first.key]

    # --- many ranges

    @pytest.mark.parametrize("limit", [1, 3, 1000])
    def test_the_first_rows_of_many_ranges(
        self, store: RowStore, prefix: bytes, limit: int
    ) -> None:
        puts = [pair_put(prefix, number, 1) for number in range(400, 600)]
        store.mutate("captures", puts)
        keys_put = [put.row for put in puts]
        ranges = [prefix_range(key) for key in keys_put]
        ranges += [KeyRange(keys_put[n], keys_put[n + 7]) for n in range(0, 150, 11)]
        ranges += [KeyRange(b, a) for a, b in ranges[:9] if a is not None and b is not None]
        ranges += [prefix_range(prefix + b"none%d" % n) for n in range(20)]
        ranges += [KeyRange(prefix, keys_put[5]), prefix_range(prefix), ranges[0]]
        ranges = ranges[1::2] + ranges[::2]
        found = list(store.first_rows("captures", ranges, limit_rows=limit))
        assert found == [list(store.scan("captures", r, limit_rows=limit)) for r in ranges]
        assert max(map(len, found)) == min(limit, len(puts))

    def test_the_first_rows_of_a_long_range(self, store: RowStore, prefix: bytes) -> None:
        store.mutate("captures", [pair_put(prefix, number, 1) for number in range(1700)])
        short = KeyRange(prefix, sorted(pair_put(prefix, n, 1).row for n in range(1700))[3])
        ranges = [prefix_range(prefix), short, KeyRange(prefix)]
        for limit in (1699, 1700, 5000):
            found = list(store.first_rows("captures", ranges, limit_rows=limit))
            assert found == [list(store.scan("captures", r, limit_rows=limit)) for r in ranges]

    def test_the_first_rows_have_the_columns_asked_for(
        self, store: RowStore, prefix: bytes
    ) -> None:
        store.mutate("files", [Put(prefix + b"a", {FACTS: b"1"}, 5)])
        for row in (b"a", b"b"):
            store.mutate("files", [Put(prefix + row, {STATE: b""}, None)])
        ranges = [prefix_range(prefix), prefix_range(prefix + b"b")]
        for columns in ([b"f"], [STATE], None, [CLAIM]):
            found = list(store.first_rows("files", ranges, limit_rows=9, columns=columns))
            assert found == [list(store.scan("files", r, columns=columns)) for r in ranges]

    def test_first_rows_may_be_left(self, store: RowStore, prefix: bytes) -> None:
        store.mutate("captures", [pair_put(prefix, 1, 1)])
        assert list(store.first_rows("captures", [], limit_rows=1)) == []
        answers = store.first_rows("captures", [prefix_range(prefix)] * 999, limit_rows=1)
        assert len(next(answers)) == 1
        del answers
        assert len(list(store.scan("captures", prefix_range(prefix)))) == 1

    # --- values alone

    @pytest.mark.parametrize("reverse", [False, True])
    @pytest.mark.parametrize("limit", [1, 2, 7, 1000])
    def test_values_are_those_of_the_rows(
        self, store: RowStore, prefix: bytes, limit: int, reverse: bool
    ) -> None:
        puts = [
            Put(prefix + b"%02d" % n, {column: b"%d at %d" % (n, time)}, time)
            for n in range(12)
            for column in ((CAPTURE, DEDUPE), (CAPTURE,), (LOCATION,))[n % 3]
            for time in range(1, 2 + n % 4)
        ]
        store.mutate("captures", puts)
        for columns in ([CAPTURE], [LOCATION, CAPTURE], [DEDUPE], []):
            key_range = prefix_range(prefix)
            found = store.scan_values(
                "captures", key_range, columns, limit_rows=limit, reverse=reverse
            )
            rows = store.scan(
                "captures", key_range, columns=columns, limit_rows=limit, reverse=reverse
            )
            assert list(found.items()) == [(r.key, r.cells[max(r.cells)].value) for r in rows]

    @pytest.mark.parametrize(("before", "after"), [(1, 1), (2, 7), (3, 1), (1000, 1000)])
    @pytest.mark.parametrize("at", [b"", b"00", b"05", b"055", b"11", b"99"])
    def test_values_around_a_key_are_those_of_two_scans(
        self, store: RowStore, prefix: bytes, at: bytes, before: int, after: int
    ) -> None:
        puts = [
            Put(prefix + b"%02d" % n, {column: b"%d at %d" % (n, time)}, time)
            for n in range(12)
            for column in ((CAPTURE, DEDUPE), (CAPTURE,), (LOCATION,))[n % 3]
            for time in range(1, 2 + n % 4)
        ]
        store.mutate("captures", puts)
        whole, key = prefix_range(prefix), prefix + at
        for columns in ([CAPTURE], [LOCATION, CAPTURE], [DEDUPE]):
            found = store.values_around(
                "captures", whole, key, columns, rows_before=before, rows_after=after
            )
            earlier, later = KeyRange(whole.start_row, key), KeyRange(key, whole.stop_row)
            scan = partial(store.scan_values, "captures", columns=columns)
            expected = (
                scan(key_range=earlier, limit_rows=before, reverse=True),
                scan(key_range=later, limit_rows=after),
            )
            assert [list(side.items()) for side in found] == [list(e.items()) for e in expected]

    # --- time

    def test_the_newest_timestamp_wins_whatever_came_last(
        self, store: RowStore, prefix: bytes
    ) -> None:
        for timestamp_ms in (5, 9, 7):
            store.mutate("captures", [Put(prefix, {CAPTURE: b"%d" % timestamp_ms}, timestamp_ms)])
        row = get_row(store, "captures", prefix)
        assert row is not None
        assert row.cells[CAPTURE] == StoredCell(b"9", 9)
        found = store.versions("captures", prefix, CAPTURE)
        assert [cell.timestamp_ms for cell in found] == [9, 7, 5]

    def test_an_act_done_again_changes_nothing(self, store: RowStore, prefix: bytes) -> None:
        act = [Put(prefix, {CAPTURE: b"a", DEDUPE: b"b"}, 5)]
        store.mutate("captures", act)
        before = store.versions("captures", prefix, CAPTURE)
        store.mutate("captures", act)
        assert store.versions("captures", prefix, CAPTURE) == before == [StoredCell(b"a", 5)]

    def test_of_two_puts_at_one_time_the_later_stays(self, store: RowStore, prefix: bytes) -> None:
        store.mutate("captures", [Put(prefix, {CAPTURE: v}, 5) for v in (b"z", b"a", b"m")])
        assert store.versions("captures", prefix, CAPTURE) == [StoredCell(b"m", 5)]

    @pytest.mark.parametrize(
        ("before_ms", "expected"), [(5, None), (6, b"5"), (9, b"5"), (10, b"9"), (99, b"9")]
    )
    def test_a_time_bound_is_exclusive(
        self, store: RowStore, prefix: bytes, before_ms: int, expected: bytes | None
    ) -> None:
        for timestamp_ms in (5, 9):
            store.mutate("captures", [Put(prefix, {CAPTURE: b"%d" % timestamp_ms}, timestamp_ms)])
        row = get_row(store, "captures", prefix, before_ms=before_ms)
        assert (row and row.value(CAPTURE)) == expected
        rows = list(store.scan("captures", prefix_range(prefix), before_ms=before_ms))
        assert rows == ([row] if row else [])

    def test_as_many_versions_as_the_family_keeps(self, store: RowStore, prefix: bytes) -> None:
        for timestamp_ms in range(1, 6):
            store.mutate("captures", [Put(prefix, {CAPTURE: b"%d" % timestamp_ms}, timestamp_ms)])
        found = store.versions("captures", prefix, CAPTURE)
        assert [cell.value for cell in found] == [b"5", b"4", b"3"]

    def test_not_kept_is_told_from_not_yet_there(self, store: RowStore, prefix: bytes) -> None:
        old, new = prefix + b"old", prefix + b"new"
        for timestamp_ms in range(10, 60, 10):
            store.mutate("captures", [Put(old, {CAPTURE: b"%d" % timestamp_ms}, timestamp_ms)])
        store.mutate("captures", [Put(new, {CAPTURE: b"x"}, 30)])
        assert cell_before(store, "captures", old, CAPTURE, 50) == AsOf(StoredCell(b"40", 40), True)
        assert cell_before(store, "captures", old, CAPTURE, 30) == AsOf(None, False)
        assert cell_before(store, "captures", new, CAPTURE, 30) == AsOf(None, True)
        assert cell_before(store, "captures", b"nowhere", CAPTURE, 30) == AsOf(None, True)

    def test_the_present_has_no_history(self, store: RowStore, prefix: bytes) -> None:
        store.mutate("files", [Put(prefix, {FACTS: b"f"}, 5)])
        for value in (b"1", b"2"):
            store.mutate("files", [Put(prefix, {STATE: value}, None)])
        [cell] = store.versions("files", prefix, STATE)
        assert cell.value == b"2"
        row = get_row(store, "files", prefix, before_ms=1 << 62)
        assert row is not None
        assert set(row.cells) == {FACTS}
        assert get_row(store, "files", prefix, before_ms=1 << 62, columns=[b"l", STATE]) is None
        with pytest.raises(SchemaError, match="no history"):
            cell_before(store, "files", prefix, STATE, 5)

    # --- deletes

    def test_a_deleted_row_is_gone_with_its_history(self, store: RowStore, prefix: bytes) -> None:
        store.mutate("captures", [Put(prefix, {CAPTURE: b"a", DEDUPE: b"b"}, 5)])
        store.mutate("captures", [Delete(prefix, 6)])
        assert get_row(store, "captures", prefix) is None
        assert store.versions("captures", prefix, CAPTURE) == []
        store.mutate("captures", [Delete(prefix, 6)])

    def test_purged_and_landed_again(self, store: RowStore, prefix: bytes) -> None:
        for timestamp_ms in range(10, 100, 20):
            put = Put(prefix, {CAPTURE: b"%d" % timestamp_ms}, timestamp_ms)
            store.mutate("captures", [put])
            store.mutate("captures", [put])
            assert store.versions("captures", prefix, CAPTURE)[0].value == b"%d" % timestamp_ms
            store.mutate("captures", [Delete(prefix, timestamp_ms + 5)])
            assert get_row(store, "captures", prefix) is None

    def test_a_delete_reaches_back_from_its_time(self, store: RowStore, prefix: bytes) -> None:
        for timestamp_ms in (5, 7, 9):
            store.mutate("captures", [Put(prefix, {CAPTURE: b"%d" % timestamp_ms}, timestamp_ms)])
        store.mutate("captures", [Delete(prefix, 7)])
        assert store.versions("captures", prefix, CAPTURE) == [StoredCell(b"9", 9)]

    def test_columns_are_deleted_alone(self, store: RowStore, prefix: bytes) -> None:
        store.mutate("captures", [Put(prefix, {CAPTURE: b"a", LOCATION: b"b", DEDUPE: b"c"}, 5)])
        store.mutate("captures", [Delete(prefix, 5, [CAPTURE, DEDUPE])])
        row = get_row(store, "captures", prefix)
        assert row is not None
        assert set(row.cells) == {LOCATION}
        store.mutate("captures", [Put(prefix, {CAPTURE: b"d"}, 6)])
        assert store.versions("captures", prefix, CAPTURE) == [StoredCell(b"d", 6)]

    def test_facts_and_present_are_deleted_apart(self, store: RowStore, prefix: bytes) -> None:
        def columns() -> set[bytes]:
            row = get_row(store, "files", prefix)
            return set(row.cells) if row else set()

        present = Put(prefix, {STATE: b"s", CLAIM: b"c"}, None)
        store.mutate("files", [Put(prefix, {FACTS: b"f"}, 5), present])
        store.mutate("files", [Delete(prefix, 1 << 50)])
        assert columns() == {STATE, CLAIM}
        store.mutate("files", [Delete(prefix, None, [STATE])])
        assert columns() == {CLAIM}
        store.mutate("files", [Delete(prefix, None)])
        assert columns() == set()
        store.mutate("files", [present])
        assert columns() == {STATE, CLAIM}

    def test_mutations_are_applied_in_order(self, store: RowStore, prefix: bytes) -> None:
        store.mutate(
            "captures",
            [
                Put(prefix, {CAPTURE: b"a"}, 1),
                Delete(prefix, 2),
                Put(prefix, {DEDUPE: b"b"}, 3),
                Delete(prefix, 4, [DEDUPE]),
                Put(prefix, {LOCATION: b"c"}, 5),
            ],
        )
        assert get_row(store, "captures", prefix) == Row(prefix, {LOCATION: StoredCell(b"c", 5)})

    # --- check-and-put

    @pytest.mark.parametrize(
        ("there", "expected", "done"),
        [
            (None, None, True),
            (None, b"a", False),
            (None, b"", False),
            (b"a", b"a", True),
            (b"a", b"b", False),
            (b"a", None, False),
        ],
    )
    def test_check_and_put(
        self,
        store: RowStore,
        prefix: bytes,
        there: bytes | None,
        expected: bytes | None,
        done: bool,
    ) -> None:
        if there is not None:
            assert store.check_and_put("files", prefix, CLAIM, expected=None, value=there)
        assert store.check_and_put("files", prefix, CLAIM, expected=expected, value=b"n") == done
        row = get_row(store, "files", prefix)
        assert (row and row.value(CLAIM)) == (b"n" if done else there)

    def test_a_claim_given_up_can_be_taken_again(self, store: RowStore, prefix: bytes) -> None:
        for token in (b"1", b"2", b"3"):
            assert store.check_and_put("files", prefix, CLAIM, expected=None, value=token)
            store.mutate("files", [Delete(prefix, None, [CLAIM])])
        assert get_row(store, "files", prefix) is None

    # --- what is refused

    def test_what_the_schema_lacks_is_refused(self, store: RowStore, prefix: bytes) -> None:
        for act in (
            lambda: get_row(store, "nothing", prefix),
            lambda: next(store.scan("nothing"), None),
            lambda: list(store.first_rows("nothing", [KeyRange()], limit_rows=1)),
            lambda: list(store.first_rows("captures", [KeyRange()], limit_rows=1, columns=[b"l"])),
            lambda: store.versions("captures", prefix, b"z:a"),
            lambda: get_row(store, "captures", prefix, columns=[b"l"]),
            lambda: store.mutate("nothing", [Put(prefix, {CAPTURE: b""}, 1)]),
            lambda: store.mutate("captures", [Put(prefix, {b"z:a": b""}, 1)]),
            lambda: store.mutate("captures", [Put(prefix, {b"m:": b""}, 1)]),
            lambda: store.check_and_put("files", prefix, b"z:a", expected=None, value=b""),
        ):
            with pytest.raises(SchemaError):
                act()

    @pytest.mark.parametrize(
        "mutation",
        [
            Put(b"", {FACTS: b""}, 1),
            Put(b"r", {}, 1),
            Put(b"r", {FACTS: b""}, None),
            Put(b"r", {STATE: b""}, 1),
            Put(b"r", {FACTS: b"", STATE: b""}, 1),
            Put(b"r", {b"f": b""}, 1),
            Delete(b"r", 1, [STATE]),
            Delete(b"r", None, [FACTS]),
            Delete(b"r", 1, [b"f"]),
        ],
        ids=str,
    )
    def test_a_mutation_that_is_none_is_refused(
        self, store: RowStore, mutation: Put | Delete
    ) -> None:
        with pytest.raises(ValueError, match=r"a (Put|Delete) of row"):
            store.mutate("files", [mutation])

    def test_check_and_put_changes_the_present_only(self, store: RowStore, prefix: bytes) -> None:
        for column in (FACTS, b"l"):
            with pytest.raises(ValueError, match="only present cells"):
                store.check_and_put("files", prefix, column, expected=None, value=b"")

    # --- the schema

    def test_a_store_is_as_declared_and_applying_again_does_nothing(
        self, opener: StoreOpener
    ) -> None:
        admin = opener.admin()
        assert admin.apply(SCHEMA) == []
        assert schema_drift(SCHEMA, admin.describe()) == []

    def test_the_schema_in_force_says_how_many_versions(self, store: RowStore) -> None:
        assert store.schema == SCHEMA

    def test_closing_twice_is_closing(self, opener: StoreOpener) -> None:
        store = opener.open()
        get_row(store, "captures", b"r")
        store.close()
        store.close()


class SeveralProcessesContract(RowStoreContract):
    """The same of a store that its processes open for themselves."""

    @pytest.mark.slow
    def test_no_change_of_several_processes_is_lost(
        self, opener: StoreOpener, store: RowStore, prefix: bytes
    ) -> None:
        assert run(count_up, *[(opener, prefix, 25)] * 3) == [0, 0, 0]
        row = get_row(store, "files", prefix)
        assert row is not None
        assert row.value(STATE) == b"75"

    @pytest.mark.slow
    def test_several_processes_put_at_once(
        self, opener: StoreOpener, store: RowStore, prefix: bytes
    ) -> None:
        assert run(put_rows, *[(opener, prefix + b"%d/" % n, 3000) for n in range(3)]) == [0, 0, 0]
        assert len(list(store.scan("captures", prefix_range(prefix)))) == 9000
        assert torn_rows(opener, prefix) == []

    @pytest.mark.slow
    def test_a_reader_sees_each_row_whole(self, opener: StoreOpener, prefix: bytes) -> None:
        here, there = CONTEXT.Pipe()
        writer = start(rewrite_for_ever, opener, prefix, there)
        assert here.poll(60)
        seen = [torn_rows(opener, prefix) for _ in range(50)]
        assert writer.exitcode is None
        writer.kill()
        writer.join()
        assert seen == [[]] * 50

    @pytest.mark.slow
    @pytest.mark.parametrize("batches", [1, 3, 10])
    def test_killed_in_a_batch(self, opener: StoreOpener, prefix: bytes, batches: int) -> None:
        here, there = CONTEXT.Pipe()
        writer = start(put_for_ever, opener, prefix, there)
        acknowledged = 0
        for _ in range(batches):
            assert here.poll(60)
            acknowledged = here.recv()
        assert writer.pid
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        while here.poll():
            acknowledged = here.recv()
        store = opener.open()
        found = keys(store.scan("captures", prefix_range(prefix)))
        assert len(found) >= acknowledged > 0
        assert found[:acknowledged] == [
            pair_put(prefix, number, 1).row for number in range(acknowledged)
        ]
        assert torn_rows(opener, prefix) == []
        # The same again completes it.
        rows = len(found) + 100
        store.mutate("captures", [pair_put(prefix, number, 1) for number in range(rows)])
        assert len(keys(store.scan("captures", prefix_range(prefix)))) == rows
        store.close()
