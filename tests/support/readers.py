"""What readers see of a store, in a form that two stores can be compared by."""

from __future__ import annotations

import json

from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.catalog.file_rows import scan_entries, scan_inflight
from pinakes.row_store.sqlite.store import EmbeddedRowStore

_PRIVATE = {"act", "run", "source"}


def _public(value: bytes) -> object:
    content = json.loads(value)
    return {name: item for name, item in content.items() if name not in _PRIVATE}


def visible_state(rows: EmbeddedRowStore, archive: LocalArchiveStore) -> dict[str, object]:
    """Captures, digests, files with their state, stored bytes; without acts' names and times."""
    hidden = scan_inflight(rows)
    entries = list(scan_entries(rows))
    return {
        "captures": [
            (row.key, column, _public(cell.value))
            for row in rows.scan("captures")
            for column, cell in sorted(row.cells.items())
        ],
        "digests": [row.key for row in rows.scan("digests")],
        "files": [(e.archive_file, e.state, e.generation) for e in entries],
        "claims open": [e.archive_file for e in entries if e.claim and e.claim.expires_ms],
        "hidden": sorted(hidden),
        "stored": [
            (f.name, archive.checksum(f.name))
            for f in archive.list()
            if not f.name.endswith(".parquet")
        ],
        "sidecars": [f.name for f in archive.list() if f.name.endswith(".parquet")],
        "aside": sorted(path.name for path in (archive.folder / ".landing").glob("*")),
    }
