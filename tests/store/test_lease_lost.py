"""A run whose lease or claim is taken over stops, and moves no file any more."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scenes import Scene
from shown_progress import Shown

from pinakes.acts.actor import Actor
from pinakes.acts.generations import Written
from pinakes.acts.moving import make_current
from pinakes.catalog.claims import Claimant
from pinakes.catalog.file_rows import read_entry, scan_entries, set_state, take_claim
from pinakes.dedupe.run.run_report import Unwatched, store_step
from pinakes.errors import Conflict
from pinakes.hbase_schema.file_states import FileState


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
