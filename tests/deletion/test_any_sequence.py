"""Crawls that begin, report, land, are committed, deduplicated, compressed anew, purged, cancelled
and taken down in, in any order, against a simple model.

The model is what each capture gives, and what each crawl has reported.  After every act zlib alone
is given the same by the store's files, nothing dangles but what was forced or never landed, the
counts of each crawl are those of its records, and a crawler is told of what it may refer to.
"""

from __future__ import annotations

from collections import Counter
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from cluster_stores import store_on
from hypothesis import given, settings
from hypothesis import strategies as st
from landed_stores import sha1_of
from purged import (
    Payloads,
    body,
    capture,
    claims_open,
    date,
    land,
    of_others,
    paths_now,
    purge,
    revisit_of,
    uri,
)
from purged import given as given_by
from raw_payloads import raw_records
from recompressed import FORMS, recompress
from reporting import report, report_of
from scenes import COLLECTION, Scene, make_scene
from shared_cluster import RunningCluster
from taken_down import withdraw

from pinakes.acts.actor import Actor
from pinakes.catalog.browsertrix_counts import count_as_browsertrix
from pinakes.catalog.captures import get_captures
from pinakes.catalog.crawl_originals import CrawlFinder
from pinakes.catalog.crawl_rows import COMMITTED, OPEN, read_crawl
from pinakes.catalog.originals import ALL_OPEN, Asked, FoundOriginal, OriginalFinder
from pinakes.catalog.references import scan_references
from pinakes.catalog.reported import scan_scopes_of
from pinakes.catalog.visible_files import VisibleFiles
from pinakes.deletion.crawl_removal import Remover
from pinakes.deletion.requests import CANCEL, FORCE, PROMOTE, REFUSE, REMOVE
from pinakes.errors import Conflict, InputRefused
from pinakes.ingest.commit import commit_crawl
from pinakes.ingest.fsck.check import Fsck
from pinakes.profile import open_stores
from pinakes.rewrite.recompress_file import Recompression
from pinakes.warc.digest import parse_digest

CRAWLS, PAGES, BODIES = 4, 3, 2
LOST = 8
"""The page that crawls report, and that never lands."""
Capture = tuple[int, int]
"""Crawl and page."""
Step = tuple[str, int, list[bytes], dict[Capture, int]]
"""An act, its crawl, the records that land, and the bodies of what is reported or lands."""
ACTS = ["dedupe", PROMOTE, PROMOTE, PROMOTE, REFUSE, FORCE, "cancel", "commit", "commit", *FORMS]


@st.composite
def lives(draw: st.DrawFn) -> list[Step]:
    """Crawls in any order, with full records and revisits of what has landed; acts between."""
    in_order = list(range(1, CRAWLS + 1))
    bodies: dict[Capture, int] = {}
    steps: list[Step] = []
    there: list[int] = []
    for crawl in draw(st.just(in_order) | st.permutations(in_order)):
        records = []
        earlier = sorted(one for one in bodies if one[0] < crawl)
        full: dict[Capture, int] = {}
        for number in draw(st.sets(st.integers(1, PAGES), min_size=1)):
            of = draw(st.none() | st.sampled_from(earlier)) if earlier else None
            if of is None:
                full[crawl, number] = draw(st.integers(1, BODIES))
                records.append(capture(crawl, number, full[crawl, number]))
            else:
                named = draw(st.sampled_from(["URI and date", "URI and date", "id"]))
                records.append(revisit_of(crawl, number, of, content=bodies[of], named=named))
        bodies |= full
        reported = {one: of for one, of in full.items() if draw(st.booleans())}
        if draw(st.booleans()):
            lost = (crawl, LOST)
            reported[lost] = draw(st.integers(1, BODIES))
            if draw(st.booleans()):
                records.append(revisit_of(crawl, 7, lost, content=reported[lost]))
        if reported:
            steps.append(("report", crawl, [], reported))
            there.append(crawl)
            steps += draw(st.lists(acts_on(there), max_size=1))
        steps.append(("land", crawl, records, full))
        there.append(crawl)
        # Without it few revisits are ours.
        steps += [("dedupe", crawl, [], {})] * draw(st.booleans())
        steps += draw(st.lists(acts_on(there), max_size=3))
    return steps


def acts_on(crawls: list[int]) -> st.SearchStrategy[Step]:
    on_crawl = st.tuples(
        st.sampled_from(ACTS), st.sampled_from(list(crawls)), st.just([]), st.just({})
    )
    on_page = st.tuples(st.just("withdraw"), st.integers(1, PAGES), st.just([]), st.just({}))
    return on_crawl | on_crawl | on_crawl | on_page


class Model:
    """What each capture that is there must give; None: its original was forced away, or never
    landed.  And of each open crawl what was reported, and what of that has landed."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._expected: Payloads = {}
        self._reported: dict[int, dict[Capture, int]] = {}
        self._landed: set[Capture] = set()
        self.begun: set[int] = set()

    # --- what was done

    def report(self, crawl: int, reported: dict[Capture, int]) -> None:
        self.begun.add(crawl)
        self._reported.setdefault(crawl, {}).update(reported)
        self.check()

    def land(self, crawl: int, full: dict[Capture, int]) -> None:
        """What it gives, and what was there as before."""
        self.begun.add(crawl)
        self._landed |= set(full)
        now = given_by(self._scene)
        assert {name: now[name] for name in self._expected} == self._expected
        self._expected = now
        self.check()

    def without(self, crawl: int, dangling: set[bytes]) -> None:
        """After a crawl went: the others give what they gave."""
        left = of_others(self._expected, crawl)
        self._expected = {
            name: (address, when, None if name in dangling else digest)
            for name, (address, when, digest) in left.items()
        }
        self.begun.discard(crawl)
        self._reported.pop(crawl, None)
        self._landed = {one for one in self._landed if one[0] != crawl}
        assert not list(scan_scopes_of(self._scene.rows, COLLECTION, f"c{crawl}"))
        self.check()

    def withdrawn(self, number: int) -> None:
        """After a page was taken down: captures of other pages give what they gave."""
        wanted = uri(number).encode()
        left = {name: one for name, one in self._expected.items() if one[0] != wanted}
        # What names an id alone is also found by its own URI and digest, as by pywb: zlib's reader
        # does not look there.
        for name in self._by_id():
            if name in left:
                left[name] = (*left[name][:2], None)
        self._expected = left
        self.check()

    def _by_id(self) -> list[bytes]:
        return [
            record.get(b"WARC-Record-ID") or b""
            for path in paths_now(self._scene)
            for record in raw_records(path)
            if record.get(b"WARC-Type") == b"revisit"
            and record.get(b"WARC-Refers-To-Target-URI") is None
        ]

    def has_page(self, number: int) -> bool:
        return any(one[0] == uri(number).encode() for one in self._expected.values())

    def committed(self, crawl: int) -> dict[Capture, bool]:
        """Its reports, and whether they landed; after the commit it has none."""
        reported = self._reported.pop(crawl, {})
        return {one: one in self._landed for one in reported}

    # --- what must hold

    def check(self) -> None:
        now = given_by(self._scene)
        assert now.keys() == self._expected.keys()
        for name, (*address, digest) in self._expected.items():
            assert list(now[name][:2]) == address
            # A revisit of a revisit gives nothing until its target is made full.
            assert digest in (None, now[name][2]), name
        self._expected = now
        assert claims_open(self._scene) == []
        self._check_counts()
        self._check_look_ups(now)

    def _check_counts(self) -> None:
        urls: Counter[bytes] = Counter()
        revisits: Counter[bytes] = Counter()
        for path in paths_now(self._scene):
            for record in raw_records(path):
                crawl = (record.get(b"WARC-Record-ID") or b"")[-6:-3]
                kind = record.get(b"WARC-Type")
                urls[crawl] += kind in (b"response", b"revisit")
                revisits[crawl] += kind == b"revisit"
        for crawl in range(1, CRAWLS + 1):
            counts = count_as_browsertrix(
                self._scene.rows, self._scene.archive, f"c{crawl}", COLLECTION
            )
            name = b"%03d" % crawl
            assert (counts.total_urls, counts.dupe_urls) == (urls[name], revisits[name])

    def _check_look_ups(self, now: Payloads) -> None:
        states = {crawl: _state(self._scene, crawl) for crawl in range(1, CRAWLS + 1)}
        full = {
            record.get(b"WARC-Record-ID")
            for path in paths_now(self._scene)
            for record in raw_records(path)
            if record.get(b"WARC-Type") == b"response"
        }
        for asking in (None, ALL_OPEN, *(f"c{crawl}" for crawl in states)):
            for number, found in enumerate(look_up(self._scene, asking), 1):
                if found.original is not None:
                    self._check_original(found, asking, number, states, full, now)
                unlanded = [
                    one
                    for one, of in self._reported.get(_number(asking), {}).items()
                    if of == number and one not in self._landed
                ]
                if found.report is not None:
                    seen = found.report.report.seen
                    assert found.report.scope.crawl == asking
                    assert (seen.url, seen.date) in [(uri(n), date(c, n)) for c, n in unlanded]
                elif found.original is None:
                    assert not unlanded

    def _check_original(
        self,
        found: FoundOriginal,
        asking: str | None,
        number: int,
        states: dict[int, str | None],
        full: set[bytes | None],
        now: Payloads,
    ) -> None:
        """A full record with the body, of the crawl that asks or a committed one."""
        assert found.original is not None
        place, name = found.original.place, found.original.copy.facts["record_id"].encode()
        assert name in full
        assert now[name][2] == sha256(body(number)).hexdigest()
        state = states[_number(place.crawl)]
        assert state == COMMITTED or (state == OPEN and asking in (ALL_OPEN, place.crawl))


def _number(crawl: str | None) -> int:
    return int(crawl[1:]) if crawl not in (None, ALL_OPEN) and crawl else 0


def _state(scene: Scene, crawl: int) -> str | None:
    entry = read_crawl(scene.rows, f"c{crawl}")
    return entry.state if entry is not None else None


def look_up(scene: Scene, crawl: str | None) -> list[FoundOriginal]:
    """What a crawl is told of each body."""
    options = {"collection": COLLECTION, "crawl": crawl, "admits": lambda key, place: True}
    files = VisibleFiles(scene.rows, fresh_s=0)
    landed = OriginalFinder(scene.rows, files, gives=lambda one: True, **options)  # type: ignore[arg-type]
    finder = CrawlFinder(scene.rows, landed, **options)  # type: ignore[arg-type]
    digests = [parse_digest(sha1_of(body(number))) for number in range(1, BODIES + 1)]
    asked = [Asked(digest) for digest in digests if digest is not None]
    return [one for one in finder.iter_found(asked) if one is not None]


def _ids(scene: Scene, captures: list[str]) -> set[bytes]:
    found = get_captures(scene.rows, [key.encode() for key in captures])
    return {(one.facts.record_id or "").encode() for one in found.values()}


def commit(scene: Scene, model: Model, crawl: int) -> None:
    is_open = _state(scene, crawl) == OPEN
    to_lost = [
        name
        for path in paths_now(scene)
        for record in raw_records(path)
        if (name := record.get(b"WARC-Record-ID")) is not None
        and record.get(b"WARC-Refers-To-Target-URI") == uri(LOST).encode()
        and record.get(b"WARC-Refers-To-Date") == date(crawl, LOST).encode()
        and b"-%012d" % (crawl * 1000 + 7) in name
    ]
    reported = model.committed(crawl)
    done = commit_crawl(scene.rows, scene.archive, f"c{crawl}", Actor())
    assert done.is_new == is_open
    found = done.findings
    if is_open:
        landed = sum(reported.values())
        assert (found.landed, found.never_landed) == (landed, len(reported) - landed)
        assert found.unresolved >= found.to_reported
        assert found.to_reported == (len(to_lost) if (crawl, LOST) in reported else 0)
        dangling = sum(
            given is None and name.endswith(b"%03d" % crawl, 0, -3)
            for name, (_, _, given) in given_by(scene).items()
        )
        assert found.unresolved <= dangling
        assert len(done.unresolved) == found.unresolved
    model.check()


def withdraw_page(scene: Scene, model: Model, number: int) -> None:
    """Refused where a crawler's revisit of another page would dangle, or nothing is there."""
    try:
        [done] = withdraw(scene, uri(number))
    except InputRefused:
        assert not model.has_page(number)
        model.check()
        return
    if done.is_complete:
        model.withdrawn(number)
    else:
        model.check()


def do(scene: Scene, model: Model, act: str, crawl: int, number: int) -> None:
    if act == "dedupe":
        report_of_run = scene.dedupe(act=f"dedupe-{number}", min_saving_bytes=None)
        assert not report_of_run.problems
        model.check()
        return
    if act in FORMS:
        assert all(isinstance(one, Recompression) for one in recompress(scene, act))
        model.check()
        return
    if act == "withdraw":
        withdraw_page(scene, model, crawl)
        return
    if crawl not in model.begun:
        return
    if act == "commit":
        commit(scene, model, crawl)
        return
    found = list(scan_references(scene.rows, scene.archive, f"c{crawl}", COLLECTION))
    if act == "cancel":
        way = CANCEL if _state(scene, crawl) == OPEN else REMOVE
        removal = Remover(scene.rows, scene.archive, Actor()).take_out(f"c{crawl}", way)
        assert bool(removal.references) == bool(found)
        is_gone = removal.is_complete
    else:
        result = purge(scene, crawl, act)
        assert not result.problems
        assert len(result.references) == (len(found) if act == REFUSE else 0)
        assert len(result.dangling) == (len(found) if act == FORCE else 0)
        is_gone = result.is_complete
    if is_gone:
        forced = _ids(scene, [one.capture for one in found]) if act == FORCE else set()
        model.without(crawl, forced)
    else:
        model.check()


def live(scene: Scene, steps: list[Step]) -> None:
    model = Model(scene)
    forced = False
    for number, (act, crawl, records, reported) in enumerate(steps):
        if act == "report":
            given = [report_of(body(of), uri(n), date(c, n)) for (c, n), of in reported.items()]
            report(scene.rows, f"c{crawl}", given, collection=COLLECTION)
            model.report(crawl, reported)
        elif act == "land" and _state(scene, crawl) == COMMITTED:
            with pytest.raises(Conflict):
                land(scene, crawl, *records)
            model.check()
        elif act == "land":
            land(scene, crawl, *records)
            model.land(crawl, reported)
        else:
            do(scene, model, act, crawl, number)
            forced |= act == FORCE
    if not forced:
        assert list(Fsck(scene.rows, scene.archive, Actor(), full=True).findings()) == []


@settings(max_examples=settings().max_examples // 4)
@given(lives())
def test_captures_give_what_they_gave(steps: list[Step]) -> None:
    with TemporaryDirectory() as folder, make_scene(Path(folder), ()) as scene:
        live(scene, steps)


def a_life() -> list[Step]:
    """One of each act, on crawls of the same pages."""

    def landing(crawl: int, *more: bytes) -> Step:
        records = [capture(crawl, number, number % BODIES + 1) for number in (1, 2)]
        full = {(crawl, number): number % BODIES + 1 for number in (1, 2)}
        return ("land", crawl, [*records, *more], full)

    lost: dict[Capture, int] = {(2, LOST): 1, (2, 1): 2}
    return [
        ("report", 1, [], {(1, 1): 2, (1, LOST): 2}),
        landing(1),
        ("report", 2, [], lost),
        ("report", 3, [], {(3, 2): 1}),
        ("commit", 1, [], {}),
        landing(2, revisit_of(2, 7, (2, LOST), content=1), revisit_of(2, 3, (1, 1), content=2)),
        ("cancel", 3, [], {}),
        landing(3),
        ("zst", 0, [], {}),
        ("dedupe", 0, [], {}),
        ("plain", 0, [], {}),
        ("commit", 2, [], {}),
        (REFUSE, 1, [], {}),
        (PROMOTE, 1, [], {}),
        ("zst", 0, [], {}),
        ("withdraw", 2, [], {}),
        landing(4),
        ("gz", 0, [], {}),
        (FORCE, 2, [], {}),
        ("commit", 4, [], {}),
    ]


def test_one_of_each_act(scene: Scene) -> None:
    live(scene, a_life())


def test_on_hbase_too(cluster: RunningCluster, tmp_path: Path) -> None:
    with store_on(cluster, tmp_path) as configuration, open_stores(configuration) as stores:
        scene = Scene(tmp_path / "scene", stores.rows)  # type: ignore[arg-type]
        (scene.folder / "store").mkdir(parents=True)
        live(scene, a_life())
