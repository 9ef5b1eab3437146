"""`Store.import_wacz` imports what `pinakes import-wacz` imports, and goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from importing import entry_of, write_manifest, write_wacz
from ingest_processes import contents_of
from killing import KILLED, in_child, kill_at
from landed_stores import page
from verbs_here import call_here

from pinakes import open_store
from pinakes.application.wacz_events import WaczImported, WaczKnown
from pinakes.errors import ConfigError, InputRefused

NAMES = "abc"


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("in")
    paths = [folder / f"{name}.wacz" for name in NAMES]
    for path in paths:
        write_wacz(path, page(f"http://example.org/{path.stem}", path.stem.encode() * 99))
    return write_manifest(folder / "m.json", map(entry_of, paths))


@pytest.fixture(scope="module")
def by_verb(manifest: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("by-verb")
    assert call_here(folder, "init", "--store", "store").returncode == 0
    assert call_here(folder, "import-wacz", str(manifest), "--store", "store").returncode == 0
    return contents_of(folder / "store")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    with open_store(tmp_path / "store", create=True):
        return tmp_path / "store"


def test_as_the_verb(store: Path, manifest: Path, by_verb: dict[str, Any]) -> None:
    events: list[object] = []
    with open_store(store) as opened:
        run = opened.import_wacz(manifest, on_event=events.append)
        again = opened.import_wacz(manifest, on_event=events.append)
    assert (run.imported, run.were_there, run.captures) == (3, 0, len(by_verb["captures"]))
    assert run.bytes == sum(file.stat().st_size for file in manifest.parent.glob("*.wacz"))
    assert (run.is_well, run.problems, run.missing) == (True, [], {})
    assert (again.imported, again.were_there) == (0, 3)
    assert [type(one) for one in events] == [WaczImported] * 3 + [WaczKnown] * 3
    assert contents_of(store) == by_verb


def test_what_a_manifest_names_no_more(store: Path, manifest: Path, tmp_path: Path) -> None:
    fewer = write_manifest(tmp_path / "fewer.json", [entry_of(manifest.parent / "a.wacz")])
    (tmp_path / "a.wacz").write_bytes((manifest.parent / "a.wacz").read_bytes())
    with open_store(store) as opened:
        opened.import_wacz(manifest)
        run = opened.import_wacz(fewer)
    sizes = {name: (manifest.parent / f"{name}.wacz").stat().st_size for name in "bc"}
    assert (run.missing, run.removable) == (sizes, ["b", "c"])


def test_what_is_not_imported_is_a_problem(store: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.wacz").write_bytes(b"PK")
    with open_store(store) as opened:
        run = opened.import_wacz(tmp_path / "bad.wacz")
        assert (run.is_well, run.failed, run.refused) == (False, 1, 0)
        [problem] = run.problems
        assert isinstance(problem, InputRefused)
        assert [type(one) for one in opened.import_wacz(resume=True).problems] == [InputRefused]
        with pytest.raises(ConfigError, match="import_from should be"):
            opened.import_wacz(tmp_path / "bad.wacz", import_from="a b")


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_killed_in_the_middle_it_goes_on(
    store: Path, manifest: Path, by_verb: dict[str, Any], number: int
) -> None:
    def dies() -> None:
        with open_store(store) as opened:
            opened.import_wacz(manifest, on_event=kill_at(number))

    assert in_child(dies) == KILLED
    with open_store(store) as opened:
        run = opened.import_wacz(resume=True)
    assert (run.imported, run.problems) == (len(NAMES) - number - 1, [])
    assert contents_of(store) == by_verb
    assert call_here(store.parent, "fsck", "--full", "--store", str(store)).returncode == 0
