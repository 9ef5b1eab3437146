"""`pinakes status`: what it says is what is there, and what needs care is said."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgi_client import Client
from killing import KILLED, dies, in_child, kill_after
from scenes import COLLECTION, Scene, in_scene, make_scene
from store_chain import Answer, call

import pinakes
from pinakes.acts.actor import Actor
from pinakes.application.site import open_site
from pinakes.config import load_configuration
from pinakes.row_store.port import Delete

LATER = Actor().now_ms() + 10**9


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with make_scene(tmp_path / "scene") as made:
        made.land(1)
        made.land(2)
        yield made


def _call(scene: Scene, *words: object) -> Answer:
    return call(*words, "--store", scene.folder / "store")


def _status(scene: Scene, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_call(scene, "status", "--json", *options).out)
    return found


def _text(scene: Scene) -> str:
    return _call(scene, "status").out


def _home(scene: Scene) -> str:
    """The home page."""
    configuration = load_configuration(options={"store": scene.folder / "store"})
    with open_site(configuration, ("localhost",), ()) as site:
        return str(Client(site).get("/").text)


def test_of_a_new_store_it_says_what_comes_next(tmp_path: Path) -> None:
    call("init", "--store", tmp_path / "new")
    said = call("status", "--store", tmp_path / "new")
    assert said.exit_code == 0
    assert said.out.startswith("nothing has landed yet: pinakes ingest FILE --crawl NAME")
    assert "last check" in said.out
    assert said.out.count("never: ") == 2


def test_duplicates_are_those_that_dedupe_then_writes(scene: Scene) -> None:
    [before] = _status(scene)["collections"]
    with pinakes.open_store(scene.folder / "store") as store:
        [collection] = store.status().collections
    assert collection.duplicates is not None
    assert collection.duplicates.captures == before["duplicates"]["captures"]
    assert before["holdings"]["old_generations"] == 0
    assert before["duplicates"]["captures"] > 0
    said = _call(scene, "dedupe", "--all", "--collection", COLLECTION, "--json").out
    done = json.loads(said.splitlines()[-1])
    assert before["duplicates"]["captures"] == done["revisits"]
    [after] = _status(scene)["collections"]
    assert after["duplicates"]["captures"] == 0


def test_without_duplicates_it_reads_no_sidecar(scene: Scene) -> None:
    for path in (scene.folder / "store").rglob("*.parquet"):
        path.unlink()
    [found] = _status(scene, "--quick")["collections"]
    assert found["duplicates"] is None
    assert found["holdings"]["files"] == 4


def test_the_last_check_is_said_until_what_it_found_is_mended(scene: Scene) -> None:
    assert _status(scene)["last_check"] is None
    assert _call(scene, "fsck").exit_code == 0
    assert _status(scene)["last_check"]["counts"] == {"found": 0, "mended": 0}
    sidecar = next((scene.folder / "store").rglob("*.parquet"))
    sidecar.unlink()
    assert _call(scene, "fsck", "--full").exit_code == 1
    said = _call(scene, "status", "--quick")
    assert said.exit_code == 1
    assert "--full: 1 found, 0 mended" in said.out
    assert "the last check found what is not mended: pinakes fsck" in said.out
    assert "1 found and not mended" in _home(scene)
    _call(scene, "fsck", "--full", "--repair")
    said = _call(scene, "status", "--quick")
    assert said.exit_code == 0
    assert "--full --repair: 1 found, 1 mended" in said.out


def test_the_last_backup_is_said(scene: Scene, tmp_path: Path) -> None:
    assert _call(scene, "backup", tmp_path / "first").exit_code == 0
    assert _call(scene, "backup", tmp_path / "second").exit_code == 0
    assert _status(scene)["last_backup"]["arguments"][0] == str(tmp_path / "second")
    assert f"in {tmp_path / 'second'}" in _text(scene)


def test_an_act_that_died_is_said_until_it_is_completed(scene: Scene) -> None:
    assert _status(scene)["at_work"] == []
    dying = in_scene(lambda there, at: there.dedupe(act="dedupe-x", at=at))
    assert in_child(lambda: dying(scene.folder, kill_after("decided"))) == KILLED
    [act] = _status(scene)["at_work"]
    assert (act["act"], act["state"], act["place"]) == ("dedupe-x", "unfinished", COLLECTION)
    said = _call(scene, "status", "--quick")
    assert said.exit_code == 1
    assert "dedupe-x on news, since" in said.out
    assert "was left unfinished: run its command again" in said.out
    words = "<bdi>dedupe-x</bdi> on <bdi>news</bdi> was left unfinished"
    assert words in _home(scene)
    scene.dedupe()
    assert _status(scene)["at_work"] == []
    assert words not in _home(scene)


def test_a_landing_that_died_needs_care(scene: Scene) -> None:
    shutil.copytree(scene.crawls / "c1", scene.crawls / "c3")
    dying = in_scene(lambda there, at: there.land(3, at=at))
    assert in_child(lambda: dying(scene.folder, kill_after("in flight"))) == KILLED
    assert _status(scene)["stalled_files"] == 1
    said = _call(scene, "status")
    assert said.exit_code == 1
    assert "1 file is half landed" in said.out
    scene.land(3)
    assert _status(scene)["stalled_files"] == 0


def test_a_crawl_whose_row_is_lost_needs_care(scene: Scene) -> None:
    scene.rows.mutate("crawls", [Delete(b"c1", LATER), Delete(b"c1", None)])
    said = _call(scene, "status")
    assert said.exit_code == 1
    assert "the catalogue has lost 1 crawl: pinakes fsck --repair" in said.out


def test_crawls_that_are_gone_are_not_counted(scene: Scene) -> None:
    assert _call(scene, "crawl", "cancel", "c2").exit_code == 0
    [found] = _status(scene)["collections"]
    assert (found["open_crawls"], found["holdings"]["files"]) == (1, 2)
    assert _call(scene, "crawl", "cancel", "c1").exit_code == 0
    assert _text(scene).startswith("nothing has landed yet")


def test_an_ingest_that_died_and_was_run_again_needs_no_care(scene: Scene) -> None:
    words = ("ingest", scene.crawls / "c1", "--crawl", "c3", "--store", scene.folder / "store")
    assert dies(words, scene.folder / "store" / "archive", 4)
    assert [act["state"] for act in _status(scene)["at_work"]] == ["unfinished"]
    assert call(*words).exit_code == 0
    assert _status(scene)["at_work"] == []
    assert _call(scene, "status", "--quick").exit_code == 0


def test_a_backup_that_died_and_was_made_elsewhere_needs_no_care(
    scene: Scene, tmp_path: Path
) -> None:
    store = ("--store", scene.folder / "store")
    assert dies(("backup", tmp_path / "first", *store), tmp_path / "first", 3)
    assert [act["state"] for act in _status(scene)["at_work"]] == ["unfinished"]
    assert call("backup", tmp_path / "second", *store).exit_code == 0
    assert _status(scene)["at_work"] == []
