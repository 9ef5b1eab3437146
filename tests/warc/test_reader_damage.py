"""Damage of every kind at every place: nothing raised, nothing lost, all of it said."""

from __future__ import annotations

import bz2
import gzip
import zlib
from collections.abc import Callable
from functools import partial
from itertools import accumulate, pairwise
from typing import NamedTuple

import pytest
import zstandard
from archive_builders import (
    HTTP,
    arc,
    arc_file,
    dictionary,
    dictionary_frame,
    frame,
    frame_of_blocks,
    gzip_file,
    hinted_member,
    member,
    one_member,
    plain_file,
    read,
    records_of,
    skippable,
    source_of,
    three,
    warc,
    zstd_file,
)
from invariants import check_source, facts

from pinakes.warc.compression.members import compression_of, inflate_member
from pinakes.warc.reader import Item, read_record
from pinakes.warc.record import DamagedStretch, Record

SMALL_FILES = {
    "gzip": gzip_file(),
    "plain": plain_file(),
    "lf-only": b"".join(three(line_end=b"\n")),
    "arc-1": arc_file(),
    "arc-2": arc_file(version=2),
    "arc-gzip": b"".join(map(member, arc())),
    "one-member": one_member(plain_file()),
    "hinted-members": b"".join(map(hinted_member, three())),
    "bzip2": b"".join(map(bz2.compress, three())),
    "one-record-over-members": b"".join(member(warc()[at : at + 100]) for at in (0, 100, 200)),
    "zstd": zstd_file(known=None),
    "zstd-dictionary": zstd_file(),
    "zstd-compressed-dictionary": zstd_file(compressed=True),
    "zstd-bare": b"".join(frame(record, size=False, checksum=False) for record in three()),
    "zstd-blocks": b"".join(frame_of_blocks(record[:50], record[50:]) for record in three()),
    "zstd-one-frame": frame(plain_file()),
    "zstd-skippable": b"".join(frame(record) + skippable(record) for record in three()),
    "zstd-one-record-over-frames": b"".join(frame(warc()[at : at + 100]) for at in (0, 100, 200)),
    "zstd-lines": b"".join(frame(b"") + frame(record) + frame(b"\r\n") for record in three()),
    "named-members": b"".join(member(record, name=b"a.warc") for record in three()),
}


@pytest.fixture(params=SMALL_FILES.values(), ids=SMALL_FILES.keys())
def small_file(request: pytest.FixtureRequest) -> bytes:
    data: bytes = request.param
    return data


def reported(items: list[Item]) -> bool:
    """Whether a reader was told of any damage (several records a member are none)."""
    return any(
        isinstance(item, DamagedStretch) or {f.code for f in item.findings} - {"member", "line-end"}
        for item in items
    )


def undisturbed(item: Item) -> tuple[object, ...]:
    return facts(item)[1:]


def test_every_small_file_is_sound(small_file: bytes) -> None:
    items = check_source(source_of(small_file))
    assert items
    assert not reported(items)


def ends_of_empty_members(data: bytes, whole: list[Record]) -> set[int]:
    """Where members end that lie between records: a dictionary, skippable ones, line ends."""
    found: dict[int, int] = {}
    at = 0
    for start, end in [(r.offset, r.offset + r.length) for r in whole] + [(len(data), 0)]:
        while at < start and compression_of(source_of(data), at) is not None:
            assert not b"".join(inflate_member(source_of(data), at, found)).strip(b"\r\n")
            at = found[at]
        at = max(at, end)
    return set(found.values())


def places_to_cut(data: bytes, ends: set[int], stride: int) -> set[int]:
    """Every byte of the two forms that are met most; of the others so many, and around ends."""
    if data in (SMALL_FILES["gzip"], SMALL_FILES["plain"]):
        stride = 1
    around = {end + n for end in ends for n in (-1, 0, 1, 5)}
    return {*range(1, len(data), stride), *(at for at in around if 0 < at < len(data))}


def test_cut_at_any_byte(small_file: bytes, stride: int) -> None:
    whole = records_of(small_file)
    ends = {record.offset + record.length for record in whole}
    between = ends_of_empty_members(small_file, whole)
    for cut in places_to_cut(small_file, ends | between, stride):
        items = check_source(source_of(small_file[:cut]))
        found = {undisturbed(item)[:-1] for item in items}
        for record in whole:
            if record.offset + record.length <= cut:
                assert undisturbed(record)[:-1] in found, cut
        # A cut between two records, or in the line ends there, leaves a sound file.
        if cut not in between and not any(end <= cut <= end + 4 for end in ends):
            assert reported(items), cut


def _gunzipped(member: bytes) -> bytes:
    """By Python's own gzip: time, system and the name of a member are not checked."""
    return gzip.decompress(member)


def _unzstd(frame: bytes, known: bytes = b"") -> bytes:
    """By the reference library, which finds the frame's end by itself."""
    shared = zstandard.ZstdCompressionDict(known) if known else None
    reader = zstandard.ZstdDecompressor(dict_data=shared).decompressobj()
    content: bytes = reader.decompress(frame)
    if not reader.eof or reader.unused_data:
        raise EOFError
    return content


class Packed(NamedTuple):
    """How records are packed, and how another program unpacks one."""

    start: bytes
    pack: Callable[[bytes], bytes]
    unpack: Callable[[bytes], bytes]


PACKED = {
    "gzip": Packed(b"", member, _gunzipped),
    "zstd": Packed(b"", frame, _unzstd),
    "zstd-dictionary": Packed(
        dictionary_frame(dictionary()),
        partial(frame, dictionary=dictionary()),
        partial(_unzstd, known=dictionary()),
    ),
}


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED.keys())
def test_one_byte_changed_in_a_member(packed: Packed, mask: int, stride: int) -> None:
    """Whatever it is, the other records are read, and it is reported unless nothing changed."""
    members = list(map(packed.pack, three()))
    whole = records_of(packed.start + b"".join(members))
    at = len(packed.start)
    for number, old in enumerate(members):
        for place in range(mask % stride, len(old), stride):
            new = bytearray(old)
            new[place] ^= mask
            data = b"".join([packed.start, *members[:number], bytes(new), *members[number + 1 :]])
            items = check_source(source_of(data))
            found = {undisturbed(item) for item in items}
            for record in whole:
                assert record.offset == at or undisturbed(record) in found, (number, place)
            assert reported(items) != _reads_the_same(packed, bytes(new), old), (number, place)
        at += len(old)


def _reads_the_same(packed: Packed, new: bytes, old: bytes) -> bool:
    try:
        return packed.unpack(new) == packed.unpack(old)
    except (OSError, EOFError, zlib.error, zstandard.ZstdError):
        return False


@pytest.mark.parametrize("mask", [0x01, 0x80, 0xFF])
def test_one_byte_changed_anywhere(small_file: bytes, mask: int, stride: int) -> None:
    for place in range(mask % stride, len(small_file), stride):
        data = bytearray(small_file)
        data[place] ^= mask
        check_source(source_of(bytes(data)))


A, B, C = warc(number=1), warc(number=2), warc(number=3)


@pytest.mark.parametrize(
    ("data", "uris", "stretches", "codes"),
    [
        (b"", "", [], set()),
        (b"\r\n\r\n", "", [], set()),
        (b"x", "", [(0, 1)], set()),
        (b"\0" * 3000, "", [(0, 3000)], set()),
        (A + b"rubbish\n" + B, "12", [(len(A), len(A) + 8)], set()),
        (b"rubbish\n" + A, "1", [(0, 8)], set()),
        (A + b"\0" * 512, "1", [(len(A), len(A) + 512)], set()),
        (A[:-4] + B, "12", [], {"record-end"}),
        (A + b"\r\n\r\n\r\n" + B, "12", [], set()),
        (warc(number=1, length=500) + B + C, "123", [], {"block-length"}),
        (warc(number=1, length=1 << 40) + B + C, "123", [], {"block-length"}),
        (warc(number=1, length=3) + B, "12", None, {"record-end"}),
        (warc(number=1, length="many") + B, "12", [], {"content-length"}),
        (warc(number=1, length="9" * 5000) + B, "12", [], {"content-length"}),
        (warc(number=1, length=-1) + B, "12", [], {"content-length"}),
        (A[: A.index(b"\r\n\r\n") + 20], "1", [], {"truncated"}),
        (A[: A.index(b"\r\n\r\n") - 9], "1", [], {"truncated"}),
    ],
    ids=[
        "empty",
        "only-line-ends",
        "one-byte",
        "zeros",
        "rubbish-between",
        "rubbish-before",
        "zero-padding",
        "no-record-end",
        "many-line-ends",
        "length-swallows-two",
        "length-of-a-terabyte",
        "length-too-small",
        "length-no-number",
        "length-of-5000-digits",
        "length-negative",
        "cut-in-block",
        "cut-in-header",
    ],
)
def test_plain_file(
    data: bytes, uris: str, stretches: list[tuple[int, int]] | None, codes: set[str]
) -> None:
    items = check_source(source_of(data))
    records = [item for item in items if isinstance(item, Record)]
    assert "".join((r.target_uri or "?")[-1] for r in records) == uris
    found = [(item.offset, item.end) for item in items if isinstance(item, DamagedStretch)]
    assert found == stretches if stretches is not None else found
    assert {f.code for r in records for f in r.findings} >= codes


@pytest.mark.parametrize(
    ("make", "uris", "codes"),
    [
        (lambda pack: pack(A) + pack(b"") + pack(B), "12", set()),
        (lambda pack: pack(b"") + pack(b"\r\n") + pack(A), "1", set()),
        (lambda pack: pack(A + B) + pack(C), "123", {"member"}),
        (lambda pack: pack(A[:60]) + pack(A[60:]) + pack(B), "12", set()),
        (lambda pack: pack(A) + b"rubbish" + pack(B), "12", set()),
        (lambda pack: pack(A) + b"\0" * 100, "1", set()),
        (lambda pack: pack(A) + B, "1", set()),
        (lambda pack: pack(warc(number=1, length=500)) + pack(B), "12", {"block-length"}),
        (lambda pack: pack(warc(number=1, length=3)) + pack(B), "12", {"block-length"}),
        (lambda pack: pack(warc(number=1, length="x")) + pack(B), "12", {"content-length"}),
        (lambda pack: pack(A + b"rubbish") + pack(B), "12", {"block-length"}),
        (lambda pack: pack(A[:-4]) + pack(B), "12", {"record-end"}),
        (lambda pack: pack(b"rubbish") + pack(B), "2", set()),
        (lambda pack: b"filedesc:" + pack(A) + pack(B), "12", set()),
        (lambda pack: pack(A)[:-1] + b"\1" + pack(B), "12", {"crc"}),
    ],
    ids=[
        "empty-member-between",
        "empty-members-before",
        "two-records-a-member",
        "one-record-over-two-members",
        "rubbish-between",
        "zero-padding",
        "plain-record-after-members",
        "length-too-large",
        "length-too-small",
        "length-no-number",
        "rubbish-in-member",
        "no-record-end",
        "member-of-rubbish",
        "filedesc-and-no-path",
        "wrong-checksum",
    ],
)
@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED.keys())
def test_file_of_members(
    packed: Packed, make: Callable[[Callable[[bytes], bytes]], bytes], uris: str, codes: set[str]
) -> None:
    data = packed.start + make(packed.pack)
    items = check_source(source_of(data))
    records = [item for item in items if isinstance(item, Record)]
    assert "".join((r.target_uri or "?")[-1] for r in records) == uris
    assert {f.code for r in records for f in r.findings} >= codes


@pytest.mark.parametrize("cut", [4, 30], ids=["half-a-trailer", "member-cut-off"])
def test_a_gzip_member_that_is_cut_off(cut: int) -> None:
    first, second = check_source(source_of(member(A)[:-cut] + member(B)))
    assert isinstance(first, Record)
    assert "crc" in {f.code for f in first.findings}
    assert not reported([second])


def test_a_record_that_ends_without_its_length_is_read_to_the_next() -> None:
    first, second = records_of(warc(b"abc", number=1, length="x", record_type="resource") + B)
    assert b"".join(map(bytes, first.chunks())) == b"abc"
    assert second.findings == ()


def test_members_inside_a_damaged_payload_are_no_records() -> None:
    """A downloaded WARC file in a record that is cut off: its records are not ours."""
    inner = b"".join(member(warc(number=n)) for n in range(1, 20))
    outer = member(warc(HTTP + inner, number=0), level=0)
    (found,) = read(outer[:-300])
    assert isinstance(found, Record)
    assert {f.code for f in found.findings} == {"truncated"}


def test_members_inside_a_payload_with_a_wrong_checksum_are_no_records() -> None:
    inner = b"".join(member(warc(number=n)) for n in range(1, 20))
    outer = bytearray(member(warc(HTTP + inner, number=0), level=0))
    outer[-6] ^= 1
    found = records_of(bytes(outer) + member(B))
    assert [len(r.findings) for r in found] == [1, 0]


def test_another_container_is_named() -> None:
    for magic, word in (
        (b"\x04\x22\x4d\x18", "LZ4"),
        (b"PK\x03\x04", "ZIP"),
        (b"\xfd7zXZ", "XZ"),
    ):
        # Records that are stored in it are content of it.
        for content in (b"\0" * 60, A + B, member(A) + member(B)):
            (item,) = check_source(source_of(magic + content))
            assert isinstance(item, DamagedStretch)
            assert word in item.reason


@pytest.mark.parametrize(
    ("start", "compression"),
    [
        (member(A), "gzip"),
        (frame(A), "zstd"),
        (skippable(A), "zstd"),
        (bz2.compress(A), "bzip2"),
        (bz2.compress(b""), "bzip2"),
        (b"BZh9", "bzip2"),
        (b"BZh9 is how a text may begin", None),
        (A, None),
        (b"", None),
    ],
    ids=[
        "gzip",
        "zstd",
        "zstd-skippable",
        "bzip2",
        "bzip2-of-nothing",
        "bzip2-cut-off",
        "text",
        "plain",
        "empty",
    ],
)
def test_compression_is_told_by_the_first_bytes(start: bytes, compression: str | None) -> None:
    assert compression_of(source_of(start)) == compression
    assert compression_of(source_of(b"x" + start), 1) == compression


def test_a_gz_that_is_none_is_read_as_what_it_is() -> None:
    assert [item.offset for item in read(A)] == [0]
    assert len(read(A)) == 1


@pytest.mark.parametrize("count", [2, 5])
def test_damage_after_damage(count: int) -> None:
    cut = b"".join(member(warc(number=n))[:-20] for n in range(count))
    items = check_source(source_of(cut + member(B)))
    assert [undisturbed(item) for item in items if not reported([item])] == [
        (len(cut), *undisturbed(records_of(member(B))[0])[1:])
    ]


@pytest.mark.parametrize("size", range(8192 - 300, 8192 + 20, 7))
def test_surplus_of_any_size_before_a_record_in_a_member(size: int) -> None:
    """The search for the next record goes by pieces, and a record may begin at any place."""
    for filling in (b"x" * size + b"\n", b"x\n" * (size // 2), b"http:\n" * (size // 6)):
        first, second = records_of(member(A + filling + B))
        assert {f.code for f in first.findings} == {"member", "block-length"}
        assert second.inner_offset == len(A) + len(filling)


HEADER_BYTES = A.index(b"\r\n\r\n") + 4


def test_a_header_that_breaks_off_takes_no_line_of_the_next_member() -> None:
    for cut in range(1, HEADER_BYTES):
        items = check_source(source_of(member(A[:cut]) + member(B) + member(C)))
        broken = items[0]
        assert isinstance(broken, DamagedStretch) or (
            broken.header.raw == A[:cut] and {f.code for f in broken.findings} == {"truncated"}
        ), cut
        assert isinstance(broken, Record) == (cut >= A.index(b":") + 1), cut
        lengths = [item.length for item in items[1:] if isinstance(item, Record)]
        assert lengths == [len(member(B)), len(member(C))], cut
        assert not reported(items[1:]), cut


def test_a_header_may_go_over_two_members() -> None:
    for cut in range(1, HEADER_BYTES):
        first, second = check_source(source_of(member(A[:cut]) + member(A[cut:]) + member(B)))
        assert isinstance(first, Record), cut
        assert (first.header.raw, first.findings) == (A[:HEADER_BYTES], ()), cut
        assert not reported([first, second]), cut


def test_line_ends_before_a_record_in_the_next_member() -> None:
    first, second = records_of(member(A) + member(b"\r\n" + B))
    assert (first.findings, second.target_uri) == ((), "http://example.org/2")


@pytest.mark.parametrize("length", [None, 0, 1, 40, 300, 10_000, (1 << 32) - 1])
@pytest.mark.parametrize("size", [None, 0, 1, 200, 10_000, 1 << 22, (1 << 32) - 1])
def test_sizes_noted_in_a_member_are_not_believed(length: int | None, size: int | None) -> None:
    data = b"".join(hinted_member(record, length=length, size=size) for record in (A, B, C))
    items = check_source(source_of(data))
    edges = [0, *accumulate(len(hinted_member(record)) for record in (A, B, C))]
    assert [(item.offset, facts(item)[2]) for item in items] == [
        (start, end - start) for start, end in pairwise(edges)
    ]
    assert not reported(items)


def test_sizes_noted_over_two_members() -> None:
    """A hint that covers the next member as well hides nothing of it."""
    one = len(hinted_member(A))
    data = hinted_member(A, length=one + len(hinted_member(B)), size=2 * len(A)) + hinted_member(B)
    first, second = records_of(data)
    assert (first.length, second.offset) == (one, one)


def test_a_place_inside_a_member_where_no_record_begins() -> None:
    source = source_of(member(A + B))
    assert isinstance(read_record(source, 0, inner_offset=7), DamagedStretch)
    second = read_record(source, 0, inner_offset=len(A))
    assert isinstance(second, Record)
    assert second.target_uri == "http://example.org/2"
    assert read_record(source, source.size) is None
    assert read_record(source, 0, inner_offset=len(A + B)) is None


NESTED = b"".join(member(warc(HTTP + bytes([n]) * 40, number=n)) for n in range(3))


@pytest.mark.parametrize(
    ("data", "numbers", "stretches"),
    [
        (member(NESTED, level=0), "", [(0, len(member(NESTED, level=0)))]),
        (member(NESTED), "", [(0, len(member(NESTED)))]),
        (member(A) + member(NESTED, level=0) + member(B), "12", None),
        (member(A) + b"rubbish" + member(NESTED, level=0) + member(B), "12", None),
        (member(A)[:-30] + member(b"text" + NESTED, level=0) + member(B), "12", None),
    ],
    ids=["alone", "compressed", "between-records", "behind-rubbish", "behind-a-cut-member"],
)
def test_members_inside_a_whole_member_are_no_records(
    data: bytes, numbers: str, stretches: list[tuple[int, int]] | None
) -> None:
    """Stored blocks show them as they are; to rewrite one would break the member around it."""
    items = check_source(source_of(data))
    records = [item for item in items if isinstance(item, Record)]
    assert "".join((r.target_uri or "?")[-1] for r in records) == numbers
    found = [(item.offset, item.end) for item in items if isinstance(item, DamagedStretch)]
    assert len(found) == 1
    assert stretches is None or found == stretches
