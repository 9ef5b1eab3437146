"""Bodies that arrive once are numbered as bodies that can be read again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import SEEK_END

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pinakes.dedupe.decide import bodies as bodies_module
from pinakes.dedupe.decide import shuffled_bodies
from pinakes.dedupe.decide.contents import number_contents
from pinakes.dedupe.decide.counting import ResolveCount
from pinakes.dedupe.decide.shuffled_bodies import ShuffledBodies, ShuffledBody, number_shuffled
from pinakes.errors import MalformedRecord
from pinakes.index.external_sort import DEFAULT_SPACE
from pinakes.index.manifest import ManifestLine

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
