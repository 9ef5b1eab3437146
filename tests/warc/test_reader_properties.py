"""Generated archive files: what was put in comes out, at the place where it was put."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from archive_builders import (
    HTTP,
    arc,
    arc_file,
    dictionary,
    dictionary_frame,
    frame,
    gzip_file,
    member,
    plain_file,
    skippable,
    source_of,
    warc,
    zstd_file,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from invariants import check_again, check_items, facts, read_slowly

from pinakes.warc.compression.members import why_unread
from pinakes.warc.compression.zstd_format import DICTIONARY_MAGIC
from pinakes.warc.reader import iter_records
from pinakes.warc.record import DamagedStretch, Record

BLOCKS = st.one_of(
    st.binary(max_size=200),
    st.binary(max_size=60).map(lambda body: HTTP + body),
    st.sampled_from(
        [
            # What looks like something else in a block.
            b"WARC/1.0\r\nWARC-Type: resource\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
            warc(number=9),
            gzip_file(),
            plain_file(),
            b"\r\n\r\n",
            b"\n",
            b"\x1f\x8b\x08",
            zstd_file(),
            b"\x28\xb5\x2f\xfd",
            HTTP + b"\r\n\r\n",
            b"HTTP/1.1 200 OK\nA: 1\n\nbody",
            b"HTTP/1.1 200 OK\r\n",
        ]
    ),
)
TYPES = st.sampled_from(["response", "resource", "request", "metadata", "revisit", "Weird"])
EXTRA = st.lists(
    st.tuples(
        st.sampled_from(
            ["WARC-Concurrent-To", "X-Odd", "x-ODD", "WARC-Target-URI", "Content-Type"]
        ),
        st.text(alphabet='ab c:/<>"é\t', max_size=12),
    ),
    max_size=3,
)


@st.composite
def records(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """(a record with the line ends that close it, its block)."""
    block = draw(BLOCKS)
    version = draw(st.sampled_from(["WARC/1.0", "WARC/1.1", "WARC/0.18"]))
    extra = draw(EXTRA)
    return warc(block, record_type=draw(TYPES), version=version, extra=extra), block


@given(st.lists(records(), max_size=6), st.data())
def test_gzip(made: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    level = data.draw(st.integers(0, 9))
    name = data.draw(st.sampled_from([b"", b"a.warc"]))
    members = [member(record, level=level, name=name) for record, _ in made]
    _check_members(b"", members, made, st.sampled_from([b"", member(b"")]), data)


@given(st.lists(records(), max_size=6), st.data())
def test_zstd(made: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    known = dictionary() if data.draw(st.booleans()) else b""
    start = dictionary_frame(known, compressed=data.draw(st.booleans())) if known else b""
    members = [
        frame(
            record,
            dictionary=known,
            level=data.draw(st.integers(-5, 12)),
            size=data.draw(st.booleans()),
            checksum=data.draw(st.booleans()),
            dictionary_id=data.draw(st.booleans()),
        )
        for record, _ in made
    ]
    between = st.sampled_from([b"", frame(b""), skippable(b""), skippable(b"x\r\n", number=15)])
    _check_members(start, members, made, between, data)


def _check_members(
    start: bytes,
    members: list[bytes],
    made: list[tuple[bytes, bytes]],
    between: st.SearchStrategy[bytes],
    data: st.DataObject,
) -> None:
    """A record each, with what has no content between them."""
    places, parts, at = [], [start], len(start)
    for part in members:
        parts.append(data.draw(between))
        at += len(parts[-1])
        places.append((at, len(part)))
        parts.append(part)
        at += len(part)
    found = _check(b"".join(parts))
    assert [(r.offset, r.length) for r in found] == places
    _check_blocks(found, made)
    assert all(r.findings == () for r in found)


@given(st.lists(records(), max_size=6))
def test_plain(made: list[tuple[bytes, bytes]]) -> None:
    found = _check(b"".join(record for record, _ in made))
    at = 0
    for record, (data, _) in zip(found, made, strict=True):
        assert (record.offset, record.length) == (at, len(data) - 4)
        at += len(data)
    _check_blocks(found, made)
    assert all(r.findings == () for r in found)


@given(st.lists(records(), min_size=2, max_size=6), st.sampled_from([member, frame]), st.data())
def test_members_that_know_no_records(
    made: list[tuple[bytes, bytes]], pack: Callable[[bytes], bytes], data: st.DataObject
) -> None:
    """Cut into members anywhere, but never where a block has a record of its own."""
    whole = b"".join(record for record, _ in made)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=4)))
    edges = [0, *cuts, len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(edges)]
    inside = any(piece.lstrip(b"\r\n")[:5] == b"WARC/" for piece in pieces[1:])
    found = _check(b"".join(pack(piece) for piece in pieces))
    if not inside:
        _check_blocks(found, made)


def _check_blocks(found: list[Record], made: list[tuple[bytes, bytes]]) -> None:
    assert [b"".join(map(bytes, r.chunks())) for r in found] == [block for _, block in made]


def _check(data: bytes) -> list[Record]:
    source = source_of(data)
    items = list(iter_records(source))
    check_items(items, source)
    assert list(map(facts, items)) == list(map(facts, read_slowly(source)))
    found = [item for item in items if isinstance(item, Record)]
    for record in found:
        check_again(record, source)
    return found


FILES = st.sampled_from(
    [
        gzip_file(),
        plain_file(),
        arc_file(),
        b"".join(map(member, arc())),
        zstd_file(),
        zstd_file(known=None),
    ]
)
PIECES = st.one_of(
    st.binary(max_size=30),
    st.sampled_from(
        [
            b"\r\n",
            b"\n",
            b" ",
            b"WARC/1.0\r\n",
            b"\x1f\x8b\x08",
            b"\r\nContent-Length: 9",
            b"\x28\xb5\x2f\xfd",
            b"\x52\x2a\x4d\x18\x09\0\0\0",
        ]
    ),
    FILES,
)


@given(FILES, st.lists(st.tuples(st.integers(0, 700), st.integers(0, 40), PIECES), max_size=4))
def test_any_damage(data: bytes, edits: list[tuple[int, int, bytes]]) -> None:
    """Bytes removed and put in, anywhere: nothing raised, all bytes accounted for."""
    for at, removed, put_in in edits:
        data = data[:at] + put_in + data[at + removed :]
    _check(data)


@given(st.lists(st.binary(min_size=1, max_size=40), min_size=1), st.sampled_from([member, frame]))
def test_rubbish_between_members(rubbish: list[bytes], pack: Callable[[bytes], bytes]) -> None:
    """Every whole member is found, whatever lies between them."""
    parts = [part for piece in rubbish for part in (piece, pack(warc(b"x")))]
    file = b"".join(parts)
    # A file that begins as a container which is not read here is one stretch.
    assume(why_unread(file) is None)
    # Without the dictionary that a file begins with, no frame of it can be read.
    assume(not file.startswith(DICTIONARY_MAGIC))
    items = list(iter_records(source_of(file)))
    whole = [
        item
        for item in items
        if isinstance(item, Record) and not item.findings and item.block_size == 1
    ]
    assert len(whole) == len(rubbish)
    assert any(isinstance(item, DamagedStretch) for item in items) or all(
        not piece.strip(b"\r\n") for piece in rubbish
    )
