"""All archives of the shared data land in one store, though their base names repeat."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import pytest

from pinakes.acts.actor import Actor
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.archive_store.located import open_place, size_at
from pinakes.catalog.crawl_rows import ensure_crawl
from pinakes.catalog.file_rows import scan_entries, scan_inflight
from pinakes.catalog.sidecar import read_sidecar, sidecar_name
from pinakes.errors import InputRefused
from pinakes.hbase_schema.run_cells import CrawlFacts
from pinakes.hbase_schema.tables import declared_schema
from pinakes.ingest.inputs import Input, LeftOut, iter_inputs
from pinakes.ingest.landing import Lander
from pinakes.row_store.sqlite.admin import EmbeddedSchemaAdmin
from pinakes.row_store.sqlite.store import EmbeddedRowStore
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

_CAPTURES = ("response", "resource", "revisit")
CONTAINERS = (b"\x04\x22\x4d\x18", b"PK\x03\x04")
"""LZ4, ZIP."""


def _bytes_of(place: str) -> bytes:
    with open_place(place) as source:
        return b"".join(source.pieces(0, source.size))


@pytest.mark.slow
def test_all_archives_land_in_one_store(shared_data: Path, tmp_path: Path) -> None:
    EmbeddedSchemaAdmin(tmp_path / "rows.sqlite").apply(declared_schema())
    rows = EmbeddedRowStore(tmp_path / "rows.sqlite")
    archive = LocalArchiveStore(tmp_path / "archive")
    actor = Actor()
    facts = CrawlFacts(collection="shared")
    ensure_crawl(rows, "all", facts, act="a", act_time_ms=actor.now_ms())
    lander = Lander(rows, archive, actor)
    left = LeftOut()
    folder = shared_data / "archives"
    inputs = list(iter_inputs([str(folder)], left))
    # Some are called `.open`, and land when somebody names them.
    inputs += [Input(at, Path(at).relative_to(folder).as_posix()) for at in left.unfinished]
    names = Counter(Path(item.place).name for item in inputs)
    assert len(inputs) > 150
    assert names.most_common(1)[0][1] > 1, "base names repeat, and that is the point"
    [empty] = [item for item in inputs if not size_at(item.place)]
    with pytest.raises(InputRefused, match="empty"):
        lander.land(empty.place, f"all/{empty.name}", "shared")
    inputs.remove(empty)
    others = [item for item in inputs if _bytes_of(item.place)[:4] in CONTAINERS]
    assert others
    for item in others:
        with pytest.raises(InputRefused, match="not read here"):
            lander.land(item.place, f"all/{item.name}", "shared")
        inputs.remove(item)
    landed = {item.name: lander.land(item.place, f"all/{item.name}", "shared") for item in inputs}
    assert {entry.archive_file: entry.state for entry in scan_entries(rows)} == {
        f"all/{item.name}": "stored" for item in inputs
    }
    assert not scan_inflight(rows)
    keys: set[bytes] = set()
    unread: dict[str, int] = {}
    for place, name in inputs:
        data = _bytes_of(place)
        assert archive.checksum(f"all/{name}") == hashlib.sha256(data).hexdigest()
        with open_place(place) as source:
            records = [item for item in iter_records(source) if isinstance(item, Record)]
            wanted = [(r.ordinal, r.offset, r.length, r.type) for r in records]
            uris = sum(bool(r.type in _CAPTURES and r.target_uri) for r in records)
        sidecar = list(read_sidecar(str(archive.path_of(sidecar_name(f"all/{name}")))))
        assert [(r.ordinal, r.offset, r.length, r.type) for r in sidecar] == wanted, name
        here = {row.row_key for row in sidecar if row.row_key is not None}
        assert len(here) == uris == landed[name].captures, name
        keys.update(here)
        if not records:
            unread[name] = landed[name].damaged
            assert bool(landed[name].lines) == bool(landed[name].damaged)
    # Kept as they are, and named: `stored unchanged, but no record in it could be read`.
    assert [name for name, damaged in unread.items() if not damaged] == [
        "internetarchive_gowarc/testdata/warcs/empty.warc.gz.open"  # an empty gzip member
    ]
    assert len(unread) + len(others) > 5
    assert {row.key for row in rows.scan("captures", columns=[b"m:capture"])} == keys
    rows.close()
