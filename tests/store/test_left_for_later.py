"""Files that a run cannot rewrite, or need not: left as they are, and found again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from store_profiles import Land, landing

from pinakes.acts.actor import Actor
from pinakes.catalog.claims import Claimant
from pinakes.catalog.file_rows import release_claim, scan_entries, take_claim
from pinakes.dedupe.write.proven_originals import OriginalReader
from pinakes.warc.revisit import Unwritable

pytestmark = pytest.mark.slow
DEDUPE = ("dedupe", "--all", "--min-file-saving", "0")


@pytest.fixture
def land(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Land:
    return landing(tmp_path, monkeypatch, pages=8)


@pytest.mark.parametrize("how", [(), ("-j", "2"), ("--runner", "inline")])
def test_a_file_without_a_revisit_is_not_written_anew(
    land: Land, monkeypatch: pytest.MonkeyPatch, how: tuple[str, ...]
) -> None:
    def refuse(self: OriginalReader, line: object) -> object:
        raise Unwritable("original-unaddressable")

    profile = land("store")
    with profile.stores as stores:
        before = {entry.archive_file: entry.generation for entry in scan_entries(stores.rows)}
    monkeypatch.setattr(OriginalReader, "find", refuse)
    code, out = profile.run(*DEDUPE, *how)
    report = json.loads(out.splitlines()[-1])
    assert (code, report["files_rewritten"], report["revisits"]) == (0, 0, 0)
    assert report["left_full"]["original-unaddressable"] > 0
    assert report["files_left"]["all left full"] > 0
    with profile.stores as stores:
        now = {entry.archive_file: entry.generation for entry in scan_entries(stores.rows)}
    assert now == before
    assert profile.run("fsck", "--full")[0] == 0


def test_a_run_whose_file_another_act_holds_goes_on_later(land: Land) -> None:
    undisturbed = land("undisturbed")
    undisturbed.run(*DEDUPE)
    profile = land("store")
    with profile.stores as stores:
        *_, last = scan_entries(stores.rows)
        held = take_claim(
            stores.rows,
            last.archive_file,
            Claimant("elsewhere/1/now/them", "them", Actor().now_ms(), lambda owner: False),
            act="backup-1",
        )
    with pytest.raises(AssertionError, match="elsewhere/1/now/them is working on"):
        profile.run(*DEDUPE)
    with profile.stores as stores:
        [run] = [folder.name for folder in stores.runs_folder.iterdir()]
        release_claim(stores.rows, held)
    code, out = profile.run(*DEDUPE)
    [report] = [json.loads(line) for line in out.splitlines()]
    assert (code, report["run"], report["files_rewritten"]) == (0, run, 1)
    assert profile.run("fsck", "--full")[0] == 0
    assert profile.state() == undisturbed.state()
