"""`repair`: what a writer did wrong is put right, and no byte of a block is touched."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from checking import check_paths
from faulty_warcs import BLOCKS, Block, Strict, http, packed, record, sha1, strict_records

from pinakes.conformance.rules import Severity
from pinakes.errors import InputRefused
from pinakes.rewrite.new_file import WOULD_WRITE, WRITTEN
from pinakes.rewrite.repair_file import NOTHING, Repairing, RepairNote, repair_file
from pinakes.warc.replaced_field import decode_line
from pinakes.warc.source import IN_MEMORY_BYTES

OTHER = Block(http(b"another"))
PAGE = BLOCKS["page"]
Fault = Callable[[int, Block], bytes]
FAULTS: dict[str, tuple[str, Fault]] = {
    "too short": ("content-length-wrong", lambda n, b: record(n, b, length=str(len(b.data) // 2))),
    "too short by one": (
        "content-length-wrong",
        lambda n, b: record(n, b, length=str(max(len(b.data) - 1, 0))),
    ),
    "too long, into the next": (
        "content-length-wrong",
        lambda n, b: record(n, b, length=str(len(b.data) + 30)),
    ),
    "too short by line ends": (
        "content-length-wrong",
        lambda n, b: record(n, b, length=str(len(b.data.rstrip(b"\r\n")) if b.has_digest else 3)),
    ),
    "too long by far": ("content-length-wrong", lambda n, b: record(n, b, length="123456789")),
    "too long by two": (
        "content-length-wrong",
        lambda n, b: record(n, b, length=str(len(b.data) + 2)),
    ),
    "no length": ("content-length-missing", lambda n, b: record(n, b, Content_Length=None)),
    "length in words": ("content-length-wrong", lambda n, b: record(n, b, length="1,024")),
    "LF": ("header-line-end", lambda n, b: record(n, b, nl="\n")),
    "LF, also behind": ("header-line-end", lambda n, b: record(n, b, nl="\n", end="\n\n")),
    "brackets": (
        "target-uri-syntax",
        lambda n, b: record(n, b, WARC_Target_URI=f"<http://example.org/{n}>"),
    ),
    "not closed": ("record-end", lambda n, b: record(n, b, end="")),
    "closed once": ("record-end", lambda n, b: record(n, b, end="\r\n")),
    "closed by LF": ("record-end", lambda n, b: record(n, b, end="\n\n")),
    "closed three times": ("between-records", lambda n, b: record(n, b, end="\r\n" * 3)),
    "digest of the block as the payload's": (
        "payload-digest-wrong",
        lambda n, b: record(n, b, WARC_Payload_Digest=sha1(b.data)),
    ),
    "digest of nothing known": (
        "block-digest-wrong",
        lambda n, b: record(n, b, WARC_Block_Digest=sha1(b"else")),
    ),
    "no id": ("record-id-missing", lambda n, b: record(n, b, WARC_Record_ID=None)),
    "id without brackets": (
        "record-id-syntax",
        lambda n, b: record(n, b, WARC_Record_ID=f"urn:uuid:00000000-0000-4000-8000-{n:012d}"),
    ),
    "date of 14 digits": ("date-syntax", lambda n, b: record(n, b, WARC_Date="20200102030405")),
    "date in another zone": (
        "date-syntax",
        lambda n, b: record(n, b, WARC_Date="2020-01-02T05:04:05+02:00"),
    ),
    "blank before a colon": (
        "field-name",
        lambda n, b: record(n, b).replace(b"WARC-Date:", b"WARC-Date :"),
    ),
}


def repaired(data: bytes, folder: Path, name: str = "a.warc") -> tuple[Repairing, list[RepairNote]]:
    """The result, and all that was told; the file that was given is the same afterwards."""
    path = folder / name
    path.write_bytes(data)
    told: list[RepairNote] = []
    result = repair_file(str(path), folder / "out", told.append)
    assert path.read_bytes() == data
    return result, told


def errors_in(path: Path) -> list[str]:
    return [f.code for f in check_paths(path) if f.severity is Severity.ERROR]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()


@pytest.mark.parametrize("form", ["plain", "gzip"])
@pytest.mark.parametrize(("code", "fault"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_put_right(code: str, fault: Fault, form: str, tmp_path: Path) -> None:
    """In records of all kinds of blocks, a sound one behind each: the new file is as it should be
    by bytes, and for `check`."""
    sound = [record(100 + n, OTHER) for n in range(len(BLOCKS))]
    faulty = [fault(n, block) for n, block in enumerate(BLOCKS.values())]
    name = "a.warc" if form == "plain" else "a.warc.gz"
    data = packed([one for pair in zip(faulty, sound, strict=True) for one in pair], form)
    result, told = repaired(data, tmp_path, name)
    if form == "gzip" and code == "between-records":  # line ends in a member are no fault
        assert (result.outcome, result.left) == (NOTHING, 0)
        return
    new = tmp_path / "out" / name
    assert (result.outcome, result.left, errors_in(new)) == (WRITTEN, 0, [])
    assert code in {each.code for each in told}
    found = strict_records(new.read_bytes())
    blocks = [data for block in BLOCKS.values() for data in (block.data, OTHER.data)]
    assert [one.block for one in found] == blocks
    assert result.proven_bytes == sum(map(len, blocks))
    for one, block, before in zip(found[::2], BLOCKS.values(), faulty, strict=True):
        assert set(header_lines(before, block)) <= all_lines(one)
    assert repaired(new.read_bytes(), tmp_path, name)[0].outcome == NOTHING
    # What is sound is the bytes that it was.
    assert all(packed([one], form) in new.read_bytes() for one in sound)


def header_lines(data: bytes, block: Block) -> list[bytes]:
    head = data[: data.index(block.data)] if block.data else data
    return head.replace(b"\r\n", b"\n").partition(b"\n\n")[0].split(b"\n")


def all_lines(found: Strict) -> set[bytes]:
    """The lines of a header, and those that it keeps of the one before."""
    kept = [line for line in found.lines if line.startswith(b"Pinakes-Repaired: version=1; ")]
    encoded = [part for line in kept for part in line.decode().split("; line=")[1:]]
    return {*found.lines, *map(decode_line, encoded)}


@pytest.mark.parametrize("count", [2, 3, 10, 100])
@pytest.mark.parametrize("end", ["\r\n\r\n", "\r\n", ""], ids=["two", "one", "none"])
def test_a_member_of_several_records_becomes_a_member_each(
    count: int, end: str, tmp_path: Path
) -> None:
    blocks = [list(BLOCKS.values())[n % len(BLOCKS)] for n in range(count)]
    records = [record(n, block, end=end) for n, block in enumerate(blocks)]
    alone = packed([record(999, OTHER)], "gzip")
    result, _ = repaired(alone + packed(records, "one") + alone, tmp_path, "a.warc.gz")
    assert (result.outcome, result.left, result.repaired) == (WRITTEN, 0, count)
    found = strict_records((tmp_path / "out" / "a.warc.gz").read_bytes())
    assert [one.block for one in found] == [b.data for b in (OTHER, *blocks, OTHER)]


@pytest.mark.parametrize("cut", [1, 9, 100])
def test_a_shared_member_that_is_damaged_stays(cut: int, tmp_path: Path) -> None:
    records = [record(n, block) for n, block in enumerate(BLOCKS.values())]
    shared = packed(records, "one")
    data = packed([record(99, OTHER, WARC_Date="20200102030405")], "gzip") + shared[:-cut]
    result, _ = repaired(data, tmp_path, "a.warc.gz")
    assert result.left > 0
    assert (tmp_path / "out" / "a.warc.gz").read_bytes().endswith(shared[:-cut])


def test_empty_members_between_records_are_left_out(tmp_path: Path) -> None:
    empty, one = gzip.compress(b"", mtime=0), packed([record(1, PAGE)], "gzip")
    result, told = repaired(empty + one + empty * 3 + one + empty, tmp_path, "a.warc.gz")
    assert (result.outcome, {each.code for each in told}) == (WRITTEN, {"between-records"})
    assert (tmp_path / "out" / "a.warc.gz").read_bytes() == one + one


def test_a_block_larger_than_memory(tmp_path: Path) -> None:
    block = Block(http(Random(3).randbytes(IN_MEMORY_BYTES + 99)))
    for form, name in (("plain", "a.warc"), ("gzip", "a.warc.gz"), ("one", "b.warc.gz")):
        faulty = record(1, block, length=None if form == "one" else str(len(block.data) + 4))
        result, _ = repaired(packed([faulty, record(2, PAGE)], form), tmp_path, name)
        found = strict_records((tmp_path / "out" / name).read_bytes())
        assert (result.outcome, [one.block for one in found]) == (WRITTEN, [block.data, PAGE.data])


FAKE = http(b"x\r\nWARC/1.0\r\nWARC-Type: response\r\nContent-Length: 5\r\n\r\nhello")
BARE = Block(b"no digest and no HTTP" * 3, "resource")
LEFT = {
    "too short, and nothing says how long": packed(
        [record(1, BARE, length="20"), record(2, PAGE)], "plain"
    ),
    "the file may be cut off": packed([record(2, PAGE), record(1, BARE, length="999")], "plain"),
    "what looks like a record in the block": packed(
        [record(1, Block(FAKE, has_digest=True), length="9999"), record(2, PAGE)], "plain"
    ),
    "junk behind a block that is right": packed(
        [record(1, BLOCKS["resource"], end="junk\r\n\r\n"), record(2, PAGE)], "plain"
    ),
    "in gzip, too": packed([record(1, BLOCKS["resource"], end="junk\r\n\r\n")], "gzip"),
    "a digest that no length has": packed(
        [record(1, PAGE, length="20", WARC_Block_Digest=sha1(b"else"))], "gzip"
    ),
    "no end": packed([record(1, BARE, length="99", end="")], "gzip"),
    "the header is cut off": record(2, PAGE)[:80],
    "a date that does not exist": record(1, PAGE, WARC_Date="2020-02-30T00:00:00Z"),
    "no date": record(1, PAGE, WARC_Date=None),
    "an id that is none": record(1, PAGE, WARC_Record_ID="<urn:uuid:1>"),
    "a URI that is none": record(1, PAGE, WARC_Target_URI="<not a uri>"),
    "a line without a colon": record(1, PAGE).replace(b"WARC-Date:", b"WARC-Date"),
    "bytes that are no record": record(1, PAGE) + b"\0" * 100 + record(2, PAGE),
    "cut off in the block": record(1, PAGE)[:-9],
}


@pytest.mark.parametrize("data", LEFT.values(), ids=LEFT)
def test_what_the_bytes_do_not_say_is_left_and_named(data: bytes, tmp_path: Path) -> None:
    """Also where the file is written for the fault of another record."""
    name = "a.warc.gz" if data[:2] == b"\x1f\x8b" else "a.warc"
    result, told = repaired(data, tmp_path, name)
    assert (result.outcome, result.changes) == (NOTHING, 0)
    assert result.left == len([each for each in told if each.after is None]) > 0
    assert list((tmp_path / "out").iterdir()) == []
    other = packed([record(5, OTHER, nl="\n")], "gzip" if name.endswith("gz") else "plain")
    result, told = repaired(other + data, tmp_path, f"b{name}")
    assert (result.outcome, result.repaired) == (WRITTEN, 1)
    assert (tmp_path / "out" / f"b{name}").read_bytes().endswith(data)


@pytest.mark.parametrize("form", ["plain", "gzip", "one"])
def test_a_file_cut_off_anywhere_loses_nothing(form: str, tmp_path: Path) -> None:
    """Where a member cannot be read, it is there byte for byte; where it can, so is its block."""
    data = packed([record(n, PAGE, nl="\n", end="\n\n") for n in range(2)], form)
    for end in range(30, len(data), 23):
        try:
            result, _ = repaired(data[:end], tmp_path)
        except InputRefused:
            continue
        new = tmp_path / "out" / "a.warc"
        if result.outcome == WRITTEN:
            tail = data[len(data) // 2 : end] if form == "gzip" and end > len(data) // 2 else b""
            assert tail == b"" or end == len(data) or tail in new.read_bytes()
            new.unlink()
        else:
            assert result.changes == 0


@pytest.mark.parametrize("form", ["plain", "gzip"])
def test_a_flipped_byte_never_changes_what_can_be_read(form: str, tmp_path: Path) -> None:
    """Repair publishes what it has proven, leaves the record, or refuses the file."""
    data = packed([record(1, PAGE, nl="\n"), record(2, OTHER)], form)
    for at in range(0, len(data), 7):
        flipped = data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :]
        try:
            result, _ = repaired(flipped, tmp_path)
        except InputRefused:
            continue
        new = tmp_path / "out" / "a.warc"
        if result.outcome == WRITTEN:
            last = packed([record(2, OTHER)], form)
            assert at >= len(data) - len(last) or new.read_bytes().endswith(last)
            new.unlink()


def test_what_is_sound_is_not_written(tmp_path: Path) -> None:
    for form in ("plain", "gzip"):
        records = [record(n, block) for n, block in enumerate(BLOCKS.values())]
        name = "a.warc" if form == "plain" else "a.warc.gz"
        result, told = repaired(packed(records, form), tmp_path, name)
        assert (result.outcome, result.records, told) == (NOTHING, len(BLOCKS), [])
    assert list((tmp_path / "out").iterdir()) == []


def test_the_file_itself_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(record(1, PAGE, nl="\n"))
    with pytest.raises(InputRefused, match="exists already with other content"):
        repair_file(str(tmp_path / "a.warc"), tmp_path, lambda told: None)


def test_a_dry_run_proves_nothing_and_says_what_it_would(tmp_path: Path) -> None:
    (tmp_path / "a.warc").write_bytes(record(1, PAGE, nl="\n"))
    told: list[RepairNote] = []
    result = repair_file(str(tmp_path / "a.warc"), tmp_path / "out", told.append, dry_run=True)
    assert (result.outcome, result.proven_bytes) == (WOULD_WRITE, None)
    assert [each.code for each in told] == ["header-line-end"]


def test_a_file_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputRefused, match="no WARC record in it"):
        repaired(b"nothing of the kind", tmp_path)


# --- `repair` on archives of other projects: what digests prove, and nothing is worse than befo


_WARCIO = "archives/webrecorder_warcio/test/data"


@pytest.mark.parametrize(
    ("name", "lengths"),
    [
        ("cases/AM3-warc-length-into-next.warc", 1),
        (f"{_WARCIO}/example-trunc.warc", 1),
        ("archives/webrecorder_warcio.js/test/data/example-bad-length.warc", 2),
    ],
)
def test_lengths_that_digests_or_the_next_record_show(
    name: str, lengths: int, shared_data: Path, tmp_path: Path
) -> None:
    codes: list[str] = []
    path = shared_data / name
    result = repair_file(str(path), tmp_path, lambda told: codes.append(told.code))
    assert (result.outcome, result.left, codes) == (WRITTEN, 0, ["content-length-wrong"] * lengths)
    errors = [f for f in check_paths(tmp_path / path.name) if f.severity is Severity.ERROR]
    assert errors == []


@pytest.mark.slow
def test_no_archive_is_worse_afterwards(shared_data: Path, tmp_path: Path) -> None:
    """What is written is proven in `repair_file`; done again, there is nothing to do."""
    written = 0
    for pattern in ("*.warc", "*.warc.gz", "*.warc.gz.open"):
        for path in sorted((shared_data / "archives").rglob(pattern)):
            try:
                result = repair_file(str(path), tmp_path / "out", lambda told: None, dry_run=True)
            except InputRefused:
                continue
            if result.outcome == NOTHING:
                continue
            (tmp_path / "out").mkdir(exist_ok=True)
            repair_file(str(path), tmp_path / "out", lambda told: None)
            again = repair_file(str(tmp_path / "out" / path.name), tmp_path, lambda told: None)
            assert (again.outcome, again.left) == (NOTHING, result.left), path
            written += 1
            shutil.rmtree(tmp_path / "out")
    assert written > 40
