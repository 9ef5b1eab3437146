"""Crawls that land, are deduplicated, purged and cancelled in any order, against a simple model.

The model is what each capture gives.  After every act zlib alone is given the same by the store's
files, and nothing dangles but what was forced.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st
from purged import Payloads, capture, claims_open, land, of_others, purge, revisit_of
from purged import given as given_by
from scenes import COLLECTION, Scene, make_scene

from pinakes.catalog.captures import get_captures
from pinakes.catalog.references import scan_references
from pinakes.ingest.acts import Actor
from pinakes.ingest.fsck import Fsck
from pinakes.ingest.removal import CANCEL, Remover
from pinakes.purge.requests import FORCE, PROMOTE, REFUSE

CRAWLS, PAGES, BODIES = 4, 3, 2
Step = tuple[str, int, list[bytes]]
ACTS = ["dedupe", PROMOTE, PROMOTE, PROMOTE, REFUSE, FORCE, "cancel"]


@st.composite
def lives(draw: st.DrawFn) -> list[Step]:
    """Crawls in any order, with full records and revisits of what has landed; acts between."""
    in_order = list(range(1, CRAWLS + 1))
    bodies: dict[tuple[int, int], int] = {}
    steps: list[Step] = []
    there: list[int] = []
    for crawl in draw(st.just(in_order) | st.permutations(in_order)):
        records = []
        earlier = sorted(one for one in bodies if one[0] < crawl)
        for number in draw(st.sets(st.integers(1, PAGES), min_size=1)):
            of = draw(st.none() | st.sampled_from(earlier)) if earlier else None
            if of is None:
                bodies[crawl, number] = draw(st.integers(1, BODIES))
                records.append(capture(crawl, number, bodies[crawl, number]))
            else:
                named = draw(st.sampled_from(["URI and date", "URI and date", "id"]))
                records.append(revisit_of(crawl, number, of, content=bodies[of], named=named))
        steps.append(("land", crawl, records))
        there.append(crawl)
        # Without it few revisits are ours.
        steps += [("dedupe", crawl, [])] * draw(st.booleans())
        acts = st.tuples(st.sampled_from(ACTS), st.sampled_from(there), st.just([]))
        steps += draw(st.lists(acts, max_size=3))
    return steps


class Model:
    """What each capture that is there must give; None: its original was forced away."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._expected: Payloads = {}

    def add(self) -> None:
        """After a landing: what it gives, and what was there as before."""
        now = given_by(self._scene)
        assert {name: now[name] for name in self._expected} == self._expected
        self._expected = now

    def without(self, crawl: int, dangling: set[bytes]) -> None:
        """After a crawl went: the others give what they gave."""
        left = of_others(self._expected, crawl)
        self._expected = {
            name: (uri, date, None if name in dangling else digest)
            for name, (uri, date, digest) in left.items()
        }
        self.check()

    def check(self) -> None:
        now = given_by(self._scene)
        assert now.keys() == self._expected.keys()
        for name, (*address, digest) in self._expected.items():
            assert list(now[name][:2]) == address
            # A revisit of a revisit gives nothing until its target is made full.
            assert digest in (None, now[name][2]), name
        self._expected = now
        assert claims_open(self._scene) == []


def _ids(scene: Scene, captures: list[str]) -> set[bytes]:
    found = get_captures(scene.rows, [key.encode() for key in captures])
    return {(one.facts.record_id or "").encode() for one in found.values()}


def do(scene: Scene, model: Model, act: str, crawl: int, number: int) -> None:
    if act == "dedupe":
        report = scene.dedupe(act=f"dedupe-{number}", min_saving_bytes=None)
        assert not report.problems
        model.check()
        return
    found = list(scan_references(scene.rows, scene.archive, f"c{crawl}", COLLECTION))
    if act == "cancel":
        removal = Remover(scene.rows, scene.archive, Actor()).take_out(f"c{crawl}", CANCEL)
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


@given(lives())
def test_captures_give_what_they_gave(steps: list[Step]) -> None:
    with TemporaryDirectory() as folder, make_scene(Path(folder), ()) as scene:
        model = Model(scene)
        there: set[int] = set()
        forced = False
        for number, (act, crawl, records) in enumerate(steps):
            if act == "land":
                land(scene, crawl, *records)
                there.add(crawl)
                model.add()
            elif act == "dedupe" or crawl in there:
                do(scene, model, act, crawl, number)
                is_left = any((scene.archive.folder / f"c{crawl}").rglob("*.gz"))
                there -= set() if is_left else {crawl}
                forced |= act == FORCE
        if not forced:
            assert list(Fsck(scene.rows, scene.archive, Actor(), full=True).findings()) == []
