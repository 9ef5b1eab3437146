"""A crawl goes, and every capture of the others gives what it gave: judged by zlib alone."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pytest
from fsck_here import look
from killing import KILLED, deaths, in_child, kill_after, kill_at
from landed_stores import in_one_member, page
from purged import (
    Payloads,
    body,
    capture,
    claims_open,
    date,
    given,
    land,
    of_others,
    paths_now,
    purge,
    purger,
    record_id,
    revisit_of,
    uri,
    write,
)
from raw_payloads import raw_records
from scenes import Scene, copied_scene, in_scene, make_scene
from store_chain import call

from pinakes.acts.actor import Actor
from pinakes.catalog.crawl_rows import COMMITTED, OPEN, PURGING, change_crawl_state, read_crawl
from pinakes.deletion.requests import FORCE, PROMOTE, REFUSE, PurgeRequest
from pinakes.errors import ConfigError, Conflict, DigestMismatch
from pinakes.ingest.commit import commit_crawl
from pinakes.warc.changed_revisit import old_revisit
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"


def _by_dedupe(scene: Scene) -> None:
    for crawl in (1, 2, 3):
        land(scene, crawl, capture(crawl, 1), capture(crawl, 2))
    scene.dedupe()


def _with_an_older_copy(scene: Scene) -> None:
    """What the third refers to is the second of two originals: the first has its address."""
    land(scene, 2, capture(2, 1), capture(2, 2))
    land(scene, 3, capture(3, 1), capture(3, 2))
    scene.dedupe()
    land(scene, 1, capture(1, 1), capture(1, 2))
    scene.dedupe(act="dedupe-b")


def _by_a_crawler(scene: Scene) -> None:
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 2, revisit_of(2, 1, (1, 1)), revisit_of(2, 7, (1, 2)), capture(2, 3))
    land(scene, 3, revisit_of(3, 1, (1, 1)), revisit_of(3, 2, (1, 2)))
    scene.dedupe()


def _into_a_file_that_changes(scene: Scene) -> None:
    """What becomes the original moves when the record before it in its file is re-pointed."""
    land(scene, 1, capture(1, 1))
    land(scene, 2, revisit_of(2, 5, (1, 1)), revisit_of(2, 2, (1, 1)))
    land(scene, 3, revisit_of(3, 1, (1, 1)))


def _the_same_in_two_crawls(scene: Scene) -> None:
    """Those of the first second cannot refer to each other; the others refer to the first."""
    land(scene, 1, capture(1, 1))
    once = [revisit_of(2, number, (1, 1)) for number in (2, 3)]
    land(scene, 2, *once)
    land(scene, 3, *(_with_ids_of(3, record) for record in once))


def _with_ids_of(crawl: int, record: bytes) -> bytes:
    data = gzip.decompress(record)
    for number in (2, 3):
        data = data.replace(record_id(2, number).encode(), record_id(crawl, number).encode())
    return gzip.compress(data, mtime=0)


def _by_both(scene: Scene) -> None:
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 2, capture(2, 1), revisit_of(2, 2, (1, 2)))
    land(scene, 3, revisit_of(3, 1, (1, 1)), capture(3, 2))
    scene.dedupe()


def _by_id_and_digest(scene: Scene) -> None:
    land(scene, 1, capture(1, 1), capture(1, 2), capture(1, 3))
    land(scene, 2, revisit_of(2, 1, (1, 1), named="id"), revisit_of(2, 2, (1, 2), named="digest"))
    land(scene, 3, revisit_of(3, 9, (1, 3), named="id"))


def _copy_behind_another(scene: Scene) -> None:
    """The copies of the second crawl share a member: only the first has a line in an index."""
    land(scene, 1, capture(1, 1), capture(1, 2))
    pinned = revisit_of(2, 8, (2, 2))
    land(scene, 2, in_one_member(capture(2, 1), capture(2, 2)), revisit_of(2, 9, (2, 1)), pinned)
    land(scene, 3, capture(3, 1), capture(3, 2))
    scene.dedupe()


def _not_modified(scene: Scene) -> None:
    land(scene, 1, capture(1, 1), capture(1, 2))
    land(scene, 2, revisit_of(2, 1, (1, 1), head=NOT_MODIFIED), revisit_of(2, 2, (1, 2), head=b""))


def _to_a_revisit_of_ours(scene: Scene) -> None:
    """The crawler's revisit names what dedupe has replaced, and has not given back yet."""
    land(scene, 2, capture(2, 1))
    land(scene, 1, capture(1, 5, 1))
    scene.dedupe()
    land(scene, 3, revisit_of(3, 1, (2, 1)))


class Case(NamedTuple):
    """A store, the crawl that goes, and how many references are full again, filled, re-pointed."""

    make: Callable[[Scene], None]
    crawl: int
    counts: tuple[int, int, int]
    mended: Payloads = MappingProxyType({})
    """What gave nothing, because its original was a revisit."""


CASES = {
    "revisits by dedupe": Case(_by_dedupe, 1, (2, 0, 2)),
    "no references": Case(_by_dedupe, 2, (0, 0, 0)),
    "an older copy is left": Case(_with_an_older_copy, 2, (0, 0, 2)),
    "revisits by crawlers": Case(_by_a_crawler, 1, (0, 2, 2)),
    "the original moves": Case(_into_a_file_that_changes, 1, (0, 1, 2)),
    "the same revisits in two crawls": Case(_the_same_in_two_crawls, 1, (0, 2, 2)),
    "revisits by both": Case(_by_both, 1, (1, 1, 2)),
    "a copy that no index leads to": Case(_copy_behind_another, 1, (1, 0, 1)),
    "by id, by digest": Case(_by_id_and_digest, 1, (0, 3, 0)),
    "other heads than the original's": Case(_not_modified, 1, (0, 2, 0)),
    "a revisit of ours": Case(
        _to_a_revisit_of_ours,
        2,
        (0, 0, 1),
        {
            record_id(3, 1).strip("<>").encode(): (
                uri(1).encode(),
                date(3, 1).encode(),
                hashlib.sha256(body(1)).hexdigest(),
            )
        },
    ),
}


@pytest.mark.parametrize("layout", ["gzip", "packed dictionary"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_left_gives_what_it_gave(tmp_path: Path, case: Case, layout: str) -> None:
    with make_scene(tmp_path, (), layout=layout) as scene:
        case.make(scene)
        before = {**of_others(given(scene), case.crawl), **case.mended}
        plan = purger(scene).plan(PurgeRequest(crawl=f"c{case.crawl}", references=PROMOTE))
        report = purge(scene, case.crawl)
        assert not report.problems
        assert (len(report.promoted), len(report.filled), len(report.repointed)) == case.counts
        for name in ("promoted", "filled", "repointed", "freed_bytes", "added_bytes", "files"):
            assert getattr(plan, name) == getattr(report, name), name
        assert given(scene) == before
        assert not [
            name for name in scene.archive.list() if name.name.startswith(f"c{case.crawl}/")
        ]
        assert claims_open(scene) == []
        assert look(scene, full=True) == []
        again = purge(scene, case.crawl)
        assert again.was_gone
        # Dedupe goes on, and nothing refers to a revisit.
        scene.dedupe(act="dedupe-z")
        assert given(scene) == before
    paths = [str(path) for path in paths_of(tmp_path)]
    checked = call("validate", "--refs", *paths)
    assert checked.exit_code == 0, checked


def paths_of(folder: Path) -> list[Path]:
    with copied_scene(folder, folder.with_name(f"{folder.name}-copy")) as scene:
        return paths_now(scene)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_refusing_changes_nothing_and_names_what_refers(scene: Scene, case: Case) -> None:
    case.make(scene)
    before = scene.state()
    report = purge(scene, case.crawl, REFUSE)
    assert len(report.references) == sum(case.counts)
    if sum(case.counts):
        assert scene.state() == before
        assert not report.is_complete
    else:
        assert given(scene).keys() == of_others(given(scene), case.crawl).keys()


def _dated(text: bytes) -> Callable[[bytes], list[bytes]]:
    def change(member: bytes) -> list[bytes]:
        data = gzip.decompress(member)
        return [gzip.compress(re.sub(rb"WARC-Date: [^\r]*", b"WARC-Date: " + text, data, count=1))]

    return change


def _of_a_post(member: bytes) -> list[bytes]:
    asked = page(
        uri(5),
        b"",
        date=date(2, 5),
        record_type="request",
        head=b"POST /5 HTTP/1.1\r\nHost: example.org\r\nContent-Length: 3\r\n\r\na=b",
        extra=(("WARC-Concurrent-To", record_id(2, 5)),),
    )
    data = gzip.decompress(asked).replace(b"msgtype=response", b"msgtype=request")
    return [member, gzip.compress(data)]


@pytest.mark.parametrize(
    "unfit",
    [
        pytest.param(_dated(b"garbage"), id="undated"),
        pytest.param(_dated(b"1980-01-01T00:00:00Z"), id="before 1991"),
        pytest.param(_of_a_post, id="the answer to a POST"),
    ],
)
def test_nothing_is_made_to_refer_to_what_can_be_no_original(
    tmp_path: Path, unfit: Callable[[bytes], list[bytes]]
) -> None:
    with make_scene(tmp_path, ()) as scene:
        land(scene, 1, capture(1, 1))
        land(scene, 2, *unfit(revisit_of(2, 5, (1, 1))))
        land(scene, 3, revisit_of(3, 1, (1, 1)), revisit_of(3, 2, (1, 1)))
        before = of_others(given(scene), 1)
        report = purge(scene, 1)
        assert report.is_complete, report.problems
        assert given(scene) == before
        assert (len(report.filled), len(report.repointed)) == (2, 1)
        assert report.repointed[0].startswith("org,example)/2 ")
        assert look(scene, full=True) == []
    checked = call("validate", "--refs", *map(str, paths_of(tmp_path)))
    assert checked.exit_code == 0, checked


def _md5(content: bytes) -> str:
    return f"md5:{hashlib.md5(content).hexdigest()}"


def _declaring_md5(member: bytes, content: bytes) -> bytes:
    field = b"WARC-Payload-Digest: " + _md5(content).encode()
    data = gzip.decompress(member)
    return gzip.compress(re.sub(rb"WARC-Payload-Digest: [^\r]*", field, data, count=1))


def test_a_revisit_with_another_digest_at_its_address_stands_in_the_way(scene: Scene) -> None:
    """Tools that go by URI and second are led there."""
    land(scene, 1, _declaring_md5(capture(1, 1), body(1)))
    land(scene, 3, revisit_of(3, 1, (1, 1), digest=lambda content: _md5(content + b"x")))
    before = given(scene)
    assert [one.archive_file for one in purge(scene, 1, REFUSE).references] == ["c3/a.warc.gz"]
    report = purge(scene, 1)
    [problem] = report.problems
    assert "nothing proves that its digest is that of the body" in str(problem)
    assert given(scene) == before


def _with_field(member: bytes, field: bytes) -> bytes:
    data = gzip.decompress(member)
    return gzip.compress(data.replace(b"WARC-Date", field + b"\r\nWARC-Date", 1))


def test_a_body_that_was_cut_off_is_called_so_where_it_goes(scene: Scene) -> None:
    """Else the next `dedupe` would take it for whole."""
    land(scene, 1, _with_field(capture(1, 1), b"WARC-Truncated: time"))
    land(scene, 2, revisit_of(2, 1, (1, 1)))
    before = of_others(given(scene), 1)
    assert purge(scene, 1).is_complete
    assert given(scene) == before
    [path] = paths_now(scene)
    full = gzip.decompress(path.read_bytes())
    assert b"WARC-Type: response\r\n" in full
    assert b"WARC-Truncated: time\r\n" in full
    with open_source(path) as source:
        [record] = iter_records(source)
        assert isinstance(record, Record)
        old = old_revisit(record)
    written = gzip.decompress(revisit_of(2, 1, (1, 1)))
    assert old.header + old.block + b"\r\n\r\n" == written


def test_a_segment_is_not_made_a_whole_record(scene: Scene) -> None:
    land(scene, 1, _with_field(capture(1, 1), b"WARC-Segment-Number: 1"))
    land(scene, 2, revisit_of(2, 1, (1, 1)))
    before = given(scene)
    [problem] = purge(scene, 1).problems
    assert "original-segmented" in str(problem)
    assert given(scene) == before


def test_a_revisit_that_may_mean_two_bodies_stands_in_the_way_of_both(scene: Scene) -> None:
    """Rows know no MD5."""
    land(scene, 1, capture(1, 1, 7))
    land(scene, 2, capture(2, 1))
    land(scene, 3, revisit_of(3, 1, (2, 1), named="nothing", digest=_md5))
    for crawl in (1, 2):
        assert [one.archive_file for one in purge(scene, crawl, REFUSE).references] == [
            "c3/a.warc.gz"
        ]


@pytest.mark.parametrize("declared", [None, "md5"])
def test_of_two_of_a_second_only_that_of_its_moment_is_needed(
    tmp_path: Path, declared: str | None
) -> None:
    named = [
        ("WARC-Refers-To-Target-URI", uri(1)),
        ("WARC-Refers-To-Date", "2012-01-01T00:00:01.5Z"),
    ]
    if declared:
        named.append(("WARC-Payload-Digest", _md5(body(2))))
    revisit = page(uri(3), b"", date=date(3, 3), record_type="revisit", extra=named)
    with make_scene(tmp_path, ()) as scene:
        land(scene, 1, page(uri(1), body(1), date="2012-01-01T00:00:01.1Z"))
        land(scene, 2, page(uri(1), body(2), date="2012-01-01T00:00:01.5Z"))
        land(scene, 3, revisit)
        assert purge(scene, 1, REFUSE).references == []
        assert [one.archive_file for one in purge(scene, 2, REFUSE).references] == ["c3/a.warc.gz"]
        assert purge(scene, 2).problems == []
        [(_, _, content)] = given(scene).values()
        assert content == hashlib.sha256(body(2)).hexdigest()


def test_a_crawlers_revisit_can_be_given_back(scene: Scene) -> None:
    _by_a_crawler(scene)
    _not_modified_in(scene)
    written = {
        record.fields[b"warc-record-id"]: record.fields
        for path in sorted(scene.crawls.rglob("*.gz"))
        for record in raw_records(path)
    }
    purge(scene, 1)
    changed = 0
    for path in paths_now(scene):
        with open_source(path) as source:
            for item in iter_records(source):
                assert isinstance(item, Record)
                if item.header.get("Pinakes-Revisit") is not None:
                    changed += 1
                    old = old_revisit(item).header
                    fields = written[f"<{item.record_id}>".encode()]
                    lines = [line.partition(b":") for line in old.split(b"\r\n")[1:-2]]
                    assert {n.strip().lower(): v.strip() for n, _, v in lines} == fields
    assert changed == 5


def _not_modified_in(scene: Scene) -> None:
    land(scene, 4, revisit_of(4, 1, (1, 1), head=NOT_MODIFIED))


def test_old_generations_that_refer_to_it_go_as_well(scene: Scene) -> None:
    _by_both(scene)
    report = purge(scene, 1)
    assert report.superseded
    left = {file.name for file in scene.archive.list()}
    assert left.isdisjoint(report.superseded)
    # Those as they landed, which refer to nothing of ours, stay.
    everything = [scene.archive.path_of(n) for n in sorted(left) if n.endswith(".gz")]
    ours = [r for path in everything for r in raw_records(path)]
    assert not [r for r in ours if r.get(b"WARC-Refers-To") == record_id(1, 1).encode()]


@pytest.mark.parametrize("is_committed", [False, True])
@pytest.mark.parametrize("references", ["refuse", "promote", "force"])
def test_what_was_removed_is_removed_already(
    tmp_path: Path, is_committed: bool, references: str
) -> None:
    with make_scene(tmp_path, ()) as scene:
        land(scene, 1, capture(1, 1))
    store = ("--store", tmp_path / "store")
    if is_committed:
        assert call("crawl", "commit", "c1", *store).exit_code == 0
    removed = call("crawl", "remove", "c1", "--references", references, *store)
    assert removed.out.startswith("c1: removed; 1 file, 1 capture, ")
    for name in ("remove", "purge", "cancel"):
        answer = call("crawl", name, "c1", *store)
        assert (answer.exit_code, answer.out) == (0, "c1: was removed already\n")


def test_another_act_is_not_disturbed(scene: Scene) -> None:
    _by_dedupe(scene)
    actor = Actor()
    lease = actor.lease(scene.rows, "news", act="dedupe-x")
    with pytest.raises(Conflict, match="dedupe-x is working"):
        purge(scene, 1)
    assert lease.lease.act == "dedupe-x"


def test_an_unfinished_purge_of_another_crawl_comes_first(scene: Scene) -> None:
    _by_dedupe(scene)
    assert in_child(partial(purge, scene, 1, at=kill_at(4))) == KILLED
    with pytest.raises(Conflict, match="pinakes crawl remove c1"):
        purge(scene, 2)
    assert not purge(scene, 1).problems
    assert not purge(scene, 2).problems


def test_what_lands_meanwhile_is_provided_for_as_well(scene: Scene) -> None:
    _by_both(scene)
    landed = []

    def land_once(step: str) -> None:
        if step == "pinned" and not landed:
            landed.append(4)
            land(scene, 4, revisit_of(4, 8, (1, 1)), capture(4, 2))

    report = purge(scene, 1, at=land_once)
    assert not report.problems
    assert len(report.repointed) == 3
    assert None not in {digest for _, _, digest in given(scene).values()}


@pytest.mark.parametrize("dies", [False, True])
def test_what_lands_behind_the_last_look_is_provided_for_as_well(scene: Scene, dies: bool) -> None:
    """Between the last look for references and the crawl's end for everybody else."""
    _by_both(scene)
    state = read_crawl(scene.rows, "c1")
    landed = []

    def land_once(step: str) -> None:
        if step == "closed" and not landed:
            landed.append(4)
            land(scene, 4, revisit_of(4, 8, (1, 1)), capture(4, 2))
            if dies:
                os._exit(KILLED)

    if dies:
        assert in_child(lambda: purge(scene, 1, at=land_once)) == KILLED  # type: ignore[arg-type, return-value]
        known = read_crawl(scene.rows, "c1")
        assert known is not None
        assert known.state == PURGING
    report = purge(scene, 1, at=(lambda step: None) if dies else land_once)
    assert report.is_complete, report.problems
    assert (len(report.repointed), report.before) == (3, (state.state, state.act))  # type: ignore[union-attr]
    assert None not in {digest for _, _, digest in given(scene).values()}
    assert look(scene, full=True) == []


def test_a_commit_names_what_refers_to_a_crawl_that_goes(scene: Scene) -> None:
    land(scene, 1, capture(1, 1))
    land(scene, 4, revisit_of(4, 8, (1, 1)))
    assert commit_crawl(scene.rows, scene.archive, "c4", Actor(), dry_run=True).unresolved == []
    change_crawl_state(scene.rows, "c1", (OPEN, COMMITTED), PURGING, act="purge-x")
    done = commit_crawl(scene.rows, scene.archive, "c4", Actor(), dry_run=True)
    assert done.findings.unresolved == 1


def test_what_is_landing_is_waited_for(scene: Scene) -> None:
    """Its rows lead to it before its file can be rewritten."""
    _by_both(scene)
    write(scene, 4, revisit_of(4, 8, (1, 1)))
    before = given(scene)
    assert in_child(partial(scene.land, 4, at=kill_after("rows"))) == KILLED
    report = purge(scene, 1)
    assert [problem.file for problem in report.problems] == ["c4/a.warc.gz"]
    assert given(scene) == before
    scene.land(4)
    assert not purge(scene, 1).problems
    assert None not in {digest for _, _, digest in given(scene).values()}


def test_an_unknown_crawl_is_refused(tmp_path: Path) -> None:
    with make_scene(tmp_path, ()) as scene, pytest.raises(ConfigError, match="there is no crawl"):
        purge(scene, 9)


_ACT = re.compile(rb"(?<=run=|act=)purge-[0-9A-Za-z-]+")


def outcome(scene: Scene) -> dict[str, object]:
    """What a purge leaves, without the name of its act."""
    state = scene.state()
    state.pop("stored")
    state["captures"] = [
        (key, column, value)
        for key, column, value in state["captures"]  # type: ignore[attr-defined]
        # Places differ with the length of the act's name, compressed.
        if not column.startswith(b"m:location")
    ]
    records = {
        path.name + str(number): (record.body, sorted(record.fields))
        for path in paths_now(scene)
        for number, record in enumerate(raw_records(path))
    }
    entry = read_crawl(scene.rows, "c1")
    assert entry is not None
    return {**state, "records": records, "given": given(scene), "crawl": entry.state}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("layout", "references", "first", "stride"),
    [
        ("gzip", PROMOTE, 1, 3),
        ("packed dictionary", PROMOTE, 2, 3),
        *(
            pytest.param(layout, references, 0, 1, marks=pytest.mark.large)
            for layout, references in product(("gzip", "packed dictionary"), (PROMOTE, FORCE))
        ),
    ],
)
def test_killed_at_any_step_and_run_again(
    tmp_path: Path, layout: str, references: str, first: int, stride: int
) -> None:
    """In `make test` every third step in each form, those between in test_unfinished."""
    with make_scene(tmp_path / "made", (), layout=layout) as scene:
        _by_both(scene)
    with copied_scene(tmp_path / "made", tmp_path / "whole") as scene:
        whole_report = purge(scene, 1, references)
        whole = outcome(scene)
    work = in_scene(lambda scene, at: purge(scene, 1, references, at=at))
    least = 30 if references == PROMOTE else 15
    for step, folder, _ in deaths(
        tmp_path, work, made=tmp_path / "made", first=first, stride=stride, more_than=least
    ):
        with make_scene(folder, ()) as scene:
            report = purge(scene, 1, references)
            assert not report.problems, step
            if not report.was_gone:
                assert {**report.as_json(), "act": ""} == {**whole_report.as_json(), "act": ""}
            assert outcome(scene) == whole, step


def test_a_damaged_body_is_not_copied(scene: Scene) -> None:
    """Nothing in a crawler's revisit says what its body was; the catalogue does."""
    _by_a_crawler(scene)
    path = scene.archive.path_of("c1/a.warc.gz")
    data = bytearray(path.read_bytes())
    data[-1000] ^= 0xFF
    path.write_bytes(data)
    report = purge(scene, 1)
    assert not report.is_complete
    assert report.problems
    for problem in report.problems:
        assert isinstance(problem, DigestMismatch)
        assert re.search(r"\(c1/a\.warc\.gz:\d+\) is not as it landed", problem.message)
    assert path.exists()
    crawl = read_crawl(scene.rows, "c1")
    assert crawl is not None
    assert crawl.state == "open"


def _md5(content: bytes) -> str:
    return f"md5:{hashlib.md5(content).hexdigest()}"


def test_a_digest_that_rows_do_not_have_is_computed(scene: Scene) -> None:
    land(scene, 1, capture(1, 1))
    land(scene, 2, revisit_of(2, 1, (1, 1), digest=_md5))
    before = given(scene)
    report = purge(scene, 1)
    assert report.is_complete
    assert len(report.filled) == 1
    assert given(scene).items() <= before.items()


UNPROVEN = {
    "another digest": revisit_of(2, 1, (1, 1), content=9, digest=_md5),
    "a digest that is not computed": revisit_of(
        2, 1, (1, 1), digest=lambda content: f"sha384:{hashlib.sha384(content).hexdigest()}"
    ),
    "an id alone": revisit_of(2, 5, (1, 1), named="id", digest=lambda _: None),
    "two bodies at its second": revisit_of(2, 3, (1, 3), head=NOT_MODIFIED, digest=lambda _: None),
}


@pytest.mark.parametrize("revisit", UNPROVEN.values(), ids=UNPROVEN)
def test_nothing_is_written_that_is_not_proven(scene: Scene, revisit: bytes) -> None:
    """In the plan, too; and what could be done is not, either."""
    at_one_second = _with_ids_of_page(capture(1, 3, 4), 4)
    land(scene, 1, capture(1, 1), capture(1, 2), capture(1, 3), at_one_second)
    land(scene, 2, revisit)
    land(scene, 3, revisit_of(3, 2, (1, 2)))
    before = {path: path.read_bytes() for path in paths_of(scene.folder / "store/archive")}
    request = PurgeRequest(crawl="c1", references=PROMOTE)
    [planned] = purger(scene).plan(request).problems
    [problem] = purge(scene, 1).problems
    assert str(problem) == str(planned)
    assert str(problem).startswith("c2/a.warc.gz:0: ")
    assert before == {path: path.read_bytes() for path in paths_of(scene.folder / "store/archive")}
    assert purge(scene, 1, FORCE).is_complete


def _with_ids_of_page(member: bytes, number: int) -> bytes:
    data = gzip.decompress(member)
    return gzip.compress(data.replace(record_id(1, 3).encode(), record_id(1, number).encode()))
