"""The contract and the model on HBase, and what is that adapter's own."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import count

import pytest
from hbase_opener import HBaseOpener, drop_tables, hbase_tables, namespace_of_its_own
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test
from row_store_contract import CAPTURE, CLAIM, STATE, SeveralProcessesContract, keys
from row_store_model import RowStoreMachine
from shared_cluster import RunningCluster
from store_openers import SCHEMA
from store_workers import pair_put

from pinakes.errors import ConfigError, SchemaError, StoreUnavailable
from pinakes.hbase_schema.ranges import KeyRange, prefix_range
from pinakes.hbase_schema.tables import Table, declared_schema, schema_drift
from pinakes.row_store.hbase.admin import HBaseSchemaAdmin
from pinakes.row_store.hbase.clock import StoreClock
from pinakes.row_store.hbase.connection import Server
from pinakes.row_store.hbase.store import HBaseRowStore
from pinakes.row_store.port import Delete, Put, get_row


@pytest.fixture(scope="module")
def tables(shared_cluster: RunningCluster) -> Iterator[HBaseOpener]:
    with shared_cluster.used(alone=False), hbase_tables(shared_cluster.layout) as opener:
        yield opener


class TestHBaseRowStore(SeveralProcessesContract):
    @pytest.fixture
    def opener(self, tables: HBaseOpener) -> HBaseOpener:
        return tables


def test_model(tables: HBaseOpener) -> None:
    machine = type("Machine", (RowStoreMachine,), {"opener": tables})
    run_state_machine_as_test(machine, settings=settings(max_examples=20, stateful_step_count=30))


# --- answers that do not arrive


class Proxy:
    """Passes a client's calls to a server, and may keep back what comes of them.

    `lose` is asked of each call by its name: True loses its answer, and the connection.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.server = Server("127.0.0.1", self._listening.getsockname()[1])
        self.lose: Callable[[str], bool] = lambda _: False
        self.lost: list[str] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with closing(client), closing(socket.create_connection(self._server)) as server:
            threading.Thread(target=self._upstream, args=(client, server), daemon=True).start()
            losing = False
            with suppress(OSError):
                while data := server.recv(1 << 16):
                    # A reply begins with its version, kind, and the name of the call.
                    name = data[8 : 8 + int.from_bytes(data[4:8], "big")].decode("latin-1")
                    if data[:2] == b"\x80\x01" and self.lose(name):
                        self.lost.append(name)
                        losing = True
                    if losing:
                        break
                    client.sendall(data)
                client.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def _upstream(client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while data := client.recv(1 << 16):
                server.sendall(data)
            server.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._listening.close()

    def lose_next(self, call: str, times: int = 1) -> None:
        """Lose the next answers to this call."""
        left = [call] * times

        def lose(name: str) -> bool:
            return name == call and bool(left) and left.pop() == call

        self.lose = lose


@pytest.fixture
def proxy(tables: HBaseOpener) -> Iterator[Proxy]:
    with closing(Proxy(tables.connection.servers[0])) as proxy:
        yield proxy


@pytest.fixture
def store(tables: HBaseOpener, proxy: Proxy) -> Iterator[HBaseRowStore]:
    behind = replace(tables.connection, servers=(proxy.server,), connections=2)
    with closing(HBaseRowStore(behind, SCHEMA)) as store:
        yield store


def test_a_put_whose_answer_is_lost_is_there_once(store: HBaseRowStore, proxy: Proxy) -> None:
    proxy.lose_next("mutateRowsTs", 3)
    store.mutate("captures", [Put(b"lost", {CAPTURE: b"a"}, 5), Delete(b"lost/", 5)])
    assert proxy.lost == ["mutateRowsTs"] * 3
    assert [cell.timestamp_ms for cell in store.versions("captures", b"lost", CAPTURE)] == [5]


@pytest.mark.parametrize("times", [1, 3])
def test_won_check_and_put_with_lost_answer_is_known(
    store: HBaseRowStore, proxy: Proxy, times: int
) -> None:
    row = b"won%d" % times
    proxy.lose_next("checkAndPut", times)
    assert store.check_and_put("files", row, CLAIM, expected=None, value=b"ours")
    assert proxy.lost == ["checkAndPut"] * times
    proxy.lose_next("checkAndPut", times)
    assert store.check_and_put("files", row, CLAIM, expected=b"ours", value=b"ours again")


def test_lost_check_and_put_with_lost_answer_is_known(store: HBaseRowStore, proxy: Proxy) -> None:
    assert store.check_and_put("files", b"theirs", CLAIM, expected=None, value=b"theirs")
    proxy.lose_next("checkAndPut")
    assert not store.check_and_put("files", b"theirs", CLAIM, expected=None, value=b"ours")
    row = get_row(store, "files", b"theirs")
    assert row is not None
    assert row.value(CLAIM) == b"theirs"


def test_a_put_of_the_present_that_comes_late_hides_nothing(
    store: HBaseRowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What a server that hung does when it goes on: it does once more what was asked.
    sent = []
    send = store._send
    monkeypatch.setattr(store, "_send", lambda *call: (sent.append(call), send(*call)))
    for value in (b"landing", b"landed"):
        store.mutate("files", [Put(b"late", {STATE: value}, None)])
    store.mutate("files", [Delete(b"gone", None), Put(b"gone", {CLAIM: b"1"}, None)])
    store.mutate("files", [Delete(b"gone", None)])
    store.mutate("files", [Put(b"gone", {CLAIM: b"2"}, None)])
    for call in sent:
        send(*call)
    assert [cell.value for cell in store.versions("files", b"late", STATE)] == [b"landed"]
    assert [cell.value for cell in store.versions("files", b"gone", CLAIM)] == [b"2"]


def test_a_scan_goes_on_where_its_answers_were_lost(store: HBaseRowStore, proxy: Proxy) -> None:
    puts = [pair_put(b"scan/", number, 1) for number in range(7000)]
    store.mutate("captures", puts)
    answers = iter(range(1_000_000))  # a piece takes up to six
    proxy.lose = lambda name: name.startswith("scanner") and next(answers) % 7 == 2
    for reverse in (False, True):
        found = keys(store.scan("captures", prefix_range(b"scan/"), reverse=reverse))
        assert found == sorted((put.row for put in puts), reverse=reverse)
    assert {"scannerGetList", "scannerOpenWithScan"} & set(proxy.lost)


def test_many_ranges_whose_answers_were_lost(store: HBaseRowStore, proxy: Proxy) -> None:
    puts = [pair_put(b"many/", number, 1) for number in range(700)]
    store.mutate("captures", puts)
    asked = [KeyRange(put.row, put.row + b"~") for put in puts]
    answers = count()

    def lose(name: str) -> bool:
        return name.startswith("scanner") and next(answers) % 3 == 2 and len(proxy.lost) < 4

    proxy.lose = lose
    found = list(store.first_rows("captures", [*asked, prefix_range(b"many/")], limit_rows=600))
    assert [keys(iter(rows)) for rows in found[:-1]] == [[put.row] for put in puts]
    assert keys(iter(found[-1])) == sorted(put.row for put in puts)[:600]
    assert len(proxy.lost) >= 4


def test_hanging_server_is_given_up_by_the_store(tables: HBaseOpener, proxy: Proxy) -> None:
    hung = replace(tables.connection, servers=(proxy.server,), timeout_s=0.3, retry_s=0.5)
    with closing(HBaseRowStore(hung, SCHEMA)) as store:
        silent = socket.create_server(("127.0.0.1", 0))
        proxy._server = Server("127.0.0.1", silent.getsockname()[1])
        store.close()  # so that it connects anew
        with pytest.raises(StoreUnavailable, match="does not answer"):
            store.mutate("captures", [Put(b"hung", {CAPTURE: b""}, 1)])
        with pytest.raises(StoreUnavailable, match="does not answer"):
            list(store.scan("captures"))
        silent.close()


# --- what HBase would do otherwise


def test_expired_versions_are_not_returned(store: HBaseRowStore) -> None:
    # HBase has all five until a compaction, and would give the second for a time before 3.
    for time_ms in range(1, 6):
        puts = [Put(row, {CAPTURE: b"%d" % time_ms}, time_ms) for row in (b"five/a", b"five/c")]
        store.mutate("captures", puts)
    store.mutate("captures", [Put(b"five/b", {CAPTURE: b"1"}, 1)])
    store.mutate("captures", [Put(b"five/c", {b"m:location.1": b"1"}, 1)])
    for before_ms, expected in (
        (3, {b"five/b": {CAPTURE: b"1"}, b"five/c": {b"m:location.1": b"1"}}),
        (4, {b"five/a": {CAPTURE: b"3"}, b"five/b": {CAPTURE: b"1"},
             b"five/c": {CAPTURE: b"3", b"m:location.1": b"1"}}),
    ):  # fmt: skip
        for rows in (
            store.scan("captures", prefix_range(b"five/"), before_ms=before_ms),
            store.scan("captures", prefix_range(b"five/"), before_ms=before_ms, limit_rows=3),
            store.get_rows("captures", list(expected), before_ms=before_ms).values(),
        ):
            found = {row.key: {c: cell.value for c, cell in row.cells.items()} for row in rows}
            assert found == expected


def test_put_after_delete_is_visible(store: HBaseRowStore) -> None:
    # A clock that is known badly: cells are dated up to a second ahead of HBase's.
    def ask_slowly() -> int:
        time.sleep(1.0)
        return store._time_ms()

    store._clock = StoreClock(ask_slowly, retry_s=60)
    store.mutate("files", [Put(b"ahead", {CLAIM: b"1"}, None)])
    store.mutate("files", [Delete(b"ahead", None)])
    assert store.check_and_put("files", b"ahead", CLAIM, expected=None, value=b"2")
    assert [cell.value for cell in store.versions("files", b"ahead", CLAIM)] == [b"2"]


# --- what is there


def test_there_is_no_store_until_it_is_made(cluster: RunningCluster) -> None:
    nowhere = namespace_of_its_own(cluster.layout)
    with pytest.raises(ConfigError, match="pinakes init"):
        HBaseRowStore(nowhere)
    with closing(HBaseSchemaAdmin(nowhere)) as admin:
        assert admin.describe().version is None
        assert admin.describe().tables == {}


def test_every_attribute_is_read_back(tables: HBaseOpener) -> None:
    with closing(tables.admin()) as admin:
        found = admin.describe()
    assert found.version == SCHEMA.version
    [text] = [family for family in found.tables["captures"] if family.name == "x"]
    [present] = [family for family in found.tables["files"] if family.name == "l"]
    [digests] = found.tables["digests"]
    assert (text.encoding, text.compression, text.block_cache) == ("FAST_DIFF", "ZSTD", False)
    assert (present.versions, present.in_memory, present.bloom_filter) == (1, True, "ROW")
    assert (digests.bloom_filter, digests.bloom_prefix_bytes) == ("ROWPREFIX_FIXED_LENGTH", 47)
    assert (digests.versions, digests.block_size_bytes) == (3, 65536)


def test_an_upgrade_adds_what_is_new_and_drops_nothing(cluster: RunningCluster) -> None:
    connection = namespace_of_its_own(cluster.layout)
    small = replace(SCHEMA, tables=(Table(name="runs", row_key="run", families=(
        SCHEMA.tables[0].families[0],
    )),))  # fmt: skip
    [facts] = small.tables[0].families
    wider = replace(small, version=2, tables=(
        replace(small.tables[0], families=(
            replace(facts, versions=5, encoding="DIFF", bloom_filter="ROWPREFIX_FIXED_LENGTH",
                    bloom_prefix_bytes=8),
            replace(facts, name="n", compression="NONE"),
        )),
        Table(name="places", row_key="place", families=(facts,)),
    ))  # fmt: skip
    try:
        with closing(HBaseSchemaAdmin(connection)) as admin:
            done = admin.apply(small)
            assert done[0] == f"made namespace {connection.prefix[:-1]}"
            assert done[-2:] == ["made runs:m, versions 3", "schema version 1"]
            assert schema_drift(small, admin.describe()) == []
            store = HBaseRowStore(connection, small)
            store.mutate("runs", [Put(b"r", {CAPTURE: b"a"}, 1)])
            with pytest.raises(SchemaError, match="upgrade it with `pinakes init`"):
                HBaseRowStore(connection, wider)
            assert len(schema_drift(wider, admin.describe())) == 6
            assert admin.apply(wider) == [
                "changed runs:m, versions 5",
                "made runs:n, versions 3",
                "made places:m, versions 3",
                "schema version 2",
            ]
            assert schema_drift(wider, admin.describe()) == []
            assert admin.apply(wider) == []
            with pytest.raises(SchemaError, match="use the newer Pinakes"):
                admin.apply(small)
        assert keys(HBaseRowStore(connection, wider).scan("runs")) == [b"r"]
        with pytest.raises(SchemaError, match="use the newer Pinakes"):
            HBaseRowStore(connection, small)
    finally:
        drop_tables(connection)


def test_tables_whose_answers_were_lost_are_made_all_the_same(cluster: RunningCluster) -> None:
    connection = namespace_of_its_own(cluster.layout)
    one = replace(SCHEMA, tables=SCHEMA.tables[1:2])
    [table] = one.tables
    changed = replace(one, version=SCHEMA.version + 1, tables=(
        replace(table, families=(
            *(replace(family, versions=7) for family in table.families),
            replace(table.families[0], name="n"),
        )),
    ))  # fmt: skip
    lost = ["createNamespace", "createTable", "modifyColumnFamily", "addColumnFamily"]
    waited: list[str] = []
    try:
        with closing(Proxy(connection.admin_servers[0])) as proxy:
            behind = replace(connection, admin_servers=(proxy.server,))
            proxy.lose = lambda name: name in lost and name not in proxy.lost
            with closing(HBaseSchemaAdmin(behind, on_wait=waited.append)) as admin:
                for schema in (one, changed):
                    admin.apply(schema)
                    assert schema_drift(schema, admin.describe()) == []
                    assert admin.apply(schema) == []
            assert proxy.lost == lost
        assert len(waited) == len(lost)
    finally:
        drop_tables(connection)


def test_a_store_that_lacks_a_family_says_so(tables: HBaseOpener) -> None:
    new = replace(SCHEMA.tables[0].families[0], name="n")
    wider = replace(SCHEMA.tables[0], families=(*SCHEMA.tables[0].families, new))
    with pytest.raises(SchemaError, match="has no family captures:n"):
        HBaseRowStore(tables.connection, replace(SCHEMA, tables=(wider,)))


def test_the_versions_kept_are_those_of_the_store(tables: HBaseOpener) -> None:
    with closing(HBaseRowStore(tables.connection, declared_schema(99))) as store:
        assert store.schema == SCHEMA


def test_a_new_table_is_split(cluster: RunningCluster) -> None:
    connection = namespace_of_its_own(cluster.layout)
    one = replace(SCHEMA, tables=SCHEMA.tables[1:2])
    try:
        with closing(HBaseSchemaAdmin(connection, splits={"digests": [b"g", b"p"]})) as admin:
            admin.apply(one)
        with closing(HBaseRowStore(connection, one)) as store:
            name = connection.table("digests")
            regions = store._calls.call(lambda client: client.getTableRegions(name))
            assert sorted(region.startKey for region in regions) == [b"", b"g", b"p"]
            rows = [b"a", b"g", b"m", b"p", b"z"]
            store.mutate("digests", [Put(row, {b"r:capture": b""}, 1) for row in rows])
            assert keys(store.scan("digests")) == rows
            assert keys(store.scan("digests", reverse=True)) == rows[::-1]
    finally:
        drop_tables(connection)


def test_missing_table_is_named(cluster: RunningCluster) -> None:
    connection = namespace_of_its_own(cluster.layout)
    one = replace(SCHEMA, tables=SCHEMA.tables[1:2])
    with closing(HBaseSchemaAdmin(connection)) as admin:
        admin.apply(one)
    with closing(HBaseRowStore(connection, one)) as store:
        drop_tables(connection)
        with pytest.raises(SchemaError, match="a table is missing"):
            store.mutate("digests", [Put(b"r", {b"r:capture": b""}, 1)])
