"""Tombstones in files of every kind: what was asked for is gone, all other bytes are there."""

from __future__ import annotations

import bz2
import gzip
import io
import zlib
from collections.abc import Callable

import pytest
from archive_builders import (
    HTTP,
    arc,
    dictionary,
    dictionary_frame,
    frame,
    member,
    records_of,
    skippable,
    source_of,
    three,
    warc,
)
from judge import content_of_frames
from warc_sets import in_frames

from pinakes.deletion.tombstones import Tombstones
from pinakes.errors import DigestMismatch, InputRefused, MalformedRecord
from pinakes.rewrite.replace import copy_source_with_replacements
from pinakes.warc.source import IN_MEMORY_BYTES
from pinakes.warc.tombstone import Inscription, is_tombstone

WORDS = Inscription("withdraw-1", "2026-11-25T12:00:00Z")
SECRET = b"<p>secret"


def records() -> list[bytes]:
    first, _, last = three()
    return [first, warc(HTTP + SECRET, number=1), last, warc(HTTP + b"other", number=3)]


def with_tombstones(data: bytes, ordinals: set[int]) -> bytes:
    tombstones, out = Tombstones(ordinals, WORDS), io.BytesIO()
    source = source_of(data)
    copy_source_with_replacements(source, out, tombstones.replacements(source))
    tombstones.check(source, source_of(out.getvalue()))
    return out.getvalue()


def inflated(data: bytes) -> bytes:
    if data[:3] == b"BZh":
        return bz2.decompress(data)  # all streams
    if data[1:4] in (b"\xb5\x2f\xfd", b"\x2a\x4d\x18"):
        return content_of_frames(data)
    found = b""
    while data[:2] == b"\x1f\x8b":
        inflater = zlib.decompressobj(31)
        found += inflater.decompress(data)
        data = inflater.unused_data
    return found + data


FILES = [
    pytest.param(b"".join(map(member, records())), id="a member each"),
    pytest.param(b"".join(records()), id="plain"),
    pytest.param(member(b"".join(records())), id="one member for all"),
    pytest.param(
        member(records()[0]) + member(b"".join(records()[1:3])) + member(records()[3]),
        id="two in one member",
    ),
    pytest.param(b"".join(map(bz2.compress, records())), id="bzip2"),
    pytest.param(bz2.compress(b"".join(records())), id="one bzip2 stream"),
    pytest.param(
        member(b"".join(records())[:700]) + member(b"".join(records())[700:]),
        id="members that end in records",
    ),
    pytest.param(
        b"".join(member(b"".join(records())[at : at + 150]) for at in range(0, 1800, 150)),
        id="records over several members",
    ),
    pytest.param(in_frames(records()), id="a frame each"),
    pytest.param(in_frames(records(), known=dictionary()), id="a dictionary"),
    pytest.param(in_frames(records(), known=dictionary(), packed=True), id="a packed dictionary"),
    pytest.param(frame(b"".join(records())), id="one frame for all"),
    pytest.param(
        b"".join(frame(b"".join(records())[at : at + 150]) for at in range(0, 1800, 150)),
        id="records over several frames",
    ),
]


@pytest.mark.parametrize("data", FILES)
def test_only_what_was_asked_for_is_gone(data: bytes) -> None:
    new = with_tombstones(data, {1})
    words = inflated(new)
    before, after = records()[1], records_of(new)[1]
    assert SECRET in inflated(data)
    assert SECRET not in words
    stone = after.header.raw + b"".join(after.chunks()) + b"\r\n\r\n"
    assert is_tombstone(after.header)
    assert words.replace(stone, before) == inflated(data)
    ids = [[record.record_id for record in records_of(one)] for one in (data, new)]
    assert ids[0] == ids[1]


@pytest.mark.parametrize("data", FILES)
def test_twice_at_once(data: bytes) -> None:
    assert [is_tombstone(r.header) for r in records_of(with_tombstones(data, {1, 3}))] == [
        False,
        True,
        False,
        True,
    ]


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    "whole",
    [
        pytest.param(b"".join, id="plain"),
        pytest.param(lambda parts: b"".join(map(gzip.compress, parts)), id="a member each"),
        pytest.param(lambda parts: gzip.compress(b"".join(parts)), id="one member for all"),
    ],
)
def test_in_an_arc_file(version: int, whole: Callable[[list[bytes]], bytes]) -> None:
    parts = arc(version=version)
    data = whole(parts)
    new_data = with_tombstones(data, {1})
    new = records_of(new_data)
    assert b"<p>old" not in inflated(new_data)
    assert inflated(new_data).startswith(parts[0])
    assert inflated(new_data).endswith(parts[2])
    old = records_of(data)
    assert [r.target_uri for r in new] == [r.target_uri for r in old]
    assert [is_tombstone(r.header) for r in new] == [False, True, False]
    assert new[2].header.raw == old[2].header.raw


@pytest.mark.parametrize("harm", ["cut off", "wrong checksum"])
def test_a_damaged_record_goes_as_well(harm: str) -> None:
    first, last = member(records()[0]), member(records()[1])
    data = first + (last[:-20] if harm == "cut off" else last[:-8] + b"harm" + last[-4:])
    new = with_tombstones(data, {1})
    assert new.startswith(first)
    assert SECRET not in inflated(new)
    assert is_tombstone(records_of(new)[1].header)


def test_a_damaged_frame_goes_as_well() -> None:
    first, last = frame(records()[0]), frame(records()[1])
    new = with_tombstones(first + last[:-1] + b"!", {1})
    assert new.startswith(first)
    assert SECRET not in inflated(new)
    assert is_tombstone(records_of(new)[1].header)


def test_a_frame_that_is_passed_over_among_those_that_records_share_is_not_lost() -> None:
    data = b"".join(records())
    with pytest.raises(MalformedRecord, match="is none of a record"):
        with_tombstones(frame(data[:700]) + skippable(b"somebody's own") + frame(data[700:]), {0})


def test_behind_a_dictionary_that_no_frame_can_name() -> None:
    data = dictionary_frame(b"raw content " * 9) + in_frames(records())
    with pytest.raises(InputRefused, match="has no id that a frame could name"):
        with_tombstones(data, {1})


def test_a_damaged_member_of_several_is_refused_in_words_that_help() -> None:
    shared = member(b"".join(records()[1:3]))
    with pytest.raises(MalformedRecord, match="take the crawl out"):
        with_tombstones(shared[:-8] + b"harm" + shared[-4:], {0})


def test_a_neighbour_too_large_for_memory_stays() -> None:
    large = warc(HTTP + bytes(IN_MEMORY_BYTES + 1000), number=7)
    words = inflated(with_tombstones(member(b"".join(records()[:2]) + large), {1}))
    assert SECRET not in words
    assert words.endswith(large)


def test_what_is_too_long_goes_with_its_record() -> None:
    first, second, last, _ = records()
    longer = second[:-4] + b"and a secret more\r\n\r\n"
    words = inflated(with_tombstones(member(first + longer + last), {1}))
    assert words.startswith(first)
    assert words.endswith(last)
    assert b"secret" not in words


@pytest.mark.parametrize("at", [0, 1, 2, 3])
def test_the_check_sees_a_change_anywhere_else(at: int) -> None:
    parts = list(map(member, records()))
    data, tombstones, out = b"".join(parts), Tombstones({1}, WORDS), io.BytesIO()
    source = source_of(data)
    copy_source_with_replacements(source, out, tombstones.replacements(source))
    changed = bytearray(out.getvalue())
    offset = records_of(out.getvalue())[at].offset
    changed[offset + 4] ^= 1  # the time in a member's header: no reader minds
    if at == 1:
        changed = bytearray(out.getvalue().replace(b"\x00", b"\x01", 1))
    with pytest.raises(DigestMismatch):
        tombstones.check(source, source_of(bytes(changed)))
