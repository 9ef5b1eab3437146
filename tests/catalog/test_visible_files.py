"""Visible files: asked again together, and never one that has left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from landed_stores import LandedStore, page

from pinakes.catalog.file_rows import INFLIGHT
from pinakes.catalog.visible_files import VisibleFiles
from pinakes.hbase_schema.cells import encode_cell
from pinakes.hbase_schema.file_cells import InFlight
from pinakes.hbase_schema.name_keys import encode_file_key
from pinakes.row_store.port import Put


class Counting:
    """Counts the calls of a store."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        self.calls += 1
        return getattr(self._rows, name)


def test_files_are_asked_again_together(tmp_path: Path) -> None:
    store = LandedStore(tmp_path / "store")
    names = [f"one/{n}.warc.gz" for n in range(5)]
    for n in range(5):
        store.land("one", f"{n}.warc.gz", page(f"http://example.org/{n}"))
    now_s = [0.0]
    rows: Any = Counting(store.rows)
    files = VisibleFiles(rows, fresh_s=1.0, clock=lambda: now_s[0])
    for name in names:
        assert files.among([name]).keys() == {name}
    assert files.among(["one/nothing.warc.gz"]) == {}
    one_by_one, rows.calls = rows.calls, 0
    now_s[0] = 2.0
    leaving = {InFlight.COLUMN: encode_cell(InFlight(act="remove-1", direction="leaving"))}
    store.rows.mutate(INFLIGHT, [Put(encode_file_key(names[0]), leaving, None)])
    for name in names[1:]:
        assert files.among([name]).keys() == {name}
    assert 0 < rows.calls < one_by_one / 2
    assert files.among(names).keys() == set(names[1:])
    store.close()
