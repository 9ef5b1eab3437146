"""A pinned store keeps its bytes: who deletes some waits, who adds some does not."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from scenes import COLLECTION, Scene
from shown_progress import Shown

from pinakes.acts.actor import Actor, is_pinned, read_lease, release_pin, renew_pin, take_pin
from pinakes.acts.generations import Written
from pinakes.acts.moving import make_current
from pinakes.archive_store.local.store import LocalArchiveStore
from pinakes.catalog.claims import Claimant
from pinakes.catalog.file_rows import read_entry, scan_entries, set_state, take_claim
from pinakes.dedupe.run.run_report import Unwatched, store_step
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL
from pinakes.errors import Conflict
from pinakes.hbase_schema.file_cells import Claim
from pinakes.hbase_schema.file_states import FileState


def pin(scene: Scene, *, now_ms: int | None = None) -> Claim:
    actor = Actor()
    by = actor.claimant()
    if now_ms is not None:
        by = by._replace(now_ms=now_ms)
    return take_pin(scene.rows, by, act=actor.new_act("backup"))


@pytest.fixture
def running() -> Iterator[Callable[[Callable[[], object]], threading.Thread]]:
    threads = []

    def run(work: Callable[[], object]) -> threading.Thread:
        thread = threading.Thread(target=work)
        threads.append(thread)
        thread.start()
        return thread

    yield run
    for thread in threads:
        thread.join()


def wait_for(condition: Callable[[], bool]) -> None:
    give_up = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.01)


def names(scene: Scene) -> list[str]:
    return [stored.name for stored in LocalArchiveStore(scene.archive.folder).list()]


def test_removal_deletes_rows_and_keeps_bytes_until_unpinned(
    scene: Scene, running: Callable[[Callable[[], object]], threading.Thread]
) -> None:
    scene.land(1)
    before = names(scene)
    held = pin(scene)
    removing = running(lambda: Remover(scene.rows, scene.archive, Actor()).take_out("c1", CANCEL))
    try:
        wait_for(lambda: read_entry(scene.rows, "c1/part-0.warc.gz").state == "left")
        scene.land(2)  # waits for nothing
        assert removing.is_alive()
        assert set(names(scene)) > set(before)
    finally:
        release_pin(scene.rows, held)
    removing.join()
    assert not any(name.startswith("c1/") for name in names(scene))


def test_old_generations_stay_until_unpinned(
    scene: Scene, running: Callable[[Callable[[], object]], threading.Thread]
) -> None:
    scene.land(1)
    scene.land(2)
    held = pin(scene)
    deduping = running(lambda: scene.dedupe(grace_ms=0))
    try:
        # Rewriting is done with when the lease alone is left to give back.
        wait_for(lambda: read_entry(scene.rows, "c2/part-1.warc.gz").generation == 2)
        lease = read_lease(scene.rows, COLLECTION)
        assert lease is not None
        assert lease.expires_ms
        assert "c2/part-0.warc.gz" in names(scene)
    finally:
        release_pin(scene.rows, held)
    deduping.join()
    assert "c2/part-0.warc.gz" not in names(scene)


def test_one_pin_at_a_time(scene: Scene) -> None:
    held = pin(scene)
    with pytest.raises(Conflict, match="working on the store"):
        pin(scene)
    release_pin(scene.rows, held)
    again = pin(scene)
    assert again.act_time_ms > held.act_time_ms


def test_expired_pin_is_void_and_cannot_be_renewed(scene: Scene, tmp_path: Path) -> None:
    now_ms = Actor().now_ms()
    held = pin(scene, now_ms=now_ms - 600_000)
    assert not is_pinned(scene.rows, now_ms=now_ms, is_gone=lambda owner: False)
    with pytest.raises(Conflict, match="not pinned for long enough"):
        renew_pin(scene.rows, held, now_ms)


def test_pin_of_a_dead_process_is_void(scene: Scene) -> None:
    held = pin(scene)
    assert is_pinned(scene.rows, now_ms=held.expires_ms - 1, is_gone=lambda owner: False)
    assert not is_pinned(scene.rows, now_ms=held.expires_ms - 1, is_gone=lambda owner: True)
    renewed = renew_pin(scene.rows, held, held.expires_ms - 1)
    assert renewed.expires_ms > held.expires_ms
    for after_ms, holds in ((-1, True), (0, False)):
        now_ms = renewed.expires_ms + after_ms
        assert is_pinned(scene.rows, now_ms=now_ms, is_gone=lambda owner: False) == holds


# --- A run whose lease or claim is taken over stops, and moves no file any more


def test_lease_is_checked_while_comparing(scene: Scene) -> None:
    for crawl in (1, 2):
        scene.land(crawl)
    before = scene.state()

    class Lost(Unwatched):
        def advance(self, count: int) -> None:
            if count == 0:
                raise Conflict("another process has taken the lease over")

    with pytest.raises(Conflict):
        scene.dedupe(progress=Lost())
    assert scene.state() == before


def test_lease_is_checked_per_file_without_comparing(scene: Scene) -> None:
    for crawl in (1, 2):
        scene.land(crawl)
    shown = Shown()
    scene.dedupe(progress=shown, compare=False)
    assert [step for step, _ in shown.steps] == [store_step(n) for n in (1, 3, 4)]
    assert all(counts and 0 not in counts for counts in shown.counts)


@pytest.mark.parametrize("runner", [None, "here"], ids=["here", "by tasks"])
def test_a_file_whose_claim_is_taken_over_is_not_moved(landed: Scene, runner: str | None) -> None:
    def taken_over(step: str) -> None:
        if step != "marked":
            return
        for entry in scan_entries(landed.rows):
            if entry.claim is not None and entry.claim.expires_ms:
                take_claim(
                    landed.rows,
                    entry.archive_file,
                    Claimant("another", "another", entry.claim.expires_ms, lambda owner: False),
                    act="remove-1",
                )

    with pytest.raises(Conflict, match="another process has taken over it"):
        landed.dedupe(at=taken_over, runner=runner)
    assert {entry.generation for entry in scan_entries(landed.rows)} == {1}


@pytest.mark.parametrize("current", [1, 3], ids=["back", "on"])
def test_file_moved_by_another_act_is_left(scene: Scene, current: int) -> None:
    held = Actor().claim(scene.rows, "c1/part-0.warc.gz", act="dedupe-b")
    earlier = replace(held, claim=replace(held.claim, act="dedupe-a"))
    set_state(scene.rows, earlier, FileState.STORED, FileState.STORED, generation=current)
    written = Written(
        archive_file=held.archive_file, generation=3, size=1, sha256="", old_sha256=""
    )
    with pytest.raises(Conflict, match="another act has moved"):
        make_current(scene.rows, held, written)
    assert read_entry(scene.rows, held.archive_file).generation == current
