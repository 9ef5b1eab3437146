"""WACZ files are imported into HBase and HDFS as they are into a folder, kills included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cluster_stores import store_on
from importing import COLLECTION, entry_of, import_all, state_of, write_manifest, write_wacz
from killing import KILLED, in_child, kill_at
from landed_stores import LandedStore, page
from shared_cluster import RunningCluster

from pinakes.acts.actor import Actor
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.errors import PinakesError
from pinakes.profile import open_stores

URI = "http://example.org/"
SOME = pytest.param((47,), id="some")
ALL = pytest.param(tuple(range(75)), id="all", marks=pytest.mark.faults)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Two WACZ files of two crawls, the second twice, and one that is not what is declared."""
    folder = tmp_path / "in"
    one = write_wacz(folder / "one.wacz", page(URI))
    two = write_wacz(folder / "two.wacz", page(f"{URI}2", b"two"))
    copy = folder / "copy.wacz"
    copy.write_bytes(two.read_bytes())
    entries = [entry_of(path, crawlId=f"c-{path.stem}") for path in (one, two)]
    wrong = {**entry_of(one, name="wrong.wacz"), "hash": "0" * 64}
    return write_manifest(folder / "all.json", [*entries, {"path": copy.name}, wrong])


@pytest.mark.parametrize("steps", [SOME, ALL])
def test_killed_at_any_step_hbase_ends_as_a_folder_does(
    cluster: RunningCluster, tmp_path: Path, manifest: Path, steps: tuple[int, ...]
) -> None:
    alone = LandedStore(tmp_path / "alone")
    import_all(alone.rows, alone.archive, [manifest])
    wanted = _same_on_both(state_of(alone.rows, alone.archive))
    alone.close()
    assert [len(files) for files in wanted["lists"].values()] == [1, 1]
    killed = 0
    with store_on(cluster, tmp_path) as configuration:
        for step in steps:

            def child(step: int = step) -> None:
                with open_stores(configuration) as stores:
                    import_all(stores.rows, stores.archive, [manifest], at=kill_at(step))

            code = in_child(child)
            assert code in (0, KILLED)
            killed += code == KILLED
            with open_stores(configuration) as stores:
                import_all(stores.rows, stores.archive, [manifest])
                found = _same_on_both(state_of(stores.rows, stores.archive))
                assert found == wanted, f"step {step}"
                # Everything anew, in the crawls of the same names.
                for crawl in wanted["lists"]:
                    Remover(stores.rows, stores.archive, Actor()).take_out(crawl, CANCEL)
                left = state_of(stores.rows, stores.archive)
                assert (left["known"], left["captures"]) == ([], [])
                for problem in import_all(stores.rows, stores.archive, [], resume=True):
                    assert isinstance(problem, PinakesError)
                    assert "in the manifest" in problem.message
                for row in list(stores.rows.scan("crawls")):
                    assert not row.key.startswith(b"+%b:crawl:" % COLLECTION.encode())
    assert killed > len(steps) // 2


def _same_on_both(state: dict[str, Any]) -> dict[str, Any]:
    """Without what a step of one store alone leaves: files that were there and are removed."""
    files = [(name, str(was)) for name, was in state["files"] if str(was) == "stored"]
    return {**state, "files": files}
