"""The contract and the model on SQLite, and what is the embedded store's own."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from row_store_contract import CAPTURE, CLAIM, SeveralProcessesContract, keys
from row_store_model import RowStoreMachine
from store_openers import SCHEMA, EmbeddedOpener

from pinakes.errors import ConfigError, Conflict, SchemaError, StoreUnavailable
from pinakes.hbase_schema.ranges import ALL_ROWS
from pinakes.hbase_schema.tables import Table, declared_schema, schema_drift
from pinakes.row_store.port import Delete, Put, get_row
from pinakes.row_store.sqlite import store as embedded
from pinakes.row_store.sqlite.admin import EmbeddedSchemaAdmin
from pinakes.row_store.sqlite.store import EmbeddedRowStore


@pytest.fixture(scope="module")
def module_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rows") / "rows.sqlite"
    EmbeddedOpener(path).admin().apply(SCHEMA)
    return path


class TestEmbeddedRowStore(SeveralProcessesContract):
    @pytest.fixture
    def opener(self, module_path: Path) -> EmbeddedOpener:
        return EmbeddedOpener(module_path)


_folder = Path(tempfile.mkdtemp(prefix="pinakes-model-"))


class _Machine(RowStoreMachine):
    opener = EmbeddedOpener(_folder / "rows.sqlite")


TestEmbeddedModel = _Machine.TestCase
TestEmbeddedModel.settings = settings(max_examples=60, stateful_step_count=30)


@pytest.fixture(scope="module", autouse=True)
def _model_store() -> Iterator[None]:
    _Machine.opener.admin().apply(SCHEMA)
    yield
    shutil.rmtree(_folder)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "rows.sqlite"
    EmbeddedSchemaAdmin(path).apply(SCHEMA)
    return path


@pytest.fixture
def store(path: Path) -> Iterator[EmbeddedRowStore]:
    with closing(EmbeddedRowStore(path, SCHEMA)) as store:
        yield store


def test_a_put_that_hbase_would_hide_is_refused(store: EmbeddedRowStore) -> None:
    store.mutate("captures", [Put(b"r", {CAPTURE: b"a"}, 5), Delete(b"r", 7)])
    store.mutate("captures", [Put(b"c", {CAPTURE: b"a"}, 5), Delete(b"c", 7, [CAPTURE])])
    for row in (b"r", b"c"):
        for timestamp_ms in (4, 7):
            with pytest.raises(Conflict, match="was deleted at 7"):
                store.mutate("captures", [Put(row, {CAPTURE: b"b"}, timestamp_ms)])
        store.mutate("captures", [Put(row, {CAPTURE: b"b"}, 8)])
    store.mutate("captures", [Put(b"c", {b"m:location.1": b"b"}, 4)])  # another column
    # An earlier delete does not take the later one's place.
    store.mutate("captures", [Delete(b"r", 3)])
    with pytest.raises(Conflict):
        store.mutate("captures", [Put(b"r", {CAPTURE: b"b"}, 7)])


def test_refused_mutation_rolls_its_transaction_back(store: EmbeddedRowStore) -> None:
    store.mutate("captures", [Delete(b"r", 7)])
    with pytest.raises(Conflict):
        store.mutate("captures", [Put(b"a", {CAPTURE: b""}, 9), Put(b"r", {CAPTURE: b""}, 7)])
    assert keys(store.scan("captures")) == []


def test_a_batch_is_cut_into_transactions(
    store: EmbeddedRowStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "TRANSACTION_CELLS", 10)
    puts = [Put(b"%03d" % n, {CAPTURE: b""}, 1) for n in range(25)]
    with pytest.raises(ValueError, match="puts nothing"):
        store.mutate("captures", [*puts, Put(b"bad", {}, 1)])
    assert len(keys(store.scan("captures"))) == 20  # two transactions were done


def test_a_batch_that_is_computed_slowly_holds_no_lock(store: EmbeddedRowStore) -> None:
    def puts() -> Iterator[Put]:
        yield Put(b"a", {CAPTURE: b""}, 1)
        assert store.check_and_put("files", b"r", CLAIM, expected=None, value=b"x")
        yield Put(b"b", {CAPTURE: b""}, 1)

    store.mutate("captures", puts())
    assert keys(store.scan("captures")) == [b"a", b"b"]


def test_clock_set_back_hides_nothing(path: Path) -> None:
    times = iter([100, 50])
    with closing(EmbeddedRowStore(path, SCHEMA, clock=lambda: next(times))) as store:
        assert store.check_and_put("files", b"r", CLAIM, expected=None, value=b"1")
        assert store.check_and_put("files", b"r", CLAIM, expected=b"1", value=b"2")
        assert [cell.value for cell in store.versions("files", b"r", CLAIM)] == [b"2"]


@pytest.mark.parametrize("other_ms", [1, 1 << 42], ids=["older", "newer"])
def test_a_cell_put_back_by_hand_beside_another_is_replaced(path: Path, other_ms: int) -> None:
    """What is read is what is compared."""
    with closing(EmbeddedRowStore(path, SCHEMA)) as store:
        assert store.check_and_put("files", b"r", CLAIM, expected=None, value=b"1")
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(
                "INSERT INTO files VALUES (?, ?, ?, ?)", (b"r", CLAIM, other_ms, b"0")
            )
            connection.commit()
        row = store.get_rows("files", [b"r"])[b"r"]
        now = row.value(CLAIM)
        assert store.check_and_put("files", b"r", CLAIM, expected=now, value=b"2")
        assert [cell.value for cell in store.versions("files", b"r", CLAIM)] == [b"2"]


def test_store_does_not_exist_before_apply(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="pinakes init"):
        EmbeddedRowStore(tmp_path / "rows.sqlite")
    assert list(tmp_path.iterdir()) == []


def test_apply_reports_what_it_did(tmp_path: Path) -> None:
    path = tmp_path / "new" / "store" / "a b?#%é.sqlite"
    with closing(EmbeddedSchemaAdmin(path)) as admin:
        done = admin.apply(declared_schema())
        assert done[0] == f"made {path}"
        assert "made captures:m, versions 10" in done
        assert done[-1] == "schema version 1"
        assert admin.apply(declared_schema()) == []
    with closing(EmbeddedRowStore(path)) as store:
        store.mutate("captures", [Put(b"r", {CAPTURE: b""}, 1)])


def test_an_upgrade_adds_what_is_new_and_drops_nothing(path: Path) -> None:
    new = Table(name="places", row_key="place", families=SCHEMA.tables[0].families[:1])
    wider = replace(declared_schema(5), version=2, tables=(*declared_schema(5).tables, new))
    with closing(EmbeddedRowStore(path, SCHEMA)) as store:
        store.mutate("captures", [Put(b"r", {CAPTURE: b"a"}, 1)])
    with pytest.raises(SchemaError, match="upgrade it with `pinakes init`"):
        EmbeddedRowStore(path, wider)
    with closing(EmbeddedSchemaAdmin(path)) as admin:
        done = admin.apply(wider)
        assert "changed captures:m, versions 5" in done
        assert "made places:m, versions 3" in done
        assert schema_drift(wider, admin.describe()) == []
        with pytest.raises(SchemaError, match="use the newer Pinakes"):
            admin.apply(SCHEMA)
    with closing(EmbeddedRowStore(path, wider)) as store:
        assert keys(store.scan("captures")) == [b"r"]
        assert keys(store.scan("places")) == []
    with pytest.raises(SchemaError, match="use the newer Pinakes"):
        EmbeddedRowStore(path, SCHEMA)


def test_a_store_that_lacks_a_family_says_so(path: Path) -> None:
    new = Table(name="places", row_key="place", families=SCHEMA.tables[0].families[:1])
    with pytest.raises(SchemaError, match="has no family places:m"):
        EmbeddedRowStore(path, replace(SCHEMA, tables=(*SCHEMA.tables, new)))


def test_the_versions_kept_are_those_of_the_store(path: Path) -> None:
    with closing(EmbeddedRowStore(path, declared_schema(99))) as store:
        assert store.schema == SCHEMA


def test_unknown_table_is_not_created(tmp_path: Path) -> None:
    bad = replace(SCHEMA, tables=(replace(SCHEMA.tables[0], name="a; DROP TABLE b"),))
    with pytest.raises(SchemaError, match="not a table name"):
        EmbeddedSchemaAdmin(tmp_path / "rows.sqlite").apply(bad)


@pytest.mark.parametrize("content", [b"no database" * 500, b"{}"], ids=["long", "short"])
def test_foreign_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "rows.sqlite"
    path.write_bytes(content)
    with pytest.raises(SchemaError, match="not a store of Pinakes"):
        EmbeddedRowStore(path)
    with pytest.raises(SchemaError, match="not a store of Pinakes"):
        EmbeddedSchemaAdmin(path).apply(SCHEMA)
    assert path.read_bytes() == content


def test_foreign_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA application_id=42")
        raw.execute("CREATE TABLE captures(x)")
    with pytest.raises(SchemaError, match="of another program"):
        EmbeddedSchemaAdmin(path).apply(SCHEMA)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "rows.sqlite"
    path.touch()
    with pytest.raises(SchemaError, match="None"):
        EmbeddedRowStore(path)
    EmbeddedSchemaAdmin(path).apply(SCHEMA)
    EmbeddedRowStore(path, SCHEMA).close()


def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        EmbeddedRowStore(tmp_path)
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        EmbeddedSchemaAdmin(tmp_path).apply(SCHEMA)
    with pytest.raises(StoreUnavailable, match="cannot be created"):
        EmbeddedSchemaAdmin(Path(__file__) / "x" / "rows.sqlite").apply(SCHEMA)


def test_a_damaged_store_says_so(path: Path, store: EmbeddedRowStore) -> None:
    store.mutate("captures", [Put(b"%05d" % n, {CAPTURE: b"x" * 99}, 1) for n in range(5000)])
    store.close()
    # A connection that was not collected yet keeps the log, and the log would mend the file.
    with closing(sqlite3.connect(path, isolation_level=None)) as last:
        last.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    content[8192:] = b"\x55" * (len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(StoreUnavailable, match="damaged: restore it"):
        list(EmbeddedRowStore(path, SCHEMA).scan("captures"))


@pytest.mark.parametrize("is_reading", [False, True], ids=["idle", "reading"])
def test_who_has_written_empties_the_log_beside_a_reader(path: Path, *, is_reading: bool) -> None:
    """As `serve` reads, whose connections stay; within a read, its view is kept as well."""
    log = Path(f"{path}-wal")
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN" if is_reading else "SELECT 1").fetchall()
        assert reader.execute("SELECT count(*) FROM captures").fetchone() == (0,)
        with closing(EmbeddedRowStore(path, SCHEMA)) as store:
            store.mutate("captures", [Put(b"%05d" % n, {CAPTURE: b"x" * 99}, 1) for n in range(99)])
            assert log.stat().st_size
        assert bool(log.stat().st_size) is is_reading
        assert reader.execute("SELECT count(*) FROM captures").fetchone() == (
            0 if is_reading else 99,
        )


def test_lock_that_is_never_released(path: Path) -> None:
    with (
        closing(sqlite3.connect(path, isolation_level=None)) as holder,
        closing(EmbeddedRowStore(path, SCHEMA, timeout_s=0.05)) as store,
    ):
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="another process has been writing"):
            store.mutate("captures", [Put(b"r", {CAPTURE: b""}, 1)])
        assert get_row(store, "captures", b"r") is None  # reading does not wait
        holder.execute("COMMIT")
        store.mutate("captures", [Put(b"r", {CAPTURE: b""}, 1)])


def test_threads_have_connections_of_their_own(store: EmbeddedRowStore) -> None:
    def put(number: int) -> None:
        for n in range(20):
            store.mutate("captures", [Put(b"%d-%d" % (number, n), {CAPTURE: b""}, 1)])

    threads = [threading.Thread(target=put, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys(store.scan("captures"))) == 80


def test_threads_that_end_leave_nothing_open(store: EmbeddedRowStore) -> None:
    """A server has a thread for each connection of a browser: a thousand pages, some thousand."""

    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    def get() -> None:
        store.get_rows("captures", [b"a"])

    get()
    before = open_files()
    for _ in range(20):
        thread = threading.Thread(target=get)
        thread.start()
        thread.join()
    # SQLite may keep one for the next to use.
    assert open_files() <= before + 4
    get()


def test_store_that_was_there_is_unavailable_once_it_is_gone(
    store: EmbeddedRowStore, path: Path
) -> None:
    def get() -> object:
        with ThreadPoolExecutor(1) as thread:  # opens the file for itself
            return thread.submit(store.get_rows, "captures", [b"a"]).result()

    assert get() == {}
    path.rename(path.with_name("away"))
    with pytest.raises(StoreUnavailable, match="gone"):
        get()
    path.with_name("away").rename(path)
    assert get() == {}


def test_a_server_reads_one_state_in_a_turn_of_its_loop(
    store: EmbeddedRowStore, path: Path
) -> None:
    serving = EmbeddedRowStore(path, SCHEMA, serving=True)

    def present() -> list[bytes]:
        return sorted(serving.get_rows("captures", [b"a", b"b", b"c"]))

    async def turns() -> None:
        assert present() == []
        store.mutate("captures", [Put(b"a", {CAPTURE: b"1"}, 1)])
        assert present() == []
        with ThreadPoolExecutor(1) as thread:
            assert thread.submit(present).result() == [b"a"]
        await asyncio.sleep(0)
        assert present() == [b"a"]
        # Who writes within a turn reads it within that turn.
        serving.mutate("captures", [Put(b"b", {CAPTURE: b"1"}, 1)])
        assert present() == [b"a", b"b"]
        store.mutate("captures", [Put(b"c", {CAPTURE: b"1"}, 1)])
        await asyncio.sleep(0)
        assert present() == [b"a", b"b", b"c"]
        serving.close()
        await asyncio.sleep(0)
        assert present() == [b"a", b"b", b"c"]

    with closing(serving):
        asyncio.run(turns())
        store.mutate("captures", [Delete(b"a", 2)])
        assert present() == [b"b", b"c"]


@pytest.mark.slow
def test_the_log_does_not_grow_beside_readers_that_never_pause(
    store: EmbeddedRowStore, path: Path
) -> None:
    reads = (
        "import sys; from pathlib import Path; from pinakes.row_store.sqlite.store import *\n"
        "store = EmbeddedRowStore(Path(sys.argv[1]), serving=True)\n"
        "print('reading', flush=True)\n"
        "while True: store.scan_values('captures', ALL_ROWS, [b'm:capture'], limit_rows=300)\n"
    )
    value, size, most = bytes(60_000), 12_000_000, 0
    with ExitStack() as stack:
        for _ in range(3):
            reader = subprocess.Popen(
                [sys.executable, "-c", reads, str(path)], stdout=subprocess.PIPE
            )
            stack.enter_context(reader)
            stack.callback(reader.kill)
            assert reader.stdout is not None
            assert reader.stdout.readline() == b"reading\n"
        for act in range(1, 21):
            keys = [b"%d %d" % (act, n) for n in range(size // len(value))]
            store.mutate("captures", [Put(key, {CAPTURE: value}, act) for key in keys])
            most = max(most, path.with_name(f"{path.name}-wal").stat().st_size)
        assert reader.poll() is None
    # Of 240 MB that were written.
    assert most < (64 << 20) + 4 * size


def test_a_forked_child_opens_the_store_anew(path: Path) -> None:
    # In a process of its own: the test runner has threads, which a fork would not take along.
    code = f"""
import os, sys
from pathlib import Path
from store_openers import EmbeddedOpener
from pinakes.row_store.port import Put, get_row
store = EmbeddedOpener(Path({str(path)!r})).open()
store.mutate("captures", [Put(b"parent", {{b"m:capture": b""}}, 1)])
of_parent = store._file._connection()
child = os.fork()
assert (store._file._connection() is of_parent) == (child != 0)
store.mutate("captures", [Put(b"%d" % (child == 0), {{b"m:capture": b""}}, 1)])
if child:
    assert os.waitpid(child, 0)[1] == 0
    assert len(list(store.scan("captures"))) == 3
store.close()
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


FILL = """
import resource, sys
from contextlib import ExitStack, closing
from pathlib import Path
from pinakes.errors import StoreUnavailable
from pinakes.row_store.port import Put
from store_openers import EmbeddedOpener
limit = int(sys.argv[2])
if limit:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
with closing(EmbeddedOpener(Path(sys.argv[1])).open()) as store:
    done = 0
    try:
        while done < 2000:
            puts = [Put(b"%06d" % (done * 100 + n), {b"m:capture": b"x" * 500}, 1)
                    for n in range(100)]
            store.mutate("captures", puts)
            done += 1
    except StoreUnavailable as error:
        print(done, error)
    else:
        sys.exit("never full")
"""


def fill(path: Path, limit_bytes: int) -> tuple[int, str]:
    """Put batches of 100 rows until the store is full: how many, and what it said."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", FILL, str(path), str(limit_bytes)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    count, _, message = done.stdout.partition(" ")
    return int(count), message


def check_after_full(path: Path, batches: int) -> None:
    """What was acknowledged is there, nothing half; with room it goes on."""
    with closing(EmbeddedRowStore(path, SCHEMA)) as store:
        found = keys(store.scan("captures"))
        assert len(found) == batches * 100
        store.mutate("captures", [Put(b"more", {CAPTURE: b""}, 1)])
        assert len(keys(store.scan("captures", ALL_ROWS))) == len(found) + 1


def test_file_size_limit(path: Path) -> None:
    batches, message = fill(path, 3 << 20)
    assert batches > 0
    assert "check whether it is full" in message or "disk is full" in message
    check_after_full(path, batches)


@pytest.mark.slow
def test_a_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("only root may mount a small disk; test_file_size_limit ran")
    try:
        path = disk / "rows.sqlite"
        EmbeddedSchemaAdmin(path).apply(SCHEMA)
        batches, message = fill(path, 0)
        assert batches > 0
        assert "the disk is full: make room" in message
        moved = tmp_path / "moved"
        moved.mkdir()
        for file in disk.iterdir():
            shutil.copy(file, moved)
        check_after_full(moved / "rows.sqlite", batches)
    finally:
        # Lazily: a child of another thread may hold, for a moment, what this process has open.
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_rows_file_is_readable_by_its_owner_only(store: EmbeddedRowStore, path: Path) -> None:
    store.mutate("captures", [Put(b"r", {CAPTURE: b"a"}, 5)])
    files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    assert files == dict.fromkeys(["rows.sqlite", "rows.sqlite-shm", "rows.sqlite-wal"], 0o600)


def test_a_thread_that_begins_after_the_working_folder_changed(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    with closing(EmbeddedRowStore(Path(path.name), SCHEMA)) as store:
        store.mutate("captures", [Put(b"r", {CAPTURE: b"a"}, 5)])
        monkeypatch.chdir("/")
        with ThreadPoolExecutor(1) as other:
            found = other.submit(get_row, store, "captures", b"r").result()
    assert found is not None
    assert found.value(CAPTURE) == b"a"
