"""A file that was dropped or taken out, and that somebody has put back, as from a backup."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path

import pytest
from scenes import Scene, copied_scene, make_scene, page
from store_chain import Answer, call
from taken_down import current, holds_anywhere, land_site, put_back, sha256_of, uri, withdraw
from whole_payloads import whole_payloads

from pinakes.access.archive_bytes import ArchiveBytes, GenerationDropped
from pinakes.access.rules import AccessRules
from pinakes.acts.actor import Actor
from pinakes.catalog.file_records import iter_sidecar
from pinakes.catalog.sidecar import sidecar_name
from pinakes.cli import main
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL

FULL, SECOND, REVISITS = "c1/site.warc.gz", "c2/site.warc.gz", "c2/g2/site.warc.gz"
SECRETS = [page(0)[-200:], *(f"secret-{crawl}-0".encode() for crawl in (1, 2, 3))]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """The site with /0 withdrawn; `kept` has the archive as it was before.  Only read it."""
    with make_scene(tmp_path_factory.mktemp("made") / "made", ()) as scene:
        land_site(scene, 1, 2, 3)
        shutil.copytree(scene.archive.folder, scene.folder / "kept")
        [report] = withdraw(scene, uri(0))
        assert not report.problems
        yield scene


@pytest.fixture
def site(made: Scene, tmp_path: Path) -> Iterator[Scene]:
    with copied_scene(made.folder, tmp_path / "site") as scene:
        yield scene


def on(scene: Scene, verb: str, *words: object) -> Answer:
    return call(verb, *words, "--store", scene.folder / "store")


def require_gone(scene: Scene) -> None:
    for secret in SECRETS:
        assert holds_anywhere(scene.archive.folder, secret) == []
    assert on(scene, "fsck", "--full").exit_code == 0


ways = pytest.mark.parametrize(
    "names",
    [
        pytest.param([FULL], id="first"),
        pytest.param([FULL, sidecar_name(FULL)], id="first and sidecar"),
        pytest.param([SECOND], id="second crawl"),
        pytest.param([REVISITS], id="revisits"),
        pytest.param([REVISITS, sidecar_name(REVISITS)], id="revisits and sidecar"),
        pytest.param([FULL, SECOND, REVISITS, sidecar_name(SECOND)], id="all"),
    ],
)


@ways
def test_fsck_names_what_deletes_it(site: Scene, names: list[str]) -> None:
    put_back(site, *names)
    for how in (["--quick"], [], ["--full"], ["--repair"]):
        done = on(site, "fsck", *how)
        assert done.exit_code == 1
        lines = [line for line in done.out.splitlines() if ": generation-back: " in line]
        stored = [name for name in names if name.endswith(".gz")]
        assert sorted(line.partition(":")[0] for line in lines) == sorted(stored)
        assert all("`pinakes withdraw`" in line and "--drop" in line for line in lines)
    assert all((site.archive.folder / name).exists() for name in names)


@ways
def test_nothing_of_it_is_given_out(
    site: Scene, names: list[str], capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    put_back(site, *names)
    now = datetime(2026, 11, 25, tzinfo=timezone.utc)
    files = ArchiveBytes(site.rows, site.archive, rules=AccessRules(), now=lambda: now)
    for name in (name for name in names if name.endswith(".gz")):
        file = files.find(name)
        assert file is not None
        for start, end in ((0, file.size), (1, 2)):
            with pytest.raises(GenerationDropped):
                files.open(file, start, end)
        for row in _rows(site, name):
            for verb in (["cat"], ["cat", "--payload"], ["cat", "--raw"], ["show", "--payload"]):
                main([verb[0], f"{name}:{row}", *verb[1:], "--store", str(site.folder / "store")])
    given = capfdbinary.readouterr()
    assert not any(secret in given.out + given.err for secret in SECRETS)


def _rows(site: Scene, name: str) -> list[int]:
    """Where its records are."""
    path = site.archive.path_of(sidecar_name(name))
    was_there = path.exists()
    put_back(site, sidecar_name(name))
    places = [row.offset for row in iter_sidecar(site.archive, name)]
    if not was_there:
        path.unlink()
    return places


@ways
def test_withdrawn_again_it_goes(site: Scene, names: list[str]) -> None:
    put_back(site, *names)
    before = whole_payloads(site.archive.folder)
    [report] = withdraw(site, uri(0))
    assert (report.problems, report.records) == ([], 0)
    if REVISITS not in names or sidecar_name(REVISITS) in names:
        require_gone(site)
    assert before - whole_payloads(site.archive.folder) <= {sha256(page(0)).hexdigest()}
    done = on(site, "dedupe", "--all", "--drop-old", "--grace", "0")
    assert done.exit_code == 0, done
    require_gone(site)


@pytest.mark.parametrize("beside", [[], [sidecar_name(FULL)]], ids=["alone", "with its sidecar"])
def test_it_stays_while_it_alone_holds_something_whole(site: Scene, beside: list[str]) -> None:
    put_back(site, FULL, *beside)
    path = current(site, 1)
    data = path.read_bytes()
    row = list(iter_sidecar(site.archive, "c1/g2/site.warc.gz"))[4]
    at = row.offset + row.length // 2
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    before = whole_payloads(site.archive.folder)
    assert sha256(page(1)).hexdigest() in before
    [report] = withdraw(site, sha256_of(page(0)))
    assert any("old generation is kept" in str(problem) for problem in report.problems)
    assert whole_payloads(site.archive.folder) == before
    assert (site.archive.folder / FULL).exists()


def test_a_file_of_a_crawl_that_was_taken_out_is_not_given_out(site: Scene) -> None:
    for number in (3, 2):
        done = Remover(site.rows, site.archive, Actor()).take_out(f"c{number}", CANCEL)
        assert done.is_complete, done
    put_back(site, SECOND, sidecar_name(SECOND))
    for verb in ("cat", "show"):
        done = on(site, verb, f"{SECOND}:0")
        assert (done.exit_code, done.out) == (3, "")
        assert "was taken out, and is there again" in done.err
    done = on(site, "fsck")
    assert f"{SECOND}: unknown-file: was taken out, and is there again" in done.out


@pytest.mark.parametrize("beside", [[], [sidecar_name(SECOND)]], ids=["alone", "with its sidecar"])
def test_with_its_crawl_it_goes(site: Scene, beside: list[str]) -> None:
    put_back(site, SECOND, *beside)
    done = Remover(site.rows, site.archive, Actor()).take_out("c2", CANCEL)
    assert done.is_complete, done
    assert list((site.archive.folder / "c2").rglob("*.warc.gz")) == []
