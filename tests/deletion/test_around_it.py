"""What other acts and verbs make of a take-down, and it of theirs."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from failing_store import failing_archive, failing_rows
from fsck_here import codes
from killing import KILLED, in_child, kill_after, kill_at
from landed_stores import LandedStore, revisit
from landed_stores import page as warc_page
from scenes import COLLECTION, Scene, copied_scene, page, record
from taken_down import (
    bodies,
    holds_anywhere,
    key_of,
    outcome,
    record_id,
    request,
    sha256_of,
    uri,
    withdraw,
    write_site,
)

from pinakes.acts.actor import Actor, read_lease, release_lease
from pinakes.catalog.captures import get_captures, place_captures, scan_captures_of
from pinakes.catalog.file_rows import read_entry
from pinakes.catalog.references import scan_references
from pinakes.catalog.sidecar import sidecar_name
from pinakes.cli import main
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL, REMOVE, WITHDRAW
from pinakes.deletion.withdrawing import Withdrawer
from pinakes.errors import ConfigError, Conflict, InputRefused
from pinakes.hbase_schema.file_states import FileState
from pinakes.index.urlkey import urlkey
from pinakes.row_store.port import Delete, Put
from pinakes.warc.digest import Digest, hasher


def land_crawlers_revisit(scene: Scene, **fields: str) -> str:
    """A crawler's own revisit of /0 as crawl 1 has it; its row key."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    about = {
        "WARC-Target-URI": uri(0),
        "WARC-Date": "2025-01-01T00:00:00Z",
        "WARC-Record-ID": record_id(5, 0),
        "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
        "Content-Type": "application/http;msgtype=response",
        **{name.replace("_", "-"): value for name, value in fields.items()},
    }
    (scene.crawls / "c5").mkdir()
    (scene.crawls / "c5" / "a.warc").write_bytes(record("revisit", about, head))
    scene.land(5)
    return key_of(scene, 0, 5)


FAILING: dict[str, Callable[..., object]] = {
    "rows": failing_rows,
    "archive": failing_archive,
}
NAMED = {"WARC_Refers_To_Target_URI": uri(0), "WARC_Refers_To_Date": "2021-01-01T00:00:00Z"}


def is_withdrawn(scene: Scene, key: str) -> bool:
    return get_captures(scene.rows, [key.encode()])[key.encode()].withdrawal is not None


def test_a_crawlers_revisit_stops_it_before_anything_is_done(site: Scene) -> None:
    revisit, original = land_crawlers_revisit(site, **NAMED), key_of(site, 0, 1)
    before = outcome(site)
    [report] = withdraw(site, original)
    assert report.unprovided == [(revisit, original)]
    assert outcome(site) == before
    lease = read_lease(site.rows, COLLECTION)
    assert lease is not None
    assert lease.expires_ms == 0
    [report] = withdraw(site, original, revisit)
    assert report.is_complete
    assert is_withdrawn(site, revisit)


@pytest.mark.parametrize(("with_it", "other"), [("arts", "news"), ("news", "arts")])
def test_a_crawlers_revisit_stops_it_in_all_collections(
    store: LandedStore, with_it: str, other: str
) -> None:
    """Whichever is looked at first, also run again, until the revisit is named, too."""
    first, second = "2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"
    store.land("c1", "a.warc.gz", warc_page(uri(0), b"1", date=first), collection=with_it)
    store.land("c2", "a.warc.gz", warc_page(uri(0), b"2", date=second), collection=other)
    store.land("c3", "a.warc.gz", revisit(uri(1), second, uri(0), first), collection=with_it)
    work = Withdrawer(store.rows, store.archive, store.actor, software="tests")
    for way in (work.plan, work.withdraw, work.withdraw):
        reports = {report.collection: report for report in way(request(uri(0)))}
        [(named, _)] = reports[with_it].unprovided
        assert reports[other].refused_in == (with_it,)
        assert not any(report.problems or report.is_complete for report in reports.values())
        captures = scan_captures_of(store.rows, urlkey(uri(0)))
        assert [capture.withdrawal for capture in captures] == [None, None]
    done = work.withdraw(request(uri(0), named))
    assert [report.is_complete for report in done] == [True, True]


def test_what_could_not_be_done_has_not_landed_meanwhile(store: LandedStore) -> None:
    """Another process works on a file of one collection: of that the other says nothing."""
    store.land("c1", "a.warc.gz", warc_page(uri(0), b"1"), collection="arts")
    store.land("c2", "a.warc.gz", warc_page(uri(0), b"2"), collection="news")
    store.actor.claim(store.rows, "c1/a.warc.gz", act="dedupe-x")
    work = Withdrawer(store.rows, store.archive, Actor(), software="tests")
    arts, news = work.withdraw(request(uri(0)))
    assert not arts.is_complete
    assert news.is_complete


def test_a_revisit_that_names_a_record_by_its_id_stops_it_as_well(site: Scene) -> None:
    revisit = land_crawlers_revisit(site, WARC_Refers_To=record_id(1, 0))
    original = key_of(site, 0, 1)
    [report] = withdraw(site, original)
    assert report.unprovided == [(revisit, original)]


def test_what_lands_meanwhile_is_named(site: Scene) -> None:
    write_site(site.crawls / "c4", 4)
    landed: list[object] = []

    def at(step: str) -> None:
        if step == "bytes refused":
            landed.extend(site.land(4))

    [report] = withdraw(site, uri(0), at=at)
    assert len(landed) == 1
    assert [str(problem) for problem in report.problems] == [
        "c4/site.warc.gz: landed since: run again"
    ]
    [report] = withdraw(site, uri(0))
    assert not report.problems
    assert bodies(site, 0) == []


def test_a_crawlers_revisit_is_withdrawn_if_that_was_asked(site: Scene) -> None:
    revisit = land_crawlers_revisit(site, **NAMED)
    withdraw(site, key_of(site, 0, 1), references=WITHDRAW)
    assert is_withdrawn(site, revisit)
    assert holds_anywhere(site.folder / "store", record_id(5, 0).encode())


def test_a_digest_takes_revisits_along_that_declare_it(site: Scene) -> None:
    declared = str(Digest("sha1", hasher("sha1")(page(0)).digest()))
    revisit = land_crawlers_revisit(site, WARC_Payload_Digest=declared)
    withdraw(site, sha256_of(page(0)))
    assert is_withdrawn(site, revisit)


@pytest.mark.parametrize(
    ("target", "error"),
    [
        pytest.param("sha1:abc", ConfigError, id="half a digest"),
        pytest.param("md5:d41d8cd98f00b204e9800998ecf8427e", ConfigError, id="another algorithm"),
        pytest.param("sha256:" + "0" * 64, InputRefused, id="unknown digest"),
        pytest.param("http://example.org/nowhere", InputRefused, id="unknown URL"),
        pytest.param("org,example)/0 20210101000000000 AAAAAAAA", InputRefused, id="no capture"),
    ],
)
def test_what_is_not_there_is_refused(site: Scene, target: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        withdraw(site, target)


def test_another_act_has_to_end_first(site: Scene) -> None:
    actor = Actor()
    lease = actor.lease(site.rows, COLLECTION, act="dedupe-x")
    with pytest.raises(Conflict, match="dedupe-x"):
        withdraw(site, uri(0))
    release_lease(site.rows, lease)
    withdraw(site, uri(0))


def test_another_take_down_completes_an_unfinished_one(site: Scene) -> None:
    assert in_child(partial(withdraw, site, uri(0), at=kill_at(12))) == KILLED
    assert "unfinished-act" in codes(site)
    with pytest.raises(Conflict, match="withdraw-"):
        Remover(site.rows, site.archive, Actor()).take_out("c1", CANCEL)
    first, second = withdraw(site, uri(1))
    assert first.is_complete
    assert second.is_complete
    assert not holds_anywhere(site.folder / "store" / "archive", page(0)[-200:])
    assert not holds_anywhere(site.folder / "store" / "archive", page(1)[-200:])
    assert codes(site) == []


def test_a_damaged_original_is_named_and_nothing_is_left(site: Scene) -> None:
    """What is to become full again has its body there."""
    before = site.state()
    path = site.archive.path_of("c1/site.warc.gz")
    good = path.read_bytes()
    original = key_of(site, 1, 1)
    captures = get_captures(site.rows, [original.encode()])
    [place] = place_captures(site.rows, captures.values())
    at = place.location.offset + place.location.length - 100
    path.write_bytes(good[:at] + bytes([good[at] ^ 0xFF]) + good[at + 1 :])
    [report] = withdraw(site, original)
    [problem] = map(str, report.problems)
    assert "c2/g2/site.warc.gz" in problem
    assert f"c1/site.warc.gz:{place.location.offset}" in problem
    path.write_bytes(good)
    assert site.state() == before
    assert codes(site) == []
    [report] = withdraw(site, original)
    assert report.is_complete
    assert codes(site) == []


@pytest.mark.parametrize("step", ["sidecar published", "bytes deleted"])
def test_a_sidecar_that_an_act_left_alone_is_deleted_by_fsck(site: Scene, step: str) -> None:
    assert in_child(partial(withdraw, site, uri(0), at=kill_after(step))) == KILLED
    assert "sidecar-alone" in codes(site, repair=True)
    assert set(codes(site)) == {"unfinished-act"}
    [report] = withdraw(site, uri(0))
    assert report.is_complete
    assert codes(site) == []
    assert not holds_anywhere(site.folder / "store", page(0)[-200:])


def test_twice_is_once(site: Scene) -> None:
    withdraw(site, uri(0))
    before = outcome(site)
    [report] = withdraw(site, uri(0))
    assert (report.captures, report.already, report.records) == ([], 3, 0)
    assert outcome(site) == before


def test_a_plan_changes_nothing_and_says_what_is_done(site: Scene) -> None:
    before = outcome(site)
    work = Withdrawer(site.rows, site.archive, Actor(), software="tests")
    [plan] = work.plan(request(key_of(site, 0, 1)))
    assert outcome(site) == before
    [done] = withdraw(site, key_of(site, 0, 1))
    said = (plan.captures, plan.promoted, plan.repointed, plan.files, plan.generations)
    assert said == (done.captures, done.promoted, done.repointed, done.files, done.generations)
    assert all(site.archive.size(name) is None for name, _ in plan.generations)


@pytest.mark.parametrize("removed", [False, True], ids=["there", "removed"])
def test_the_same_bytes_do_not_land_again(site: Scene, removed: bool) -> None:
    withdraw(site, uri(0))
    if removed:
        for crawl in ("c3", "c2", "c1"):
            main(["crawl", "commit", crawl, "--store", str(site.folder / "store")])
            Remover(site.rows, site.archive, Actor()).take_out(crawl, REMOVE)
    (site.crawls / "c1").rename(site.crawls / "c4")
    store = ["--store", str(site.folder / "store")]
    assert main(["ingest", str(site.crawls / "c4"), "--crawl", "c4", *store]) == 3
    assert not holds_anywhere(site.folder / "store", page(0)[-200:])
    assert codes(site) == []
    assert not any(b"c4/" in row.key for row in site.rows.scan("captures"))
    assert not any(b"c4/" in row.key for row in site.rows.scan("digests"))
    assert read_entry(site.rows, "c4/site.warc.gz").state is FileState.REMOVED
    if not removed:
        [report] = withdraw(site, uri(1))
        assert report.is_complete


@pytest.mark.parametrize("step", ["rows", "facts", "rows deleted"])
def test_a_refused_landing_that_dies_is_put_in_order_by_fsck(site: Scene, step: str) -> None:
    withdraw(site, uri(0))
    (site.crawls / "c1").rename(site.crawls / "c4")
    code = in_child(partial(site.land, 4, at=kill_after(step)))
    assert code == (70 if step == "facts" else KILLED)  # it is refused before
    codes(site, repair=True)
    assert codes(site) == []
    [report] = withdraw(site, uri(1))
    assert report.is_complete


def test_fsck_makes_the_sidecar_of_tombstones_again(site: Scene) -> None:
    withdraw(site, uri(0))
    before = outcome(site)
    site.archive.delete(sidecar_name("c1/g2/site.warc.gz"))
    assert codes(site, repair=True) == ["sidecar-missing"]
    assert codes(site) == []
    assert outcome(site) == before


def test_fsck_never_brings_a_capture_back(site: Scene) -> None:
    key = key_of(site, 0, 1)
    withdraw(site, key)
    site.rows.mutate("captures", [Delete(key.encode(), 1 << 42)])
    assert codes(site)


def test_fsck_finds_what_was_noted_and_is_still_there(site: Scene) -> None:
    key = key_of(site, 0, 1)
    with copied_scene(site.folder, site.folder.parent / "as-it-was") as was:
        withdraw(site, key)
        cells = site.rows.get_rows("captures", [key.encode()])[key.encode()].cells
        cell = cells[b"m:withdrawn"]
        noted = {b"m:withdrawn": cell.value}
        was.rows.mutate("captures", [Put(key.encode(), noted, cell.timestamp_ms)])
        assert "unfinished-act" in codes(was)


def said(site: Scene, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[object]]:
    code = main([*words, "--json", "--store", str(site.folder / "store")])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_verbs_say_that_it_was_withdrawn(site: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    key = key_of(site, 0, 1)
    words = ("withdraw", key, "--reason", "order 12", "--by", "nadia")
    code, [report] = said(site, capsys, *words)
    assert (code, report["captures"], report["records"]) == (0, [key], 3)  # type: ignore[index]
    _, captures = said(site, capsys, "timeline", uri(0))
    facts = [captures[0][name] for name in ("capture", "url", "type")]  # type: ignore[index]
    assert facts == [key, uri(0), "response"]
    withdrawn = [capture["withdrawn"] for capture in captures]  # type: ignore[index]
    assert withdrawn[1:] == [None, None]
    assert (withdrawn[0]["by"], withdrawn[0]["reason"]) == ("nadia", "order 12")
    _, [answer] = said(site, capsys, "lookup", sha256_of(page(0)))
    assert [found["capture"] for found in answer["withdrawn"]] == [key]  # type: ignore[index]
    assert len(answer["captures"]) == 2  # type: ignore[index]
    code, _ = said(site, capsys, "show", key, "--payload")
    assert code == 3
    _, lines = said(site, capsys, "cdx", "c1")
    assert not any(f'"{uri(0)}"' in str(line) for line in lines)


def test_a_reason_is_asked_for(site: Scene, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(site, capsys, "withdraw", uri(0))[0] == 2
    assert said(site, capsys, "withdraw", uri(0), "--plan")[0] == 0
    assert said(site, capsys, "withdraw", uri(0), "--dry-run")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("applied", [False, True], ids=["not done", "answer lost"])
@pytest.mark.parametrize("kind", ["rows", "archive"])
def test_stores_that_fail_at_any_call(
    site: Scene, tmp_path: Path, kind: str, applied: bool
) -> None:
    key = key_of(site, 0, 1)
    with copied_scene(site.folder, tmp_path / "whole") as scene:
        withdraw(scene, key)
        whole = outcome(scene)
    for call in count(1, 53):
        with copied_scene(site.folder, tmp_path / str(call)) as scene:
            stores: dict[str, object] = {"rows": scene.rows, "archive": scene.archive}
            stores[kind] = FAILING[kind](stores[kind], call, applied=applied)
            ended = in_child(partial(_withdraw_with, stores, key)) == 0
            [*_, report] = withdraw(scene, key)
            assert report.is_complete
            assert outcome(scene) == whole, call
        if ended:
            break
    assert call > 100


def _withdraw_with(stores: dict[str, object], key: str) -> None:
    work = Withdrawer(**stores, actor=Actor(), software="tests")  # type: ignore[arg-type]
    list(work.withdraw(request(key)))


def test_a_user_without_a_name_is_asked_for_one(
    site: Scene, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 9)
    words = ["withdraw", uri(0), "--reason", "asked to", "--store", str(site.folder / "store")]
    before = outcome(site)
    assert main(words) == 2
    assert "--by NAME" in capsys.readouterr().err
    assert main([*words, "--plan"]) == 0
    assert outcome(site) == before
    assert main([*words, "--by", "nadia"]) == 0


def test_a_backup_that_has_not_ended_stops_it(
    site: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = site.folder / "store" / "backups" / "backup-1" / "archive"
    snapshot.mkdir(parents=True)
    words = ["withdraw", uri(0), "--store", str(site.folder / "store")]
    before = outcome(site)
    assert main([*words, "--reason", "asked to"]) == 3
    assert "backup-1 has not ended" in capsys.readouterr().err
    assert outcome(site) == before
    assert main([*words, "--plan"]) == 0


def test_a_withdrawn_revisit_keeps_no_crawl_from_being_removed(site: Scene) -> None:
    def referring() -> list[str]:
        found = scan_references(site.rows, site.archive, "c1", COLLECTION)
        return [reference.capture for reference in found]

    before = referring()
    gone = key_of(site, 0, 3)
    [report] = withdraw(site, gone)
    assert report.is_complete
    assert gone in before
    assert referring() == [capture for capture in before if capture != gone]
