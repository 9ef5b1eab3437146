"""Rows and archive files of a store, held against each other by reading the records."""

from __future__ import annotations

from scenes import Scene

from pinakes.catalog.captures import get_captures
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.file_rows import scan_entries
from pinakes.index.seconds import second_of
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record
from pinakes.warc.revisit import is_ours


def check_marks(scene: Scene) -> int:
    """Every record that is a revisit of ours is marked so, no other is; originals are pinned."""
    revisits = 0
    for entry in scan_entries(scene.rows):
        if entry.state != "stored":
            continue
        name = entry.stored_name
        rows = {row.offset: row for row in iter_sidecar(scene.archive, name)}
        keys = [row.row_key for row in rows.values() if row.row_key is not None]
        captures = get_captures(scene.rows, keys)
        with open_source(scene.archive.path_of(name)) as source:
            for record in iter_records(source):
                assert isinstance(record, Record)
                key = rows[record.offset].row_key
                if key is None:
                    continue
                capture = captures[key]
                ours = record.type == "revisit" and is_ours(record.header)
                assert capture.is_duplicate == ours, f"{name}:{record.offset}"
                assert capture.locations[entry.generation].offset == record.offset
                if ours:
                    revisits += 1
                    assert capture.dedupe is not None
                    original = (capture.dedupe.refers_to_key or "").encode("ascii")
                    [found] = get_captures(scene.rows, [original]).values()
                    assert found.pinned
                    assert not found.is_duplicate
    return revisits


def references(scene: Scene) -> tuple[set[tuple[str | None, str | None]], list[Record]]:
    """The addresses of all full records, and all revisits, of the current generations."""
    full, revisits = set(), []
    for entry in scan_entries(scene.rows):
        if entry.state != "stored":
            continue
        with open_source(scene.archive.path_of(entry.stored_name)) as source:
            for record in iter_records(source):
                assert isinstance(record, Record)
                if record.type == "response":
                    full.add((record.target_uri, second_of(record.date_text or "")))
                elif record.type == "revisit":
                    revisits.append(record)
    return full, revisits


def check_references(scene: Scene) -> int:
    full, revisits = references(scene)
    for record in revisits:
        uri = record.header.get("WARC-Refers-To-Target-URI")
        second = second_of(record.header.get("WARC-Refers-To-Date") or "")
        assert (uri, second) in full, "a reference that does not lead to a full record"
        assert second <= (second_of(record.date_text or "") or "")  # type: ignore[operator]
    return len(revisits)
