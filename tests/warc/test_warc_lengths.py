"""WARC records in members whose Content-Length is wrong: as in a plain file, or named."""

from __future__ import annotations

import bz2
import hashlib
from collections.abc import Callable

import pytest
from archive_builders import HTTP, frame, member, records_of, source_of, warc
from invariants import check_source

from pinakes.warc.record import DamagedStretch, HidingFinding, Record

MIB = 1 << 20
Pack = Callable[[bytes], bytes]
PACKS = pytest.mark.parametrize(
    "pack", [member, bz2.compress, frame], ids=["gzip", "bzip2", "zstd"]
)
BLOCKS = [HTTP + b"%d " % number + b"body of a record\n" * 40 for number in range(4)]
SIZE = len(BLOCKS[0])


def record(number: int, length: int | None = None, *, with_digest: bool = False) -> bytes:
    block = BLOCKS[number]
    extra = [("WARC-Block-Digest", "sha1:" + hashlib.sha1(block).hexdigest())]
    return warc(block, number=number, length=length, extra=extra if with_digest else ())


def named(found: Record) -> list[str]:
    """What readers name of it besides its codes."""
    return [each.message for each in found.findings if isinstance(each, HidingFinding)]


def facts(found: Record) -> tuple[object, ...]:
    return (
        found.header.raw,
        b"".join(map(bytes, found.chunks())),
        found.content_length,
        {finding.code for finding in found.findings} - {"member"},
    )


# Beyond the block of the record, which is followed by others.
TOO_LONG = {
    "into-the-version-line": 8,
    "into-the-header": 50,
    "into-the-block": 400,
    "over-a-record": SIZE + 300,
    "into-the-one-after-next": SIZE + 600,
    "over-the-end": 20_000,
    "five-mebibytes": 5 * MIB,
    "18-digits": 10**17,
}


@pytest.mark.parametrize("more", TOO_LONG.values(), ids=TOO_LONG)
@pytest.mark.parametrize("wrong", [0, 1, 2], ids=["first", "second", "last-but-one"])
@PACKS
def test_too_long(pack: Pack, wrong: int, more: int) -> None:
    content = b"".join(record(n, SIZE + more if n == wrong else None) for n in range(4))
    items = check_source(source_of(pack(content)))
    records = [item for item in items if isinstance(item, Record)]
    assert items == records
    assert [facts(each) for each in records] == [facts(each) for each in records_of(content)]
    assert [b"".join(map(bytes, each.chunks())) for each in records] == BLOCKS
    assert {f.code for f in records[wrong].findings} == {"block-length", "member"}
    assert not any(named(each) for each in records)


@PACKS
def test_too_long_before_another_member(pack: Pack) -> None:
    """The length reaches over the rest of the member, and into the next one."""
    content = [record(0) + record(1, 3 * SIZE) + record(2), record(3)]
    records = check_source(source_of(b"".join(map(pack, content))))
    assert [facts(each) for each in records if isinstance(each, Record)] == [
        facts(each) for each in records_of(b"".join(content))
    ]


@PACKS
def test_all_too_long_and_digests_tell(pack: Pack) -> None:
    """A writer that counts wrong each time: the digest of the first block shows where it ends."""
    content = b"".join(record(n, SIZE + 300, with_digest=True) for n in range(3)) + record(3)
    records = records_of(pack(content))
    assert [b"".join(map(bytes, each.chunks())) for each in records] == BLOCKS


@PACKS
def test_all_too_long_and_no_digest(pack: Pack) -> None:
    """Nothing tells whether the member is the first record's own: what is hidden is named."""
    records = records_of(pack(b"".join(record(n, SIZE + 300) for n in range(3)) + record(3)))
    assert [(each.target_uri or "")[-1] for each in records] == ["0", "2", "3"]
    assert len(named(records[0])) == 2
    assert not any(named(each) for each in records[1:])


DOWNLOADED = b"".join(warc(BLOCKS[n], number=n) for n in range(3))
CAPTURED = {
    "archive-file": HTTP + DOWNLOADED,
    "in-chunks": HTTP + b"%x\r\n" % len(DOWNLOADED) + DOWNLOADED + b"\r\n0\r\n\r\n",
    "in-text": HTTP + b"<pre>\r\n" + DOWNLOADED + b"</pre>",
    "page": HTTP + b"<pre>\r\n\r\n\r\n" + warc(length=5) + b"</pre>",
    "large": HTTP + b"\n" + DOWNLOADED + bytes(5 * MIB),
}


@pytest.mark.parametrize("block", CAPTURED.values(), ids=CAPTURED)
@pytest.mark.parametrize("more", [0, -9, 3, 2000, 10**7])
@PACKS
def test_records_that_were_captured_stay_in_their_block(
    pack: Pack, more: int, block: bytes
) -> None:
    """In a member of its own, whatever the length says; what leads to no end is named."""
    data = pack(warc(block, number=8, length=len(block) + more)) + pack(warc(number=9))
    records = [item for item in check_source(source_of(data)) if isinstance(item, Record)]
    assert [(each.target_uri or "")[-1] for each in records] == ["8", "9"]
    first = b"".join(map(bytes, records[0].chunks()))
    assert first.startswith(block[: len(block) + min(more, 0)])
    assert bool(named(records[0])) == (more not in (0, 3))


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\r\n\r\n\r\n"])
@PACKS
def test_a_sound_length_is_believed(pack: Pack, end: bytes) -> None:
    """Whatever closes the record: its length leads to another record, or to the end."""
    block = HTTP + b"\n" + DOWNLOADED
    content = record(0) + warc(block, number=8, end=end) + warc(block, number=9, end=end)
    records = records_of(pack(content))
    assert [b"".join(map(bytes, each.chunks())) for each in records] == [BLOCKS[0], block, block]
    assert not any(named(each) for each in records)


@PACKS
def test_a_length_that_leads_into_text_is_named(pack: Pack) -> None:
    """Behind the header of the next record line ends follow, too: a plain file has a stretch."""
    header = warc(BLOCKS[1], number=1).index(b"\r\n\r\n")
    content = record(0, SIZE + 4 + header) + record(1) + record(2)
    records = records_of(pack(content))
    assert [(each.target_uri or "")[-1] for each in records] == ["0", "2"]
    assert named(records[0])
    plain = check_source(source_of(content))
    assert [isinstance(item, DamagedStretch) for item in plain] == [False, True, False]


def test_damage_cuts_no_record_that_was_captured() -> None:
    """Bytes are missing because of the damage, not because the length is wrong."""
    data = member(record(0) + warc(HTTP + DOWNLOADED * 3, number=8), level=0)[:-2000]
    records = records_of(data)
    assert [(each.target_uri or "")[-1] for each in records] == ["0", "8"]
    [said] = [each for each in records[1].findings if isinstance(each, HidingFinding)]
    assert said._asdict() == {
        "code": "block-length",
        "message": "what looks like another record is inside the block, whose length is wrong",
        "offset": records[1].offset,
    }
