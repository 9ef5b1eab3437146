"""Stores on the cluster of the tests', each with tables and a folder of its own, and readers."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from hbase_opener import drop_tables, make_tables
from ingest_processes import contents, each_record_once
from shared_cluster import RunningCluster
from verbs_here import call_here

from pinakes.catalog.captures import decode_capture, iter_visible
from pinakes.catalog.file_rows import read_entries, scan_entries, scan_inflight
from pinakes.config import Configuration, format_settings, load_configuration
from pinakes.errors import StoreUnavailable
from pinakes.hbase_schema.tables import declared_schema
from pinakes.profile import Stores, hbase_connection, open_stores


def write_settings(folder: Path, settings: Mapping[str, str]) -> Configuration:
    """The configuration that `pinakes` finds in a folder from now on."""
    (folder / "pinakes.toml").write_text(format_settings(settings))
    return load_configuration(environment={}, folder=folder)


@contextmanager
def store_on(
    cluster: RunningCluster, folder: Path, more: Mapping[str, str] | None = None
) -> Iterator[Configuration]:
    """A store of its own on the cluster, named in `folder`; its tables and files go at the end."""
    settings = {
        "store": str(folder / "runs"),
        "hbase_timeout_s": "180",  # making a table takes a minute on a host with much to do
        **cluster.settings(f"test{token_hex(4)}"),
        **(more or {}),
    }
    configuration = write_settings(folder, settings)
    try:
        make_tables(hbase_connection(configuration), declared_schema())
        made = call_here(folder, "init")
        assert made.returncode == 0, made.stderr
        yield configuration
        with open_stores(configuration) as stores:
            for name, _ in list(stores.archive.list()):
                stores.archive.delete(name)
    finally:
        drop_tables(hbase_connection(configuration))


def found(configuration: Configuration) -> dict[str, Any]:
    """What is in a store."""
    with open_stores(configuration) as stores:
        assert each_record_once(stores.rows)
        return contents(stores.rows, stores.archive)


class Reader:
    """Looks at a store again and again, and complains of files that are there in part."""

    def __init__(self, configuration: Configuration, sizes: Mapping[str, int], records: int):
        """Each archive file is of so many bytes, and has so many captures."""
        self._configuration = configuration
        self._sizes = sizes
        self._records = records
        self._enough = threading.Event()
        self._errors: list[BaseException] = []
        self.looks = 0

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Look as long as the block takes; then raise what was found wrong."""
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield
        finally:
            self._enough.set()
            thread.join()
        if self._errors:
            raise self._errors[0]

    def visible(self) -> set[str]:
        """The files that are seen now, all of them whole."""
        with open_stores(self._configuration) as stores:
            return self._look(stores)

    def _run(self) -> None:
        try:
            with open_stores(self._configuration) as stores:
                while not self._enough.is_set() and not self._errors:
                    try:
                        self._look(stores)
                    except StoreUnavailable:
                        continue
                    self.looks += 1
                    self._enough.wait(0.5)
        except BaseException as error:  # noqa: BLE001  (raised where it is waited for)
            self._errors.append(error)

    def _look(self, stores: Stores) -> set[str]:
        stored = {e.archive_file for e in scan_entries(stores.rows) if e.state == "stored"}
        whole = stored - scan_inflight(stores.rows)
        seen = Counter(
            capture.facts.archive_file
            for capture in iter_visible(
                stores.rows,
                filter(None, map(decode_capture, stores.rows.scan("captures"))),
                lambda capture: capture.facts.archive_file,
            )
        )
        # What became visible while it was scanned may be seen in part; what had been, may not.
        assert {name: seen[name] for name in whole} == dict.fromkeys(whole, self._records)
        for name, entry in read_entries(stores.rows, sorted(seen)).items():
            assert entry.state == "stored"
            assert stores.archive.size(name) == self._sizes[name]
        return set(seen)
