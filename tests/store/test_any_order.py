"""Crawls that land in any order, with a `dedupe` behind each: what the tables say comes out.

The store is held against the model in tests/dedupe, on collections with revisits of
others, and what it has written is read again with nothing but the reader.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from manifest_sets import (
    BODIES,
    SECONDS,
    URIS,
    Bodies,
    Place,
    collections,
    good_digest,
    is_addressable,
    order_of,
    resolved,
)
from scenes import Scene, make_scene, record, response
from store_model import StoreModel

from pinakes.catalog.file_rows import scan_entries
from pinakes.index.manifest import ManifestLine, place_of
from pinakes.warc.opening import open_source
from pinakes.warc.reader import iter_records
from pinakes.warc.record import Record

pytestmark = pytest.mark.slow
EXAMPLES = settings(max_examples=25)
Collection = tuple[list[ManifestLine], Bodies]
Crawls = list[list[ManifestLine]]


def record_id(number: int) -> str:
    return f"<urn:uuid:00000000-0000-4000-8000-{number:012d}>"


def record_of(line: ManifestLine, body: bytes) -> bytes:
    """A record that landing makes this line of, but for its place."""
    own_id = record_id(line.offset // 100)
    if line.type != "revisit":
        extra = {"WARC-Truncated": "length"} if line.skip == "truncated" else {}
        status = 206 if line.skip == "status" else line.status
        full = response(line.target_uri, line.date, body, line.offset // 100, **extra)
        return full.replace(b"HTTP/1.1 200", b"HTTP/1.1 %d" % (status or 0), 1)
    fields = {
        "WARC-Target-URI": line.target_uri,
        "WARC-Date": line.date,
        "WARC-Record-ID": own_id,
        "WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
        "WARC-Refers-To-Target-URI": line.refers_uri,
        "WARC-Refers-To-Date": line.refers_date,
        "WARC-Refers-To": line.refers_id and record_id(int(line.refers_id.partition(":")[2])),
        "WARC-Payload-Digest": declared(line.digest),
        "Content-Type": "application/http;msgtype=response",
    }
    known = {name: value for name, value in fields.items() if value}
    return record("revisit", known, b"HTTP/1.1 200 OK\r\n\r\n")


def body_of(digest: str) -> bytes:
    return BODIES[int(digest.partition(":")[2], 16)]


def declared(digest: str) -> str | None:
    if digest == "-":
        return None
    body = body_of(digest)
    return f"sha1:{base64.b32encode(hashlib.sha1(body).digest()).decode()}"


def in_crawls(crawls: Iterable[Iterable[ManifestLine]], bodies: Bodies) -> tuple[Crawls, Bodies]:
    """The lines as those of crawls, whose names come before those of the files."""
    renamed: Crawls = []
    by_place: dict[Place, bytes] = {}
    for number, lines in enumerate(crawls):
        crawl = []
        for line in lines:
            moved = line._replace(file=f"c{number}/{line.file}.warc.gz")
            by_place[place_of(moved)] = bodies.by_place[place_of(line)]
            crawl.append(moved)
        renamed.append(crawl)
    return renamed, Bodies(by_place)


def land(scene: Scene, crawl: list[ManifestLine], bodies: Bodies) -> None:
    for line in sorted(crawl, key=lambda line: line.offset):
        path: Path = scene.crawls / line.file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(gzip.compress(record_of(line, bodies.by_place[place_of(line)]), mtime=0))
    for name in {line.file.partition("/")[0] for line in crawl}:
        scene.land(int(name[1:]))


def references(scene: Scene) -> dict[int, int]:
    """Which record refers to which in the files as they are now; ours alone."""
    found = {}
    for entry in scan_entries(scene.rows):
        with open_source(scene.archive.path_of(entry.stored_name)) as source:
            for item in iter_records(source):
                assert isinstance(item, Record)
                if item.header.get("Pinakes-Replaced") is not None:
                    found[number_in(item.record_id)] = number_in(item.header.get("WARC-Refers-To"))
    return found


def number_in(name: str | None) -> int:
    assert name is not None
    return int(name.strip("<>").rpartition("-")[2])


def numbers(refers: dict[Place, Place]) -> dict[int, int]:
    return {place[1] // 100: target[1] // 100 for place, target in refers.items()}


def dedupe(scene: Scene, number: int, runner: str | None) -> None:
    report = scene.dedupe(act=f"dedupe-{number}", runner=runner, min_saving_bytes=None)
    assert not report.problems
    assert not report.refs.problems


@st.composite
def crowds(draw: st.DrawFn) -> Collection:
    """Captures of one or two bodies at few addresses: most have an original, or several."""
    lines = []
    bodies: dict[Place, bytes] = {}
    for number in range(draw(st.integers(3, 10))):
        body = draw(st.sampled_from((*BODIES[:1] * 5, BODIES[1])))
        line = ManifestLine(
            file=draw(st.sampled_from("ab")),
            offset=number * 100,
            length=90,
            target_uri=draw(st.sampled_from(URIS)),
            date=draw(st.sampled_from(SECONDS[:4])),
            digest=good_digest(body),
            status=200,
            record_id=f"urn:{number}",
        )
        lines.append(line)
        bodies[place_of(line)] = body
    return lines, Bodies(bodies)


def check(
    scene: Scene, whole: dict[int, ManifestLine], bodies: Bodies, landed: list[ManifestLine]
) -> None:
    """Nothing dangles, nothing is chained, nothing refers to the future or to another body."""
    found = references(scene)
    for number, target in found.items():
        line, original = whole[number], whole[target]
        assert target not in found, "refers to a revisit"
        assert is_addressable(original, landed), "refers to what cannot be addressed"
        assert order_of(original) < order_of(line), "refers to the future"
        assert bodies.by_place[place_of(original)] == bodies.by_place[place_of(line)]


def run_crawls(
    crawls: Crawls, bodies: Bodies, *, at_once: bool = False, runner: str | None = None
) -> dict[int, int]:
    """Land crawls, with a `dedupe` behind each; the references at the end."""
    whole = resolved((line for crawl in crawls for line in crawl), bodies)
    by_number = {line.offset // 100: line for line in whole}
    model = StoreModel()
    with TemporaryDirectory() as folder, make_scene(Path(folder), crawls=()) as scene:
        for number, crawl in enumerate(crawls):
            land(scene, crawl, bodies)
            if not at_once:
                dedupe(scene, number, runner)
                model.land([by_number[line.offset // 100] for line in crawl])
                check(scene, by_number, bodies, model.lines)
                assert references(scene) == numbers(model.refers)
        if at_once:
            dedupe(scene, 0, runner)
            check(scene, by_number, bodies, whole)
        return references(scene)


@EXAMPLES
@given(
    st.one_of(collections(collisions=False, shared=False), crowds()),
    st.lists(st.integers(0, 2), min_size=14, max_size=14),
)
def test_crawls_landed_in_any_order(collection: Collection, crawl_of: list[int]) -> None:
    lines, bodies = collection
    parts: Crawls = [[], [], []]
    for line, crawl in zip(lines, crawl_of, strict=False):
        parts[crawl].append(line)
    run_crawls(*in_crawls(parts, bodies))


@pytest.mark.large
@settings(max_examples=12, deadline=None)
@given(
    st.one_of(collections(collisions=False, shared=False), crowds()),
    st.lists(st.integers(0, 2), min_size=14, max_size=14),
)
def test_crawls_landed_in_any_order_with_jobs(collection: Collection, crawl_of: list[int]) -> None:
    lines, bodies = collection
    parts: Crawls = [[], [], []]
    for line, crawl in zip(lines, crawl_of, strict=False):
        parts[crawl].append(line)
    run_crawls(*in_crawls(parts, bodies), runner="inline")


@EXAMPLES
@given(
    st.one_of(collections(collisions=False, shared=False), crowds()),
    st.lists(st.integers(0, 8), max_size=2),
)
def test_date_order_equals_one_run(collection: Collection, cuts: list[int]) -> None:
    lines, bodies = collection
    bounds = [0, *sorted(cuts), 9]
    parts = [
        [line for line in lines if start <= int(line.date[-3:-1]) < end]
        for start, end in pairwise(bounds)
    ]
    crawls, bodies = in_crawls(parts, bodies)
    assert run_crawls(crawls, bodies) == run_crawls(crawls, bodies, at_once=True)


@pytest.mark.parametrize(
    ("crawls", "expected"),
    [
        pytest.param(
            [["/a 1", "/b 1", "/a 1", "/b 2 of 1"], ["/c 3"]],
            {2: 1, 4: 0},
            id="the-first-though-nobody-refers-to-it",
        ),
        pytest.param(
            [["/a 5", "/a 6 of 0"], ["/b 1", "/c 9"]], {3: 0}, id="known-before-what-lands-now"
        ),
        pytest.param(
            [["/a 6", "/b 7"], ["/c 1", "/d 3", "/e 8"], ["/f 5", "/g 9"]],
            {1: 0, 3: 2, 4: 0, 5: 2, 6: 0},
            id="the-one-that-was-there-first",
        ),
        pytest.param(
            [["/a 1", "/b 2", "/c 3"], ["/a 1 other"]], {2: 1}, id="not-addressable-any-more"
        ),
        pytest.param([["/b 5"], ["/a 1"], ["/c 9"]], {0: 1, 2: 1}, id="earlier-and-nobody-minds"),
        pytest.param([["/b 5"], ["/a 1", "/c 2"]], {0: 1, 2: 1}, id="earlier-and-together"),
    ],
)
def test_which_original(crawls: list[list[str]], expected: dict[int, int]) -> None:
    """Captures of one body, or an `other`, numbered as they come; `of` what one revisits."""
    parts: Crawls = []
    lines: list[ManifestLine] = []
    for captures in crawls:
        for text in captures:
            path, second, *more = text.split()
            body = BODIES["other" in more]
            line = ManifestLine(
                file="a",
                offset=len(lines) * 100,
                length=90,
                target_uri=f"http://example.org{path}",
                date=f"2020-01-01T00:00:{int(second):02d}Z",
                digest=good_digest(body),
                status=200,
            )
            if "of" in more:
                original = lines[int(more[-1])]
                line = line._replace(
                    type="revisit", refers_uri=original.target_uri, refers_date=original.date
                )
            lines.append(line)
        parts.append(lines[-len(captures) :])
    bodies = Bodies({place_of(line): body_of(line.digest) for line in lines})
    assert run_crawls(*in_crawls(parts, bodies)) == expected
