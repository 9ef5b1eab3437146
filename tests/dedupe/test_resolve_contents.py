"""Unequal bodies of one digest told apart; equal ones found equal; nothing read in vain."""

from __future__ import annotations

import hashlib
import pickle
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import SEEK_END
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from manifest_sets import SECONDS, TIGHT, URIS, Bodies, collections, fit, processed, resolved

from pinakes.dedupe.decide import bodies as bodies_module
from pinakes.dedupe.decide import contents, shuffled_bodies
from pinakes.dedupe.decide.bodies import KEPT_BODY_BYTES
from pinakes.dedupe.decide.contents import Batch, Compared, compare_batch, number_contents
from pinakes.dedupe.decide.counting import Decisions, ResolveCount
from pinakes.dedupe.decide.process import resolve_and_process
from pinakes.dedupe.decide.resolve import resolve_lines
from pinakes.dedupe.decide.shuffled_bodies import ShuffledBodies, ShuffledBody, number_shuffled
from pinakes.errors import ConfigError, MalformedRecord
from pinakes.index.external_sort import DEFAULT_SPACE
from pinakes.index.manifest import ManifestLine, place_of

Collection = tuple[list[ManifestLine], Bodies]
LINE = ManifestLine("f", 0, 9, "http://example.org/", "2020-01-02T03:04:05Z", "sha1:X", size=8)


def captures(*bodies: bytes, digest: str = "sha1:X") -> tuple[list[ManifestLine], Bodies]:
    """A line for each body, all of one digest, at offsets 0, 100, 200, …"""
    lines = [
        LINE._replace(offset=number * 100, digest=digest, size=len(body))
        for number, body in enumerate(bodies)
    ]
    return lines, Bodies({place_of(line): body for line, body in zip(lines, bodies, strict=True)})


def extensions(lines: list[ManifestLine]) -> list[int | None]:
    return [line.hash_extension for line in sorted(lines, key=place_of)]


@given(collections())
def test_each_hash_extension_is_one_content(collection: Collection) -> None:
    lines, bodies = collection
    bodies_of: dict[tuple[str, int | None], set[bytes]] = defaultdict(set)
    contents = set()
    done = resolved(lines, bodies)
    for line in filter(fit, done):
        body = bodies.by_place[place_of(line)]
        bodies_of[line.digest, line.hash_extension].add(body)
        contents.add((line.digest, body))
    assert {len(found) for found in bodies_of.values()} <= {1}
    assert len(bodies_of) == len(contents)
    assert [line for line in done if not fit(line) and line.hash_extension is not None] == []


@given(collections(), st.randoms())
def test_numbers_and_counts_do_not_depend_on_order(collection: Collection, random: object) -> None:
    lines, bodies = collection
    shuffled = list(lines)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    counts = ResolveCount(), ResolveCount()
    one = sorted(resolve_lines(lines, bodies, count=counts[0]), key=place_of)
    other = sorted(resolve_lines(shuffled, bodies, count=counts[1], space=TIGHT), key=place_of)
    assert one == other
    assert sorted(counts[0].collisions) == sorted(counts[1].collisions)
    assert counts[0].as_json() | {"collisions": 0} == counts[1].as_json() | {"collisions": 0}


@given(collections())
def test_counts(collection: Collection) -> None:
    lines, bodies = collection
    count = ResolveCount()
    done = list(resolve_lines(lines, bodies, count=count))
    taking_part = [line for line in done if fit(line)]
    contents = {(line.digest, line.hash_extension) for line in taking_part}
    digests = {line.digest for line in taking_part}
    assert len(done) == len(lines)
    assert count.records == len(taking_part)
    assert count.records + sum(count.skipped.values()) == len(lines)
    assert (count.clusters, count.contents) == (len(digests), len(contents))
    assert sum(len(collision.captures) - 1 for collision in count.collisions) == len(
        contents
    ) - len(digests)


def test_a_digest_that_occurs_once_is_not_read() -> None:
    lines, bodies = captures(b"one", b"two")
    lines[1] = lines[1]._replace(digest="sha1:Y")
    assert extensions(resolved(lines, bodies)) == [0, 0]
    assert bodies.read == []


def test_unequal_lengths_are_not_read() -> None:
    lines, bodies = captures(b"one", b"seven", b"seven")
    assert extensions(resolved(lines, bodies)) == [0, 1, 1]
    assert bodies.read == [("f", 0, 0), ("f", 100, 0), ("f", 200, 0)]


def test_hash_extensions_are_numbered_by_place() -> None:
    lines, bodies = captures(b"two", b"one", b"two", b"six", b"one")
    assert extensions(resolved(lines[::-1], bodies)) == [0, 1, 0, 2, 1]


def test_lines_without_length_are_compared_to_the_end() -> None:
    lines, bodies = captures(b"body", b"body and more", b"body", b"")
    bare = [line._replace(size=None) for line in lines]
    assert extensions(resolved(bare, bodies)) == [0, 1, 0, 2]


def test_bodies_are_read_in_order_of_file_and_offset() -> None:
    # Two crawls of the same pages: the files are read side by side, front to back.
    lines = [
        LINE._replace(file=file, offset=number * 100, digest=f"sha1:{hash(number)}")
        for file in ("crawl-1", "crawl-2")
        for number in range(50)
    ]
    bodies = Bodies({place_of(line): b"%08d" % line.offset for line in lines}, piece=100)
    resolved(lines, bodies)
    assert len(bodies.read) == 100
    for file in ("crawl-1", "crawl-2"):
        read = [place for place in bodies.read if place[0] == file]
        assert read == sorted(read)


@pytest.mark.parametrize("kept", [0, 3, KEPT_BODY_BYTES], ids=["none", "3 bytes", "8 MiB"])
@pytest.mark.parametrize("piece", [1, 2, 5, 100])
def test_bodies_beyond_memory_are_compared_the_same(
    monkeypatch: pytest.MonkeyPatch, kept: int, piece: int
) -> None:
    monkeypatch.setattr(bodies_module, "KEPT_BODY_BYTES", kept)
    lines, bodies = captures(b"abcdefgh", b"abcdefgX", b"abcdefgh", b"abcdefg", b"abcdefgX", b"abc")
    bodies.piece = piece
    assert extensions(resolved(lines, bodies)) == [0, 1, 0, 2, 1, 3]
    bare = [line._replace(size=None) for line in lines]
    assert extensions(resolved(bare, bodies)) == [0, 1, 0, 2, 1, 3]


@pytest.mark.parametrize("broken", range(4))
def test_an_unreadable_body_is_left_out_and_named(broken: int) -> None:
    lines, bodies = captures(b"same", b"same", b"same", b"same")
    bodies.unreadable = frozenset({("f", broken * 100, 0)})
    count = ResolveCount()
    done = sorted(resolve_lines(lines, bodies, count=count), key=place_of)
    assert [line.skip for line in done] == [
        "unreadable" if number == broken else None for number in range(4)
    ]
    assert [line.hash_extension for line in done if line.skip is None] == [0, 0, 0]
    assert [(p.file, p.offset) for p in count.problems] == [("f", broken * 100)]
    assert (count.records, count.contents, count.collisions) == (3, 1, [])
    assert count.skipped == {"unreadable": 1}


def test_all_unreadable() -> None:
    lines, bodies = captures(b"same", b"same")
    bodies.unreadable = frozenset(map(place_of, lines))
    assert extensions(resolved(lines, bodies)) == [None, None]


@dataclass
class Fading:
    """Bodies whose first capture can be read once, and then no more."""

    read: int = 0

    def open_body(self, line: ManifestLine) -> Iterator[bytes]:
        if line.offset == 0:
            self.read += 1
            if self.read > 1:
                raise MalformedRecord("gone", file=line.file, offset=line.offset)
        yield b"same"


def test_unreadable_representative_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies_module, "KEPT_BODY_BYTES", 0)
    lines, _ = captures(b"same", b"same", b"same")
    count = ResolveCount()
    done = list(resolve_lines(lines, Fading(), count=count))
    assert extensions(done) == [0, 1, 1]
    assert count.collisions == []
    assert {problem.offset for problem in count.problems} == {0}


class Failing:
    """A disk that fails."""

    def open_body(self, line: ManifestLine) -> Iterator[bytes]:
        raise OSError(5, "Input/output error")
        yield b""


def test_a_failing_disk_is_named_with_file_and_offset() -> None:
    lines, _ = captures(b"same", b"same")
    count = ResolveCount()
    done = list(resolve_lines(lines, Failing(), count=count))
    assert {line.skip for line in done} == {"unreadable"}
    assert str(count.problems[0]) == "f:0: cannot be read: Input/output error"


@pytest.mark.parametrize("algorithm", ["sha256", "sha512"])
def test_strong_digests_may_be_trusted(algorithm: str) -> None:
    lines, _ = captures(b"a", b"b", digest=f"{algorithm}:{'0' * 64}")
    lines.append(LINE._replace(skip="truncated", digest="md5:0"))
    count = ResolveCount()
    done = list(resolve_lines(lines, None, count=count))
    assert [line.hash_extension for line in done] == [0, 0, None]
    assert (count.records, count.skipped) == (2, {"truncated": 1})


def test_no_line_is_lost_between_pieces() -> None:
    lines = [LINE._replace(offset=n, digest=f"sha256:{n % 90:064x}") for n in range(200)]
    count = ResolveCount()
    done = resolve_lines(iter(lines), None, count=count)
    assert [line.offset for line in done] == list(range(200))
    same = Bodies({place_of(line): b"same" for line in lines})
    assert sorted(line.offset for line in resolved(lines, same)) == list(range(200))


@pytest.mark.parametrize("digest", ["sha1:" + "A" * 32, "md5:" + "0" * 32, "-", "sha256"])
def test_weak_digests_are_not_trusted(digest: str) -> None:
    with pytest.raises(ConfigError, match="sha256"):
        list(resolve_lines([LINE._replace(digest=digest)], None, count=ResolveCount()))


@pytest.mark.parametrize(
    ("algorithm", "pairs"),
    [
        ("md5", [("md5-1.gif", "md5-2.gif"), ("md5-s1.png", "md5-s2.png")]),
        ("md5", [("md5-1.pdf", "md5-2.pdf")]),
        ("sha1", [("sha1-1.pdf", "sha1-2.pdf")]),
    ],
)  # fmt: skip
def test_real_collisions_never_merge(
    shared_data: Path, algorithm: str, pairs: list[tuple[str, str]]
) -> None:
    folder = shared_data / "collisions"
    # Each file twice, the second copies behind all the first.
    contents = [(folder / name).read_bytes() for pair in pairs for name in pair] * 2
    lines = [
        LINE._replace(
            offset=number,
            size=len(content),
            target_uri=f"http://example.org/{number}",
            digest=f"{algorithm}:{hashlib.new(algorithm, content).hexdigest()}",
        )
        for number, content in enumerate(contents)
    ]
    bodies = Bodies(
        {place_of(line): content for line, content in zip(lines, contents, strict=True)},
        piece=1000,
    )
    count = ResolveCount()
    done = processed(resolve_lines(lines, bodies, count=count, space=TIGHT))
    assert len({line.digest for line in lines}) == len(pairs)
    assert [len(collision.captures) for collision in count.collisions] == [2] * len(pairs)
    # The equal ones beside them merge.
    originals = {line.offset: line.original_offset for line in done}
    half = len(contents) // 2
    assert originals == {
        number: None if number < half else number - half for number in range(len(contents))
    }


@given(
    st.lists(st.integers(0, 60), min_size=17, max_size=120),
    st.sets(st.integers(0, 119), max_size=3),
)
def test_a_digest_of_very_many_contents(contents: list[int], unreadable: set[int]) -> None:
    """Numbered as one round each would have numbered them."""
    lines, bodies = captures(*(b"%07d" % content for content in contents))
    broken = frozenset(place_of(line) for line in lines if line.offset // 100 in unreadable)
    bodies = Bodies(bodies.by_place, unreadable=broken)
    found, expected = ResolveCount(), ResolveCount()
    few = list(number_contents(lines, bodies, found, TIGHT, most_rounds=4))
    each = list(number_contents(lines, bodies, expected, DEFAULT_SPACE))
    assert sorted(few, key=place_of) == sorted(each, key=place_of)
    assert found.collisions == expected.collisions
    assert (found.contents, len(found.problems)) == (expected.contents, len(expected.problems))


def test_work_for_many_contents_is_not_quadratic() -> None:
    lines, bodies = captures(*(b"%07d" % number for number in range(2000)))
    found = list(resolve_lines(lines, bodies, count=ResolveCount()))
    assert len({line.hash_extension for line in found}) == 2000
    assert len(bodies.read) < 20 * 2000


def test_lines_that_contradict_each_other_about_a_record_are_told_apart() -> None:
    digest = "md5:" + "0" * 32
    true, wrong, other = (
        ManifestLine("a", 0, 9, URIS[0], SECONDS[0], digest, size=8),
        ManifestLine("a", 0, 9, URIS[0], SECONDS[0], digest, size=11),
        ManifestLine("b", 0, 9, URIS[0], SECONDS[1], digest, size=11),
    )
    bodies = Bodies({place_of(true): b"one body", place_of(other): b"longer body"})
    found = {line: line.hash_extension for line in resolved([true, wrong, other], bodies)}
    extensions = {(line.file, line.size): extension for line, extension in found.items()}
    assert extensions["a", 8] == 0
    assert len(set(extensions.values())) == 3


# --- Bodies that other processes compare are told apart as those that this one compares


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


# --- Bodies that arrive once are numbered as bodies that can be read again


UNREADABLE = b"unreadable"


def line(number: int, body: bytes, *, sized: bool) -> ManifestLine:
    size = len(body) if sized else None
    return ManifestLine("f", number, 1, "http://a.example/", "2020", "sha1:X", size=size)


def pieces(place: ManifestLine, body: bytes, length: int) -> Iterator[bytes]:
    if body == UNREADABLE:
        raise MalformedRecord("is damaged", file=place.file, offset=place.offset)
    for at in range(0, len(body), length):
        yield body[at : at + length]


class Again:
    """Bodies that can be read as often as one likes."""

    def __init__(self, bodies: list[bytes]) -> None:
        self.bodies = bodies

    def open_body(self, line: ManifestLine) -> Iterable[bytes]:
        return pieces(line, self.bodies[line.offset], 3)


class Once:
    """Arrivals whose bodies can be drawn only in their turn, and to the end."""

    def __init__(self, lines: list[ManifestLine], bodies: list[bytes], length: int) -> None:
        self.lines, self.bodies, self.length = lines, bodies, length

    def __iter__(self) -> Iterator[ShuffledBody]:
        for one in self.lines:
            drawn = pieces(one, self.bodies[one.offset], self.length)
            yield ShuffledBody(one, drawn)
            assert next(drawn, None) is None, "the next line was asked for before the body ended"


BODIES = st.lists(
    st.sampled_from([b"", b"a", b"ab", b"abc", b"abd", b"abcdefgh", b"abcdefgi", UNREADABLE]),
    min_size=1,
    max_size=12,
)


@given(BODIES, st.integers(1, 5), st.booleans(), st.sampled_from([0, 4, 1 << 20]))
def test_equals_reading_bodies_again(
    bodies: list[bytes], length: int, sized: bool, kept: int
) -> None:
    lines = [line(number, body, sized=sized) for number, body in enumerate(bodies)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bodies_module, "KEPT_BODY_BYTES", kept)
        patch.setattr(shuffled_bodies, "_PIECE_BYTES", 2)
        wanted, known = ResolveCount(), ResolveCount()
        again = list(number_contents(iter(lines), Again(bodies), wanted, DEFAULT_SPACE))
        once = list(number_shuffled(Once(lines, bodies, length), count=known))
    assert once == again
    assert known.collisions == wanted.collisions
    assert known.contents == wanted.contents
    assert list(map(str, known.problems)) == list(map(str, wanted.problems))


def test_truncated_body_is_left_out() -> None:
    def broken(place: ManifestLine) -> Iterator[bytes]:
        yield b"abc"
        raise MalformedRecord("is damaged", file=place.file, offset=place.offset)

    whole = [line(number, b"abcdef", sized=False) for number in range(3)]
    arrivals = [
        ShuffledBody(whole[0], pieces(whole[0], b"xyz", 2)),
        ShuffledBody(whole[1], broken(whole[1])),
        ShuffledBody(whole[2], pieces(whole[2], b"abc", 2)),
    ]
    count = ResolveCount()
    found = {one.offset: one for one in number_shuffled(arrivals, count=count)}
    assert [found[number].hash_extension for number in range(3)] == [0, None, 1]
    assert found[1].skip == "unreadable"
    assert [str(problem) for problem in count.problems] == ["f:1: is damaged"]


def test_equal_bodies_take_no_space() -> None:
    bodies = [b"x" * 1000] * 500
    lines = [line(number, body, sized=True) for number, body in enumerate(bodies)]
    largest = 0
    count = ResolveCount()
    with ShuffledBodies(Once(lines, bodies, 100)) as shuffled:
        for one in number_contents(shuffled.lines(), shuffled, count, DEFAULT_SPACE):
            if one.offset:
                shuffled.drop(one)
            largest = max(largest, shuffled._file.seek(0, SEEK_END))
    assert count.contents == 1
    assert largest <= 2000
