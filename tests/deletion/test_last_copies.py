"""The last whole copy of a body that stays is not deleted: judged by zlib alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from killing import KILLED, in_child, kill_after
from landed_stores import LandedStore, page
from purged import capture, given, land, paths_now, purge, record_id
from scenes import Scene, make_scene
from store_chain import call
from taken_down import request, withdraw
from whole_payloads import flip, whole_payloads

from pinakes.acts.actor import Actor
from pinakes.catalog.captures import scan_captures_of
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.purging import Purger
from pinakes.deletion.requests import CANCEL, FORCE, PROMOTE, REFUSE, REMOVE, PurgeRequest
from pinakes.deletion.withdrawing import Withdrawer
from pinakes.errors import PinakesError
from pinakes.index.urlkey import urlkey
from pinakes.ingest.commit import commit_crawl

Problems = list[PinakesError]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with make_scene(tmp_path / "scene", ()) as made:
        yield made


def _rot(scene: Scene, crawl: int, number: int) -> None:
    """Flip a bit in the body of a record of the crawl, as it is now."""
    [path] = [p for p in paths_now(scene) if f"c{crawl}" in p.parts]
    data = path.read_bytes()
    starts = [at for at in range(len(data)) if data.startswith(b"\x1f\x8b\x08", at)]
    flip(path, (starts[number] + [*starts, len(data)][number + 1]) // 2)


def _each_in_full(scene: Scene) -> None:
    """What stays has the body in a record of its own, which rots."""
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 2, capture(2, 1), capture(2, 3))
    _rot(scene, 1, 0)


def _by_an_original(scene: Scene) -> None:
    """What stays relies on an original, which rots; the copy that goes landed later."""
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 3, capture(3, 1), capture(3, 4))
    scene.dedupe()
    land(scene, 2, capture(2, 1), capture(2, 3))
    _rot(scene, 1, 0)


def _in_an_old_generation(scene: Scene) -> None:
    """What goes is a revisit by now: its old generation alone has the body whole."""
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 2, capture(2, 1), capture(2, 3))
    scene.dedupe()
    _rot(scene, 1, 0)


def _remove(scene: Scene) -> Problems:
    commit_crawl(scene.rows, scene.archive, "c2", Actor())
    return Remover(scene.rows, scene.archive, Actor()).take_out("c2", REMOVE).problems


def _cancel(scene: Scene) -> Problems:
    return Remover(scene.rows, scene.archive, Actor()).take_out("c2", CANCEL).problems


def _purge(scene: Scene) -> Problems:
    return purge(scene, 2, REFUSE).problems


def _promote(scene: Scene) -> Problems:
    return purge(scene, 2, PROMOTE).problems


def _withdraw(scene: Scene) -> Problems:
    key = next(row.key for row in scene.rows.scan("captures") if b"/1 2012" in row.key)
    [report] = withdraw(scene, key.decode("ascii"))
    return report.problems


MAKES = (_each_in_full, _by_an_original, _in_an_old_generation)
ACTS = (_remove, _cancel, _purge, _promote, _withdraw)


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("make", MAKES)
def test_it_stays(
    scene: Scene, make: Callable[[Scene], None], act: Callable[[Scene], Problems]
) -> None:
    make(scene)
    before = whole_payloads(scene.archive.folder)
    problems = act(scene)
    assert any("the last whole copy of a body that stays" in str(one) for one in problems)
    assert whole_payloads(scene.archive.folder) == before


@pytest.mark.parametrize("act", ACTS)
def test_once_it_is_whole_again_what_was_asked_for_is_done(
    scene: Scene, act: Callable[[Scene], Problems]
) -> None:
    _each_in_full(scene)
    assert act(scene)
    _rot(scene, 1, 0)  # the same bit again
    assert act(scene) == []
    left = given(scene)
    assert record_id(2, 1).strip("<>").encode() not in left
    assert record_id(1, 1).strip("<>").encode() in left


@pytest.mark.parametrize("act", ACTS)
def test_a_body_that_nothing_has_whole_is_in_no_way(
    scene: Scene, act: Callable[[Scene], Problems]
) -> None:
    _each_in_full(scene)
    _rot(scene, 2, 0)
    assert not any("last whole copy" in str(one) for one in act(scene))


def test_who_leaves_references_dangling_may_delete_it(scene: Scene) -> None:
    _each_in_full(scene)
    assert purge(scene, 2, FORCE).is_complete


def test_what_was_left_dangling_keeps_nothing(scene: Scene) -> None:
    """Somebody has ordered that its body goes."""
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 3, capture(3, 1), capture(3, 4))
    scene.dedupe()
    assert purge(scene, 1, FORCE).is_complete
    land(scene, 2, capture(2, 1), capture(2, 3))
    assert _remove(scene) == []


def test_a_person_is_told_to_look_not_to_run_it_again(scene: Scene) -> None:
    _each_in_full(scene)
    done = call("crawl", "cancel", "c2", "--store", scene.folder / "store")
    assert done.exit_code == 3
    assert "the last whole copy of a body that stays" in done.err
    assert done.out.startswith("c2: not finished: see above;")


def test_in_one_of_several_collections_it_stops_all(store: LandedStore) -> None:
    """What one collection has whole is not whole in the other; nor is anything done in one."""
    asked, stays = "http://a.example/", "http://b.example/"
    body = b"in four captures" * 99
    for collection in ("arts", "news"):
        store.land(f"{collection}-1", "a.warc.gz", page(stays, body), collection=collection)
        store.land(f"{collection}-2", "a.warc.gz", page(asked, body), collection=collection)
    path = store.archive.folder / "news-1" / "a.warc.gz"
    in_checksum = path.stat().st_size - 6
    flip(path, in_checksum)
    work = Withdrawer(store.rows, store.archive, store.actor, software="tests")
    for way in (work.plan, work.withdraw, work.withdraw):
        arts, news = way(request(asked))
        assert (arts.refused_in, arts.problems) == (("news",), [])
        assert ["last whole copy" in str(one) for one in news.problems] == [True]
    captures = scan_captures_of(store.rows, urlkey(asked))
    assert [capture.withdrawal for capture in captures] == [None, None]
    flip(path, in_checksum)
    assert [report.problems for report in work.withdraw(request(asked))] == [[], []]


@contextmanager
def _opened(folder: Path) -> Iterator[LandedStore]:
    store = LandedStore(folder)
    try:
        yield store
    finally:
        store.rows.close()


def _half_taken_out(folder: Path, how: str) -> None:
    """A crawl of two files, the first of which is gone when its deletion is killed."""
    with _opened(folder) as store:
        at = kill_after("out of flight")
        if how == "purge":
            Purger(
                store.rows, store.archive, folder / "runs", Actor(), software="tests", at=at
            ).purge(PurgeRequest(crawl="c2", references=PROMOTE))
        else:
            Remover(store.rows, store.archive, Actor(), at=at).take_out("c2", WAYS[how])


WAYS = {"remove": REMOVE, "cancel": CANCEL}


@pytest.mark.parametrize("how", ["remove", "cancel", "purge"])
def test_an_act_that_goes_on_reads_it_again(tmp_path: Path, how: str) -> None:
    """What stays has rotted since the act was killed."""
    folder, body = tmp_path / "store", b"in two crawls" * 99
    with _opened(folder) as store:
        store.land("c1", "a.warc.gz", page("http://a.example/", body))
        store.land("c2", "a.warc.gz", page("http://b.example/", b"in one"))
        store.land("c2", "z.warc.gz", page("http://c.example/", body))
        if how == "remove":
            commit_crawl(store.rows, store.archive, "c2", Actor())
        path = store.archive.folder / "c1" / "a.warc.gz"
    assert in_child(lambda: _half_taken_out(folder, how)) == KILLED
    last = folder / "archive" / "c2" / "z.warc.gz"
    assert [one.name for one in last.parent.glob("*.gz")] == [last.name]
    in_checksum = path.stat().st_size - 6
    flip(path, in_checksum)
    words = ("crawl", how, "c2", *(("--references", PROMOTE) if how == "purge" else ()))
    for _ in range(2):
        done = call(*words, "--store", folder)
        assert done.exit_code == 3, done
        assert "c2/z.warc.gz:0: holds the last whole copy of a body that stays" in done.err
        assert last.exists()
    flip(path, in_checksum)
    assert call(*words, "--store", folder).exit_code == 0
    assert not last.exists()


def test_a_repair_completes_a_removal_and_keeps_the_bytes(tmp_path: Path) -> None:
    folder, body = tmp_path / "store", b"in two crawls" * 99
    with _opened(folder) as store:
        store.land("c1", "a.warc.gz", page("http://a.example/", body))
        store.land("c2", "a.warc.gz", page("http://b.example/", b"in one"))
        store.land("c2", "z.warc.gz", page("http://c.example/", body))
    assert in_child(lambda: _half_taken_out(folder, "cancel")) == KILLED
    flip(folder / "archive" / "c1" / "a.warc.gz", -6)
    last = (folder / "archive" / "c2" / "z.warc.gz").read_bytes()
    assert call("fsck", "--repair", "--store", folder).exit_code == 1
    assert call("crawl", "cancel", "c2", "--store", folder).exit_code == 0
    assert not (folder / "archive" / "c2" / "z.warc.gz").exists()
    assert last in [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
