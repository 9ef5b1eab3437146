"""A crawl in HBase and HDFS is exported as one in a folder is: the same bytes, but for its time."""

from __future__ import annotations

import json
from pathlib import Path

from cluster_stores import store_on
from exported import described, export, members
from killing import KILLED, in_child, kill_at
from landed_stores import LandedStore, page, revisit
from shared_cluster import RunningCluster
from verbs_here import call_here

from pinakes.profile import open_stores

URI = "http://example.org/"
EARLIER, LATER = "2020-01-02T03:04:05Z", "2021-01-01T00:00:00Z"
FILES = {
    "c1": (page(URI), page(f"{URI}b", b"b" * 5000)),
    "c2": (page(f"{URI}c", date=LATER), revisit(f"{URI}b", LATER, f"{URI}b", EARLIER)),
}


def test_hbase_and_hdfs_give_what_a_folder_gives(cluster: RunningCluster, tmp_path: Path) -> None:
    wanted = {}
    alone = LandedStore(tmp_path / "alone")
    for crawl, records in FILES.items():
        alone.land(crawl, "a.warc.gz", *records)
    for standalone in (False, True):
        wacz = tmp_path / f"alone-{standalone}.wacz"
        export(alone.rows, alone.archive, "c2", wacz, standalone=standalone)
        wanted[standalone] = _timeless(wacz)
    alone.close()
    with store_on(cluster, tmp_path) as configuration:
        for crawl, records in FILES.items():
            path = tmp_path / crawl / "a.warc.gz"
            path.parent.mkdir()
            path.write_bytes(b"".join(records))
            assert call_here(tmp_path, "ingest", str(path), "--crawl", crawl).returncode == 0
        for standalone in (False, True):
            wacz = tmp_path / f"c2-{standalone}.wacz"
            options = ["--standalone"] * standalone
            done = call_here(tmp_path, "export-wacz", "c2", "-o", str(wacz), "--json", *options)
            assert done.returncode == 0, done.stderr
            assert json.loads(done.stdout)["restored"] == int(standalone)
            assert _timeless(wacz) == wanted[standalone]
        killed = tmp_path / "killed" / "c2.wacz"
        killed.parent.mkdir()

        def child() -> None:
            with open_stores(configuration) as stores:
                export(stores.rows, stores.archive, "c2", killed, standalone=True, at=kill_at(5))

        assert in_child(child) == KILLED
        assert not killed.exists()
        with open_stores(configuration) as stores:
            export(stores.rows, stores.archive, "c2", killed, standalone=True)
        assert [path.name for path in killed.parent.iterdir()] == ["c2.wacz"]
        assert _timeless(killed) == wanted[True]


def _timeless(wacz: Path) -> dict[str, object]:
    """Its members, without those of the time at which the files landed."""
    found: dict[str, object] = dict(members(wacz))
    package = {**described(members(wacz)), "created": None, "software": None}
    return {**found, "datapackage.json": package, "datapackage-digest.json": None}
