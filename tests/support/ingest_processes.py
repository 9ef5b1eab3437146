"""`pinakes ingest` as processes of the system, which are killed; and what there is afterwards."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from landed_stores import page

from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.port import ArchiveStore
from pinakes.catalog.file_rows import scan_entries, scan_inflight
from pinakes.hbase_schema.capture_cells import CaptureFacts
from pinakes.row_store.port import RowStore
from pinakes.row_store.sqlite.store import EmbeddedRowStore

REPOSITORY = Path(__file__).resolve().parents[2]
URI = "http://example.org/"


def write_folder(folder: Path, *, files: int, records: int, first: int = 0) -> None:
    """Archive files of small pages, some of which come in every file; numbered from `first`."""
    folder.mkdir(parents=True)
    for file in range(first, first + files):
        pages = (
            page(f"{URI}{file}/{n}", b"%d" % (n * (file if n % 3 else 1))) for n in range(records)
        )
        (folder / f"{file:03d}.warc.gz").write_bytes(b"".join(pages))


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start `pinakes` in a folder and in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "pinakes.cli", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY / "platform")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


def call(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `pinakes` to its end."""
    process = start(folder, *arguments)
    out, err = process.communicate()
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def kill_after(process: subprocess.Popen[str], lines: int, *, group: bool, pause_s: float) -> None:
    """kill -9 once so many files have landed, and a moment more; the workers too, or not."""
    assert process.stdout is not None
    for _ in range(lines):
        process.stdout.readline()
    time.sleep(pause_s)
    (os.killpg if group else os.kill)(process.pid, signal.SIGKILL)
    process.communicate()


def wait_for_ends(word: str) -> None:
    """Wait until no process has the word in its command line, whoever started it."""
    while any(word.encode() in line for line in _command_lines()):
        time.sleep(0.2)


def _command_lines() -> Iterator[bytes]:
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield file.read_bytes()


def until(found: Callable[[], Any], process: subprocess.Popen[str]) -> Any:
    """What there is at last to be found, as long as the process runs."""
    while process.poll() is None:
        if value := found():
            return value
        time.sleep(0.01)
    raise AssertionError(f"it ended before: {process.communicate()}")


def contents(rows: RowStore, archive: ArchiveStore) -> dict[str, Any]:
    """What an ingest has made that does not depend on when, and by whom."""
    return {
        "captures": [
            (row.key, {column: cell.value for column, cell in row.cells.items()})
            for row in rows.scan("captures")
        ],
        "digests": [
            (row.key, [cell.value for cell in row.cells.values()]) for row in rows.scan("digests")
        ],
        "files": [(e.archive_file, e.state) for e in scan_entries(rows)],
        "claimed": [e.archive_file for e in scan_entries(rows) if e.claim and e.claim.expires_ms],
        "hidden": scan_inflight(rows),
        "archive": [(f.name, archive.checksum(f.name)) for f in archive.list()
                    if not f.name.endswith(".parquet")],
        "sidecars": [f.name for f in archive.list() if f.name.endswith(".parquet")],
    }  # fmt: skip


def contents_of(store: Path) -> dict[str, Any]:
    """The same of a store in a folder, in which each record is once."""
    with closing(EmbeddedRowStore(store / "rows.sqlite")) as rows:
        assert each_record_once(rows)
        return contents(rows, LocalArchiveStore(store / "archive"))


def each_record_once(rows: RowStore) -> bool:
    """Whether no two captures are of one place."""
    found = [json.loads(row.cells[CaptureFacts.COLUMN].value) for row in rows.scan("captures")]
    places = [(facts["filename"], facts["ordinal"]) for facts in found]
    return len(places) == len(set(places))
