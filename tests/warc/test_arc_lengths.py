"""ARC records whose length is wrong: each header line is found again, by bytes alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import pytest
from archive_builders import HTTP, arc, frame, member, source_of
from invariants import check_source

from pinakes.warc.opening import open_source
from pinakes.warc.reader import Item, iter_records
from pinakes.warc.record import DamagedStretch, Record

MIB = 1 << 20
# What people may have stored: a page about ARC, and an ARC file that was downloaded.
SHOWN = b"<pre>\nhttp://old/ 192.0.2.7 19990101000000 text/html 9\nx</pre>"
Pack = Callable[[Sequence[bytes]], bytes]
PACKED: dict[str, Pack] = {
    "plain": b"".join,
    "member-a-record": lambda records: b"".join(map(member, records)),
    "one-member": lambda records: member(b"".join(records)),
    "members-of-two": lambda records: b"".join(
        member(b"".join(records[at : at + 2])) for at in range(0, len(records), 2)
    ),
    "frame-a-record": lambda records: b"".join(map(frame, records)),
    "one-frame": lambda records: frame(b"".join(records)),
}


def line(name: str, length: int | bytes, *, fields: bytes = b"20010203040506 text/html") -> bytes:
    said = length if isinstance(length, bytes) else b"%d" % length
    return b"http://example.org/" + name.encode() + b" 192.0.2.1 " + fields + b" " + said + b"\n"


def block_of(name: str) -> bytes:
    return HTTP + b"<p>body of " + name.encode() + b"</p>"


def record(name: str, length: int | bytes | None = None, *, block: bytes | None = None) -> bytes:
    """One record and the line end behind it; `length` is what its line says."""
    block = block_of(name) if block is None else block
    return line(name, len(block) if length is None else length) + block + b"\n"


def names(items: Sequence[Item]) -> str:
    uris = (item.target_uri or "" for item in items if isinstance(item, Record))
    return "".join(uri[-1] for uri in uris if uri.startswith("http"))


def codes(item: Item) -> set[str]:
    assert isinstance(item, Record)
    return {finding.code for finding in item.findings} - {"member"}


def by_name(items: Sequence[Item], name: str) -> Record:
    found = [i for i in items if isinstance(i, Record) and (i.target_uri or "").endswith(name)]
    assert len(found) == 1
    return found[0]


A, B, C = len(block_of("a")), len(record("b")), len(record("c"))
# The length that the line of the first record says, which is of A bytes.
TOO_LONG = {
    "line-end-and-letter": A + 2,
    "scheme": A + 5,
    "scheme-and-colon": A + 6,
    "host": A + 15,
    "port-like": A + 9,
    "half-a-line": A + 40,
    "line": A + 1 + len(line("b", B)),
    "into-the-block": A + B - 10,
    "record-and-letter": A + 2 + B,
    "two-records-less-ten": A + B + C - 10,
    "beyond-the-end": A + B + C + 1000,
    "a-gigabyte": 1 << 30,
    "18-digits": 10**17,
}


@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED)
@pytest.mark.parametrize("length", TOO_LONG.values(), ids=TOO_LONG)
def test_too_long(packed: Pack, length: int) -> None:
    """As the first, a middle and the last but one; the lengths of records around it are right."""
    for place, order in enumerate(("wabc", "wxabc", "wxabc")):
        records = [record(name, length if name == "a" else None) for name in order]
        records = records[: -1 if place == 2 and length < A + B else None]
        items = check_source(source_of(packed([arc()[0], *records])))
        assert names(items) == order[: len(records)], place
        wrong = by_name(items, "/a")
        assert codes(wrong) == {"block-length"}, place
        assert bytes(b"".join(wrong.chunks())).rstrip(b"\n") == block_of("a"), place
        for name in order[: len(records)].replace("a", ""):
            right = by_name(items, f"/{name}")
            assert codes(right) == set(), (place, name)
            assert b"".join(right.chunks()) == block_of(name), (place, name)
        assert not [item for item in items if isinstance(item, DamagedStretch)], place


@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED)
@pytest.mark.parametrize(
    "length",
    [b"-1", b"-", b"9" * 19, b"9" * 500, b"many", b"0x20", b"1.5", b""],
    ids=["negative", "hyphen", "19-digits", "500-digits", "word", "hex", "fraction", "missing"],
)
def test_no_number(packed: Pack, length: bytes) -> None:
    line_of_a = line("a", length) if length else line("a", b"").replace(b" \n", b"\n")
    records = [record("x"), line_of_a + block_of("a") + b"\n", record("b"), record("c")]
    items = check_source(source_of(packed([arc()[0], *records])))
    assert names(items) == "xabc"
    wrong = by_name(items, "/a")
    assert codes(wrong) == {"content-length"}
    assert b"".join(wrong.chunks()) == block_of("a")


@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED)
@pytest.mark.parametrize("length", [0, 1, 10, A - 4, A - 1], ids="is-{}".format)
def test_too_short(packed: Pack, length: int) -> None:
    """The rest of the block is named: as a stretch, or as surplus in the member."""
    records = [record("x"), record("a", length), record("b"), record("c")]
    items = check_source(source_of(packed([arc()[0], *records])))
    assert names(items) == "xabc"
    wrong = by_name(items, "/a")
    assert codes(wrong) == {"block-length"}
    assert b"".join(wrong.chunks()) == block_of("a")[:length]


@pytest.mark.parametrize("packed", [PACKED[name] for name in PACKED if name != "members-of-two"])
def test_all_too_long(packed: Pack) -> None:
    """As writers did that counted other line ends (xroche/httrack)."""
    records = [record(name, len(block_of(name)) + 5) for name in "abcdefgh"]
    items = check_source(source_of(packed([arc()[0], *records])))
    assert names(items) == "abcdefgh"
    assert all("block-length" in codes(by_name(items, f"/{name}")) for name in "abcdefg")
    # A file cannot end inside a line, and a member not inside the next.
    assert codes(by_name(items, "/h")) <= {"block-length", "truncated"}
    assert codes(by_name(items, "/h"))


INNER = b"".join(arc()) + record("y")


@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED)
@pytest.mark.parametrize(
    "block",
    [
        HTTP + SHOWN,
        HTTP + SHOWN + b"\n",
        HTTP + INNER,
        INNER,
        HTTP + b"\n" + record("y"),
        HTTP + line("y", 20),
        HTTP + record("y", 10**12) * 3,
        HTTP + b"x" * 70_000 + record("y"),
        HTTP + b"http://example.org/y",
        HTTP + b"\nWARC/1.0\r\nWARC-Type: response\r\n\r\n",
    ],
    ids=[
        "page-about-arc", "page-and-line-end", "arc-in-http", "arc", "record", "line", "records",
        "far", "url-at-the-end", "warc",
    ],
)  # fmt: skip
def test_a_right_length_is_believed(packed: Pack, block: bytes) -> None:
    """Whatever the block contains, and whatever ends it; between records, and as the last."""
    for behind, end in product(([record("b")], []), (b"\n", b"\n\n", b"\r\n", b"")):
        records = [record("x"), line("a", len(block)) + block + end, *behind]
        data = packed([arc()[0], *records])
        items = check_source(source_of(data))
        assert names(items) == "xab"[: len(records)], end
        found = by_name(items, "/a")
        assert codes(found) == set(), (behind, end)
        assert b"".join(found.chunks()) == block, (behind, end)


@pytest.mark.parametrize("length", [10, 40, 1 << 40], ids=str)
def test_a_member_is_the_judge_of_its_record(length: int) -> None:
    """A page about ARC in a member of its own, whose length is wrong, stays in one record."""
    block = HTTP + SHOWN + b"\nmore of it"
    records = [record("x"), line("a", len(block) + length) + block + b"\n", record("b")]
    items = check_source(source_of(PACKED["member-a-record"]([arc()[0], *records])))
    assert names(items) == "xab"
    assert bytes(b"".join(by_name(items, "/a").chunks())).startswith(block)


@pytest.mark.parametrize("packed", PACKED.values(), ids=PACKED)
@pytest.mark.parametrize("size", [5 * MIB, 9 * MIB], ids=["five", "nine"])
def test_a_large_block_that_holds_an_arc_file_is_believed(packed: Pack, size: int) -> None:
    block = HTTP + INNER + bytes(size) + b"\n" + INNER
    records = [record("x"), record("a", block=block), record("b")]
    items = list(iter_records(source_of(packed([arc()[0], *records]))))
    assert names(items) == "xab"
    found = by_name(items, "/a")
    assert codes(found) == set()
    assert found.block_digest().value == hashlib.sha1(block).digest()


@pytest.mark.parametrize(
    "fields",
    [
        b"20010203040506GMT text/html",
        b"2001020304 text/html",
        b"20010203040506123 text/html; charset=x",
        b"20010203040506 text/html 200 abc - 9 a.arc",
    ],
    ids=["text-behind-the-date", "ten-digits", "blank-in-the-type", "version-2"],
)
def test_an_odd_line_is_found_in_a_block(fields: bytes) -> None:
    odd = line("b", len(block_of("b")), fields=fields) + block_of("b") + b"\n"
    for packed in PACKED.values():
        data = packed([arc()[0], record("x"), record("a", A + 30), odd, record("c")])
        assert names(check_source(source_of(data))) == "xabc"


@pytest.mark.parametrize(
    ("name", "uris", "wrong"),
    [
        ("NetarchiveSuite-store2.arc", 2, {1487: "block-length", 2035: "block-length"}),
        ("AM-arc-length-into-next.arc", 3, {134: "block-length"}),
        ("AR6-length-too-long-by-crlf.arc", 3, {134: "block-length"}),
    ],
)
def test_cases(shared_data: Path, name: str, uris: int, wrong: dict[int, str]) -> None:
    path = shared_data / "cases" / name
    lines = [
        match.start()
        for match in re.finditer(rb"(?m)^(?:http|dns|filedesc):.* \d+$", path.read_bytes())
    ]
    with open_source(path) as source:
        records = [item for item in iter_records(source) if isinstance(item, Record)]
    assert [item.offset for item in records] == lines
    assert sum((item.target_uri or "").startswith("http") for item in records) == uris
    assert {i.offset: f.code for i in records for f in i.findings} == wrong


def test_bodies_of_cases_are_whole(shared_data: Path) -> None:
    """The three of each file are one body, by whoever built the file."""
    for name in ("AM-arc-length-into-next.arc", "AR6-length-too-long-by-crlf.arc"):
        with open_source(shared_data / "cases" / name) as source:
            items = list(iter_records(source, types=["response"]))
        assert len({item.payload_digest() for item in items if isinstance(item, Record)}) == 1
