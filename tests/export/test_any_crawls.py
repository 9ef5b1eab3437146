"""Crawls of any records, deduplicated at any time: exported, they give what the store gives."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from exported import export, indexed
from exported import given as given_by_waczs
from hypothesis import given, settings
from hypothesis import strategies as st
from purged import capture, land, revisit_of
from purged import given as given_by_store
from scenes import make_scene
from store_chain import call

from pinakes.errors import UnresolvedReference

CRAWLS, PAGES, BODIES = 3, 4, 2
NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


@st.composite
def lives(draw: st.DrawFn) -> list[tuple[int, list[bytes]]]:
    """Crawls in any order, each with its records; an empty list is a run of dedupe."""
    bodies: dict[tuple[int, int], int] = {}
    steps: list[tuple[int, list[bytes]]] = []
    for crawl in draw(st.permutations(range(1, CRAWLS + 1))):
        records = []
        earlier = sorted(one for one in bodies if one[0] <= crawl)
        for number in sorted(draw(st.sets(st.integers(1, PAGES), min_size=1))):
            of = draw(st.none() | st.sampled_from(earlier)) if earlier else None
            if of is None or of == (crawl, number):
                bodies[crawl, number] = draw(st.integers(1, BODIES))
                records.append(capture(crawl, number, bodies[crawl, number]))
            else:
                named = draw(st.sampled_from(["URI and date", "URI and date", "id"]))
                head = draw(st.sampled_from([OK, OK, NOT_MODIFIED, b""]))
                records.append(
                    revisit_of(crawl, number, of, content=bodies[of], named=named, head=head)
                )
        steps.append((crawl, records))
        steps += [(crawl, [])] * draw(st.booleans())
    return steps


@pytest.mark.slow
@settings(max_examples=12)
@given(lives())
def test_exports_together_and_alone_give_what_the_store_gives(
    life: list[tuple[int, list[bytes]]],
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        with make_scene(folder, crawls=()) as scene:
            for number, (crawl, records) in enumerate(life):
                if records:
                    land(scene, crawl, *records)
                else:
                    scene.dedupe(act=f"dedupe-{number}")
            wanted = given_by_store(scene)
            waczs = []
            for crawl in range(1, CRAWLS + 1):
                waczs.append(folder / f"c{crawl}.wacz")
                report = export(scene.rows, scene.archive, f"c{crawl}", waczs[-1])
                alone = folder / f"alone-{crawl}.wacz"
                own = {k: v for k, v in wanted.items() if f"-{crawl:09d}" in k.decode()}
                try:
                    export(scene.rows, scene.archive, f"c{crawl}", alone, standalone=True)
                except UnresolvedReference:
                    assert report.unresolved > 0
                    assert not alone.exists()
                    continue
                assert report.unresolved == 0
                found = given_by_waczs([alone], folder / "read")
                assert found.keys() == own.keys()
                for key, (uri, date, digest) in found.items():
                    assert digest is not None
                    # A revisit of what is a revisit by now gives nothing in the store.
                    assert own[key] in ((uri, date, digest), (uri, date, None))
                assert len(indexed(alone, folder / "read")) == len(found)
                validated = call("validate", "--refs", alone)
                assert validated.exit_code == 0, validated
            assert given_by_waczs(waczs, folder / "read") == wanted
