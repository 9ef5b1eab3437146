"""Scans of one content find their rows wherever these lie: in memory, in many files, in one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha1, sha256

import pytest
from hbase_opener import hbase_tables
from shared_cluster import RunningCluster

from pinakes.backup.hbase_jvm import open_jvm
from pinakes.hbase_schema.digest_keys import DigestKey, digests_of, encode_digest_key
from pinakes.hbase_schema.ranges import KeyRange
from pinakes.row_store.port import Put, RowStore

pytestmark = pytest.mark.faults

SCOPES = ("s", "default", "a-scope-of-27-letters-abcdef", "l" * 100)
FILES = 4
LONG_S = 300.0


def keys_of(part: int) -> Iterator[bytes]:
    """Rows of one of the files: contents of their own, and some that every file has."""
    for number in range(60):
        body = b"%d" % number if number < 10 else b"%d %d" % (part, number)
        for scope in SCOPES:
            for algorithm, digest in (("sha1", sha1(body)), ("sha256", sha256(body))):
                name = f"c{part}/{number}.warc.gz"
                yield encode_digest_key(
                    DigestKey(
                        scope, algorithm, digest.hexdigest(), 5, "20200101000000", name, number
                    )
                )


def contents(keys: set[bytes]) -> dict[KeyRange, list[bytes]]:
    """What a scan of each content has to find; and of contents that are not there, nothing."""
    ranges = [
        digests_of(scope, algorithm, hexadecimal)
        for scope in SCOPES
        for number in range(80)
        for part in range(FILES)
        for body in (b"%d" % number, b"%d %d" % (part, number))
        for algorithm, hexadecimal in (
            ("sha1", sha1(body).hexdigest()),
            ("sha256", sha256(body).hexdigest()),
        )
    ]
    return {each: sorted(key for key in keys if key in each) for each in set(ranges)}


def check(store: RowStore, wanted: dict[KeyRange, list[bytes]]) -> None:
    ranges = list(wanted)
    found = store.first_rows("digests", ranges, limit_rows=100)
    assert [[row.key for row in rows] for rows in found] == [wanted[each] for each in ranges]
    for each in ranges[:100]:
        backwards = [row.key for row in store.scan("digests", each, reverse=True)]
        assert backwards == wanted[each][::-1]


def test_scans_of_one_content_find_all_of_it(cluster: RunningCluster) -> None:
    layout = cluster.layout
    with (
        hbase_tables(layout) as opener,
        closing(opener.open()) as store,
        open_jvm([str(layout.bin / "hbase")]) as jvm,
    ):
        configuration = jvm.hbase.HBaseConfiguration.create()
        connection = jvm.hbase.client.ConnectionFactory.createConnection(configuration)
        with closing(connection), closing(connection.getAdmin()) as admin:
            table = jvm.hbase.TableName.valueOf(opener.connection.table("digests").decode())
            keys: set[bytes] = set()
            for part in range(FILES):
                some = list(keys_of(part))
                keys.update(some)
                store.mutate("digests", [Put(key, {b"r:capture": b"{}"}, 1) for key in some])
                if part < FILES - 1:  # the last ones are still in memory
                    admin.flush(table)
            wanted = contents(keys)
            assert {bool(rows) for rows in wanted.values()} == {True, False}
            check(store, wanted)
            admin.flush(table)
            admin.majorCompact(table)
            until_s = time.monotonic() + LONG_S
            while str(admin.getCompactionState(table)) != "NONE":
                assert time.monotonic() < until_s
                time.sleep(0.2)
            check(store, wanted)
