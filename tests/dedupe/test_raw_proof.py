"""The proof on raw bytes sees what the reader, and whoever writes by it, cannot see."""

from __future__ import annotations

import gzip
import io
import random
import re
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from zlib import crc32
from zlib import error as zlib_error

import pytest
from archive_builders import (
    dictionary,
    dictionary_frame,
    frame,
    frame_of_blocks,
    skippable,
    source_of,
    stored_frame,
)
from files_chain import files_chain
from hostile_archives import hostile_files
from isal import igzip
from judge import content
from warc_sets import Rec, member

from pinakes.dedupe.validate.raw_proof import compare_raw
from pinakes.warc.source import Source

LATER = "2020-02-02T00:00:00Z"
FIRST = Rec().raw(1)
AGAIN = replace(Rec(), uri="http://example.org/2", date=LATER).raw(2)
# Fields that speak of the original, and of the revisit's block: what comes back does not depend
# on them.
REFERENCES = re.compile(
    rb"\r\n(WARC-(Refers-To.*|Profile|Truncated|(Payload|Block)-Digest)):[^\r]*"
)


def gives_back(before: bytes, after: bytes) -> bool:
    return compare_raw(source_of(before), source_of(after)).difference is None


@pytest.fixture(scope="module")
def revisit(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What `refs` makes of AGAIN, with the two line ends that close it."""
    folder = tmp_path_factory.mktemp("chain")
    [after] = files_chain(folder, [member(FIRST) + member(AGAIN)]).after
    found = content(after)
    assert found.startswith(FIRST)
    return found.removeprefix(FIRST)


def with_incomplete_codes(data: bytes) -> bytes:
    """A member that isal inflates and zlib refuses: an empty block, then `data` as it is.

    The first block has dynamic codes: two symbols have codes of two bits each, and the other two
    such codes mean nothing (RFC 1951 §3.2.7).
    """
    lengths = [2 if symbol in (1, 256) else 0 for symbol in range(257)] + [0]
    order = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
    bits = "0" + "01" + "00000" + "00000" + "1111"
    bits += "".join("001" if symbol < 16 else "000" for symbol in order)
    bits += "".join(f"{length:04b}" for length in lengths)
    bits += "01" + "1" + "00"
    bits += "0" * (-len(bits) % 8)
    packed = bytes(int(bits[at : at + 8][::-1], 2) for at in range(0, len(bits), 8))
    sizes = struct.pack("<HH", len(data), len(data) ^ 0xFFFF)
    return member(b"")[:10] + packed + sizes + data + struct.pack("<II", crc32(data), len(data))


Make = Callable[[bytes], tuple[bytes, bytes]]
SOUND: dict[str, Make] = {
    "a member": lambda r: (member(FIRST) + member(AGAIN), member(FIRST) + member(r)),
    "plain": lambda r: (FIRST + AGAIN, FIRST + r),
    "two in a member": lambda r: (member(FIRST + AGAIN), member(FIRST) + member(r)),
    "one over two members": lambda r: (
        member(FIRST) + member(AGAIN[:99]) + member(AGAIN[99:]),
        member(FIRST) + member(r),
    ),
    "behind a version line that is none": lambda r: (
        b"WARC/1.0\r\n" + member(FIRST, level=0) + member(AGAIN),
        b"WARC/1.0\r\n" + member(FIRST, level=0) + member(r),
    ),
    "compressed otherwise": lambda r: (FIRST + AGAIN, member(FIRST) + member(r)),
    "one member for all": lambda r: (member(FIRST + AGAIN * 900), member(FIRST) + member(r) * 900),
    "behind what is cut off": lambda r: (
        member(FIRST)[:-30] + member(AGAIN),
        member(FIRST)[:-30] + member(r),
    ),
}
KNOWN = dictionary(1)
START = dictionary_frame(KNOWN)


def known(data: bytes) -> bytes:
    return frame(data, dictionary=KNOWN)


def broken(data: bytes, at: int) -> bytes:
    """One byte is another."""
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


SOUND |= {
    "a frame": lambda r: (frame(FIRST) + frame(AGAIN), frame(FIRST) + frame(r)),
    "two in a frame": lambda r: (frame(FIRST + AGAIN), frame(FIRST) + frame(r)),
    "one over two frames": lambda r: (
        frame(FIRST) + frame(AGAIN[:99]) + frame(AGAIN[99:]),
        frame(FIRST) + frame(r),
    ),
    "frames with a dictionary": lambda r: (
        START + known(FIRST) + known(AGAIN),
        START + known(FIRST) + known(r),
    ),
    "frames that pass": lambda r: (
        frame(FIRST) + skippable(b"own") + frame(AGAIN) + frame(b"") + skippable(b""),
        frame(FIRST) + skippable(b"own") + frame(r) + frame(b"") + skippable(b""),
    ),
    "a frame of blocks": lambda r: (frame_of_blocks(FIRST, AGAIN[:9], AGAIN[9:]), FIRST + frame(r)),
    "a frame in place of a member": lambda r: (frame(FIRST) + member(AGAIN), FIRST + frame(r)),
    "behind a broken frame": lambda r: (
        broken(frame(FIRST), -1) + frame(AGAIN),
        broken(frame(FIRST), -1) + frame(r),
    ),
}
AMISS: dict[str, Make] = {
    "line ends are gone": lambda r: (member(AGAIN + b"\r\n"), member(r)),
    "line ends are gone between": lambda r: (AGAIN + b"\r\n" + FIRST, r + FIRST),
    "a record is gone": lambda r: (member(AGAIN) + member(FIRST), member(r)),
    "a record is there twice": lambda r: (member(AGAIN), member(r) * 2),
    "of another record": lambda r: (member(AGAIN.replace(b"/2", b"/3")), member(r)),
    "of another body": lambda r: (member(AGAIN[:-5] + b"x" + AGAIN[-4:]), member(r)),
    "of another HTTP head": lambda r: (member(AGAIN.replace(b"200 OK", b"200 Ok")), member(r)),
    "another version of the field": lambda r: (
        member(AGAIN),
        member(r.replace(b"version=1", b"version=2")),
    ),
    "within a whole member": lambda r: (
        member(b"text" + member(AGAIN), level=0),
        member(b"text" + member(AGAIN), level=0).replace(member(AGAIN), member(r)),
    ),
    "within a plain record": lambda r: (
        Rec(body=b"\n" + AGAIN).raw(5),
        Rec(body=b"\n" + AGAIN).raw(5).replace(AGAIN, r),
    ),
    "a cut revisit": lambda r: (member(AGAIN), member(r)[:-1]),
    "other bytes between records, compressed otherwise": lambda r: (
        FIRST + member(b"text", level=9) + AGAIN,
        FIRST + member(b"text", level=0) + AGAIN,
    ),
    "a member without a record, inflated": lambda r: (
        member(FIRST) + member(b"text") + member(AGAIN),
        member(FIRST) + b"text" + member(AGAIN),
    ),
    "a compressed body in a record that lies": lambda r: (
        FIRST + AGAIN.replace(b"Content-Length: ", b"Content-Length: 9") + member(b"x", level=9),
        FIRST + AGAIN.replace(b"Content-Length: ", b"Content-Length: 9") + member(b"x", level=0),
    ),
    "within a member that a changed byte hides": lambda r: (
        member(FIRST) + b"\x1f\x8b\x09" + member(b"text" + member(AGAIN), level=0)[3:],
        (member(FIRST) + b"\x1f\x8b\x09" + member(b"text" + member(AGAIN), level=0)[3:]).replace(
            member(AGAIN), member(r)
        ),
    ),
    "a revisit in codes that zlib refuses": lambda r: (
        member(FIRST) + member(AGAIN),
        member(FIRST) + with_incomplete_codes(r),
    ),
    "the field's checksum in capitals": lambda r: (
        member(AGAIN),
        member(re.sub(rb"crc32=[0-9a-f]+", lambda found: found[0].upper(), r)),
    ),
    "with reserved flags": lambda r: (
        member(FIRST) + member(AGAIN),
        member(FIRST) + member(r)[:3] + b"\x20" + member(r)[4:],
    ),
}

AMISS |= {
    "another body, in frames": lambda r: (frame(AGAIN[:-5] + b"x" + AGAIN[-4:]), frame(r)),
    "a frame is gone": lambda r: (frame(AGAIN) + frame(FIRST), frame(r)),
    "a cut frame": lambda r: (frame(AGAIN), frame(r)[:-1]),
    "a checksum that does not fit": lambda r: (frame(AGAIN), broken(frame(r), -1)),
    "a size that does not fit": lambda r: (frame(AGAIN), broken(frame(r), 5)),
    "another dictionary": lambda r: (
        START + known(FIRST) + known(AGAIN),
        START + known(FIRST) + frame(r, dictionary=dictionary(2)),
    ),
    "the dictionary is gone": lambda r: (START + frame(FIRST) + frame(AGAIN), frame(FIRST) + r),
    "the dictionary is another": lambda r: (
        START + frame(FIRST) + frame(AGAIN),
        dictionary_frame(dictionary(2)) + frame(FIRST) + frame(r),
    ),
    "a large window": lambda r: (frame(AGAIN), frame(r, window_log=24)),
    "a skippable frame is gone": lambda r: (
        frame(FIRST) + skippable(b"own") + frame(AGAIN),
        frame(FIRST) + frame(r),
    ),
    "a skippable frame in a record is gone": lambda r: (
        frame(AGAIN[:99]) + skippable(b"own") + frame(AGAIN[99:]),
        frame(r),
    ),
    "other bytes in a skippable frame": lambda r: (
        frame(FIRST) + skippable(b"own") + frame(AGAIN),
        frame(FIRST) + skippable(b"owN") + frame(r),
    ),
    "within a stored frame": lambda r: (
        stored_frame(b"text" + frame(AGAIN)),
        stored_frame(b"text" + frame(AGAIN)).replace(frame(AGAIN), frame(r)),
    ),
    "within a frame that a changed byte hides": lambda r: (
        frame(FIRST) + broken(stored_frame(b"text" + frame(AGAIN)), 2) + frame(FIRST),
        frame(FIRST)
        + broken(stored_frame(b"text" + frame(AGAIN)), 2).replace(frame(AGAIN), frame(r))
        + frame(FIRST),
    ),
    "within a frame that cannot be read": lambda r: (
        frame(FIRST) + _unreadable(frame(AGAIN)) + frame(FIRST),
        frame(FIRST) + _unreadable(frame(AGAIN)).replace(frame(AGAIN), frame(r)) + frame(FIRST),
    ),
}


def _unreadable(data: bytes) -> bytes:
    """A frame around it that declares one byte more than it has."""
    found = stored_frame(b"text" + data)
    return found[:5] + (len(data) + 5).to_bytes(4, "little") + found[9:]


@pytest.mark.parametrize("make", SOUND.values(), ids=SOUND)
def test_accepted_rewritings(make: Make, revisit: bytes) -> None:
    """And the other way round, as when it is restored."""
    before, after = make(revisit)
    assert gives_back(before, after)
    assert gives_back(after, before)


@pytest.mark.parametrize("make", AMISS.values(), ids=AMISS)
def test_refused_rewritings(make: Make, revisit: bytes) -> None:
    before, after = make(revisit)
    assert not gives_back(before, after)


DAMAGED = member(FIRST)[:-30]


@pytest.mark.parametrize(
    ("parts", "is_behind"),
    [
        ((member(FIRST), AGAIN), False),
        ((DAMAGED, AGAIN), True),
        ((DAMAGED, member(FIRST), AGAIN), True),
        ((AGAIN, DAMAGED, member(FIRST)), False),
    ],
    ids=["no damage", "behind it", "a record between", "before it"],
)
def test_rewriting_behind_damage_is_noticed(
    parts: tuple[bytes, ...], is_behind: bool, revisit: bytes
) -> None:
    before, after = (
        source_of(b"".join(member(now) if part is AGAIN else part for part in parts))
        for now in (AGAIN, revisit)
    )
    assert compare_raw(before, after)[:2] == (None, is_behind)


@pytest.mark.parametrize("seed", range(12))
def test_hostile_files_that_were_rewritten_and_then_changed(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    files = hostile_files(seed)
    for before, after in zip(files, files_chain(tmp_path, files).after, strict=True):
        assert gives_back(before, after)
        for _ in range(20 if after else 0):
            changed = mutated(dice, after)
            plain = [REFERENCES.sub(b"", content(data)) for data in (after, changed)]
            assert not gives_back(before, changed) or plain[0] == plain[1]


def mutated(dice: random.Random, data: bytes) -> bytes:
    at = dice.randrange(len(data))
    end = at + dice.choice((1, 2, 5, 100))
    flipped = bytes((data[at] ^ 1 << dice.randrange(8),))
    return dice.choice(
        (
            data[:at] + flipped + data[at + 1 :],
            data[:at] + data[end:],
            data[:end] + data[at:],
            data[:at] + dice.choice((b"\r\n", b"\0", b"\x1f\x8b\x08")) + data[at:],
        )
    )


class CountedFile(io.BytesIO):
    """How many bytes were read of it."""

    count = 0

    def read(self, size: int | None = -1) -> bytes:
        found = super().read(size)
        self.count += len(found)
        return found


# Each begins many times what is no member, or no record, and is long.
STARTS = {
    "stored blocks within each other": b"\x1f\x8b\x08\0\0\0\0\0\0\3\0\xff\xff\0\0",
    "names that never end": b"\x1f\x8b\x08\x08\0\0\0\0\0\3aaaaa",
    "headers that never end": b"\nWARC/1.0\r\nA: b",
    "lengths that lie": b"\nWARC/1.0\r\nContent-Length: 99999999\r\n\r\n",
    "frames of blocks that never end": b"\x28\xb5\x2f\xfd\0\x58" + b"\0\0\0" * 3,
    "frames within the blocks of others": b"\x28\xb5\x2f\xfd\0\x58\x40\0\0",
    "lengths beyond the file": b"\nWARC/1.0\r\nContent-Length: 999999999999999999\r\n\r\n",
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_wasted_reading_is_bounded(start: bytes, revisit: bytes) -> None:
    junk = start * ((3 << 20) // len(start))
    before, after = (CountedFile(junk + member(data)) for data in (AGAIN, revisit))
    compare_raw(Source(before, name="before"), Source(after, name="after"))
    assert before.count + after.count < 100 * len(junk)


def test_non_archive_is_restored_only_by_itself() -> None:
    text = gzip.compress(b"text" * 99) + b"\nWARC/1.0 is a format\r\n\r\n"
    assert gives_back(text, text)
    assert not gives_back(text, text + b"\0")
    assert not gives_back(text, b"")
    assert gives_back(b"", b"")


def test_codes_that_zlib_refuses_are_inflated_by_isal() -> None:
    """Else the case above would show nothing."""
    odd = with_incomplete_codes(AGAIN)
    assert igzip.decompress(odd) == AGAIN
    with pytest.raises(zlib_error):
        gzip.decompress(odd)
