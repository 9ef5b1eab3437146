"""No crawl takes another's file with it, whatever lies under its names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from landed_stores import LandedStore, page
from store_chain import call
from whole_payloads import flip

from pinakes.acts.actor import Actor
from pinakes.catalog.sidecar import sidecar_name
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.purging import Purger
from pinakes.deletion.requests import CANCEL, REMOVE, DeletionReport, PurgeRequest
from pinakes.errors import DigestMismatch
from pinakes.ingest.commit import commit_crawl

ONE, OTHER = "one/a.warc.gz", "other/a.warc.gz"


def cancel(store: LandedStore) -> DeletionReport:
    return Remover(store.rows, store.archive, Actor()).take_out("one", CANCEL)


def remove(store: LandedStore) -> DeletionReport:
    commit_crawl(store.rows, store.archive, "one", store.actor)
    return Remover(store.rows, store.archive, Actor()).take_out("one", REMOVE)


def purge(store: LandedStore) -> DeletionReport:
    purger = Purger(
        store.rows, store.archive, store.folder / "runs", Actor(), software="of this test"
    )
    return purger.purge(PurgeRequest(crawl="one"))


DELETIONS = pytest.mark.parametrize("delete", [cancel, remove, purge])


@pytest.fixture
def store(tmp_path: Path) -> LandedStore:
    store = LandedStore(tmp_path / "store")
    store.land("one", "a.warc.gz", page("http://example.org/1", b"one" * 99))
    store.land("other", "a.warc.gz", page("http://example.org/2", b"two" * 99))
    return store


@DELETIONS
@pytest.mark.parametrize("with_sidecar", [False, True])
def test_another_file_under_a_name_of_the_crawl_stays(
    store: LandedStore, delete: Callable[[LandedStore], DeletionReport], with_sidecar: bool
) -> None:
    archive = store.folder / "archive"
    for name in [ONE, sidecar_name(ONE)][: 1 + with_sidecar]:
        (archive / name.replace("one/", "other/")).replace(archive / name)
    bytes_there = (archive / ONE).read_bytes()
    report = delete(store)
    assert [type(problem) for problem in report.problems] == [DigestMismatch]
    assert "not those of one/a.warc.gz" in str(report.problems[0])
    assert (archive / ONE).read_bytes() == bytes_there
    store.close()


@DELETIONS
def test_a_damaged_file_of_its_own_goes(
    store: LandedStore, delete: Callable[[LandedStore], DeletionReport]
) -> None:
    path = store.folder / "archive" / ONE
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)
    assert not delete(store).problems
    assert not path.exists()
    store.close()


@DELETIONS
def test_a_damaged_file_without_sidecar_is_for_a_person(
    store: LandedStore, delete: Callable[[LandedStore], DeletionReport]
) -> None:
    path = store.folder / "archive" / ONE
    flip(path, -20)
    (store.folder / "archive" / sidecar_name(ONE)).unlink()
    report = delete(store)
    [said] = [str(problem) for problem in report.problems]
    assert said.startswith(f"{ONE}: is not what was stored, and no sidecar says whether")
    assert path.exists()
    assert "`pinakes fsck --accept` goes on" in call("fsck", "--store", store.folder).out
    assert call("fsck", "--accept", ONE, "--store", store.folder).exit_code == 0
    assert not delete(store).problems
    assert not path.exists()
    store.close()
