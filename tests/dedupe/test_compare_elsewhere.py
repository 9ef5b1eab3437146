"""Bodies that other processes compare are told apart as those that this one compares."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifest_sets import TIGHT, Bodies, collections

from pinakes.dedupe.decide import contents
from pinakes.dedupe.decide.contents import Batch, Compared, compare_batch
from pinakes.dedupe.decide.counting import Decisions, ResolveCount
from pinakes.dedupe.decide.process import resolve_and_process
from pinakes.index.manifest import ManifestLine, place_of

Collection = tuple[list[ManifestLine], Bodies]


def comparing(bodies: Bodies, sizes: list[int], batches: Iterable[Batch]) -> Iterator[Compared]:
    """What another process would answer, sent to it and back."""
    for batch in batches:
        sizes.append(sum(map(len, batch)))
        there: Batch = pickle.loads(pickle.dumps(batch))
        yield pickle.loads(pickle.dumps(compare_batch(there, bodies, None, TIGHT)))


@given(collections(), st.sets(st.integers(0, 13), max_size=2), st.sampled_from((1, 3, 100)))
def test_nothing_differs(collection: Collection, unreadable: set[int], most: int) -> None:
    lines, bodies = collection
    broken = frozenset(place_of(line) for n, line in enumerate(lines) if n in unreadable)
    bodies = Bodies(bodies.by_place, unreadable=broken)
    here, elsewhere = Decisions(), Decisions()
    expected = list(resolve_and_process(lines, bodies, here, space=TIGHT))
    sizes: list[int] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(contents, "_MOST_AT_ONCE", most)
        found = resolve_and_process(
            lines,
            bodies,
            elsewhere,
            space=TIGHT,
            compare=lambda batches: comparing(bodies, sizes, batches),
        )
        assert list(found) == expected
    assert max(sizes, default=0) < 2 * most
    assert by_place(elsewhere.resolved) == by_place(here.resolved)
    assert elsewhere.processed == here.processed


def by_place(count: ResolveCount) -> dict[str, object]:
    """Large clusters are compared after the others: what was found is counted in that order."""
    count.collisions.sort()
    count.problems.sort(key=lambda problem: (problem.file or "", problem.offset or 0))
    return count.as_json()


def test_processes_read_what_is_in_few_copies() -> None:
    digest = "md5:" + "0" * 32
    line = ManifestLine("a", 0, 9, "http://example.org/", "2020-01-01T00:00:00Z", digest, size=1)
    lines = [
        line._replace(offset=number, digest=f"md5:{number % 50:032x}", file=f"f{number}")
        for number in range(500)
    ]
    bodies = Bodies({place_of(line): b"x" for line in lines})
    nobody = Bodies({})
    found = resolve_and_process(
        lines, nobody, Decisions(), compare=lambda batches: comparing(bodies, [], batches)
    )
    assert len(list(found)) == 500
    assert (nobody.read, len(bodies.read)) == ([], 500)
